// The bridge between a page and the calculators: carries form values to a worker and the HTML
// that comes back into the page. It knows no field, no label, no calculator and no chart.
//
// A calculator is a <section class="cp-calculator" data-calculator="…">. What the bridge needs
// besides (addresses of the runtime, sentences for failures) stands in its <script class="cp-setup">.

const START_LIMIT_MS = 60_000; // a slow line needs long; a start that never settles must end
const HEARD_LIMIT_MS = 5_000; // an idle worker says at once that it has heard
const SILENCE_LIMIT_MS = 30_000; // without an answer or a sign of progress

const NEAR_PX = 200; // a calculator this far below the screen is about to be seen

// One worker for the whole visit. It outlives instant navigation.
const engine = {
  worker: null,
  starting: null,
  waiting: new Map(), // id → {resolve, reject, onProgress}
  next: 1,
};

class Failure extends Error {
  constructor(code, detail) {
    super(code);
    this.code = code;
    this.detail = detail;
  }
}

function startEngine(where) {
  engine.starting ??= new Promise((resolve, reject) => {
    const fail = (code, detail) => {
      stopEngine(new Failure(code, detail));
      reject(new Failure(code, detail));
    };
    const timer = setTimeout(() => fail("timeout"), START_LIMIT_MS);
    try {
      engine.worker = newWorker(where.worker);
    } catch (error) {
      clearTimeout(timer);
      fail("crashed", String(error));
      return;
    }
    engine.worker.onerror = async (event) => {
      clearTimeout(timer);
      fail((await isReachable(where.worker)) ? "crashed" : "unreachable", event.message);
    };
    engine.worker.onmessage = ({ data }) => {
      if (data.ready) {
        clearTimeout(timer);
        keepLater(() => [where.worker, where.wheel, ...where.files, where.plot]);
        resolve();
      } else if (data.id === undefined) {
        clearTimeout(timer);
        fail(data.failure, data.detail);
      } else {
        settle(data, fail);
      }
    };
    engine.worker.postMessage({ where });
  });
  return engine.starting;
}

// A sandboxed frame without an origin may start no worker by its address, and no module: a script
// of its own imports the worker, and keeps what is said to it meanwhile.
function newWorker(address) {
  if (origin !== "null") return new Worker(address, { type: "module" });
  const script = `const early = []; onmessage = (event) => early.push(event);
    import(${JSON.stringify(address)}).then(
      () => early.forEach((event) => self.onmessage(event)),
      (error) => setTimeout(() => { throw error; }));`;
  return new Worker(URL.createObjectURL(new Blob([script], { type: "text/javascript" })));
}

// A worker whose script cannot be fetched fails like one that throws.
async function isReachable(address) {
  try {
    return (await fetch(address, { method: "HEAD" })).ok;
  } catch {
    return false;
  }
}

function settle(data, fail) {
  const asked = engine.waiting.get(data.id);
  if (!asked) return;
  if (data.heard) {
    asked.onHeard();
    return;
  }
  if (data.progress !== undefined) {
    asked.onProgress(data.progress);
    return;
  }
  engine.waiting.delete(data.id);
  if (data.failure) {
    asked.reject(new Failure(data.failure, data.detail));
    fail(data.failure, data.detail); // an interpreter that threw is not asked again
  } else {
    asked.resolve(JSON.parse(data.reply));
  }
}

function stopEngine(failure) {
  engine.worker?.terminate();
  engine.worker = null;
  engine.starting = null;
  const waiting = [...engine.waiting.values()];
  engine.waiting.clear();
  for (const asked of waiting) asked.reject(failure);
}

async function ask(where, request, onProgress = () => {}) {
  await startEngine(where);
  const id = engine.next++;
  return new Promise((resolve, reject) => {
    const giveUp = () => stopEngine(new Failure("timeout"));
    let timer = setTimeout(giveUp, engine.waiting.size ? SILENCE_LIMIT_MS : HEARD_LIMIT_MS);
    const wait = () => {
      clearTimeout(timer);
      timer = setTimeout(giveUp, SILENCE_LIMIT_MS);
    };
    const heard = (act) => (value) => {
      clearTimeout(timer);
      if (act === onProgress) wait();
      act(value);
    };
    engine.waiting.set(id, {
      onHeard: wait,
      resolve: heard(resolve),
      reject: heard(reject),
      onProgress: heard(onProgress),
    });
    engine.worker.postMessage({ id, request: JSON.stringify(request) });
  });
}

class Calculator {
  constructor(section) {
    this.section = section;
    this.form = section.querySelector("form");
    this.answer = section.querySelector(".cp-answer");
    this.status = section.querySelector(".cp-status");
    this.error = section.querySelector(".cp-error");
    this.progress = section.querySelector("progress");
    this.setup = JSON.parse(section.querySelector(".cp-setup").textContent);
    this.where = absolute(this.setup.where);
    this.initial = [...this.answer.childNodes];
    this.files = new Map(); // field → text of a dropped file, too large for a control
    this.asked = 0; // the newest question; answers to older ones are dropped
    this.busy = false;
    this.queued = null;
    this.query = "";
    this.listen();
    this.showChoices();
    enliven(this.answer);
    section.dataset.live = "";
    this.open();
  }

  listen() {
    this.form.addEventListener("input", (event) => {
      if (event.target.type !== "file") this.edited(event.target.name);
    });
    this.form.addEventListener("submit", (event) => event.preventDefault());
    this.section.addEventListener("click", (event) => {
      const button = event.target.closest("button[data-do]");
      if (button) this.act(button.dataset.do, button);
    });
    this.section.addEventListener("change", (event) => {
      const input = event.target;
      if (input.type === "file" && input.files[0]) this.takeFile(input.dataset.for, input.files[0]);
    });
    for (const name of ["dragover", "drop"]) {
      this.section.addEventListener(name, (event) => this.dropped(event));
    }
    // The first sign of interest starts the engine; a reader who saves data asks for it by editing.
    const wake = () => this.wake();
    this.section.addEventListener("focusin", wake, { once: true });
    this.section.addEventListener("pointerenter", wake, { once: true });
    if (navigator.connection?.saveData || !("IntersectionObserver" in window)) return;
    const near = new IntersectionObserver(
      (entries) => {
        if (entries.some((entry) => entry.isIntersecting)) {
          near.disconnect();
          wake();
        }
      },
      { rootMargin: `${NEAR_PX}px` },
    );
    near.observe(this.section);
  }

  wake() {
    if (this.section.isConnected) startEngine(this.where).catch(() => {}); // told when it matters
  }

  // An address from somebody else: its values are data for the parser, like any other.
  open() {
    const address = new URLSearchParams(location.search);
    if (address.get("c") !== this.setup.calculator) return;
    this.put({ query: location.search });
    this.section.scrollIntoView({ block: "start" });
  }

  edited(name) {
    if (name) this.files.delete(name);
    this.showChoices();
    this.put({ values: this.values() });
  }

  values() {
    const values = {};
    for (const control of this.form.elements) {
      if (!control.name || control.closest("[hidden]")) continue;
      if (control.type === "radio" && !control.checked) continue;
      values[control.name] = control.type === "checkbox" ? (control.checked ? "1" : "") : control.value;
    }
    for (const [name, text] of this.files) {
      if (name in values) values[name] = text;
    }
    return values;
  }

  // One question at a time; of those that arrive meanwhile only the newest is asked.
  async put(question) {
    this.queued = question;
    if (this.busy) return;
    this.busy = true;
    while (this.queued) {
      const now = this.queued;
      this.queued = null;
      await this.answerOne(now);
    }
    this.busy = false;
  }

  async answerOne(question) {
    const number = ++this.asked;
    this.answer.setAttribute("aria-busy", "true");
    const slow = setTimeout(() => this.section.setAttribute("data-waiting", ""), 250);
    try {
      const reply = await ask(this.where, this.request(question), (done) => this.showProgress(done));
      if (number === this.asked && !this.queued) this.show(reply, question);
    } catch (failure) {
      if (number === this.asked) this.showFailure(failure, question);
    }
    clearTimeout(slow);
    this.section.removeAttribute("data-waiting");
    this.progress.hidden = true;
    this.answer.removeAttribute("aria-busy");
  }

  request(question) {
    return { calculator: this.setup.calculator, lang: this.setup.lang, ...question };
  }

  show(reply, question) {
    if (question.query !== undefined) this.fill(reply.values);
    if (reply.error) {
      this.showError(reply.error);
      return;
    }
    this.clearError();
    this.query = reply.query;
    keepInSwitcher(reply.query);
    this.replaceAnswer(reply.html);
    this.answer.removeAttribute("data-stale");
    this.status.textContent = reply.status;
    enliven(this.answer);
    drawPlots(this.answer, this.where.plot);
  }

  // What was unfolded stays so, and an old plot stands until the new one is drawn: no page jumps.
  replaceAnswer(html) {
    const all = (selector) => [...this.answer.querySelectorAll(selector)];
    const open = all("details").map((part) => part.open);
    // copies, since the first answer is kept for a reset
    const drawn = all(".cp-canvas").map((part) => [...part.cloneNode(true).childNodes]);
    this.answer.innerHTML = html;
    all("details").forEach((part, i) => (part.open = open[i] ?? part.open));
    all(".cp-canvas").forEach((part, i) => part.replaceChildren(...(drawn[i] ?? [])));
  }

  fill(values) {
    for (const [name, value] of Object.entries(values)) {
      const control = this.form.elements[name];
      if (!control) continue;
      if (control.type === "checkbox") control.checked = value === "1";
      else control.value = value; // a RadioNodeList takes a value as well
    }
    this.showChoices(values);
  }

  showError({ field, text }) {
    this.clearError();
    const control = this.form.elements[field];
    if (control && !("length" in control && !control.tagName)) {
      control.setAttribute("aria-invalid", "true");
      control.setAttribute("aria-errormessage", this.error.id);
    }
    this.error.textContent = text;
    this.error.hidden = false;
    this.answer.setAttribute("data-stale", "");
  }

  clearError() {
    for (const control of this.form.querySelectorAll("[aria-invalid]")) {
      control.removeAttribute("aria-invalid");
      control.removeAttribute("aria-errormessage");
    }
    this.error.hidden = true;
    this.error.textContent = "";
  }

  showFailure({ code, detail }, question) {
    if (code === "cancelled") return;
    this.clearError();
    this.error.hidden = false;
    this.error.textContent = `${this.setup.failures[code] ?? this.setup.failures.crashed} `;
    if (detail) console.error(detail);
    const retry = document.createElement("button");
    retry.type = "button";
    retry.className = "cp-button";
    retry.textContent = this.setup.failures.retry;
    retry.addEventListener("click", () => {
      this.clearError();
      this.put(question);
    });
    this.error.append(retry);
    this.answer.setAttribute("data-stale", "");
  }

  showProgress(done) {
    this.progress.hidden = false;
    this.progress.value = done;
  }

  // A field with data-when matters only while its choice has one of the values. A field that was
  // filled makes the choice, so nobody has to say it twice.
  showChoices() {
    for (const part of this.form.querySelectorAll("[data-when]")) {
      const [name, values] = part.dataset.when.split("=");
      const chooser = this.form.elements[name];
      const first = chooser?.closest ? chooser : chooser?.[0]; // radio buttons come as a list
      const chosen = values.split("|").includes(chooser?.value ?? "");
      part.hidden = !chosen || first?.closest("[hidden]") !== null; // choosers come first
    }
  }

  act(what, button) {
    if (what === "reset") this.reset();
    if (what === "share") copy(this.link(), button, this.setup);
    if (what === "copy") copy(this.text(), button, this.setup);
    if (what === "cancel") this.cancel();
    if (what === "json" || what === "csv") this.download(what);
  }

  // The answer as text; where an error stands, that says which answer this still is.
  text() {
    this.answer.style.contentVisibility = "visible"; // what is off the screen has no innerText
    const shown = this.answer.innerText;
    this.answer.style.contentVisibility = "";
    return [this.error.textContent, shown].filter(Boolean).join("\n\n");
  }

  // What stands in the form: after an error the form itself, so that the error can be shown.
  link() {
    const url = new URL(location.href);
    url.search = this.error.hidden ? this.query || `c=${this.setup.calculator}` : this.typed();
    url.hash = this.section.id;
    return url.href;
  }

  typed() {
    const query = new URLSearchParams({ c: this.setup.calculator });
    for (const [name, value] of Object.entries(this.values())) {
      if (value.length < 2000 && !this.files.has(name)) query.set(name, value);
    }
    return query;
  }

  reset() {
    this.form.reset();
    this.files.clear();
    for (const label of this.form.querySelectorAll(".cp-file-name")) label.textContent = "";
    this.queued = null;
    this.asked++;
    this.clearError();
    clearTimeout(settled);
    this.answer.replaceChildren(...this.initial);
    this.answer.removeAttribute("data-stale");
    this.status.textContent = "";
    this.query = "";
    keepInSwitcher("");
    this.showChoices();
    enliven(this.answer);
    this.form.querySelector("input, select, textarea")?.focus();
  }

  cancel() {
    this.queued = null;
    stopEngine(new Failure("cancelled"));
    this.answer.setAttribute("data-stale", "");
  }

  async download(style) {
    try {
      const reply = await ask(this.where, this.request({ values: this.values(), export: style }));
      if (reply.error) this.showError(reply.error);
      else save(reply.file, `${this.setup.calculator}.${style}`, style);
    } catch (failure) {
      this.showFailure(failure, { values: this.values() });
    }
  }

  dropped(event) {
    const field = this.form.querySelector("[data-file]");
    if (!field || !event.dataTransfer?.types.includes("Files")) return;
    event.preventDefault();
    if (event.type === "drop" && event.dataTransfer.files[0]) {
      const target = event.target.closest("[data-file]") ?? field;
      this.takeFile(target.dataset.file, event.dataTransfer.files[0]);
    }
  }

  async takeFile(name, file) {
    const control = this.form.elements[name];
    const limit = Number(control.dataset.longest);
    const holder = control.closest("[data-file]");
    if (file.size > 4 * limit) {
      const text = this.setup.failures.file_too_large;
      this.showError({ field: name, text: text.replace("{name}", file.name) });
      return;
    }
    const text = await file.text();
    const [chooser, values] = (holder.dataset.when ?? "=").split("=");
    if (chooser) this.form.elements[chooser].value = values.split("|")[0];
    this.showChoices();
    if (text.length > 200_000) {
      control.value = "";
      this.files.set(name, text);
    } else {
      this.files.delete(name);
      control.value = text;
    }
    holder.querySelector(".cp-file-name").textContent = file.name;
    this.put({ values: this.values() });
  }
}

function absolute(where) {
  const address = (path) => new URL(path, import.meta.url).href; // assets lie beside the bridge
  return {
    ...where,
    worker: address(where.worker),
    wheel: address(where.wheel),
    plot: address(where.plot),
    files: where.files.map(address),
  };
}

async function copy(text, button, setup) {
  try {
    await navigator.clipboard.writeText(text);
  } catch {
    // Without permission or a secure context the text is shown, selected, to be copied by hand.
    const box = document.createElement("textarea");
    box.value = text;
    box.readOnly = true;
    box.className = "cp-by-hand";
    box.setAttribute("aria-label", button.textContent);
    button.after(box);
    box.select();
    box.addEventListener("blur", () => box.remove());
    return;
  }
  button.dataset.label ??= button.textContent;
  button.textContent = setup.copied;
  setTimeout(() => (button.textContent = button.dataset.label), 1500);
}

// The other language opens the same question.
function keepInSwitcher(query) {
  for (const link of document.querySelectorAll(".md-select a[hreflang]")) {
    const url = new URL(link.href);
    url.search = query;
    link.href = url.href;
  }
}

function save(text, name, style) {
  const type = style === "json" ? "application/json" : "text/csv";
  const url = URL.createObjectURL(new Blob([text], { type }));
  const link = document.createElement("a");
  link.href = url;
  link.download = name;
  link.click();
  setTimeout(() => URL.revokeObjectURL(url), 10_000);
}

// Frames become a slider. Without script they stand one below the other.
function enliven(root) {
  for (const box of root.querySelectorAll(".cp-frames:not([data-ready])")) {
    box.dataset.ready = "";
    const frames = [...box.querySelectorAll(":scope > .cp-frame")];
    if (frames.length < 2) continue;
    const slider = document.createElement("input");
    Object.assign(slider, { type: "range", min: 1, max: frames.length, value: 1 });
    slider.className = "cp-slider";
    slider.setAttribute("aria-label", box.dataset.label);
    const show = () => {
      frames.forEach((frame, i) => (frame.hidden = i !== slider.value - 1));
      slider.setAttribute("aria-valuetext", frames[slider.value - 1].getAttribute("aria-label"));
    };
    slider.addEventListener("input", (event) => {
      event.stopPropagation();
      show();
    });
    box.prepend(slider);
    show();
  }
}

const SETTLED_MS = 120; // while a reader types, plots wait: drawing one takes longer than a frame
let plotting = Promise.resolve();
let settled = 0;

function drawPlots(root, address) {
  clearTimeout(settled);
  settled = setTimeout(() => drawNow(root, address), SETTLED_MS);
}

function drawNow(root, address) {
  for (const figure of root.querySelectorAll(".cp-plot")) {
    const canvas = figure.querySelector(".cp-canvas");
    const specification = figure.querySelector(".cp-spec").textContent;
    plotting = plotting.then(async () => {
      if (!canvas.isConnected) return; // a newer answer took its place
      try {
        const { draw } = await import(address);
        canvas.innerHTML = await draw(JSON.parse(specification), Math.max(canvas.clientWidth, 280));
      } catch (error) {
        console.error(error); // the numbers of the plot stand below it as a table
      }
    });
  }
}

// After a visit the page and what it loaded are at hand without a network. The copies are made
// when nothing else is under way.
const QUIET_MS = 3_000;

function keepLater(addresses) {
  setTimeout(() => keepOffline({ files: addresses() }), QUIET_MS);
}

// The other pages of the language and its search follow once a reader stays, and never before a
// first answer.
const STAYED_MS = 10_000;

function keepPagesLater() {
  if (navigator.connection?.saveData) return;
  setTimeout(async () => {
    await engine.starting?.catch(() => {});
    const links = document.querySelectorAll(".md-nav--primary a[href]");
    const searching = JSON.parse(document.querySelector(".cp-searching")?.textContent ?? "[]");
    const files = searching.map((path) => new URL(path, location.href).href);
    keepOffline({ files, pages: [...links].map((link) => link.href) });
  }, STAYED_MS);
}

async function keepOffline(wanted) {
  if (origin === "null" || !navigator.serviceWorker) return; // a sandbox throws at the question
  try {
    await navigator.serviceWorker.register(new URL("../offline.js", import.meta.url));
    const { active } = await navigator.serviceWorker.ready;
    active?.postMessage(wanted);
  } catch (error) {
    console.info("offline copies are not kept:", error.message);
  }
}

function loaded() {
  const own = performance.getEntriesByType("resource").map((entry) => entry.name);
  return [location.href, ...own].filter((address) => address.startsWith(location.origin));
}

// A section is bound once it is whole, which while the page is parsed means: something follows it.
function bind() {
  const whole = (section) => document.readyState !== "loading" || section.nextElementSibling;
  for (const section of document.querySelectorAll(".cp-calculator:not([data-live])")) {
    if (whole(section)) new Calculator(section);
  }
}

// How long the target of a link is followed, and what of the reader's ends it.
const FOLLOW_MS = 1_000;
const READERS_MOVES = ["wheel", "touchstart", "keydown", "pointerdown"];
let traversed = false; // the page at hand was reached by going back or forth

// The engine takes longest, so it does not wait for the rest of the page or the theme's script.
const parsing = new MutationObserver(bind);
if (document.readyState === "loading") {
  parsing.observe(document.documentElement, { childList: true, subtree: true });
  addEventListener("DOMContentLoaded", bindForGood);
} else {
  bindForGood();
}

// Material's instant navigation replaces the page's content and announces it here.
function bindForGood() {
  parsing.disconnect();
  const opened = () => {
    bind();
    if (arrived() && !traversed) meetTarget();
  };
  if (window.document$) window.document$.subscribe(opened);
  else opened();
}

// Who goes back or reloads is put where they were.
function arrived() {
  return performance.getEntriesByType("navigation")[0]?.type === "navigate";
}

addEventListener("popstate", () => {
  traversed = true;
});
document.addEventListener("click", (event) => {
  traversed = false;
  if (event.target.closest?.('a[href*="#"]')) requestAnimationFrame(meetTarget);
});

// What is out of sight has a guessed height until it comes near, so that the target of a link may
// move while what is around it is laid out: it is followed, unless the reader moves on.
function meetTarget() {
  const target = document.getElementById(location.hash.slice(1)); // our anchors are plain ASCII
  if (!target) return;
  const moved = new AbortController();
  for (const name of READERS_MOVES) {
    addEventListener(name, () => moved.abort(), { passive: true, signal: moved.signal });
  }
  const until = performance.now() + FOLLOW_MS;
  const follow = () => {
    if (performance.now() > until) moved.abort();
    if (moved.signal.aborted || !target.isConnected) return;
    target.scrollIntoView({ behavior: "instant" });
    requestAnimationFrame(follow);
  };
  follow();
}

addEventListener("load", () => {
  keepLater(loaded);
  keepPagesLater();
});

// The worker: starts Python, checks and unpacks the calculators, answers requests.
// It knows no calculator. Every failure is posted as a code; the page words it.
import { loadPyodide } from "./pyodide.mjs";

const here = new URL("./", import.meta.url).href;
const ARCHIVE = "/calculators.whl";
let door = null;

class Failure extends Error {
  constructor(code) {
    super(code);
    this.code = code;
  }
}

function canCompile() {
  if (typeof WebAssembly === "undefined") throw new Failure("no_webassembly");
  try {
    new WebAssembly.Module(Uint8Array.of(0, 97, 115, 109, 1, 0, 0, 0));
  } catch {
    throw new Failure("blocked");
  }
}

// Pyodide never settles where its interpreter is missing or has the wrong MIME type, so what it
// fetches is looked at on the way.
function watchInterpreter() {
  const plain = self.fetch;
  return new Promise((arrived, failed) => {
    self.fetch = async (resource, options) => {
      if (!String(resource?.url ?? resource).endsWith(".wasm")) return plain(resource, options);
      self.fetch = plain;
      try {
        const reply = await reach(resource, options);
        const type = reply.headers.get("content-type") ?? "";
        if (!type.startsWith("application/wasm")) throw new Failure("wrong_mime");
        arrived();
        return reply;
      } catch (failure) {
        failed(failure);
        throw failure;
      }
    };
  });
}

async function reach(url, options) {
  let reply;
  try {
    reply = await fetch(url, options);
  } catch {
    throw new Failure("unreachable");
  }
  if (!reply.ok) throw new Failure("missing");
  return reply;
}

// The browser itself checks the SHA-256; a wheel that fails it is never handed over.
async function fetchWheel({ wheel, integrity }) {
  let reply;
  try {
    reply = await fetch(wheel, { integrity });
  } catch {
    await reach(wheel, { method: "HEAD" });
    throw new Failure("wrong_hash");
  }
  if (!reply.ok) throw new Failure("missing");
  return reply.arrayBuffer();
}

async function start(where) {
  canCompile();
  const seen = watchInterpreter();
  const interpreter = loadPyodide({
    indexURL: here,
    stdLibURL: `${here}python_stdlib.zip`,
    lockFileContents: where.lock,
  });
  interpreter.catch(() => {}); // what was seen of the interpreter names the cause
  const [, wheel] = await Promise.all([seen, fetchWheel(where)]);
  const pyodide = await interpreter;
  // Python imports from the archive as it is: unpacking would take time and zipfile with it.
  pyodide.FS.writeFile(ARCHIVE, new Uint8Array(wheel));
  pyodide.runPython(`import sys; sys.path.insert(0, "${ARCHIVE}")`);
  door = pyodide.pyimport("calculators.web");
}

const code = (error) => {
  if (error instanceof Failure) return error.code;
  const text = String(error?.message ?? error);
  return /memory|allocation/i.test(text) ? "memory" : "crashed";
};

self.onmessage = async ({ data }) => {
  try {
    if (data.where) {
      await start(data.where);
      self.postMessage({ ready: true });
    } else {
      self.postMessage({ id: data.id, heard: true });
      const progress = (done) => self.postMessage({ id: data.id, progress: done });
      self.postMessage({ id: data.id, reply: door.answer(data.request, progress) });
    }
  } catch (error) {
    self.postMessage({ id: data.id, failure: code(error), detail: String(error) });
  }
};

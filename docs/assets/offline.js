// The service worker: what was visited can be read, and computed, without a network, and so can the
// rest of the site in the reader's language once a page was at rest.
// Hashed files never change and come from the cache; pages come from the network while there is one.
const CACHE = "critical-path-1";
const HASHED = /[-.][0-9a-f]{8,}\b[^/]*$|\/assets\/runtime\//;

self.addEventListener("install", () => self.skipWaiting());
self.addEventListener("activate", (event) => event.waitUntil(activate()));

self.addEventListener("message", (event) => {
  const { files, pages } = event.data ?? {};
  if (Array.isArray(files)) event.waitUntil(keep(files));
  if (Array.isArray(pages)) event.waitUntil(keepPages(pages));
});

// A page is on its way while this worker starts.
async function activate() {
  await self.registration.navigationPreload?.enable();
  await self.clients.claim();
}

async function keep(addresses) {
  const cache = await caches.open(CACHE);
  for (const address of new Set(addresses.map(bare))) {
    if (new URL(address).origin !== location.origin) continue;
    if (HASHED.test(address) && (await cache.match(address))) continue;
    await cache.add(address).catch(() => {}); // one that fails is asked for again next time
  }
}

// All copies of pages are brought up to date behind everything else; of one that did not change only
// the question travels. They then are of one deployment, and what only older ones used is let go.
async function keepPages(addresses) {
  const cache = await caches.open(CACHE);
  const here = [...addresses, ...(await kept(cache)).filter(isPage)].map(bare).filter(isOurs);
  let whole = true; // a page that fails is asked for again next time, and until then nothing goes
  for (const address of new Set(here)) whole = (await renew(cache, address)) && whole;
  if (whole) await tidy(cache);
}

async function renew(cache, address) {
  try {
    const reply = await fetch(address, { cache: "no-cache", priority: "low" });
    if (reply.ok) await cache.put(address, reply);
    else if (reply.status === 404) await cache.delete(address);
    return reply.ok || reply.status === 404;
  } catch {
    return false;
  }
}

async function tidy(cache) {
  const files = (await kept(cache)).filter((address) => HASHED.test(address) && ASSET.test(address));
  const used = new Set();
  for (const address of (await kept(cache)).filter(isPage)) {
    const text = await (await cache.match(address)).text();
    for (const file of files) if (text.includes(file.split(ASSET).at(-1))) used.add(file);
  }
  for (const file of files) if (!used.has(file)) await cache.delete(file);
}

const ASSET = /\/assets\//; // pages name these by what follows
const isPage = (address) => new URL(address).pathname.endsWith("/");
const isOurs = (address) => address.startsWith(self.registration.scope);
const kept = async (cache) => (await cache.keys()).map((request) => request.url);

// The state of a form is in the query, and the page is the same for every state.
const bare = (address) => {
  const url = new URL(address, location.href);
  url.hash = "";
  url.search = "";
  return url.href;
};

self.addEventListener("fetch", (event) => {
  const { request } = event;
  if (new URL(request.url).origin !== location.origin) return;
  if (request.method === "HEAD") event.respondWith(headOf(request));
  if (request.method !== "GET") return;
  if (!HASHED.test(request.url)) event.respondWith(networkFirst(event));
  // While there is a network the browser's own cache is asked: it keeps compiled code as well.
  else if (!navigator.onLine) event.respondWith(cacheFirst(request));
});

async function headOf(request) {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(request.url);
  return kept ? new Response(null, { headers: kept.headers }) : fetch(request);
}

async function cacheFirst(request) {
  const cache = await caches.open(CACHE);
  const kept = await cache.match(request.url);
  // A kept copy has to meet the hash that the page states, as a fetched one would.
  if (kept && !request.integrity) return kept;
  if (kept && (await meets(kept.clone(), request.integrity))) return kept;
  const reply = await fetch(request);
  if (reply.ok) await cache.put(request.url, reply.clone());
  return reply;
}

async function meets(reply, integrity) {
  const hash = await crypto.subtle.digest("SHA-256", await reply.arrayBuffer());
  return integrity === `sha256-${btoa(String.fromCharCode(...new Uint8Array(hash)))}`;
}

async function networkFirst({ request, preloadResponse }) {
  const cache = await caches.open(CACHE);
  try {
    const reply = (await preloadResponse) ?? (await fetch(request));
    if (reply.ok) await cache.put(bare(request.url), reply.clone());
    return reply;
  } catch (error) {
    const kept = await cache.match(bare(request.url));
    if (kept) return kept;
    throw error;
  }
}

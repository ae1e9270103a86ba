// Answers requests with the runtime that is shipped: the trimmed library, our wheel, no packages.
// node pyodide_answers.mjs HOME WHEEL LOCK REQUESTS REPLIES
// The start follows docs/assets/worker.mjs; only the ways of fetching differ under Node. As the
// page does, it starts anew where a question ends the interpreter; the reply is then the cause.
import { readFileSync, writeFileSync } from "node:fs";
import { pathToFileURL } from "node:url";

const [home, wheel, lock, asked, answered] = process.argv.slice(2);
const ARCHIVE = "/calculators.whl";
const { loadPyodide } = await import(pathToFileURL(`${home}/pyodide.mjs`).href);

async function start() {
  const pyodide = await loadPyodide({
    indexURL: home,
    stdLibURL: `${home}/python_stdlib.zip`,
    lockFileContents: JSON.parse(readFileSync(lock, "utf8")),
  });
  pyodide.FS.writeFile(ARCHIVE, readFileSync(wheel));
  pyodide.runPython(`import sys; sys.path.insert(0, "${ARCHIVE}")`);
  return pyodide;
}

let pyodide = await start();
const version = pyodide.runPython("sys.version.split()[0]");
let door = pyodide.pyimport("calculators.web");
const replies = [];
const told = [];
console.error = () => {}; // Pyodide reports a fatal error there as well
for (const request of JSON.parse(readFileSync(asked, "utf8"))) {
  let count = 0;
  try {
    replies.push(door.answer(request, () => { count += 1; }));
  } catch (error) {
    replies.push(`fatal: ${error}`);
    pyodide = await start();
    door = pyodide.pyimport("calculators.web");
  }
  told.push(count);
}
writeFileSync(answered, JSON.stringify({ version, replies, told }));

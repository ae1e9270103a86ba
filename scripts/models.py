"""Write ``calculators/kv/catalogue.py`` from ``data/models``: ``python -m scripts.models``.

The catalogue is Python so that the browser gets it as bytecode and nothing has to be parsed.
"""

import json
from dataclasses import astuple
from pathlib import Path

from calculators.kv.models import Model, from_json
from scripts.paths import CALCULATORS, DATA

CATALOGUE = CALCULATORS / "kv" / "catalogue.py"
HEAD = '''"""Known models. Written by ``python -m scripts.models`` from data/models; not by hand."""

from calculators.kv.models import Model

# fmt: off
MODELS: dict[str, Model] = {
    model.name: model
    for model in (
'''
TAIL = """    )
}
"""


def source() -> str:
    """The text of the module, models by name."""
    models = from_json((DATA / "models" / "models.json").read_text(encoding="utf-8"))
    rows = "".join(row(model) for model in sorted(models, key=lambda m: m.name.lower()))
    return HEAD + rows + TAIL


def row(model: Model) -> str:
    """One model as a call, a line or several."""
    inner = ", ".join(json.dumps(value, ensure_ascii=False) for value in astuple(model))
    return f"        Model({inner}),\n"


def main(path: Path = CATALOGUE) -> None:
    """Write the module."""
    path.write_text(source(), encoding="utf-8")


if __name__ == "__main__":
    main()

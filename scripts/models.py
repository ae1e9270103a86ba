"""Write two modules of ``calculators/kv`` from ``data``: ``python -m scripts.models``.

``catalogue.py`` has the known models of ``data/models``, ``published.py`` the printed figures of
``data/truth`` with what LMCache's calculator is told of each model. They are Python so that the
browser gets them as bytecode and nothing has to be parsed.
"""

import json
from dataclasses import astuple
from pathlib import Path

from calculators.kv.models import Model, from_json
from scripts import published
from scripts.paths import CALCULATORS, DATA

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


def main(folder: Path = CALCULATORS / "kv") -> None:
    """Write the modules."""
    (folder / "catalogue.py").write_text(source(), encoding="utf-8")
    (folder / "published.py").write_text(published.source(), encoding="utf-8")


if __name__ == "__main__":
    main()

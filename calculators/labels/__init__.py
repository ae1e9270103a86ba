"""The wording of the calculators, one TOML file each, both languages on adjacent lines.

The files travel with the package, so that the page, the browser and the terminal read the same
ones; reading them is the only file access below the programs that use the calculators.
"""

import json
import pkgutil
from functools import cache
from types import MappingProxyType
from typing import Any

from calculators.show.labels import Labels, Language, flatten

SHARED = "shared"
# The files whose wording the calculators of a family share; a later file overrides.
FAMILIES = {
    "kv": ("kv",),
    "prefix": ("prefix",),
    "tiering": ("prefix", "kv", "tiering"),  # shapes of kv, traces of prefix
    "floor": ("kv",),
}


@cache  # reading TOML takes longer than most answers
def load(calculator: str, lang: Language) -> Labels:
    """The labels of a calculator, of its family (``kv`` of ``kv-log``) and those of all."""
    family = calculator.partition("-")[0]
    names = [SHARED, *FAMILIES.get(family, ()), calculator]
    texts = {key: text for name in names for key, text in read(name, lang).items()}
    return Labels(lang, MappingProxyType(texts))


def read(name: str, lang: Language) -> dict[str, str]:
    """One label file in one language. The browser's wheel holds it as JSON, which is faster."""
    return flatten(tree(name), lang)


def tree(name: str) -> dict[str, Any]:
    """The nested table of a label file. Raises FileNotFoundError for a name that has none."""
    try:
        return json.loads(data_of(f"{name}.json"))  # type: ignore[no-any-return]
    except OSError:
        import tomllib  # noqa: PLC0415 - only where there is no JSON

        return tomllib.loads(data_of(f"{name}.toml").decode())


def data_of(name: str) -> bytes:
    """The bytes of a file beside this module, wherever it was imported from."""
    data = pkgutil.get_data(__name__, name)
    if data is None:
        raise FileNotFoundError(name)
    return data

"""The wording of the calculators, one TOML file each, both languages on adjacent lines.

The files travel with the package, so that the page, the browser and the terminal read the same
ones; reading them is the only file access below the programs that use the calculators.
"""

import pkgutil
import tomllib
from functools import cache
from types import MappingProxyType

from calculators.show.labels import Labels, Language, flatten

SHARED = "shared"
FAMILIES = ("kv",)  # whose wording the calculators named after it share


@cache  # reading TOML takes longer than most answers
def load(calculator: str, lang: Language) -> Labels:
    """The labels of a calculator, those of its family (``kv`` of ``kv-log``) and the shared ones."""
    family = calculator.partition("-")[0]
    names = [SHARED, *([family] if family in FAMILIES else []), calculator]
    texts = {key: text for name in names for key, text in read(name, lang).items()}
    return Labels(lang, MappingProxyType(texts))


def read(name: str, lang: Language) -> dict[str, str]:
    """One label file in one language."""
    data = pkgutil.get_data(__name__, f"{name}.toml")
    if data is None:
        raise LookupError(f"no labels {name}.toml")
    return flatten(tomllib.loads(data.decode()), lang)

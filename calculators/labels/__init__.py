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


@cache  # reading TOML takes longer than most answers
def load(calculator: str, lang: Language) -> Labels:
    """The labels of a calculator together with the shared ones."""
    return Labels(lang, MappingProxyType({**read(SHARED, lang), **read(calculator, lang)}))


def read(name: str, lang: Language) -> dict[str, str]:
    """One label file in one language."""
    data = pkgutil.get_data(__name__, f"{name}.toml")
    if data is None:
        raise LookupError(f"no labels {name}.toml")
    return flatten(tomllib.loads(data.decode()), lang)

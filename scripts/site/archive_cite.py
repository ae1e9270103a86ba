"""How a measurement is cited and described for machines: text, BibTeX, schema.org Dataset."""

import re
from collections.abc import Iterator
from typing import Any, Final

from calculators.measurements.result_file import name_of
from calculators.show.labels import Labels, Language
from scripts.site.archive_conditions import lines
from scripts.site.archive_records import Entry
from scripts.site.archive_words import remark, title

NAME: Final = "Critical Path"
LICENCE: Final = "https://www.apache.org/licenses/LICENSE-2.0"
TEX: Final = {"\\": r"\textbackslash{}", "~": r"\textasciitilde{}", "^": r"\textasciicircum{}"}
TYPES: Final = {".json": "application/json", ".jsonl": "application/jsonl", ".csv": "text/csv"}


def text(entry: Entry, labels: Labels, url: str) -> str:
    """One sentence that names the measurement for ever."""
    cited = labels.text(
        "cite.text",
        {
            "title": title(entry, labels),
            "id": entry.id,
            "kind": labels.text(f"kind.{entry.kind}"),
            "date": entry.record["added"],
            "sha256": entry.record["identity"]["original_sha256"],
            "url": url,
        },
    )
    source = remark(str(entry.given.get("source") or ""), labels)
    if entry.kind != "published_elsewhere" or not source:
        return cited
    return f"{labels.text('cite.elsewhere', {'source': source})} {cited}"


def bibtex(entry: Entry, labels: Labels, url: str) -> str:
    """The same as an entry of BibTeX."""
    year, month, _ = entry.record["added"].split("-")
    note = f"Artefact SHA-256 {entry.record['identity']['original_sha256']}"
    if entry.kind == "published_elsewhere" and entry.given.get("source"):
        note = f"Published elsewhere: {entry.given['source']}. {note}"
    fields = {
        "author": f"{{{NAME}}}",
        "title": f"{{{in_tex(title(entry, labels))}}}",
        "year": year,
        "month": str(int(month)),
        "howpublished": rf"\url{{{url}}}",
        "note": in_tex(note),
    }
    body = ",\n".join(f"  {name} = {{{value}}}" for name, value in fields.items())
    return f"@misc{{critical-path-{entry.id},\n{body}\n}}"


def in_tex(plain: str) -> str:
    """Text without a character that TeX would act on."""
    return re.sub(r"[\\~^&%$#_{}]", lambda m: TEX.get(m[0], f"\\{m[0]}"), plain)


def dataset(entry: Entry, labels: Labels, *, root: str, url: str) -> dict[str, Any]:
    """The measurement as a schema.org Dataset. ``root`` is the address of the home page."""
    stored = entry.record["stored"]
    about: dict[str, Any] = {
        "@context": "https://schema.org/",
        "@type": "Dataset",
        "@id": url,
        "url": url,
        "name": title(entry, labels),
        "description": "; ".join(f"{name}: {value}" for name, value in lines(entry, labels)),
        "identifier": [entry.id, f"urn:sha256:{entry.record['identity']['original_sha256']}"],
        "inLanguage": labels.lang,
        "dateModified": entry.record["added"],
        "isAccessibleForFree": True,
        "sdPublisher": {"@type": "Organization", "name": NAME, "url": root},
        "includedInDataCatalog": {
            "@type": "DataCatalog",
            "name": NAME,
            "url": f"{root}measurements/",
        },
        "variableMeasured": list(variables(entry, labels)),
        "distribution": [
            download(f"{root}{entry.artefact_path}", stored["file"], stored["sha256"]),
            download(f"{root}{entry.record_path}", entry.record_path, entry.record_sha256),
        ],
    }
    return about | origin(entry, root)


def origin(entry: Entry, root: str) -> dict[str, Any]:
    """Who measured: this site only where it did."""
    more: dict[str, Any] = {}
    if entry.kind == "measured_here":
        more["creator"] = {"@type": "Organization", "name": NAME, "url": root}
        more["license"] = LICENCE
    if entry.given.get("source"):
        more["isBasedOn"] = str(entry.given["source"])
    if entry.given.get("date"):
        more["dateCreated"] = str(entry.given["date"])
    if entry.given.get("command"):
        more["measurementTechnique"] = str(entry.given["command"])
    return more


def variables(entry: Entry, labels: Labels) -> Iterator[dict[str, Any]]:
    """Every figure with a value."""
    for figure in entry.measurement.figures:
        if figure.value is not None:
            name = labels.plain(name_of(figure.quantity, figure.source))
            unit = {"unitText": figure.unit} if figure.unit else {}
            yield {
                "@type": "PropertyValue",
                "name": f"{name} {figure.stat}" if figure.stat else name,
                "value": figure.value,
                **unit,
            }


def download(url: str, name: str, sha256: str) -> dict[str, str]:
    """One file."""
    ending = f".{name.rpartition('.')[2]}"
    return {
        "@type": "DataDownload",
        "contentUrl": url,
        "encodingFormat": TYPES.get(ending, "text/plain"),
        "sha256": sha256,
    }


def page_url(entry: Entry, root: str, lang: Language) -> str:
    """The permanent address of the page in a language."""
    return f"{root}{'' if lang == 'en' else f'{lang}/'}{entry.page_path}"

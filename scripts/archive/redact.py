"""Takes private details out of a result file before it is stored, and counts what it took.

Paths keep their last part, addresses their scheme; hosts, users and keys are replaced whole;
prompts, answers and request bodies become their length. JSON text is walked token by token, so that
numbers, order and spacing stay as they were. Left out: personal names inside free text.
"""

import json
import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass

from calculators.measurements.scan import TEXT_KEYS

SECRET_KEYS = {
    "api_key",
    "apikey",
    "api-key",
    "access_token",
    "hf_token",
    "token",
    "password",
    "secret",
    "authorization",
    "bearer",
    "credential",
    "credentials",
}
HOST_KEYS = {"host_name", "hostname", "host", "node", "machine_name", "server_name", "pod"}
USER_KEYS = {"user", "username", "user_name", "author", "author_email", "committer", "email"}

TOKEN = re.compile(r'"(?:[^"\\]|\\.)*"|[{}\[\]]')

PATTERNS = (
    ("key", re.compile(r"\b(?:sk|pk|hf|ghp|gho|xoxb|AKIA)[-_]?[A-Za-z0-9_-]{16,}\b"), "<key>"),
    ("key", re.compile(r"(?i)\bbearer\s+[A-Za-z0-9._~+/-]{8,}=*"), "<key>"),
    ("address", re.compile(r"\b([a-z][a-z0-9+.-]*)://[^\s\"'<>,\\]+"), r"\1://<address>"),
    ("email", re.compile(r"\b[\w.+-]+@[\w-]+(?:\.[\w-]+)+\b"), "<email>"),
    (
        "ip",
        re.compile(
            r"(?<![\d.])(?:(?:25[0-5]|2[0-4]\d|1?\d?\d)\.){3}"
            r"(?:25[0-5]|2[0-4]\d|1?\d?\d)(?![\d.])"
        ),
        "<ip>",
    ),
    (
        "path",
        re.compile(r"(?:\b[A-Za-z]:|\\)\\(?:[^\\/:*?\"<>|\s]+\\)*([^\\/:*?\"<>|\s]+)"),
        r"<path>/\1",
    ),
    (
        "path",
        re.compile(r"(?<![\w<./:-])(?:~|\.{1,2})?/(?:[\w.+@=-]+/)+([\w.+@=-]*)"),
        r"<path>/\1",
    ),
)


@dataclass(frozen=True, kw_only=True, slots=True)
class Redacted:
    """The text as it may be stored and how often each kind of detail was replaced."""

    text: str
    counts: dict[str, int]


def redact(text: str) -> Redacted:
    """A file's text without private details."""
    counts: Counter[str] = Counter()
    if text.lstrip()[:1] in {"{", "["}:
        return Redacted(text="".join(json_pieces(text, counts)), counts=kept(counts))
    lines = [line_without(line, counts) for line in text.splitlines(keepends=True)]
    return Redacted(text="".join(lines), counts=kept(counts))


def json_pieces(text: str, counts: Counter[str]) -> Iterator[str]:
    """The text in long pieces, strings replaced where their key or their content asks for it."""
    stack: list[str | None] = []  # the key under which each open object or array stands
    key: str | None = None
    kept_from = 0
    for match in TOKEN.finditer(text):
        token = match[0]
        if token[0] != '"':
            key = walk(token, stack, key)
        elif text[match.end() : match.end() + 16].lstrip()[:1] == ":":
            key = token[1:-1]
        elif (cleaned := string_without(token, (*stack, key), counts)) is not token:
            yield text[kept_from : match.start()]
            yield cleaned
            kept_from = match.end()
    yield text[kept_from:]


def walk(mark: str, stack: list[str | None], key: str | None) -> str | None:
    """Follow brackets; the key that holds for the next string."""
    if mark in "{[":
        stack.append(key)
        return None if mark == "{" else key
    if mark in "}]" and stack:
        return stack.pop()
    return key


def string_without(literal: str, keys: tuple[str | None, ...], counts: Counter[str]) -> str:
    """A JSON string literal, redacted by the keys above it or by its content."""
    try:
        body: str = json.loads(literal)
    except ValueError:
        return literal
    cleaned = value_without(body, keys, counts)
    return literal if cleaned == body else json.dumps(cleaned)


def value_without(body: str, keys: tuple[str | None, ...], counts: Counter[str]) -> str:
    """A string's value without private details."""
    if any(key in TEXT_KEYS for key in keys) and body:
        counts["text"] += 1
        return f"<{len(body)} characters>"
    last = (keys[-1] or "").lower()
    for kind, names in (("key", SECRET_KEYS), ("host", HOST_KEYS), ("user", USER_KEYS)):
        if last in names and body:
            counts[kind] += 1
            return f"<{kind}>"
    return patterns_out(body, counts)


def line_without(line: str, counts: Counter[str]) -> str:
    """A line of YAML, CSV or a log: ``key: value`` pairs and patterns."""
    match = re.match(r"(\s*(?:-\s+)?[\"']?([\w.-]+)[\"']?\s*:\s+)(\S.*)", line)
    if match is not None:
        value = match[3].strip("'\" ")
        for kind, names in (("key", SECRET_KEYS), ("host", HOST_KEYS), ("user", USER_KEYS)):
            if match[2].lower() in names and value not in {"null", "~", ""}:
                counts[kind] += 1
                return f"{match[1]}<{kind}>{line[match.end() :]}"
    return patterns_out(line, counts)


def patterns_out(text: str, counts: Counter[str]) -> str:
    """What is private wherever it stands."""
    for kind, pattern, replacement in PATTERNS:
        text, found = pattern.subn(replacement, text)
        counts[kind] += found
    return text


def kept(counts: Counter[str]) -> dict[str, int]:
    """The counts without zeros, by name."""
    return {kind: counts[kind] for kind in sorted(counts) if counts[kind]}

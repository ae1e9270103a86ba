"""The runtime that the browser gets answers exactly as CPython does."""

import json
import shutil
import subprocess
import sys

import pytest

from calculators.registry import MODULES
from calculators.show.labels import LANGUAGES
from calculators.web import answer
from scripts.paths import NODE_MODULES, ROOT
from tests.questions import QUESTIONS, Question

SCRIPT = ROOT / "tests" / "pyodide_answers.mjs"
REQUESTS = [question.request(lang) for question in QUESTIONS for lang in LANGUAGES]

pytestmark = [
    pytest.mark.slow,
    pytest.mark.skipif(
        shutil.which("node") is None or not (NODE_MODULES / "pyodide").is_dir(),
        reason="Node and the packages of the browser are not set up",
    ),
    pytest.mark.xdist_group("pyodide"),
]


@pytest.fixture(scope="module")
def browser(tmp_path_factory):
    """What Pyodide says to all questions, with the files of a build and nothing else."""
    from scripts.site import runtime  # noqa: PLC0415 - it needs the packages of the browser

    folder = tmp_path_factory.mktemp("runtime")
    built = runtime.build()
    for name, data in built.files.items():
        path = folder / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(data)
    lock, asked, replies = (folder / f"{name}.json" for name in ("lock", "asked", "replies"))
    lock.write_text(json.dumps(runtime.empty_lock()), encoding="utf-8")
    asked.write_text(json.dumps(REQUESTS), encoding="utf-8")
    command = ["node", SCRIPT, folder / built.home, folder / built.wheel, lock, asked, replies]
    done = subprocess.run(command, capture_output=True, check=False, cwd=folder)

    assert done.returncode == 0, done.stderr.decode()[-2000:]
    return json.loads(replies.read_text(encoding="utf-8"))


def test_one_minor_version(browser):
    """Browser, build and tests run the same minor version of Python."""
    minor = ".".join(browser["version"].split(".")[:2])

    assert minor == f"{sys.version_info.major}.{sys.version_info.minor}"


def test_answers_are_identical(browser):
    """Every question, in both languages, has the same reply to the last character."""
    differing = [
        (request[:200], ours[:400], theirs[:400])
        for request, theirs in zip(REQUESTS, browser["replies"], strict=True)
        if theirs != (ours := answer(request))
    ]

    assert differing == []


def steps(request):
    """How often CPython is told the progress of an answer."""
    told = []
    answer(request, told.append)
    return len(told)


def test_progress_crosses_the_border(browser):
    """A function of JavaScript is told progress as often as one of Python."""
    defaults = {Question(name).request("en") for name in MODULES}
    theirs = {
        request: count
        for request, count in zip(REQUESTS, browser["told"], strict=True)
        if request in defaults
    }

    assert {request: steps(request) for request in defaults} == theirs
    assert any(theirs.values())

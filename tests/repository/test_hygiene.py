"""What must not stand in the repository, and what the locks must say."""

import json
import re
import subprocess

import pytest

from scripts.paths import ROOT

REGISTRIES = re.compile(
    r"pypi\.org/simple|pythonhosted\.org|registry\.npmjs\.org|registry\.yarnpkg|npmmirror|"
    r"mirrors?\.[\w.-]+/(pypi|npm)|index[-_]url\s*=?\s*http|\.devpi\.",
    re.IGNORECASE,
)
MACHINE_PATHS = re.compile(r"(?<![\w.\-~/])/(?:work|home/\w+|root|Users/\w+|private/var)/[\w.]")
REQUIREMENT = re.compile(r"^[A-Za-z0-9][\w.\-\[\]]*\s*==\s*\S+", re.MULTILINE)
# Files that hold such words as examples of what is taken out of results, or found in them.
EXAMPLES = re.compile(
    r"^tests/(repository/test_hygiene|archive/|measurements/)|^data/measurements/artefacts/"
)
LARGEST = 1_000_000  # bytes


def tracked():
    """Every tracked file that is there, by its path in the repository."""
    listed = subprocess.run(["git", "ls-files", "-z"], cwd=ROOT, capture_output=True, check=False)
    if listed.returncode:
        pytest.skip("this is no checkout of the repository")
    return [n for n in listed.stdout.decode().split("\0") if n and (ROOT / n).is_file()]


def lines_with(pattern):
    """``file:line`` of every line of a tracked text file that a pattern is found in."""
    for name in tracked():
        if EXAMPLES.match(name):
            continue
        text = (ROOT / name).read_bytes().decode("utf-8", errors="replace")
        for number, line in enumerate(text.splitlines(), start=1):
            if pattern.search(line):
                yield f"{name}:{number}: {line.strip()[:100]}"


def test_no_registry_addresses():
    """No file says where packages are fetched from: that is the reader's own setting."""
    assert list(lines_with(REGISTRIES)) == []


def test_no_paths_of_one_machine():
    """No file names a folder that exists on one machine only."""
    assert list(lines_with(MACHINE_PATHS)) == []


def test_the_npm_lock_has_hashes_and_no_addresses():
    """Every package of the lock has an integrity hash; none says where it was fetched."""
    lock = json.loads((ROOT / "package-lock.json").read_text(encoding="utf-8"))
    packages = {name: about for name, about in lock["packages"].items() if name}

    assert [name for name, about in packages.items() if "integrity" not in about] == []
    assert [name for name, about in packages.items() if "resolved" in about] == []


def test_browser_packages_are_pinned_exactly():
    """What the browser gets is named by one version, not by a range."""
    package = json.loads((ROOT / "package.json").read_text(encoding="utf-8"))
    versions = {**package.get("dependencies", {}), **package.get("devDependencies", {})}

    assert [v for v in versions.values() if not re.fullmatch(r"\d+\.\d+\.\d+", v)] == []


@pytest.mark.parametrize("path", sorted(ROOT.glob("requirements*.txt")), ids=lambda p: p.name)
def test_requirements_are_pinned_and_hashed(path):
    """Every requirement is one version with at least one SHA-256."""
    text = path.read_text(encoding="utf-8").replace("\\\n", " ")
    entries = [line for line in text.splitlines() if line.strip() and not line.startswith("#")]
    entries = [line for line in entries if not line.startswith("    #")]

    assert len(entries) > 10
    assert [line[:60] for line in entries if not REQUIREMENT.match(line)] == []
    assert [line[:60] for line in entries if "--hash=sha256:" not in line] == []


def test_the_python_version_stands_in_one_place():
    """``.python-version`` is what the project requires."""
    minor = (ROOT / ".python-version").read_text(encoding="utf-8").strip()
    project = (ROOT / "pyproject.toml").read_text(encoding="utf-8")

    assert f'requires-python = ">={minor},' in project
    assert f'python_version = "{minor}"' in project
    assert f'target-version = "py{minor.replace(".", "")}"' in project


def test_files_are_text_of_reasonable_size():
    """No built, packed or huge file is tracked, and text is UTF-8 with LF."""
    for name in tracked():
        data = (ROOT / name).read_bytes()

        assert len(data) <= LARGEST, name
        assert not name.endswith((".whl", ".zip", ".wasm", ".br", ".gz", ".pyc")), name
        if b"\0" not in data and not EXAMPLES.match(name):
            assert b"\r\n" not in data, name
            data.decode()

"""Adding, verifying and reading back: nothing changes silently, nothing is in twice."""

import json
import random
import shutil

import pytest

from calculators.form.errors import ParameterError
from scripts.archive.__main__ import main
from scripts.archive.record import identity, upgraded, violations
from scripts.archive.store import Addition, Archive, add
from scripts.archive.verify import problems

RUN = {
    "date": "20260101-000000",
    "backend": "vllm",
    "model_id": "/home/jane/models/m",
    "num_prompts": 4,
    "request_rate": float("inf"),
    "max_concurrency": None,
    "duration": 2.0,
    "completed": 3,
    "failed": 1,
    "mean_ttft_ms": 200.0,
    "ttfts": [0.1, 0.2, 0.0, 0.3],
    "errors": ["", "", "refused by 10.1.2.3", ""],
    "generated_texts": ["secret"] * 4,
    "api_key": "sk-0123456789abcdef0123",
    "fork_rate": float("nan"),
}
LATENCY = {"avg_latency": 2.0, "latencies": [1.0, 3.0], "percentiles": {"50": 2.0}}


@pytest.fixture
def archive(tmp_path):
    """An archive with two files and three records."""
    found = Archive(root=tmp_path / "archive")
    (tmp_path / "a.json").write_text(json.dumps(RUN) + "\n" + json.dumps(RUN | {"completed": 2}))
    (tmp_path / "b.json").write_text(json.dumps(LATENCY))
    for name in ("a.json", "b.json"):
        add(found, Addition(path=tmp_path / name))
    return found


def files(archive):
    """Every file of an archive."""
    return sorted(path for path in archive.root.rglob("*") if path.is_file())


def test_whole_archive_has_no_problem(archive):
    """What was added verifies."""
    assert [] == problems(archive)


def test_records_keep_the_schema(archive):
    """Every record validates, and its identity is that of artefact and pointer."""
    records = list(archive.all())

    assert 3 == len(records)
    for record in records:
        assert [] == violations(record)
        place = record["identity"]
        assert record["id"] == identity(place["original_sha256"], place["pointer"])


def test_private_details_are_gone(archive):
    """No key, path, host or text of the original is in any file of the archive."""
    stored = "".join(path.read_text() for path in files(archive))

    for secret in ("jane", "sk-0123", "10.1.2.3", "secret"):
        assert secret not in stored


def test_every_sampled_flip_is_found(archive, tmp_path):
    """A flipped bit in any byte of any file is a problem."""
    draw = random.Random(7)  # noqa: S311 -- a sample of places
    for path in files(archive):
        data = path.read_bytes()
        for place in draw.sample(range(len(data)), min(25, len(data))):
            copy = tmp_path / "copy"
            shutil.copytree(archive.root, copy)
            target = copy / path.relative_to(archive.root)
            target.write_bytes(flipped(data, place, draw.randrange(8)))

            assert problems(Archive(root=copy)), f"{path.name} byte {place}"
            shutil.rmtree(copy)


def flipped(data, place, bit):
    """The bytes with one bit changed."""
    return data[:place] + bytes([data[place] ^ (1 << bit)]) + data[place + 1 :]


def test_missing_and_extra_files_are_all_reported(archive):
    """One report names every file that is gone and every file that does not belong."""
    first, *_ = archive.records.glob("*.json")
    first.unlink()
    (archive.artefacts / "stray.txt").write_text("x")
    (archive.root / "notes.md").write_text("x")
    report = "\n".join(problems(archive))

    for part in (f"{first.name} is missing", "stray.txt", "notes.md"):
        assert part in report


def test_duplicate_bytes_are_reported(archive):
    """The same bytes under another name are a problem."""
    first = next(archive.artefacts.iterdir())
    shutil.copy(first, archive.artefacts / ("0" * 64 + ".json"))

    assert any("same bytes" in line for line in problems(archive))


def test_cut_and_reordered_ledger_are_found(archive):
    """A line taken out or moved breaks the chain or leaves files without a line."""
    lines = archive.ledger.read_text().splitlines(keepends=True)
    for changed in (lines[:-1], lines[1:], [lines[1], lines[0], lines[2]]):
        archive.ledger.write_text("".join(changed))

        assert problems(archive)


def test_broken_link_is_found(archive):
    """A record that supersedes what does not exist is a problem."""
    path = next(archive.records.glob("*.json"))
    path.write_text(json.dumps(json.loads(path.read_text()) | {"supersedes": "0" * 16}))

    assert any("does not exist" in line for line in problems(archive))


def test_same_file_is_refused_twice(archive, tmp_path):
    """Two entries cannot share an artefact and pointer."""
    with pytest.raises(ParameterError, match="already_archived"):
        add(archive, Addition(path=tmp_path / "b.json"))


def test_old_versions_upgrade_step_by_step():
    """Two single steps lead from version 1 to 3; a newer version and a gap are refused."""
    steps = {1: lambda r: r | {"schema": 2, "b": 1}, 2: lambda r: r | {"schema": 3, "c": 2}}

    assert {"schema": 3, "b": 1, "c": 2} == upgraded({"schema": 1}, steps, 3)
    with pytest.raises(ParameterError, match="version_newer"):
        upgraded({"schema": 9}, steps, 3)
    with pytest.raises(ParameterError, match="no_upgrade"):
        upgraded({"schema": 1}, {}, 3)


def test_command_line_round(tmp_path, capsys):
    """add, verify, show, diff and table work on one folder; a mistake is one sentence."""
    root, file = str(tmp_path / "r"), tmp_path / "b.json"
    file.write_text(json.dumps(LATENCY))
    other = tmp_path / "c.json"
    other.write_text(json.dumps(LATENCY | {"avg_latency": 3.0}))

    assert 0 == main(["--root", root, "add", str(file)])
    assert 0 == main(["--root", root, "add", str(other)])
    first, second = capsys.readouterr().out.split()
    for verb in (["verify"], ["show", first], ["diff", first, second], ["table"]):
        assert 0 == main(["--root", root, *verb])
    assert "comparability: unknown" in capsys.readouterr().out
    assert 2 == main(["--root", root, "show", "nothing"])

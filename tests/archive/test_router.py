"""The timed router: its pool, its truncation, its ranking, and that its report can be archived."""

import json
import math
from pathlib import Path

import pytest

from calculators.form.errors import ParameterError
from calculators.measurements.read import read_text
from scripts.router import pool, prompts
from scripts.router.conversation import Message, assemble, truncate_left

ROOT = Path(__file__).parents[2]
POOL = ROOT / "data" / "pools" / "coderouterbench.yaml"
HEAD = "schema: 1\nname: p\ncurrency: USD\ncandidates:\n"
ENTRY = (
    "  - {id: a, descriptor: d, context_tokens: 10, input_per_million: 1, output_per_million: 2}\n"
)


def test_pool_of_eight_marked_candidates():
    """The pool has eight candidates, and its prices are marked as examples."""
    found = pool.load(POOL)

    assert 8 == len(found.candidates)
    assert found.example


BROKEN = [
    ("no schema", "name: p", "schema_unknown"),
    ("no YAML", "a: [", "yaml_broken"),
    ("no candidates", "schema: 1\ncandidates: []", "no_candidates"),
    ("twice", HEAD + ENTRY + ENTRY, "twice"),
    ("unknown field", HEAD + ENTRY.replace("id: a", "id: a, colour: red"), "unknown_field"),
    ("negative price", HEAD + ENTRY.replace("million: 1", "million: -1"), "out_of_range"),
    ("NaN price", HEAD + ENTRY.replace("million: 1", "million: .nan"), "out_of_range"),
    ("no descriptor", HEAD + ENTRY.replace("descriptor: d, ", ""), "empty"),
]


@pytest.mark.parametrize(("text", "reason"), [pytest.param(t, r, id=n) for n, t, r in BROKEN])
def test_broken_pool_is_refused(tmp_path, text, reason):
    """What a pool must not hold ends in one reason."""
    path = tmp_path / "pool.yaml"
    path.write_text(text)

    with pytest.raises(ParameterError) as caught:
        pool.load(path)

    assert reason == caught.value.reason


def test_truncation_keeps_the_end():
    """The oldest tokens go first."""
    assert [3, 4] == truncate_left([1, 2, 3, 4], 2)
    assert [] == truncate_left([1], 0)


def test_single_turn_is_its_own_text():
    """Several turns are joined with their roles, one stands alone."""
    one, two = Message(role="user", content="a"), Message(role="assistant", content="b")

    assert "a" == assemble([one])
    assert "user: a\n\nassistant: b" == assemble([one, two])


@pytest.mark.parametrize("tokens", [1, 15, 256, 1024])
def test_prompt_has_exactly_so_many_tokens(tokens):
    """A prompt is found for every length of a byte tokenizer."""
    encode = lambda text: list(text.encode())  # noqa: E731 -- the tokenizer in one line

    assert tokens == len(encode(prompts.of_tokens(encode, tokens)))


REPORT = {
    "schema": "critical-path/router-latency",
    "version": 1,
    "dtype": "float32",
    "device": {"asked": "cuda", "used": "cpu", "name": "CPU"},
    "iterations": 3,
    "warmups": 1,
    "checkpoint": {"model": "random:x", "weights": "random"},
    "one_off_ms": {"encoder_init": 12.5},
    "runs": [
        {
            "boundary": "router_decide",
            "prompt_tokens": 15,
            "characters": 60,
            "cold_ms": 180.0,
            "warm_ms": [70.0, 71.0, 75.0],
        }
    ],
}


def test_report_is_read_with_its_conditions():
    """Warm samples, the first call apart, the device in use and the mark of random weights."""
    reading = read_text(json.dumps(REPORT))
    warm, start = reading.measurements

    assert (180.0, 71.0) == (warm.figure("first_call").value, warm.figure("run_time", "p50").value)
    assert "router_decide" == warm.boundary
    assert "cpu" == warm.provenance["device"]["used"]
    assert "random_weights" in {note.code for note in reading.all_notes}
    assert (1, 12.5) == (start.figure("n_samples").value, start.figure("first_call").value)


class Stub:
    """An engine whose vectors are the counts of two letters."""

    class checkpoint:  # noqa: N801 -- stands for the attribute
        """One token a character."""

        class tokenizer:  # noqa: N801
            """One token a character."""

            encode = staticmethod(list)

    def encode(self, text):
        """A unit vector."""
        numpy = pytest.importorskip("numpy")
        counts = numpy.array([text.count("x") + 0.1, text.count("y") + 0.1])
        return counts / math.hypot(*counts)


def test_ranking_weighs_likeness_and_cost():
    """Quality takes the likest, economy the cheaper of two alike; what does not fit is left out."""
    decide = pytest.importorskip("scripts.router.decide", exc_type=ImportError)

    def candidate(name, descriptor, price, context=100_000):
        return pool.Candidate(
            id=name,
            descriptor=descriptor,
            context_tokens=context,
            input_per_million=price,
            output_per_million=price,
        )

    choices = (
        candidate("dear", "xxx", 10),
        candidate("cheap", "xxxy", 1),
        candidate("other", "yyy", 1),
        candidate("short", "xxx", 0, context=10),
    )
    given = pool.Pool(name="p", sha256="", example=True, currency="USD", candidates=choices)
    router = decide.Router(pool=given, engine=Stub())
    ask = [Message(role="user", content="xxxxxx")]

    assert "dear" == router.decide(ask, "quality").ranking[0].candidate.id
    assert "cheap" == router.decide(ask, "economy").ranking[0].candidate.id
    assert 3 == len(router.decide(ask).ranking)

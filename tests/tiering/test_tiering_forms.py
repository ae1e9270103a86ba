"""The three forms through the one door: answers in both languages, settings, bad input."""

import json
import re

import pytest
from tiering_questions import BAD, CONFIG, GOOD

from calculators import web
from calculators.form.parse import parse
from calculators.registry import find
from calculators.show.blocks import Code, Section, Table, numbers_of
from calculators.show.labels import LANGUAGES


def solved(name, **values):
    """The result of a form."""
    calculator = find(name)
    return calculator.solve(parse(calculator.params, values), lambda _done: None)


def figures(name, **values):
    """Its figures."""
    return {k: q.value for k, q in numbers_of(solved(name, **values).blocks).items()}


def asked(name, lang, **values):
    """The reply of the door."""
    request = {"calculator": name, "lang": lang, "values": values}
    return json.loads(web.answer(json.dumps(request)))


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("name", "values"), GOOD)
def test_every_answer_is_worded(name, values, lang):
    """Each answer comes in both languages, with nothing that lacks a label."""
    reply = asked(name, lang, **values)

    assert "error" not in reply
    assert reply["status"]


@pytest.mark.parametrize("lang", LANGUAGES)
@pytest.mark.parametrize(("name", "values", "field"), BAD)
def test_bad_input_is_one_sentence(name, values, field, lang):
    """What cannot be used is named by its field, never a failure of ours."""
    reply = asked(name, lang, **values)

    assert field == reply["error"]["field"]
    assert "{" not in reply["error"]["text"].replace("{}", "").replace("{ ", "")


def test_the_default_is_the_paper():
    """Llama 3.1 70B at 8,192 tokens on eight A100: 2.5 GiB and 375/64 GB/s."""
    found = figures("tiering")

    assert (2684354560, 8192) == (found["bytes"], found["need_to_load"])
    assert 375 / 64 == found["least_bandwidth"]
    assert 123625 / 6656 == float(figures("tiering", device="H100 SXM")["least_bandwidth"])


def test_widths_come_from_where_they_stand():
    """A config, the list and the field give the same figure."""
    same = [
        figures("tiering", config=CONFIG),
        figures("tiering", model="meta-llama/Llama-3.1-8B-Instruct"),
        figures("tiering", layers="32", hidden_size="4096"),
    ]

    assert same[0] == same[1] == same[2]


def test_the_config_of_a_nested_model_is_searched():
    """``hidden_size`` may stand in ``text_config``."""
    nested = json.dumps({"model_type": "x", "text_config": json.loads(CONFIG)})

    assert figures("tiering", config=CONFIG) == figures("tiering", config=nested)


def codes(**values):
    """Texts of the settings by engine."""
    result = solved("tiering", **values)
    [section] = [b for b in result.blocks if isinstance(b, Section) and b.id == "settings"]
    return {block.id: block.text for block in section.blocks if isinstance(block, Code)}


def test_settings_hold_the_sizes_of_the_form():
    """GiB a worker for LMCache, GB a rank for HiCache, GiB in all for vLLM."""
    found = codes(
        host_gib="800", tensor_parallel_size="8", ssd_gib="8000", min_retrieve_tokens="512"
    )

    assert "max_local_cpu_size: 100.0 " in found["lmcache"]
    assert "max_local_disk_size: 1000.0 " in found["lmcache"]
    assert "min_retrieve_tokens: 512" in found["lmcache"]
    assert "--hicache-size 107 " in found["hicache"]  # 800 GiB / 8 = 107.37 GB
    assert "--kv-offloading-size 800 " in found["offloading"]
    assert f'"cpu_bytes_to_use":{800 * 2**30}' in found["offloading"]


def test_settings_are_what_their_readers_read():
    """JSON in the options parses; each block names repository, file and commit."""
    for text in codes(ssd_gib="1").values():
        assert re.search(r"@[0-9a-f]{7}", text)
        for inner in re.findall(r"'(\{.*\})'", text):
            assert json.loads(inner)


def test_the_chosen_engine_stands_first():
    """The options of the engine that was asked about come first."""
    assert ["hicache", "lmcache", "offloading"] == list(codes(engine="hicache"))


def test_a_slow_tier_makes_first_tokens_later():
    """At 0.5 GB/s, waiting for the whole prefetch is worse for some; best effort is for none."""
    slow = {"ssd_gb_per_s": "0.5", "host_gib": "0"}
    waiting = figures("tiering-trace", **slow)
    hasty = figures("tiering-trace", **slow, prefetch="best_effort")

    assert waiting["worse"] > 0
    assert hasty["worse"] == 0


def test_bytes_of_the_tiers_are_blocks():
    """Read bytes are used blocks of 256 tokens of 327,680 bytes."""
    result = solved("tiering-trace")
    [table] = [b for b in result.blocks if isinstance(b, Table) and b.id == "tiers"]

    for row in table.rows[1:]:
        assert row[2].value * 256 * 327_680 == row[4].value

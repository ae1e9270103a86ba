"""Traces in every format, and errors that name the row."""

import pytest

from calculators.form.errors import ParameterError
from calculators.prefix.keys import Namespace, unpack
from calculators.prefix.readers.detect import read_trace
from calculators.prefix.tokenisations import TOKENISATIONS, tokeniser

MOONCAKE = (
    '{"timestamp": 0, "input_length": 600, "output_length": 5, "hash_ids": [7, 8]}\n'
    '{"timestamp": 27, "input_length": 512, "output_length": 1, "hash_ids": [7]}\n'
)
BAILIAN = (
    '{"chat_id": 1, "parent_chat_id": -1, "timestamp": 1.5, "input_length": 20, '
    '"output_length": 9, "type": "text", "turn": 1, "hash_ids": [99999999999, 3]}\n'
)


def test_mooncake_has_blocks_of_512_and_milliseconds():
    """Lengths, times and ids come over; the partial block counts as a block."""
    trace = read_trace(MOONCAKE)

    assert ("mooncake", 512) == (trace.format, trace.block_tokens)
    assert (600, 512) == trace.input_tokens
    assert (0.0, 27.0) == trace.arrivals_ms
    assert [7, 8] == unpack(trace.keys[0])
    assert (2, 1) == trace.block_counts
    assert (1, 1) == trace.full_block_counts
    assert 2 == trace.unique_blocks


def test_bailian_has_blocks_of_16_seconds_and_large_ids():
    """Ids beyond 32 bits are numbered in the order of their appearance."""
    trace = read_trace(BAILIAN)

    assert ("bailian", 16) == (trace.format, trace.block_tokens)
    assert (1500.0,) == trace.arrivals_ms
    assert [0, 1] == unpack(trace.keys[0])


def test_tokens_and_prompts_may_name_adapter_and_salt():
    """Token rows and prompt rows mix; a namespace has two parts."""
    trace = read_trace(
        '{"tokens": [1, 2, 3], "adapter": "a"}\n\n{"prompt": "hello hello", "salt": "s"}'
    )

    assert (3, 3) == trace.input_tokens
    assert (Namespace("a"), Namespace(None, "s")) == trace.namespaces


def test_plain_lines_are_prompts():
    """Equal words get equal tokens across lines."""
    trace = read_trace("be kind. hi\nbe kind. yo")

    one, other = map(unpack, trace.keys)

    assert one[:4] == other[:4]


@pytest.mark.parametrize("name", TOKENISATIONS)
def test_tokenisations_keep_shared_prefixes(name):
    """Whatever the tokenisation, an equal beginning stays an equal beginning."""
    tokenise = tokeniser(name)
    one, other = tokenise("共享前缀 shared, A"), tokenise("共享前缀 shared, B")

    assert one[:-1] == other[:-1]
    assert one[-1] != other[-1]


@pytest.mark.parametrize(
    ("text", "reason", "row"),
    [
        pytest.param("", "no_rows", None, id="empty"),
        pytest.param(" \n\n", "no_rows", None, id="blank lines"),
        pytest.param(MOONCAKE + '{"timest', "row_not_json", 3, id="cut off"),
        pytest.param(MOONCAKE + "[1]", "row_not_object", 3, id="no object"),
        pytest.param(MOONCAKE + '{"tokens": [1]}', "row_lacks", 3, id="mixed formats"),
        pytest.param('{"input_length": 5, "hash_ids": [-1]}', "row_id", 1, id="negative id"),
        pytest.param('{"input_length": 5, "hash_ids": [true]}', "row_id", 1, id="boolean id"),
        pytest.param('{"input_length": 5, "hash_ids": [1, 2]}', "row_blocks", 1, id="count"),
        pytest.param('{"input_length": 600, "hash_ids": [1, 1]}', "row_id_twice", 1, id="twice"),
        pytest.param('{"input_length": 0, "hash_ids": []}', "row_value", 1, id="length 0"),
        pytest.param('{"input_length": 1e99, "hash_ids": []}', "row_value", 1, id="huge length"),
        pytest.param(
            '{"input_length": 5, "timestamp": NaN, "hash_ids": [1]}', "row_value", 1, id="NaN"
        ),
        pytest.param('{"tokens": [4294967296]}', "row_id", 1, id="huge token"),
        pytest.param('{"tokens": []}', "row_empty", 1, id="no tokens"),
        pytest.param('{"question": "?"}', "row_lacks", 1, id="unknown keys"),
        pytest.param("{" * 5000, "row_not_json", 1, id="deep nesting"),
        pytest.param(
            "TIMESTAMP,ContextTokens,GeneratedTokens\r\n", "no_prefixes", None, id="Azure"
        ),
        pytest.param(
            "Timestamp,Model,Request tokens,Response tokens,Total tokens,Log Type",
            "no_prefixes",
            None,
            id="BurstGPT",
        ),
    ],
)
def test_bad_traces_are_refused_by_row(text, reason, row):
    """The error holds the reason and the row, and nothing has been read half."""
    with pytest.raises(ParameterError) as error:
        read_trace(text)

    assert (reason, row) == (error.value.reason, error.value.limits.get("row"))


def test_unknown_format_is_refused():
    """A format that does not exist raises ParameterError."""
    with pytest.raises(ParameterError):
        read_trace("a", "parquet")

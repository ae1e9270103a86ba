"""Traces of block hashes: Mooncake (512-token blocks, ms) and Qwen-Bailian (16-token blocks, s).

Schemas: kvcache-ai/Mooncake 3b5a594, FAST25-release/traces; Qwen-Bailian README at 03a51e3. An id
stands for a block and everything before it, so equal ids mean an equal prefix. Output tokens have
no ids: what a model generated cannot be matched from such a trace.
"""

from array import array
from dataclasses import dataclass

from calculators.form.errors import ParameterError
from calculators.prefix.keys import LARGEST_TOKEN, NO_NAMESPACE, Namespace
from calculators.prefix.readers.rows import FIELD, Row, ids, json_rows, moment, named, whole
from calculators.prefix.trace import Trace


@dataclass(frozen=True, kw_only=True, slots=True)
class Schema:
    """What distinguishes the two."""

    name: str
    block_tokens: int
    unit_ms: float


MOONCAKE = Schema(name="mooncake", block_tokens=512, unit_ms=1)
BAILIAN = Schema(name="bailian", block_tokens=16, unit_ms=1000)


def read_hashed(text: str, schema: Schema) -> Trace:
    """A trace of block hashes; ``row_blocks`` where ids and length do not fit each other."""
    hashes: list[list[int]] = []
    inputs: list[int] = []
    outputs: list[int] = []
    arrivals: list[float] = []
    namespaces: list[Namespace] = []
    for number, row in json_rows(text):
        inputs.append(whole(number, row, "input_length", least=1))
        outputs.append(whole(number, row, "output_length", default=0))
        arrivals.append(moment(number, row, unit_ms=schema.unit_ms))
        hashes.append(blocks_of(number, row, inputs[-1], schema.block_tokens))
        namespaces.append(named(row))
    return Trace(
        format=schema.name,
        block_tokens=schema.block_tokens,
        keys=packed(hashes),
        input_tokens=tuple(inputs),
        output_tokens=tuple(outputs),
        arrivals_ms=tuple(arrivals),
        namespaces=() if set(namespaces) == {NO_NAMESPACE} else tuple(namespaces),
    )


def blocks_of(number: int, row: Row, length: int, block_tokens: int) -> list[int]:
    """The ids of a row: one a block, the last perhaps partial, none twice."""
    blocks = ids(number, row, "hash_ids")
    expected = -(-length // block_tokens)
    if len(blocks) not in {expected, length // block_tokens}:
        raise ParameterError(
            FIELD, "row_blocks", row=number, count=len(blocks), expected=expected, length=length
        )
    if len(set(blocks)) < len(blocks):
        raise ParameterError(FIELD, "row_id_twice", row=number)
    return blocks


def packed(hashes: list[list[int]]) -> tuple[bytes, ...]:
    """Four bytes an id; ids that need more are numbered in the order of their appearance."""
    if all(max(blocks, default=0) <= LARGEST_TOKEN for blocks in hashes):
        return tuple(array("I", blocks).tobytes() for blocks in hashes)
    numbers: dict[int, int] = {}
    return tuple(
        array("I", [numbers.setdefault(block, len(numbers)) for block in blocks]).tobytes()
        for blocks in hashes
    )

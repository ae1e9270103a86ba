"""The schedulers. Each is one function that forms the next iteration of a worker.

A policy looks at the state, moves requests between its waiting and running ones, takes and frees
blocks, and returns the plan. It knows no time: when things happen is the engine's business.
"""

from collections.abc import Callable, Mapping

from calculators.serving.policies import (
    chunked,
    orca,
    phases,
    prefill_first,
    sglang,
    static,
    v1,
)
from calculators.serving.state import Plan, State

type Policy = Callable[[State], Plan]

POLICIES: Mapping[str, Policy] = {
    "static": static.form,
    "orca": orca.form,
    "prefill_first": prefill_first.form,
    "chunked": chunked.form,
    "v1": v1.form,
    "sglang": sglang.form,
    "prefill_worker": phases.prefill,
    "decode_worker": phases.decode,
}

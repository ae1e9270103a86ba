"""Random small workloads and settings, drawn so that shortages, deadlines and refusals happen."""

from hypothesis import strategies as st

from calculators.serving.request import Request
from calculators.serving.settings import Settings

TIMES = st.integers(0, 60)


@st.composite
def requests(draw, *, timeouts=True, most=10):
    """A few requests; ids in order, arrivals not."""
    made = []
    for index in range(draw(st.integers(1, most))):
        prompt = draw(st.integers(1, 14))
        group = draw(st.sampled_from([None, "g", "h"]))
        made.append(
            Request(
                id=f"r{index:02}",
                arrival=draw(TIMES),
                prompt=prompt,
                output=draw(st.integers(1, 9)),
                timeout=draw(st.none() | st.integers(0, 60)) if timeouts else None,
                priority=draw(st.integers(0, 2)),
                prefix_group=group,
                prefix_len=draw(st.integers(0, prompt)) if group else 0,
            )
        )
    return made


@st.composite
def options(draw, policies):
    """The options of one policy as a dictionary, "policy" included."""
    policy = draw(st.sampled_from(policies))
    made = {"policy": policy}
    if draw(st.booleans()):
        made["max_num_seqs"] = draw(st.integers(1, 5))
    if policy in {"chunked", "v1"}:
        made["token_budget"] = draw(st.integers(1, 16))
    if policy == "prefill_first" and draw(st.booleans()):
        made["max_num_batched_tokens"] = draw(st.integers(3, 20))
    if draw(st.booleans()):
        made["num_blocks"] = draw(st.integers(2, 14))
        made["watermark_blocks"] = draw(st.integers(0, 1))
    made["block_size"] = draw(st.integers(1, 5))
    made["max_queue"] = draw(st.none() | st.integers(0, 4))
    made["prefix_cache"] = draw(st.booleans())
    made["horizon"] = draw(st.none() | st.integers(0, 120))
    return made


def settings(policies):
    """The same as Settings."""
    return options(policies).map(lambda made: Settings(**made))


COSTS = st.fixed_dictionaries(
    {
        "a": st.integers(1, 3),
        "b": st.integers(0, 2),
        "c": st.integers(0, 2),
        "d": st.sampled_from([0, 0, 1]),
    }
)

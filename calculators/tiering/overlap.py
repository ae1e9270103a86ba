"""Loading and computing side by side: layer by layer, or from both ends of the prefix.

Both ideals: the link and the device do not slow one another down, and a part is used at the
instant at which it has come.
"""

from collections.abc import Callable, Iterable
from dataclasses import dataclass
from fractions import Fraction


@dataclass(frozen=True, kw_only=True, slots=True)
class Meeting:
    """Where computing from the front and loading from the back meet.

    The first ``computed`` chunks are computed, the other ``loaded`` ones loaded; ``seconds`` is
    when both are done.
    """

    computed: int
    loaded: int
    seconds: Fraction


def two_ended(
    chunks: int, compute: Callable[[int], Fraction], load: Callable[[int], Fraction]
) -> Meeting:
    """Cake's schedule (arXiv 2410.03065) in whole chunks: the best place to meet.

    ``compute(k)`` is the time to compute the first k chunks, ``load(k)`` to load the last k; both
    grow with k. The best split is at the crossing or one chunk before it.
    """
    low, high = 0, chunks
    while low < high:
        middle = (low + high) // 2
        if compute(middle) >= load(chunks - middle):
            high = middle
        else:
            low = middle + 1
    tried = {max(low - 1, 0), low}
    met = min(tried, key=lambda k: (max(compute(k), load(chunks - k)), k))
    seconds = max(compute(met), load(chunks - met))
    return Meeting(computed=met, loaded=chunks - met, seconds=seconds)


def pipelined(
    runs: Iterable[tuple[int, Fraction, Fraction]], before: Fraction = Fraction(0)
) -> Fraction:
    """End of the second of two stages that every layer passes in order.

    ``runs`` are (equal layers, time in the first stage, time in the second). Loading: first the
    link, then the computation of the suffix. Handing over: first the prefill, then the link. Each
    stage has one layer at a time; ``before`` passes until the first stage starts.
    """
    first, second = before, before
    for count, one, other in runs:
        # n equal layers: either the first stage sets the pace, or the second never waits again.
        bound = first + one + other + (count - 1) * max(one, other)
        second = max(second + count * other, bound)
        first += count * one
    return second

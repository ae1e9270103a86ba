"""The run of a trace through a hierarchy, with both clocks."""

from itertools import pairwise

from calculators.prefix.keys import unpack
from calculators.prefix.trace import Trace
from calculators.show.progress import Progress
from calculators.tiering.hierarchy import NS_PER_MS, NS_PER_S, Hierarchy, Outcome, Setup
from calculators.tiering.recompute import Prefill

REPORTED = 2000  # requests between two reports of progress


class Clock:
    """Whole nanoseconds of a prefill, rounded up: integers, since a trace has many requests."""

    def __init__(self, prefill: Prefill) -> None:
        per_ns = prefill.per_s / NS_PER_S
        self.amount = prefill.work.amount
        self.numerator, self.denominator = per_ns.denominator, per_ns.numerator
        self.overhead = int(prefill.overhead_s * NS_PER_S)

    def ns(self, start: int, end: int) -> int:
        """Time to compute tokens ``start`` up to ``end``; there is always one."""
        return self.ns_of(self.amount(end) - (self.amount(start) if start else 0))

    def ns_of(self, work: int) -> int:
        """Time for an amount of work."""
        return self.overhead - (-work * self.numerator // self.denominator)


def simulate(trace: Trace, setup: Setup, progress: Progress = lambda _done: None) -> Outcome:
    """Serve a trace in file order, dealt out to the instances in turn."""
    state = Hierarchy(setup, trace.block_tokens)
    clock = Clock(setup.prefill)
    found: list[tuple[int, ...]] = []
    counts: list[int] = []
    loads: list[int] = []
    ttft: list[int] = []
    control: list[int] = []
    computed = computed_alone = 0
    size = trace.block_tokens
    instances = setup.instances
    arrivals = trace.arrivals_ms or (0.0,) * len(trace)
    rows = zip(trace.stored_keys(partial=False), trace.input_tokens, arrivals, strict=True)
    for index, (key, tokens, arrival_ms) in enumerate(rows):
        if not index % REPORTED:
            progress(index / len(trace))
        blocks = unpack(key)
        arrival = round(arrival_ms * NS_PER_MS)
        instance = index % instances
        chain = state.chains[instance]
        ends = state.look_up(chain, blocks, min((tokens - 1) // size, len(blocks)))
        alone, turn = ends[0], max(arrival, state.free_ns[instance])
        ready, own = arrival, 0
        if ends[-1] > alone:
            ready += state.cut_prefetch(ends, turn - arrival)
            own = state.own_load_ns(ends)
        whole = clock.amount(tokens)
        began = max(turn, ready)
        skipped = ends[-1] * size
        done = began + own + clock.ns_of(whole - (clock.amount(skipped) if skipped else 0))
        state.free_ns[instance] = done
        ttft.append(done - arrival)
        loads.append(own + began - turn)
        skipped_alone = alone * size
        began = max(arrival, state.control_free_ns[instance])
        work = whole - (clock.amount(skipped_alone) if skipped_alone else 0)
        state.control_free_ns[instance] = began = began + clock.ns_of(work)
        control.append(began - arrival)
        computed += tokens - skipped
        computed_alone += tokens - skipped_alone
        state.store(chain, blocks, ends)
        found.append((alone, *[end - start for start, end in pairwise(ends)]))
        counts.append(len(blocks))
    state.check()
    outcome = Outcome(
        found=found,
        blocks=counts,
        computed_tokens=computed,
        control_tokens=computed_alone,
        load_ns=loads,
        ttft_ns=ttft,
        control_ns=control,
        flows=state.close(),
    )
    outcome.check()
    return outcome

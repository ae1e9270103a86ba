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
    amount, ns_of, look_up, store = clock.amount, clock.ns_of, state.look_up, state.store
    free, control_free = state.free_ns, state.control_free_ns
    found: list[tuple[int, ...]] = []
    counts: list[int] = []
    loads: list[int] = []
    ttft: list[int] = []
    control: list[int] = []
    computed = computed_alone = 0
    size, instances, nothing = trace.block_tokens, setup.instances, (0,) * len(setup.levels)
    arrivals = trace.arrivals_ms or (0.0,) * len(trace)
    rows = zip(trace.stored_keys(partial=False), trace.input_tokens, arrivals, strict=True)
    for index, (key, tokens, arrival_ms) in enumerate(rows):
        if not index % REPORTED:
            progress(index / len(trace))
        blocks = unpack(key)
        count = len(blocks)
        arrival = round(arrival_ms * NS_PER_MS)
        instance = index % instances
        chain = state.chains[instance]
        ends = look_up(chain, blocks, min((tokens - 1) // size, count))
        alone, whole, turn = ends[0], amount(tokens), max(arrival, free[instance])
        skipped = skipped_alone = alone * size
        compute_ns = alone_ns = ns_of(whole - amount(skipped) if skipped else whole)
        load = 0
        if ends[-1] > alone:
            ready = arrival + state.cut_prefetch(ends, turn - arrival)
            load = max(turn, ready) - turn + state.own_load_ns(ends)
            skipped = ends[-1] * size
            compute_ns = ns_of(whole - amount(skipped) if skipped else whole)
            found.append((alone, *[end - start for start, end in pairwise(ends)]))
        else:  # most requests: both clocks need the same work
            found.append((alone, *nothing))
        free[instance] = done = turn + load + compute_ns
        ttft.append(done - arrival)
        loads.append(load)
        control_free[instance] = done = max(arrival, control_free[instance]) + alone_ns
        control.append(done - arrival)
        computed += tokens - skipped
        computed_alone += tokens - skipped_alone
        store(chain, blocks, ends)
        counts.append(count)
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

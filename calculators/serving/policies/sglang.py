"""SGLang: prefill if a batch can be formed, else decode; longest prefix match; retraction.

Source: sgl-project/sglang@00550cd python/sglang/srt/managers/schedule_policy.py (PrefillAdder,
SchedulePolicy) and schedule_batch.py (retract_decode). Admission reserves future output: the
remaining output of each running request times new_token_ratio. The ratio falls with every decode
step and is set anew by a retraction. Left out: dfs-weight, hrrn and the other orders, priority
preemption, eviction from the tree (here prefixes are never evicted), pages kept by the tree, and
sharing of blocks between requests: a hit saves computing, not memory.
"""

from collections import Counter
from collections.abc import Iterable
from fractions import Fraction

from calculators.serving.state import Live, Plan, State

CLIP_MAX_NEW_TOKENS = 4096
LONGEST_SORTED_QUEUE = 128
IN_BATCH_THRESHOLD = 32
RETRACT_DECODE_STEPS = 20


def form(state: State) -> Plan:
    """One prefill batch, else one decode step; decodes ride along where mixing is on."""
    plan = Plan()
    if not state.running:
        state.new_token_ratio = state.settings.new_token_ratio
    if state.partial not in state.running:
        state.partial = None  # it timed out
    decoding = [live for live in state.running if live is not state.partial]
    chunk = state.settings.chunked_prefill_size
    mixed = state.settings.enable_mixed_chunk and (chunk is None or chunk > len(decoding))
    admit(state, plan, riders=len(decoding) if mixed else 0)
    if not plan.prefill and not plan.decode:
        decode(state, plan, decoding)
    elif mixed:
        for live in decoding:
            if state.memory.can_grow(live, live.computed + 1):
                state.memory.grow(live, live.computed + 1)
                plan.add(live, 1)
    return plan


def admit(state: State, plan: Plan, riders: int) -> None:
    """Fill a prefill batch: first the request in chunks, then the waiting ones in order."""
    settings = state.settings
    chunk = settings.chunked_prefill_size
    room = None if chunk is None else chunk - riders
    left = settings.max_prefill_tokens - riders
    if state.partial is not None:
        live = state.partial
        tokens = live.need if room is None else min(live.need, room)
        plan.add(live, tokens)
        if tokens < live.need:
            return
        state.partial = None
        left -= tokens
        room = None if room is None else room - tokens
    for live in in_policy_order(state):
        taken = admit_one(state, plan, live, left, room)
        if taken is None:
            return
        left -= taken
        room = None if room is None else room - taken


def admit_one(state: State, plan: Plan, live: Live, left: int, room: int | None) -> int | None:
    """Admit a request, whole or its first chunk; None stops the batch."""
    if not state.has_seat or (room is not None and room <= 0):
        return None
    hit = state.prefixes.hit(live)
    need = live.need - hit
    if plan.prefill and need >= left:
        return None
    if not fits(state, live):
        return None
    tokens = need if room is None else min(need, room)
    state.admit(plan, live, hit=hit, tokens=tokens, reserve=live.need)
    if tokens == need:
        return tokens
    state.partial = live
    return None


def fits(state: State, live: Live) -> bool:
    """Whether prompt and clipped output fit beside what the running requests may still need."""
    if state.memory.num_blocks is None:
        return True
    if not state.running:
        return True  # an empty worker takes anything that is not unservable
    size = state.memory.block_size
    free = (state.memory.num_blocks - state.memory.used) * size
    reserved = sum(map(future, state.running)) * state.new_token_ratio
    spare = state.settings.watermark_blocks
    enough = live.need + future(live) < free - reserved
    return enough and state.memory.can_grow(live, live.need, spare)


def future(live: Live) -> int:
    """Output tokens that a request may still make, clipped."""
    return min(live.request.output - live.shown, CLIP_MAX_NEW_TOKENS)


def in_policy_order(state: State) -> list[Live]:
    """The waiting requests, longest cached prefix first, or as they came."""
    waiting = list(state.waiting)
    cache_aware = state.settings.schedule_policy == "lpm" and state.prefixes.enabled
    if not cache_aware or len(waiting) > LONGEST_SORTED_QUEUE:
        return waiting
    late = held_back(state, waiting)
    return sorted(waiting, key=lambda live: (live in late, -state.prefixes.hit(live)))


def held_back(state: State, waiting: Iterable[Live]) -> set[Live]:
    """Requests that had better wait until another one has computed the prefix they share."""
    seen: Counter[str] = Counter()
    late: set[Live] = set()
    for live in waiting:
        request = live.request
        if request.prefix_group is None or state.prefixes.hit(live) > IN_BATCH_THRESHOLD:
            continue
        if min(seen[request.prefix_group], request.prefix_len) >= IN_BATCH_THRESHOLD:
            late.add(live)
        else:
            seen[request.prefix_group] = max(seen[request.prefix_group], request.prefix_len)
    return late


def decode(state: State, plan: Plan, decoding: list[Live]) -> None:
    """One step of all; when it does not fit, retract several at once until it does."""
    keep = sorted(decoding, key=lambda live: (-live.shown, live.request.prompt, live.order))
    retracted = False
    while len(keep) > 1 and not step_fits(state, keep):
        state.preempt(plan, keep.pop(), to_front=False)
        retracted = True
    for live in decoding:
        if live in keep:
            state.memory.grow(live, live.computed + 1)
            plan.add(live, 1)
    state.new_token_ratio = new_ratio(keep) if retracted else decayed(state)


def step_fits(state: State, decoding: list[Live]) -> bool:
    """Whether every request can own one more token."""
    memory = state.memory
    if memory.num_blocks is None:
        return True
    more = sum(memory.blocks_for(live.computed + 1) - live.blocks for live in decoding)
    return memory.used + more <= memory.num_blocks


def new_ratio(kept: list[Live]) -> Fraction:
    """After a retraction: what the kept requests made, and will in 20 steps, of their output."""
    made = sum(live.shown for live in kept) + RETRACT_DECODE_STEPS * len(kept)
    return min(Fraction(1), Fraction(made, sum(live.request.output for live in kept)))


def decayed(state: State) -> Fraction:
    """A little lower after each decode step, down to the minimum."""
    settings = state.settings
    span = settings.new_token_ratio - settings.min_new_token_ratio
    lower = state.new_token_ratio - span / settings.new_token_ratio_steps
    return max(lower, settings.min_new_token_ratio)

"""vLLM v0: if any prefill can run, the iteration holds no decode.

Source: vllm `_schedule_default` (vllm/core/scheduler.py @0dce2b2), in the shape of
microsoft/sarathi-serve@96f9911 vllm_scheduler. Recompute only; swapping is left out.
"""

from calculators.serving.state import Live, Plan, State


def form(state: State) -> Plan:
    """Prefill whole prompts if one can be admitted, else decode."""
    plan = Plan()
    admit(state, plan)
    if not plan.prefill and not plan.decode:
        decode(state, plan)
    return plan


def admit(state: State, plan: Plan) -> None:
    """First come, first served; the first request that does not fit stops all behind it."""
    left = state.settings.max_num_batched_tokens
    while state.waiting and state.has_seat:
        live = state.waiting[0]
        if refuse_too_long(state, live):
            continue
        hit = state.prefixes.hit(live)
        tokens = live.need - hit
        whole = hit + tokens
        if left is not None and tokens > left:
            return
        if not state.memory.can_grow(live, whole, state.settings.watermark_blocks):
            return
        state.admit(plan, live, hit=hit, tokens=tokens, reserve=whole)
        left = None if left is None else left - tokens


def refuse_too_long(state: State, live: Live) -> bool:
    """Drop a preempted request whose prompt and output outgrew the limit, as the engine does.

    vLLM v0 ignores such a sequence with an error state; it would block the queue for ever.
    """
    limit = state.settings.max_num_batched_tokens
    if limit is None or live.need <= limit:
        return False
    state.waiting.popleft()
    state.refused.append(live)
    return True


def decode(state: State, plan: Plan) -> None:
    """Each running request takes its next slot; the last unserved one makes room."""
    order = sorted(state.running, key=lambda live: live.order)
    while order:
        live = order.pop(0)
        while not state.memory.can_grow(live, live.computed + 1):
            victim = order.pop() if order else live
            state.preempt(plan, victim)
            if victim is live:
                break
        else:
            state.memory.grow(live, live.computed + 1)
            plan.add(live, 1)

"""The two halves of a disaggregated system, each a worker of its own.

In the shape of LLMServe/DistServe@82831f1 distserve/*_stage_scheduler.py, first come, first
served. Left out: DistServe's limits on tokens and on blocks that wait to be taken, and swapping:
prefill-side memory is unlimited, and the decode side reserves the whole output at the join.
"""

from calculators.serving.state import Plan, State


def prefill(state: State) -> Plan:
    """Whole prompts, as many as a batch takes; what the last batch left goes to the link."""
    plan = Plan()
    state.handed_over.extend(state.running)
    for live in list(state.running):
        state.running.remove(live)
    while state.waiting and state.has_seat:
        live = state.waiting[0]
        state.admit(plan, live, hit=0, tokens=live.need, reserve=0)
    return plan


def decode(state: State) -> Plan:
    """All running requests decode; those whose KV cache has come join them."""
    while state.waiting and state.has_seat:
        live = state.waiting[0]
        if not state.memory.can_grow(live, live.request.kv_positions):
            break
        state.waiting.popleft()
        state.memory.grow(live, live.request.kv_positions)
        state.running.append(live)
    return Plan(decode=list(state.running))

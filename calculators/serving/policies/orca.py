"""Orca: a decision before every iteration, whole prompts next to all decodes.

Source: Orca (OSDI'22); microsoft/sarathi-serve@96f9911 orca_scheduler. No token limit, no chunks.
Memory for the longest possible output (here the request's own) is reserved at admission, so
nothing is ever preempted.
"""

from calculators.serving.state import Plan, State


def form(state: State) -> Plan:
    """All running requests decode; whole prompts join them."""
    plan = Plan(decode=list(state.running))
    admit_whole_prompts(state, plan)
    return plan


def admit_whole_prompts(state: State, plan: Plan) -> None:
    """First come, first served, until a seat or memory for the whole output is missing."""
    spare = state.settings.watermark_blocks
    while state.waiting and state.has_seat:
        live = state.waiting[0]
        reserve = live.request.kv_positions
        if not state.memory.can_grow(live, reserve, spare):
            return
        hit = state.prefixes.hit(live)
        state.admit(plan, live, hit=hit, tokens=live.need - hit, reserve=reserve)

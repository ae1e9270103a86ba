"""Sarathi-Serve: chunks of prompts fill what the decodes leave of a token budget.

Source: microsoft/sarathi-serve@96f9911 sarathi_scheduler. A new prompt gets all its blocks at
admission. The dynamic schedule of chunk sizes is left out.
"""

from calculators.serving.state import Plan, State


def form(state: State) -> Plan:
    """Decodes, then prompts partly done, then new prompts, while the budget lasts."""
    plan = Plan()
    budget = decode(state, plan, state.settings.token_budget or 0)
    for live in state.running:
        if not live.decodes and budget > 0:
            tokens = min(live.need, budget)
            plan.add(live, tokens)
            budget -= tokens
    admit(state, plan, budget)
    return plan


def decode(state: State, plan: Plan, budget: int) -> int:
    """One token for each decoding request; the last one not yet looked at makes room."""
    order = list(state.running)
    while order and budget > 0:
        live = order.pop(0)
        if not live.decodes:
            continue
        while not state.memory.can_grow(live, live.computed + 1):
            victim = order.pop() if order else live
            state.preempt(plan, victim)
            if victim is live:
                break
        else:
            state.memory.grow(live, live.computed + 1)
            plan.add(live, 1)
            budget -= 1
    return budget


def admit(state: State, plan: Plan, budget: int) -> None:
    """First come, first served, until a seat, a block or the budget is missing."""
    while state.waiting and state.has_seat and budget > 0:
        live = state.waiting[0]
        hit = state.prefixes.hit(live)
        whole = live.need
        if not state.memory.can_grow(live, whole, state.settings.watermark_blocks):
            return
        tokens = min(whole - hit, budget)
        state.admit(plan, live, hit=hit, tokens=tokens, reserve=whole)
        budget -= tokens

"""vLLM v1: no phases; running requests first, then waiting ones, within one token budget.

Source: vllm-project/vllm@00024d3 vllm/v1/core/sched/scheduler.py. Blocks are taken chunk by
chunk. Nothing is admitted in a step that preempted anything. Left out: waiting for remote KV,
grammars, LoRA limits, encoder budgets, speculative tokens.
"""

from calculators.serving.state import Live, Plan, State


def form(state: State) -> Plan:
    """Serve the running list, then admit, unless something was preempted."""
    plan = Plan()
    budget = serve_running(state, plan, state.settings.token_budget or 0)
    if not plan.preempted:
        admit(state, plan, budget)
    return plan


def share(state: State, need: int, budget: int) -> int:
    """What a request may compute in this step: its need, the long-prefill cap, the budget."""
    cap = state.settings.long_prefill_token_threshold
    return min(need, cap, budget) if cap > 0 else min(need, budget)


def serve_running(state: State, plan: Plan, budget: int) -> int:
    """In list order; a request that gets no tokens is skipped. Returns the budget left."""
    for live in list(state.running):
        if live not in state.running:
            continue  # preempted earlier in this step
        tokens = share(state, live.need, budget)
        if tokens == 0:
            continue
        given_back, fits = make_room(state, plan, live, tokens)
        budget += given_back
        if not fits:
            break
        state.memory.grow(live, live.computed + tokens)
        plan.add(live, tokens)
        budget -= tokens
    return budget


def make_room(state: State, plan: Plan, live: Live, tokens: int) -> tuple[int, bool]:
    """Preempt until ``live`` fits. Returns the budget given back and whether it fits."""
    given_back = 0
    while not state.memory.can_grow(live, live.computed + tokens):
        victim = choose_victim(state)
        given_back += plan.remove(victim)
        state.preempt(plan, victim)
        if victim is live:
            return given_back, False
    return given_back, True


def choose_victim(state: State) -> Live:
    """The tail of the running list, or the last in rank under the priority policy."""
    if state.settings.scheduling == "priority":
        return max(state.running, key=lambda live: live.rank)
    return state.running[-1]


def admit(state: State, plan: Plan, budget: int) -> None:
    """From the head of the queue, which is never skipped for memory."""
    while state.waiting and state.has_seat and budget > 0:
        live = state.waiting[0]
        hit = state.prefixes.hit(live)
        tokens = share(state, live.need - hit, budget)
        if not state.memory.can_grow(live, hit + tokens, state.settings.watermark_blocks):
            return
        state.admit(plan, live, hit=hit, tokens=tokens, reserve=hit + tokens)
        budget -= tokens

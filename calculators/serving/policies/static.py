"""Static batching: a batch runs alone until its longest member ends.

Source: microsoft/sarathi-serve@96f9911 faster_transformer_scheduler; Orca's description of
request-level scheduling. Memory for the longest possible output is reserved at admission.
"""

from calculators.serving.policies.orca import admit_whole_prompts
from calculators.serving.state import Plan, State


def form(state: State) -> Plan:
    """Continue the batch, or take the next one from the head of the queue."""
    plan = Plan()
    if state.running:
        plan.decode = list(state.running)
        plan.seats = state.batch_seats
        return plan
    admit_whole_prompts(state, plan)
    state.batch_seats = len(state.running)
    return plan

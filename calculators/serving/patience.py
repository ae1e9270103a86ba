"""How long a run will take in the reader's browser, said before it starts.

The figures were measured in Chromium on a slow core and are rounded up; an estimate is only good
enough to choose between at once, in a while, and later. Left out: the reader's own machine.
"""

from calculators.form.errors import ParameterError
from calculators.serving.costs import Cost
from calculators.serving.load_params import Params
from calculators.serving.request import Request
from calculators.serving.systems import LOOPS, steps_singly

REQUEST_S = 45e-6  # a request under one scheduler, all tables included
SWEPT_S = 35e-6  # a request in a point of a sweep
TOKEN_S = 12e-6  # an output token in the plain engine
ITERATION_S = 5e-6  # an output token, at most, where every iteration is looked at by itself
PATIENCE_S = 25


def check_patience(
    names: tuple[str, ...], swept: int, requests: list[Request], params: Params, cost: Cost
) -> None:
    """Refuse a run that outlasts a reader's patience, unless the reader asked for it.

    ``names`` are the schedulers, ``swept`` the runs of the sweeps. Raises ParameterError.
    """
    seconds = estimate_s(names, swept, requests, params, cost)
    if seconds > PATIENCE_S and not params.long_run:
        raise ParameterError(
            "long_run", "too_long_run", seconds=round(seconds), patience=PATIENCE_S
        )


def estimate_s(
    names: tuple[str, ...], swept: int, requests: list[Request], params: Params, cost: Cost
) -> float:
    """Seconds."""
    tokens = sum(request.output for request in requests)
    single = sum(steps_singly(name, requests, params, cost) for name in names)
    plain = params.workload in LOOPS
    token_s = TOKEN_S if plain else ITERATION_S
    swept_single = swept if cost.reads_context else 0
    return (
        len(requests) * (len(names) * REQUEST_S + swept * SWEPT_S)
        + tokens * (single + swept_single) * token_s
    )

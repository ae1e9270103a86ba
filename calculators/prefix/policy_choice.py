"""A policy by its name on SGLang's command line, with the budget of the tail-optimised one."""

from operator import attrgetter

from calculators.form.errors import ParameterError, excerpt
from calculators.prefix.limits import at_least
from calculators.prefix.policies import FIXED, Policy

NAMES = (*FIXED, "tlru")


def tail_optimised(threshold: int, next_prompt_estimate: int) -> Policy:
    """LRU in which tokens beyond ``history + estimate - threshold`` go first. Lengths in tokens.

    SGLang refuses a threshold not above the estimate, since then nothing is ever beyond the
    budget and the policy is LRU (``arg_groups/kv_cache_hook.py``).
    """
    at_least("next_prompt_estimate", next_prompt_estimate, 0)
    if threshold <= next_prompt_estimate:
        raise ParameterError("threshold", "not_above_estimate", text=str(threshold))
    return Policy(
        name="tlru",
        score=attrgetter("last_access"),
        grows=False,
        beyond=threshold - next_prompt_estimate,
    )


def policy(name: str, *, threshold: int = 0, next_prompt_estimate: int = 0) -> Policy:
    """The policy of a name; the two lengths matter for ``tlru`` only."""
    if name == "tlru":
        return tail_optimised(threshold, next_prompt_estimate)
    if name not in FIXED:
        raise ParameterError(
            "policy", "not_an_option", text=excerpt(name), options=", ".join(NAMES)
        )
    return FIXED[name]

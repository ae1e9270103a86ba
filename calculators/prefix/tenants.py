"""What a namespace per tenant costs: the same trace with one namespace, and with one each."""

from collections.abc import Callable
from dataclasses import dataclass, replace

from calculators.prefix.keys import NO_NAMESPACE, Namespace
from calculators.prefix.policies import LRU, Policy
from calculators.prefix.rates import Outcome, reused_tokens
from calculators.prefix.replay import replay_tree
from calculators.prefix.trace import Trace


@dataclass(frozen=True, kw_only=True, slots=True)
class Isolation:
    """Reused tokens without and with isolation, and how much the same prefixes take twice.

    ``extra_resident`` is how many symbols more an unlimited cache holds because tenants may not
    share.
    """

    tenants: int
    input_tokens: int
    shared: Outcome
    isolated: Outcome
    reused_shared: int
    reused_isolated: int
    extra_resident: int

    @property
    def lost_tokens(self) -> int:
        """Tokens that have to be computed again because of the isolation."""
        return self.reused_shared - self.reused_isolated


type TenantOf = Callable[[int], str]


def with_tenants(trace: Trace, tenant_of: TenantOf) -> Trace:
    """The trace with a salt per tenant; ``tenant_of`` names the tenant of a request's index."""
    salts = tuple(Namespace(None, tenant_of(index)) for index in range(len(trace)))
    return replace(trace, namespaces=salts)


def isolation(trace: Trace, capacity: int | None, policy: Policy = LRU) -> Isolation:
    """Compare a trace that has namespaces with itself without them."""
    together = replace(trace, namespaces=())
    shared = replay_tree(together, policy, capacity)
    isolated = replay_tree(trace, policy, capacity)
    unlimited = [replay_tree(t, policy).resident for t in (together, trace)]
    return Isolation(
        tenants=len(set(trace.all_namespaces) - {NO_NAMESPACE}) or 1,
        input_tokens=sum(trace.input_tokens),
        shared=shared,
        isolated=isolated,
        reused_shared=reused_tokens(together, shared, recompute_last=True),
        reused_isolated=reused_tokens(trace, isolated, recompute_last=True),
        extra_resident=unlimited[1] - unlimited[0],
    )

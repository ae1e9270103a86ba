"""Routing over instances, tenants, and generated traces."""

from dataclasses import replace

import pytest

from calculators.form.errors import ParameterError
from calculators.prefix.generate import KINDS, Shape, generate
from calculators.prefix.radix import RadixTree
from calculators.prefix.replay import UNLIMITED, replay_tree
from calculators.prefix.routing import ROUTES, Cluster, peek, route
from calculators.prefix.tenants import isolation, with_tenants

TRACE = generate(Shape(kind="agents", groups=30, turns=4, shared=60, question=10, answer=20))


@pytest.mark.parametrize("name", ROUTES)
def test_one_instance_makes_all_policies_equal(name):
    """With one instance every policy reuses what a single cache reuses."""
    routed = route(TRACE, name, Cluster(instances=1, capacity=10**7))

    assert replay_tree(TRACE).runs == routed.reused


@pytest.mark.parametrize("name", ROUTES)
def test_work_is_conserved(name):
    """Prefill time is overhead plus computed tokens, whoever computes them."""
    cluster = Cluster(capacity=4000, prefill_tokens_per_ms=2, overhead_ms=1)
    routed = route(TRACE, name, cluster)
    computed = sum(TRACE.input_tokens) - sum(routed.reused)

    assert pytest.approx(len(TRACE) + computed / 2) == sum(routed.prefill_ms)
    assert all(wait >= 0 for wait in routed.wait_ms)
    assert pytest.approx(1) == sum(routed.share(cluster.instances))


def test_longest_prefix_reuses_at_least_what_round_robin_does():
    """Affinity finds more than rotation where nothing is evicted."""
    cluster = Cluster(capacity=10**7)

    assert route(TRACE, "longest_prefix", cluster).hit_rate >= (
        route(TRACE, "round_robin", cluster).hit_rate
    )


def test_peek_reads_without_touching():
    """Looking from the router changes no node and finds what a match finds."""
    tree = RadixTree(page_size=2)
    visits = TRACE.visits(page_size=2)
    for key, usable, space in visits[:40]:
        before = (tree.clock, tree.nodes)
        found = peek(tree, (key, usable, space))

        assert before == (tree.clock, tree.nodes)
        assert found == tree.serve(key, usable, UNLIMITED, space)


def test_a_salt_per_tenant_costs_the_shared_system_prompt():
    """Tenants that share nothing compute the common system prompt once each."""
    shape = Shape(kind="tenants", groups=8, turns=2, shared=100, tenants=4, salt=True)
    found = isolation(generate(shape), None)

    assert (4, 300, 300) == (found.tenants, found.lost_tokens, found.extra_resident)


def test_tenants_can_be_put_on_any_trace():
    """A function from request to tenant gives each a namespace."""
    trace = with_tenants(TRACE, lambda index: str(index % 3))

    assert 3 == isolation(trace, None).tenants
    assert isolation(trace, None).lost_tokens > 0


@pytest.mark.parametrize("kind", KINDS)
def test_generated_traces_are_a_function_of_their_shape(kind):
    """The same shape gives the same trace, another seed another one, and arrivals grow."""
    one, again, other = (generate(Shape(kind=kind, seed=seed)) for seed in (1, 1, 2))

    assert one == again
    assert one.keys != other.keys
    assert sorted(one.arrivals_ms) == list(one.arrivals_ms)


def test_what_makes_no_sense_is_refused():
    """Unknown policies and kinds, and a trace without times, raise ParameterError."""
    with pytest.raises(ParameterError):
        route(TRACE, "best", Cluster())
    with pytest.raises(ParameterError):
        route(replace(TRACE, arrivals_ms=()), "round_robin", Cluster())
    with pytest.raises(ParameterError):
        generate(Shape(kind="poems"))

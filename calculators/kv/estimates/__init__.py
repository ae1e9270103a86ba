"""One engine each: from the form's options to what it allocates, prints and is started with."""

from collections.abc import Callable, Mapping

from calculators.form.errors import ParameterError
from calculators.kv.engine_params import EngineParams
from calculators.kv.estimates import llamacpp, sglang, tensorrt_llm, vllm
from calculators.kv.estimates.common import Estimate
from calculators.kv.layers import FullAttention, Stack
from calculators.kv.shape import Shape

type Estimator = Callable[[Shape, EngineParams, int, int], Estimate]

ESTIMATORS: Mapping[str, Estimator] = {
    "vllm": vllm.estimate,
    "sglang": sglang.estimate,
    "llamacpp": llamacpp.estimate,
    "tensorrt_llm": tensorrt_llm.estimate,
}
NEED_ROWS = ("sglang", "tensorrt_llm")


def estimate(shape: Shape, params: EngineParams, available: int, length: int) -> Estimate:
    """The chosen engine's answer for ``available`` bytes a GPU and sequences of ``length``.

    Raises ParameterError ``nothing_cached``; ``no_attention`` of engines that divide memory by
    the bytes of a token.
    """
    if not shape.stack.counts:
        raise ParameterError("stack", "nothing_cached")
    if params.engine in NEED_ROWS and not any(cache.rows for cache in shape.stack.counts):
        raise ParameterError("stack", "no_attention")
    check_split(shape.stack, params)
    return ESTIMATORS[params.engine](shape, params, available, length)


def check_split(stack: Stack, params: EngineParams) -> None:
    """KV heads and ranks must be multiples of each other; context parallel shares copies only.

    Raises ParameterError ``heads_do_not_split`` and ``copies_do_not_share``.
    """
    if params.engine == "llamacpp":
        return
    name = "tensor_parallel_size" if params.engine == "vllm" else "tp_size"
    ranks = max(1, getattr(params, name) // (params.dp_size if params.engine == "sglang" else 1))
    shares = params.decode_context_parallel_size if params.engine == "vllm" else 1
    for cache in stack.counts:
        heads = cache.heads if isinstance(cache, FullAttention) else 1
        if heads % ranks and ranks % heads:
            raise ParameterError(name, "heads_do_not_split", heads=heads, ranks=ranks)
        if max(1, ranks // heads) % shares:
            raise ParameterError(
                "decode_context_parallel_size", "copies_do_not_share", heads=heads, ranks=ranks
            )


def ranks_of(params: EngineParams) -> int:
    """GPUs that one copy of the weights is spread over."""
    match params.engine:
        case "vllm":
            return params.tensor_parallel_size * params.pipeline_parallel_size
        case "llamacpp":
            return 1
        case _:
            return params.tp_size * params.pp_size

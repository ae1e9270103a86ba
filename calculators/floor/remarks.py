"""What qualifies the answer: what does not fit, what was assumed, what is left out."""

from collections.abc import Iterator

from calculators.floor.batches import compute_bound_batch
from calculators.floor.counts import COUNTS
from calculators.floor.params import Params
from calculators.floor.passes import Steps
from calculators.floor.shown import ms
from calculators.kv.capacity import Memory
from calculators.kv.layers import IndexKeys, LatentAttention, SharedCache, State
from calculators.kv.shape import Shape, shape_remarks
from calculators.show.blocks import Message
from calculators.show.quantity import Quantity
from calculators.tiering.devices import OTHER

WIDE_BITS = 16
BOUND_PERCENT = 100
OF_KINDS = {
    LatentAttention: "latent",
    IndexKeys: "selected",
    State: "states",
    SharedCache: "shared_rows",
}


def warnings(params: Params, memory: Memory, fits: int | None) -> Iterator[Message]:
    """What this memory does not hold."""
    if memory.available_bytes == 0:
        yield Message("note.weights_do_not_fit", {"cards": Quantity(params.device_count)})
    elif fits is not None and params.batch > fits:
        values = {"batch": Quantity(params.batch), "fits": Quantity(fits)}
        yield Message("note.batch_does_not_fit", values)


def remarks(params: Params, shape: Shape, steps: Steps) -> Iterator[Message]:
    """Assumptions first, then what is left out, then where the shape comes from."""
    lowered = min(params.compute_efficiency_percent, params.memory_efficiency_percent)
    yield Message("note.bound" if lowered == BOUND_PERCENT else "note.estimate")
    yield from about_step(steps)
    yield from about_weights(params, steps)
    yield from about_kinds(steps)
    yield Message("note.left_out")
    yield Message("note.context", {"tokens": Quantity(steps.context, "tokens")})
    yield from shape_remarks(shape)


def about_step(steps: Steps) -> Iterator[Message]:
    """Why no batch is compute-bound, where none is."""
    if compute_bound_batch(steps) is None:
        one = steps.step(1)
        values = {
            "tokens": Quantity(steps.context, "tokens"),
            "kv": ms(one.kv_s),
            "compute": ms(one.compute_s),
        }
        yield Message("note.never_compute_bound", values)


def about_weights(params: Params, steps: Steps) -> Iterator[Message]:
    """Where the numbers of parameters come from, and what was assumed about them."""
    weights = steps.model.weights
    if weights.experts is not None:
        yield Message("note.routing")
    if params.source == "model" and params.parameters_b is None and params.model not in COUNTS:
        yield Message("note.named", {"parameters": Quantity(weights.parameters)})
    if not weights.embedding:
        yield Message("note.no_embedding")
    narrow = weights.dtype.bits < WIDE_BITS
    if narrow and params.compute_dtype == "bfloat16" and params.device != OTHER:
        yield Message("note.weight_only", {"dtype": weights.dtype.name})
    if params.device_count > 1:
        yield Message("note.parallel", {"cards": Quantity(params.device_count)})


def about_kinds(steps: Steps) -> Iterator[Message]:
    """What is special about some kinds of layers."""
    present = {type(cache) for cache in steps.model.stack.counts}
    for kind, name in OF_KINDS.items():
        if kind in present:
            yield Message(f"note.{name}")

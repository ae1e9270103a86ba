"""vLLM's pool written out line by line, from the bytes of a token to the printed lines."""

from collections.abc import Iterator, Sequence

from calculators.kv.engines.steps import Line
from calculators.kv.engines.vllm import Group, Pool
from calculators.kv.engines.vllm_pages import (
    Options,
    Spec,
    ceil_div,
    page_expression,
    state_bytes,
    state_expression,
)
from calculators.kv.layers import State


def derivation(result: Pool) -> Iterator[Line]:
    """The computation line by line, for a reader with a pencil."""
    options = result.options
    if uniform := result.groups[0].widths:
        yield Line("block_bytes", uniform, result.bytes_per_block, "bytes")
        yield from block_lines(result)
        yield from report_lines(result)
        return
    specs = tuple(dict.fromkeys(group.spec for group in result.groups))
    sizes = [state_bytes(s.cache, options) for s in specs if isinstance(s.cache, State)]
    for spec in specs:
        yield from page_lines(spec, options, max(sizes, default=None))
    first = result.groups[0]
    places = first.layers + first.padding_layers
    yield Line("groups", group_text(result.groups), len(result.groups))
    size = f"{first.spec.page_bytes} × {places}"
    yield Line("block_bytes", size, result.bytes_per_block, "bytes")
    yield from block_lines(result)
    yield from report_lines(result)


def block_lines(result: Pool) -> Iterator[Line]:
    """Blocks of the available memory, where it was not the blocks that were stated."""
    if result.available_bytes is not None:
        expression = f"⌊{result.available_bytes} ÷ {result.bytes_per_block}⌋"
        yield Line("num_blocks", expression, result.num_blocks)


def block_size_lines(spec: Spec, options: Options, state: int | None) -> Iterator[Line]:
    """The block that is enlarged until its page holds a state."""
    step, per_token = options.kernel_block_size, spec.page_bytes // spec.block_size
    if state is not None and step * ceil_div(state, step * per_token) == spec.block_size:
        expression = f"{step} × ⌈{state} ÷ ({step} × {per_token})⌉"
        yield Line("attention_block", expression, spec.block_size, "tokens", spec.cache)


def page_lines(spec: Spec, options: Options, state: int | None) -> Iterator[Line]:
    """How one layer's page comes about; ``state`` are the bytes of the largest state, if any."""
    if isinstance(spec.cache, State):
        own = state_bytes(spec.cache, options)
        expression = state_expression(spec.cache, options)
        yield Line("state_bytes", expression, own, "bytes", spec.cache)
        padding = f"{spec.page_bytes} − {own}"
        yield Line("state_padding", padding, spec.padding_bytes, "bytes", spec.cache)
        return
    yield from block_size_lines(spec, options, state)
    per_token = spec.page_bytes // spec.block_size
    expression = page_expression(spec.cache, options)
    yield Line("token_bytes", expression, per_token, "bytes", spec.cache)
    page = f"{spec.block_size} × {per_token}"
    yield Line("page_bytes", page, spec.page_bytes, "bytes", spec.cache)


def group_text(groups: Sequence[Group]) -> str:
    """``⌈52 ÷ 10⌉ + ⌈10 ÷ 10⌉``: layers of each kind over the size of a group."""
    size = groups[0].layers + groups[0].padding_layers
    buckets: dict[Spec, int] = {}
    for group in groups:
        buckets[group.spec] = buckets.get(group.spec, 0) + group.layers
    return " + ".join(f"⌈{layers} ÷ {size}⌉" for layers in buckets.values())


def report_lines(result: Pool) -> Iterator[Line]:
    """The two printed lines."""
    concurrency = result.concurrency
    if concurrency is not None:
        needed = " + ".join(map(str, result.pages_per_request))
        yield Line("request_pages", needed, sum(result.pages_per_request))
        expression = f"{result.num_blocks} ÷ {sum(result.pages_per_request)}"
        yield Line("concurrency", expression, concurrency, "times")
    if result.options.report == "concurrency" and concurrency is not None:
        expression = f"⌊{concurrency:.6f} × {result.options.max_model_len}⌋"
    else:
        smallest = min(group.spec.block_size for group in result.groups)
        expression = f"⌊{result.num_blocks} ÷ {len(result.groups)}⌋ × {smallest}"
        if result.options.context_parallel > 1:
            expression += f" × {result.options.context_parallel}"
    yield Line("tokens", expression, result.tokens, "tokens")

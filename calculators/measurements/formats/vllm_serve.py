"""vLLM ``bench serve`` JSON (vllm/benchmarks/serve.py @009e6d4a), forks of it included.

Milliseconds in ``*_ms``, seconds in ``duration`` and the raw arrays. The file states neither
version, command, device, dtype, seed, dataset nor warm-ups. ``--metadata`` pairs are merged flat
and may overwrite setup keys, so an unknown key may be the author's own text. ITL is per gap between
streamed chunks; TPOT leaves out requests with one output token. Waiting for the client's own
semaphore (``max_concurrency``) is in neither TTFT nor E2E.
"""

from collections.abc import Iterator
from typing import Any, Final

from calculators.measurements.formats.serve_keys import failures, latencies, settle_zeros
from calculators.measurements.record import Measurement, Note, Reading, measured
from calculators.measurements.shapes import has
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Entry, Source, entries

FORMAT: Final = "vllm-bench-serve"
RULE: Final = "r7"


def claims(source: Source) -> bool:
    """A flat object with completed requests, a duration and the model's id."""
    value = source.node
    return (
        has(value, "completed", "duration")
        and any(key in value for key in ("model_id", "num_prompts", "burstiness", "endpoint_type"))
        and not any(key in value for key in ("median_ttft", "mean_ttft", "median_e2el"))
    )


def read(source: Source) -> Reading:
    """One measurement an object; ``--append-result`` puts several into a file."""
    trouble: list[Note] = []
    found = [run(entry) for entry in entries(source, trouble)]
    return measured(FORMAT, found, *trouble)


def run(entry: Entry) -> Measurement:
    """One run."""
    sheet = Sheet(entry.node, entry.position, entry.pointer)
    setup(sheet)
    results(sheet)
    latencies(sheet)
    settle_zeros(sheet)
    samples(sheet)
    return sheet.finish(rule=RULE)


def setup(sheet: Sheet) -> None:
    """What was asked for."""
    for name, key in (
        ("model", "model_id"),
        ("date", "date"),
        ("label", "label"),
        ("backend", "backend"),
        ("backend", "endpoint_type"),
    ):
        sheet.label(name, sheet.take(key))
    sheet.number("num_prompts", "n_requests")
    sheet.number("request_rate", "request_rate")
    sheet.number("max_concurrency", "concurrency", null="not_applicable")
    sheet.keep(
        "tokenizer_id",
        "burstiness",
        "request_goodput",
        "request_goodput:",
        "version",
        "best_of",
        "use_beam_search",
        "max_output_tokens_per_s",
        "max_concurrent_requests",
        "rtfx",
        "peak_output_token_throughput",
    )
    if sheet.value("request_rate") is not None and sheet.value("concurrency") is not None:
        sheet.note(
            "client_queue_not_counted",
            rate=sheet.value("request_rate"),
            cap=sheet.value("concurrency"),
        )


def results(sheet: Sheet) -> None:
    """The run as a whole."""
    sheet.number("completed", "n_success")
    failures(sheet)
    sheet.number("duration", "duration", unit="s")
    sheet.number("request_throughput", "request_throughput")
    sheet.number("request_inthroughput", "request_throughput")  # so spelt in early 2024
    sheet.number("input_throughput", "input_token_throughput")
    sheet.number("output_throughput", "output_token_throughput")
    sheet.number("total_token_throughput", "total_token_throughput")
    sheet.number("total_input_tokens", "input_tokens", "total")
    sheet.number("total_output_tokens", "output_tokens", "total")
    peak(sheet)


def peak(sheet: Sheet) -> None:
    """The peak concurrency, which older versions count by whole seconds and so beyond the cap."""
    highest, cap = sheet.node.get("max_concurrent_requests"), sheet.value("concurrency")
    if isinstance(highest, int | float) and cap is not None and highest > cap:
        sheet.note("peak_above_cap", peak=highest, cap=cap)


def samples(sheet: Sheet) -> None:
    """``--save-detailed`` arrays: all requests, failed ones too, in seconds."""
    ttfts, itls = sheet.take("ttfts"), sheet.take("itls")
    errors = sheet.take("errors")
    sheet.skip("input_lens", "output_lens", "start_times", "generated_texts")
    if not isinstance(ttfts, list):
        return
    failed = errors if isinstance(errors, list) and len(errors) == len(ttfts) else None
    if failed is None and sheet.value("n_success") == len(ttfts):
        failed = [""] * len(ttfts)
    if failed is None:
        sheet.note("samples_with_failures", key="ttfts")
        return
    sheet.label(
        "error",
        next(
            (
                text.strip().splitlines()[-1]
                for text in failed
                if isinstance(text, str) and text.strip()
            ),
            None,
        ),
    )
    good = [index for index, text in enumerate(failed) if not text]
    done = sheet.value("n_success")
    expected = done if isinstance(done, int) else None
    sheet.sample((ttfts[i] for i in good), "ttft", "s", source="ttfts", expected=expected)
    if isinstance(itls, list) and len(itls) == len(ttfts):
        gaps = drained([itls[i] for i in good])
        sheet.sample(gaps, "itl", "s", source="itls", expected=None)
    sheet.compute()


def drained(lists: list[Any]) -> Iterator[Any]:
    """The items of all lists in order; each list is emptied behind, as these are most of a file."""
    for items in lists:
        if isinstance(items, list):
            yield from items
            items.clear()

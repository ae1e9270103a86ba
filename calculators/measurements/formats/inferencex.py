"""InferenceX (InferenceMAX) aggregates and the experimental serving results.

process_result.py @00e51cc7 divides every ``*_ms`` by 1000 and removes the suffix: ``median_ttft``
is seconds. From every TPOT key it derives an ``intvty`` key, 1000 / value, so ``p99_intvty`` is the
*slow* end and ``std_intvty`` is no standard deviation: only the median is taken, the rest is kept
as extra. ``tput_per_gpu`` is total tokens (input and output) over GPUs; a multi-node file divides
output by decode GPUs only. No failures, client version or run address are in the file.
"""

from typing import Final

from calculators.measurements.formats.serve_keys import KEY, failures, latencies, settle_zeros
from calculators.measurements.record import Measurement, Note, Reading, measured
from calculators.measurements.shapes import has, mapping
from calculators.measurements.sheet import Sheet
from calculators.measurements.source import Source

FORMAT: Final = "inferencex"


def claims(source: Source) -> bool:
    """Latency keys without a unit, or the aggregate's throughput per GPU."""
    value = source.value
    if isinstance(value, list) and value:
        value = value[0]
    return has(value, "tput_per_gpu") or (
        isinstance(value, dict)
        and any((match := KEY.match(key)) is not None and not match[3] for key in value)
        and has(value, "completed", "duration")
    )


def read(source: Source) -> Reading:
    """One measurement an object or array element."""
    trouble: list[Note] = []
    found: list[Measurement] = []
    for document in source.documents(trouble):
        nodes = document.value if isinstance(document.value, list) else [document.value]
        for index, node in enumerate(nodes):
            pointer = (
                f"{document.pointer}/{index}" if nodes is document.value else (document.pointer)
            )
            found.append(run(Sheet(mapping(node), len(found), pointer)))
    return measured(FORMAT, found, *trouble)


def run(sheet: Sheet) -> Measurement:
    """One result of either kind."""
    for name, keys in (
        ("model", ("model_id", "model")),
        ("device", ("hw",)),
        ("backend", ("backend", "framework")),
        ("date", ("date",)),
        ("label", ("label",)),
    ):
        for key in keys:
            sheet.label(name, sheet.take(key))
    sheet.number("num_prompts", "n_requests")
    sheet.number("completed", "n_success")
    failures(sheet)
    sheet.number("request_rate", "request_rate")
    sheet.number("max_concurrency", "concurrency", null="not_applicable")
    sheet.number("conc", "concurrency")
    totals(sheet)
    latencies(sheet, bare_unit="s")
    interactivity(sheet)
    settle_zeros(sheet)
    return sheet.finish(rule="r7")


def totals(sheet: Sheet) -> None:
    """The run as a whole, where the experimental file states it."""
    sheet.number("duration", "duration", unit="s")
    sheet.number("request_throughput", "request_throughput")
    sheet.number("output_throughput", "output_token_throughput")
    sheet.number("input_throughput", "input_token_throughput")
    sheet.number("total_token_throughput", "total_token_throughput")
    sheet.number("total_input_tokens", "input_tokens", "total")
    sheet.number("total_output_tokens", "output_tokens", "total")
    sheet.keep(
        "tokenizer_id",
        "burstiness",
        "tp",
        "ep",
        "dp_attention",
        "precision",
        "image",
        "isl",
        "osl",
        "spec_decoding",
        "disagg",
        "is_multinode",
        "infmax_model_prefix",
        "tput_per_gpu",
        "output_tput_per_gpu",
        "input_tput_per_gpu",
        "good_completed",
        "request_goodput",
    )


def interactivity(sheet: Sheet) -> None:
    """The reciprocal of TPOT: its median is a rate, its percentiles run the other way."""
    names = [key for key in sheet.node if key.endswith("_intvty")]
    sheet.keep(*names)
    sheet.number("median_intvty", "per_request_output_rate", "p50")
    if names:
        sheet.note("intvty_is_reciprocal", keys=", ".join(names))

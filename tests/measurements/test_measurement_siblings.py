"""Which files are linked as one run, and where they disagree."""

import json

import measurement_samples as samples
import pytest

from calculators.measurements.read import read_text
from calculators.measurements.siblings import links, stem

ROWS = [{"error_code": None, "ttft_s": t, "end_to_end_latency_s": 2 * t} for t in (0.1, 0.2, 0.4)]
SUMMARY = {
    "results_num_requests_started": 3,
    "results_num_completed_requests": 3,
    "results_number_errors": 0,
    "results_ttft_s_quantiles_p50": 0.2,
    "results_ttft_s_mean": 0.25,
}
CLIENT = {
    "load_summary": {"count": 60},
    "failures": {"count": 0},
    "successes": {"count": 60, "latency": {"time_to_first_token": {"median": 0.037}}},
}
SERVER = {
    "load_summary": {},
    "failures": {},
    "successes": {"count": 663, "rate": 8.4, "time_to_first_token": {"median": 0.021}},
}


def linked(first, second):
    """The links of two named documents."""
    return links(
        [(name, read_text(json.dumps(document), name)) for name, document in (first, second)]
    )


def test_summary_and_rows_are_one_run_and_disagree():
    """The two files of llmperf are linked by name, and the mean that differs is listed."""
    [link] = linked(("x_summary.json", SUMMARY), ("x_individual.json", ROWS))

    assert ["ttft"] == [one.quantity for one in link.disagreements]
    assert link.agreeing == 4


def test_client_and_server_reports_disagree_in_n():
    """Lifecycle and Prometheus reports of a stage are linked; their n and median differ."""
    [link] = linked(
        ("stage_0_lifecycle_metrics.json", CLIENT), ("stage_0_prometheus_metrics.json", SERVER)
    )

    assert {"n_success", "ttft"} == {one.quantity for one in link.disagreements}


def test_same_numbers_link_without_names():
    """Enough equal figures link two accounts whose names say nothing."""
    assert linked(("a.json", SUMMARY | {"results_ttft_s_mean": 0.7 / 3}), ("b.json", ROWS))


@pytest.mark.parametrize(
    "names", [("x_summary.json", "y_summary.json"), ("x_summary.json", "x_summary.json")]
)
def test_two_summaries_are_two_runs(names):
    """Files of one kind are never siblings of each other."""
    assert () == linked((names[0], SUMMARY), (names[1], SUMMARY))


def test_other_formats_are_no_pair():
    """Files of formats that do not describe one run are not linked."""
    assert () == linked(("x.json", samples.VLLM), ("x.json", SUMMARY))


def test_stem_forgets_what_tells_siblings_apart():
    """The csv and the records of one aiperf run have one stem."""
    assert "profile_export_run1" == stem("d/profile_export_aiperf_run1.csv")
    assert "profile_export_run1" == stem("profile_export_run1.jsonl")

"""Sweeps: the same answer on any pool, the capacity rule, and a cluster that loses a worker."""

import importlib.util
import json
import os
import signal
import threading
import time

import pytest

from scripts.sweep.__main__ import main
from scripts.sweep.capacity import by_rate, capacities

DASK = importlib.util.find_spec("distributed") is not None
SMALL = ["--rates", "2,20", "--systems", "v1,pd", "--seeds", "2", "--requests", "60"]


def answer(path, *more):
    """The file of a small sweep."""
    assert main([*SMALL, "--out", str(path), *more]) == 0
    return json.loads(path.read_text(encoding="utf-8"))


def row(rate, seed, attainment):
    """A point as the capacity rule sees it."""
    return {"system": "v1", "rate": rate, "seed": seed, "attainment": attainment}


def test_number_of_workers_does_not_change_the_answer(tmp_path):
    """One process and two give the same file."""
    one = answer(tmp_path / "one.json", "--workers", "1")

    assert one == answer(tmp_path / "two.json", "--workers", "2")
    assert len(one["points"]) == 8


def test_capacity_is_the_last_rate_before_the_first_miss():
    """A rate that meets the level above one that misses it does not count."""
    rows = [row(1.0, 0, 1.0), row(2.0, 0, 0.98), row(4.0, 0, 0.995)]
    rows += [row(1.0, 1, 1.0), row(2.0, 1, 1.0), row(4.0, 1, 0.5)]

    [found] = capacities(rows, 0.99)

    assert (
        found["largest_rate"],
        found["smallest_over_seeds"],
        found["largest_over_seeds"],
    ) == (1.5, 1.0, 2.0)


def test_interval_over_seeds_is_students():
    """Two seeds, one degree of freedom: 12.706 · s / √2 with s = 0.0707 is 0.6353."""
    assert pytest.approx(0.6353, abs=1e-4) == by_rate(1.0, [0.9, 1.0])["half_width"]
    assert by_rate(1.0, [0.9])["half_width"] is None


@pytest.mark.skipif(DASK, reason="Dask is installed")
def test_without_dask_the_option_says_what_to_install(tmp_path, capsys):
    """A plain sentence and status 2, no traceback."""
    status = main([*SMALL, "--out", str(tmp_path / "x"), "--scheduler", "tcp://127.0.0.1:1"])

    assert status == 2
    assert "install the dependency group" in capsys.readouterr().err


def test_bad_trace_is_one_sentence(tmp_path, capsys):
    """The row is named."""
    trace = tmp_path / "trace.csv"
    trace.write_text("arrival_s,prompt,output\n0,x,1\n", encoding="utf-8")

    status = main([*SMALL, "--trace", str(trace)])

    assert status == 2
    assert "Traceback" not in capsys.readouterr().err


LARGE = [*SMALL[:-1], "1500"]  # long enough that a worker can be lost in the middle


def kill_in_the_middle(cluster, left):
    """Kill the process of a worker once the first points are done; note how many were not."""
    tasks = cluster.scheduler.tasks
    while not any(task.state == "memory" for task in list(tasks.values())):
        time.sleep(0.001)
    victim = next(iter(cluster.workers.values()))
    os.kill(victim.pid, signal.SIGKILL)
    left.append(sum(task.state == "processing" for task in list(tasks.values())))


@pytest.mark.slow
@pytest.mark.skipif(not DASK, reason="Dask (distributed) is not installed")
@pytest.mark.filterwarnings("default")
def test_cluster_that_loses_a_worker_gives_the_same_answer(tmp_path):
    """A worker is killed in the middle; the sweep completes with the file of the local pool."""
    distributed = importlib.import_module("distributed")
    expected = answer(tmp_path / "local.json", *LARGE, "--workers", "1")
    left = []
    with distributed.LocalCluster(
        n_workers=2, threads_per_worker=1, dashboard_address=None
    ) as cluster:
        killer = threading.Thread(target=kill_in_the_middle, args=(cluster, left), daemon=True)
        killer.start()

        found = answer(tmp_path / "dask.json", *LARGE, "--scheduler", cluster.scheduler_address)

        killer.join(timeout=10)
    assert expected == found
    assert left[0] > 0

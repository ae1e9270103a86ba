"""Where the points are computed: local processes, or a Dask cluster.

Each point is a pure function of its data, so that a lost worker costs time and changes nothing:
Dask runs its points again elsewhere. Both pools yield results as they come, with their index.
"""

import importlib
from collections.abc import Callable, Iterator, Sequence
from concurrent.futures import ProcessPoolExecutor, as_completed
from typing import Any

RETRIES = 5  # of a point whose worker died

type Job = Callable[[Any], Any]


class DaskMissingError(RuntimeError):
    """A scheduler was named and Dask is not installed."""

    def __init__(self) -> None:
        super().__init__(
            "--scheduler needs Dask, which is not installed: install the dependency group "
            "'sweep' (distributed), or leave the option out to use local processes."
        )


def local(job: Job, points: Sequence[Any], workers: int) -> Iterator[tuple[int, Any]]:
    """On processes of this machine; one worker computes in this process."""
    if workers == 1:
        yield from ((index, job(point)) for index, point in enumerate(points))
        return
    with ProcessPoolExecutor(workers) as pool:
        running = {pool.submit(job, point): index for index, point in enumerate(points)}
        for done in as_completed(running):
            yield running[done], done.result()


def dask(job: Job, points: Sequence[Any], address: str) -> Iterator[tuple[int, Any]]:
    """On the workers of a Dask scheduler. Raises DaskMissingError."""
    try:
        distributed = importlib.import_module("distributed")
    except ImportError:
        raise DaskMissingError from None
    with distributed.Client(address) as client:
        futures = client.map(job, points, pure=False, retries=RETRIES)
        places = {future.key: index for index, future in enumerate(futures)}
        for future, result in distributed.as_completed(futures, with_results=True):
            yield places[future.key], result

"""Tasks on real workers: what holds for each of them, however many overlap in one process."""

from __future__ import annotations

import os
import time

import pytest
from support.dask_processes import cluster

from swiftcore.cluster.connection import connected
from swiftcore.cluster.crew import Crew


@pytest.mark.skipif((os.cpu_count() or 1) < 2, reason="BLAS has one thread in any case")
def test_tasks_that_overlap_leave_blas_its_one_thread() -> None:
    def threads(seconds: float) -> list[int]:  # sent whole: workers cannot import tests
        from threadpoolctl import threadpool_info

        found = [one["num_threads"] for one in threadpool_info()]
        time.sleep(seconds)
        return found + [one["num_threads"] for one in threadpool_info()]

    with cluster(1, threads=2) as running, connected(running.address) as client:
        crew = Crew(client)
        assert crew.count == 2
        short = crew.submit(threads, 2.0)
        time.sleep(0.5)
        long = crew.submit(threads, 4.0)
        found = [set(crew.taken(one)) for one in crew.as_they_end([long, short])]
        assert found == [{1}, {1}] and len(crew.workers) == 1

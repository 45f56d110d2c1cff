"""Clusters that lose their scheduler or all their workers: said in words for all kinds of work."""

from __future__ import annotations

import time
from collections.abc import Callable, Iterator

import psutil
import pytest
from support.dask_processes import Cluster, cluster

from swiftcore import ModelSpec
from swiftcore.cluster.address import ClusterLost
from swiftcore.cluster.independent_parts import experiments_on
from swiftcore.cluster_fit import fit_on_cluster
from swiftcore.data.dataset import Dataset
from swiftcore.data.synthetic.ehr import generate_ehr

LONG = {"max_iterations": 100_000, "tolerance": 0.0, "n_restarts": 1}
Blow = Callable[[], None]


@pytest.fixture
def running() -> Iterator[Cluster]:
    """With one worker that nobody starts again."""
    with cluster(1) as found:
        yield found


def data(rows: int) -> Dataset:
    made = generate_ehr(rows, n_diagnoses=60, n_medications=64, seed=2)
    return Dataset("made", made.tensor, None, "", "Synthetic.")


def whole_fit(running: Cluster, blow: Blow) -> None:
    spec = ModelSpec(rank=2, **LONG)
    fit_on_cluster(data(300), spec, running.address, callback=_at_the_third(blow))


def consensus(running: Cluster, blow: Blow) -> None:
    spec = ModelSpec(rank=2, consensus=2, **LONG)
    told: list[int] = []

    def tell(_: object) -> bool:
        told.append(1)
        if len(told) == 5:
            blow()
        return False

    fit_on_cluster(data(300), spec, running.address, fits_callback=tell)


def rows_in_parts(running: Cluster, blow: Blow) -> None:
    spec = ModelSpec(rank=2, row_relation="neighbourhoods", **LONG)
    fit_on_cluster(data(4_500), spec, running.address, callback=_at_the_third(blow))


def experiment(running: Cluster, blow: Blow) -> None:
    with experiments_on(running.address) as team:
        calls = dict.fromkeys(range(50), (0.5,))
        for done, _ in enumerate(team.run(time.sleep, calls, None)):
            if done == 3:
                blow()


def _at_the_third(blow: Blow) -> Callable[..., bool]:
    def callback(now: object) -> bool:
        if now.iteration == 3:  # type: ignore[attr-defined]
            blow()
        return False

    return callback


KINDS = pytest.mark.parametrize("work", [whole_fit, consensus, rows_in_parts, experiment])


@KINDS
def test_a_lost_scheduler_is_said(work: Callable[[Cluster, Blow], None], running: Cluster) -> None:
    with pytest.raises(ClusterLost, match="The cluster gave up while it computed"):
        work(running, running.scheduler.kill)


def test_a_worker_stops_when_nobody_waits_for_its_fit(running: Cluster) -> None:
    def leave() -> None:
        raise KeyboardInterrupt

    with pytest.raises(KeyboardInterrupt):
        whole_fit(running, leave)
    [pid] = running.pids
    worker, end = psutil.Process(pid), time.monotonic() + 60
    while worker.cpu_percent(2.0) > 20:
        assert time.monotonic() < end


@KINDS
def test_workers_that_are_all_gone_are_said(
    work: Callable[[Cluster, Blow], None], running: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("swiftcore.cluster.crew.PATIENCE", 3.0)
    with pytest.raises(ClusterLost, match="without a worker for 3 seconds"):
        work(running, running.workers[0].kill)


def test_a_worker_that_comes_in_time_goes_on(
    running: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    """However often all are gone: what counts is how long."""
    monkeypatch.setattr("swiftcore.cluster.crew.PATIENCE", 30.0)
    with experiments_on(running.address) as team:
        for done, _ in enumerate(team.run(time.sleep, dict.fromkeys(range(12), (0.5,)), None)):
            if done in (2, 6):
                running.workers[-1].kill()
                running.workers[-1].wait()
                running.grow(1)
        assert len(team.workers) == 3

"""Experiments on the workers of a cluster: the numbers of this machine."""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path

import pytest
from support.dask_processes import Cluster, cluster
from support.evaluation_data import planted_patients, small_search

from swiftcore.cli import main
from swiftcore.cluster.independent_parts import experiments_on, helpers
from swiftcore.data.bundle import write_bundle
from swiftcore.evaluation.experiments.checkpoints import FAILED, Task, compute_checkpoints
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.evaluation.experiments.run import run_experiment
from swiftcore.evaluation.experiments.settings import ExperimentSettings
from swiftcore.evaluation.experiments.tuning.settings import TuneSettings
from swiftcore.evaluation.experiments.tuning.tune import tune

SMALL = {"ranks": (2,), "folds": 3, "quick": True, "methods": ("swift",)}
FIT = {"rank": 2, "max_iterations": 4, "n_restarts": 1}


@pytest.fixture(scope="module")
def running() -> Iterator[Cluster]:
    with cluster(2) as found:
        yield found


def numbers(found: Experiment) -> dict[str, str]:
    """All tables but for what took how long."""
    return {
        name: table.drop(columns=["seconds", "part"], errors="ignore").to_json()
        for name, table in found.tables.items()
    }


@pytest.mark.parametrize("kind", ["evaluation", "noise", "ablation", "stability", "ranks"])
def test_every_experiment_has_the_numbers_of_this_machine(kind: str, running: Cluster) -> None:
    data = planted_patients(60)
    more = {"levels": (0.1,), "draws": 1} if kind == "noise" else {}
    settings = ExperimentSettings(**SMALL, **more, fit=FIT, seeds=1)
    with experiments_on(running.address) as team:
        there = run_experiment(kind, data, settings)
        assert {pid for _, pid in team.workers} <= running.pids and team.workers
    assert helpers() is None
    assert numbers(there) == numbers(run_experiment(kind, data, settings))


def test_settings_are_chosen_alike(running: Cluster, monkeypatch: pytest.MonkeyPatch) -> None:
    small_search(monkeypatch)
    data, settings = planted_patients(60), TuneSettings(ranks=(2,), minutes=0.0)
    with experiments_on(running.address) as team:
        there = tune(data, settings)
        assert {pid for _, pid in team.workers} == running.pids
    here = tune(data, settings)
    assert there.about["spec"] == here.about["spec"] and numbers(there) == numbers(here)


def test_the_command_goes_on_there_from_what_was_done_here(
    running: Cluster, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    write_bundle(planted_patients(60), tmp_path / "made.npz")
    asked = ["stability", str(tmp_path / "made.npz"), "--ranks", "2", "--folds", "3", "--quick"]
    asked += ["--iterations", "4", "--out", str(tmp_path / "out")]
    assert main([*asked, "--cluster", running.address]) == 0
    there = capsys.readouterr()
    assert "2 parts at a time" in there.err
    done = {one.name: one.stat().st_mtime_ns for one in (tmp_path / "out" / "parts").iterdir()}
    assert main(asked) == 0
    assert capsys.readouterr().out == there.out
    after = {one.name: one.stat().st_mtime_ns for one in (tmp_path / "out" / "parts").iterdir()}
    assert done == after and len(done) == 6


def deadly(number: int, shared: list[int]) -> dict[str, int]:
    if number == 1:
        os._exit(1)
    time.sleep(0.2)
    return {"number": number, "size": len(shared)}


@pytest.mark.nightly  # Dask starts workers again and again: on a busy machine not always
def test_a_part_that_takes_workers_down_ends_alone() -> None:
    shared = list(range(1000))
    tasks = [Task(f"task {n}", "", (n, shared)) for n in range(4)]
    with experiments_on("local:2"):  # whose nannies start new workers
        found = compute_checkpoints(tasks, deadly)
    assert "took down every worker" in found[1][FAILED]
    good = [found[n] for n in (0, 2, 3)]
    assert good == [{"number": n, "size": 1000} for n in (0, 2, 3)]

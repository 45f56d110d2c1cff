"""Fits over real schedulers and workers, each a process: the bits of a fit on this machine."""

from __future__ import annotations

import json
import os
import random
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from dataclasses import replace
from pathlib import Path

import dask
import psutil
import pytest
from support.dask_processes import Cluster, certificates, cluster

from swiftcore import ModelSpec, fit_dataset
from swiftcore.cli import main
from swiftcore.cluster import connection
from swiftcore.cluster.connection import check_equipment, equipment
from swiftcore.cluster_fit import fit_on_cluster
from swiftcore.data.dataset import Dataset
from swiftcore.data.synthetic.ehr import generate_ehr
from swiftcore.errors import InvalidSettings, SwiftError
from swiftcore.fitting import FittedModel
from swiftcore.parts_fit import Means, fit_in_parts
from swiftcore.progress import FitOutcome, FitProgress
from swiftcore.swift.checkpoint import FitCheckpoint

PARTS = ModelSpec(rank=3, row_relation="neighbourhoods", max_iterations=6, n_restarts=1)
ROWS = 8_300  # three parts
SWIFT = [sys.executable, "-c", "import sys; from swiftcore.cli import main; sys.exit(main())"]
WAIT = 120.0  # seconds for what takes a moment on a quiet machine


@pytest.fixture(scope="module")
def data() -> Dataset:
    made = generate_ehr(ROWS, n_diagnoses=60, n_medications=64, seed=2)
    return Dataset("made", made.tensor, None, "", "Synthetic.")


@pytest.fixture(scope="module")
def here(data: Dataset) -> FittedModel:
    return fit_dataset(data, PARTS)


@pytest.fixture(scope="module")
def growing() -> Iterator[Cluster]:
    with cluster(1) as found:
        yield found


class Counting:
    """A callback that counts what every worker moves from the second iteration on."""

    def __init__(self, counted: Cluster) -> None:
        self._counted, self._marks = counted, []

    def __call__(self, now: FitProgress) -> bool:
        if now.iteration >= 1:
            self._marks.append(self._counted.bytes_moved())
        return False

    @property
    def per_iteration(self) -> list[float]:
        first, last = self._marks[0], self._marks[-1]
        return [(last[one] - first[one]) / (len(self._marks) - 1) for one in first]


def test_serial_threads_and_a_budget_have_the_same_bits(data: Dataset, here: FittedModel) -> None:
    assert fit_dataset(data, PARTS, n_jobs=1).digest == here.digest
    assert fit_in_parts(data, PARTS, Means(n_jobs=2)).digest == here.digest


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_workers_change_no_bit(
    data: Dataset, here: FittedModel, growing: Cluster, workers: int
) -> None:
    growing.grow(workers)
    count = Counting(growing)
    found = fit_on_cluster(data, PARTS, growing.address, callback=count)
    assert found.model.digest == here.digest and not found.why_whole
    assert {pid for _, pid in found.workers} == growing.pids and len(growing.pids) == workers
    assert os.getpid() not in growing.pids
    features = (60 + 64) * PARTS.rank * 8
    rows = ROWS // workers * PARTS.rank * 8
    assert count.per_iteration
    assert all(features < one < rows for one in count.per_iteration), (count.per_iteration, rows)


def test_only_features_and_sums_travel(growing: Cluster) -> None:
    """At most 200 kB per worker and iteration for 100 + 100 features and 40 components."""
    growing.grow(3)
    made = generate_ehr(ROWS, seed=2)
    data = Dataset("made", made.tensor, None, "", "Synthetic.")
    spec = replace(PARTS, rank=40, max_iterations=8, start="random", tolerance=0.0)
    count = Counting(growing)
    fit_on_cluster(data, spec, growing.address, callback=count)
    sums = 200 * 40 * 8
    assert len(count.per_iteration) == 3
    assert all(sums < one <= 200_000 for one in count.per_iteration), count.per_iteration


class Killing:
    """A callback that ends a worker at a random moment of a random iteration, or before all."""

    def __init__(self, victim: subprocess.Popen[str], drawn: random.Random) -> None:
        self._victim, self._drawn = victim, drawn
        self._last, self._iteration = (
            time.monotonic(),
            drawn.randrange(-1, PARTS.max_iterations - 2),
        )
        if self._iteration < 0:  # while the parts are handed out
            self._kill_within(0.5)

    def __call__(self, now: FitProgress) -> bool:
        before, self._last = self._last, time.monotonic()
        if now.iteration == self._iteration:
            self._kill_within(0.1 if before is None else (self._last - before) / 2)
        if now.iteration > self._iteration:  # in any case before it is done
            self._victim.kill()
        return False

    def _kill_within(self, seconds: float) -> None:
        threading.Timer(self._drawn.uniform(0.0, seconds), self._victim.kill).start()


@pytest.mark.parametrize("kills", [3, pytest.param(20, marks=pytest.mark.nightly)])
def test_workers_killed_at_random_moments_change_no_bit(
    data: Dataset, here: FittedModel, growing: Cluster, kills: int
) -> None:
    drawn = random.Random(kills)
    for number in range(kills):
        growing.grow(2)
        victim = drawn.choice([one for one in growing.workers if one.poll() is None])
        found = fit_on_cluster(data, PARTS, growing.address, callback=Killing(victim, drawn))
        assert victim.poll() == -signal.SIGKILL, number  # before the fit was done
        assert found.model.digest == here.digest, number
        assert {pid for _, pid in found.workers} <= {one.pid for one in growing.workers}


def test_a_lost_scheduler_is_said_and_the_next_one_goes_on_under_tls(
    data: Dataset, here: FittedModel, tmp_path: Path
) -> None:
    tls = certificates(tmp_path)
    spec, reached = replace(PARTS, max_iterations=12, tolerance=0.0), []
    kept = FitCheckpoint(tmp_path / "state.npz", 0.0, resumed=lambda past: reached.append(past))
    names = ("ca-file", "client.cert", "client.key")
    trusted = {f"distributed.comm.tls.{n}": f for n, f in zip(names, tls[1::2], strict=True)}
    with cluster(1, tls) as first:
        assert first.address.startswith("tls://")
        with pytest.raises(InvalidSettings, match="TLS needs certificates"):
            fit_on_cluster(data, spec, first.address)

        def kill(now: FitProgress) -> bool:
            if now.iteration >= 3 and kept.path.exists():
                first.scheduler.kill()
            return False

        with dask.config.set(trusted), pytest.raises(SwiftError, match="gave up") as said:
            fit_on_cluster(data, spec, first.address, callback=kill, checkpoint=kept)
        assert said.value.problems[0].code == "cluster-lost" and not reached
    with cluster(2, tls) as second, dask.config.set(trusted):
        found = fit_on_cluster(data, spec, second.address, checkpoint=kept)
        assert {pid for _, pid in found.workers} == second.pids
    assert reached and found.model.digest == fit_dataset(data, spec).digest


@pytest.mark.nightly  # waits for the first checkpoint, half a minute, of a fit that must run longer
def test_ctrl_c_keeps_what_there_is_and_leaves_nothing_behind(
    data: Dataset, tmp_path: Path
) -> None:
    """Ctrl-C reaches the workers of local:2, too: they leave it to the command."""
    from swiftcore.data.bundle import write_bundle

    write_bundle(data, tmp_path / "made.npz")
    out = tmp_path / "run"
    asked = ["fit", str(tmp_path / "made.npz"), "--rank", "20", "--tolerance", "0", "--json"]
    asked += ["--row-relation", "neighbourhoods", "--out", str(out)]
    command = [*SWIFT, *asked, "--iterations", "100000", "--cluster", "local:2"]
    with subprocess.Popen(
        command, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, start_new_session=True
    ) as started:
        children: list[psutil.Process] = []
        _until(lambda: len(list(out.glob(".fit-checkpoint*"))) > 0)
        children = psutil.Process(started.pid).children(recursive=True)
        os.killpg(started.pid, signal.SIGINT)
        said, errors = started.communicate(timeout=WAIT)
    assert started.returncode == 0 and "Traceback" not in errors, errors[-2000:]
    stopped = json.loads(said)
    assert stopped["outcome"] == "STOPPED" and stopped["workers"] == 2 and len(children) >= 2
    _until(lambda: not any(one.is_running() and one.status() != "zombie" for one in children))


def test_a_killed_command_takes_its_local_workers_along(tmp_path: Path) -> None:
    code = "from swiftcore.cluster.connection import connected\nimport time\n"
    code += "if __name__ == '__main__':\n with connected('local:1'):\n"
    code += "  print('up', flush=True)\n  time.sleep(600)\n"
    (tmp_path / "held.py").write_text(code)
    command = [sys.executable, str(tmp_path / "held.py")]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as started:
        assert started.stdout is not None and started.stdout.readline() == "up\n"
        children = psutil.Process(started.pid).children(recursive=True)
        started.kill()
    assert children
    _until(lambda: not any(one.is_running() and one.status() != "zombie" for one in children))


def _until(done: object) -> None:
    end = time.monotonic() + WAIT
    while not done():  # type: ignore[operator]
        assert time.monotonic() < end
        time.sleep(0.1)


def test_fits_of_a_consensus_are_shared_out(growing: Cluster) -> None:
    growing.grow(2)
    made = generate_ehr(300, n_diagnoses=60, n_medications=64, seed=2)
    data = Dataset("made", made.tensor, None, "", "Synthetic.")
    # long enough that the second fit is asked for before the first is done
    spec = ModelSpec(rank=2, consensus=3, max_iterations=60, tolerance=0.0, n_restarts=1)
    found = fit_on_cluster(data, spec, growing.address)
    assert found.model.digest == fit_dataset(data, spec).digest
    assert found.model.agreement is not None and len(found.workers) >= 2
    near = replace(spec, row_relation="neighbourhoods")
    assert "consensus" in fit_on_cluster(data, near, growing.address).why_whole


def test_a_whole_fit_tells_of_its_iterations_and_stops_when_asked(growing: Cluster) -> None:
    made = generate_ehr(300, n_diagnoses=60, n_medications=64, seed=2)
    data = Dataset("made", made.tensor, None, "", "Synthetic.")
    spec = ModelSpec(rank=2, max_iterations=5, tolerance=0.0, n_restarts=1)
    told: list[int] = []
    found = fit_on_cluster(
        data, spec, growing.address, callback=lambda now: told.append(now.iteration)
    )
    assert found.model.digest == fit_dataset(data, spec).digest
    assert told == sorted(set(told)) and told[0] == 0
    assert {pid for _, pid in found.workers} <= growing.pids
    long = replace(spec, max_iterations=5_000)
    stopped = fit_on_cluster(data, long, growing.address, callback=lambda now: now.iteration > 2)
    assert stopped.model.outcome is FitOutcome.STOPPED
    assert 2 < len(stopped.model.history) < 5_000


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str], growing: Cluster) -> None:
    asked = ["fit", "heart_failure", "--rank", "2", "--iterations", "3", "--json"]
    assert main([*asked, "--out", str(tmp_path / "here")]) == 0
    here = json.loads(capsys.readouterr().out)
    assert main([*asked, "--cluster", growing.address, "--out", str(tmp_path / "there")]) == 0
    there = json.loads(capsys.readouterr().out)
    assert there["model_digest"] == here["model_digest"] and there["workers"] == 1


def test_other_packages_are_refused(
    data: Dataset, growing: Cluster, monkeypatch: pytest.MonkeyPatch
) -> None:
    mine = equipment()
    check_equipment(mine)
    with pytest.raises(InvalidSettings, match=r"numpy .* \(here 0\)"):
        check_equipment({**mine, "numpy": "0"})
    monkeypatch.setattr(connection, "COMPARED", ("numpy", "swift-phenotyping"))
    monkeypatch.setattr(connection, "version", lambda name: "0")
    with pytest.raises(InvalidSettings, match="runs other packages"):
        fit_on_cluster(data, PARTS, growing.address)


def test_another_processor_is_refused(data: Dataset, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("NUMBA_CPU_NAME", "generic")  # read here before, and by the worker now
    with cluster(1) as found, pytest.raises(InvalidSettings, match=r"processor generic \(here"):
        fit_on_cluster(data, PARTS, found.address)
    with pytest.raises(InvalidSettings, match=r"algorithm .* \(here 0\)"):
        check_equipment({**equipment(), "algorithm": "0"})


def test_nobody_there_is_said(monkeypatch: pytest.MonkeyPatch, data: Dataset) -> None:
    monkeypatch.setattr("swiftcore.cluster.connection.PATIENCE", 4.0)
    with pytest.raises(InvalidSettings, match="does not answer"):
        fit_on_cluster(data, PARTS, "tcp://127.0.0.1:9")

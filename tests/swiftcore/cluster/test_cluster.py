"""Fits over real schedulers and workers, each a process: the bits of a fit on this machine."""

from __future__ import annotations

import json
import os
import re
import signal
import subprocess
import sys
import threading
import time
from collections.abc import Iterator
from contextlib import ExitStack, contextmanager
from dataclasses import replace
from pathlib import Path

import dask
import distributed
import pytest
import trustme
from distributed.protocol.pickle import dumps

from swiftcore import ModelSpec, fit_dataset
from swiftcore.cli import main
from swiftcore.cluster.address import read_address
from swiftcore.cluster.connection import connected
from swiftcore.cluster.dask_team import DaskTeam
from swiftcore.cluster_fit import fit_on_cluster
from swiftcore.data.dataset import Dataset
from swiftcore.data.synthetic.ehr import generate_ehr
from swiftcore.errors import InvalidSettings
from swiftcore.fitting import FittedModel
from swiftcore.parts_fit import fit_in_parts
from swiftcore.progress import FitOutcome, FitProgress
from swiftcore.swift.checkpoint import FitCheckpoint
from swiftcore.swift.parts.row_part import Order, PartSums

PARTS = ModelSpec(rank=3, row_relation="neighbourhoods", max_iterations=6, n_restarts=1)
ROWS = 8_300  # three parts
START = 60.0  # seconds for a process to come up


@pytest.fixture(scope="module")
def data() -> Dataset:
    made = generate_ehr(ROWS, n_diagnoses=60, n_medications=64, seed=2)
    return Dataset("made", made.tensor, None, "", "Synthetic.")


@pytest.fixture(scope="module")
def here(data: Dataset) -> FittedModel:
    return fit_dataset(data, PARTS)


@contextmanager
def process(*arguments: str) -> Iterator[subprocess.Popen[str]]:
    command = [sys.executable, "-m", "distributed.cli." + arguments[0], *arguments[1:]]
    started = subprocess.Popen(command, stderr=subprocess.PIPE, stdout=subprocess.PIPE, text=True)
    try:
        yield started
    finally:
        started.kill()
        started.communicate()


def scheduler_address(started: subprocess.Popen[str]) -> str:
    assert started.stderr is not None
    began = time.monotonic()
    for line in started.stderr:
        if found := re.search(r"Scheduler at:\s+(t\w\w://\S+)", line):
            threading.Thread(target=started.stderr.read, daemon=True).start()
            return found[1]
        assert time.monotonic() < began + START
    raise AssertionError("the scheduler ended")


@contextmanager
def cluster(workers: int, *tls: str) -> Iterator[tuple[str, list[subprocess.Popen[str]]]]:
    """A scheduler and its workers as processes of their own, on loopback."""
    kind = ("--protocol", "tls") if tls else ()
    place = ("--host", "127.0.0.1", "--port", "0", "--no-dashboard", *kind, *tls)
    with ExitStack() as all_of_them:
        address = scheduler_address(all_of_them.enter_context(process("dask_scheduler", *place)))
        usual = ("--nthreads", "1", "--no-nanny", "--no-dashboard", "--host", "127.0.0.1", *kind)
        team = [
            all_of_them.enter_context(process("dask_worker", address, *usual, *tls))
            for _ in range(workers)
        ]
        for one in team:
            assert one.stderr is not None
            threading.Thread(target=one.stderr.read, daemon=True).start()
        yield address, team


def wait_for(address: str, workers: int) -> None:
    with distributed.Client(address, set_as_default=False) as client:
        client.wait_for_workers(workers, timeout=START)


@pytest.mark.parametrize("workers", [1, 2, 3])
def test_workers_change_no_bit(data: Dataset, here: FittedModel, workers: int) -> None:
    with cluster(workers) as (address, team):
        wait_for(address, workers)
        found = fit_on_cluster(data, PARTS, address)
    assert found.model.digest == here.digest and not found.why_whole
    assert {pid for _, pid in found.workers} == {one.pid for one in team}
    assert os.getpid() not in {pid for _, pid in found.workers}


def test_a_killed_worker_is_replaced_to_the_same_bits(data: Dataset, here: FittedModel) -> None:
    with cluster(2) as (address, team):
        wait_for(address, 2)
        killed: list[int] = []

        def kill(now: FitProgress) -> bool:
            if now.iteration == 3 and not killed:
                killed.append(team[0].pid)
                os.kill(team[0].pid, signal.SIGKILL)
            return False

        found = fit_on_cluster(data, PARTS, address, callback=kill)
    assert killed and found.model.digest == here.digest
    assert team[1].pid in {pid for _, pid in found.workers}


def test_tls_and_a_scheduler_that_is_started_anew(
    data: Dataset, here: FittedModel, tmp_path: Path
) -> None:
    authority = trustme.CA()
    mine = authority.issue_cert("127.0.0.1")
    files = {name: tmp_path / f"{name}.pem" for name in ("ca", "cert", "key")}
    authority.cert_pem.write_to_path(files["ca"])
    mine.cert_chain_pems[0].write_to_path(files["cert"])
    mine.private_key_pem.write_to_path(files["key"])
    flags = ("--tls-ca-file", files["ca"], "--tls-cert", files["cert"], "--tls-key", files["key"])
    tls = tuple(map(str, flags))
    trusted = {
        "distributed.comm.tls.ca-file": str(files["ca"]),
        "distributed.comm.tls.client.cert": str(files["cert"]),
        "distributed.comm.tls.client.key": str(files["key"]),
    }
    kept = FitCheckpoint(tmp_path / "state.npz")
    with cluster(1, *tls) as (address, _):
        assert address.startswith("tls://")
        with pytest.raises(InvalidSettings, match="TLS needs certificates"):
            fit_on_cluster(data, PARTS, address)
        with dask.config.set(trusted):
            early = fit_on_cluster(
                data, PARTS, address, callback=lambda now: now.iteration >= 3, checkpoint=kept
            )
        assert early.model.outcome is FitOutcome.STOPPED
    with cluster(1, *tls) as (address, _), dask.config.set(trusted):
        found = fit_on_cluster(data, PARTS, address, checkpoint=kept)
    assert found.model.digest == here.digest


def test_only_features_and_sums_travel() -> None:
    """At most 200 kB per worker and iteration for 100 + 100 features and 40 components."""
    made = generate_ehr(600, seed=2)
    data = Dataset("made", made.tensor, None, "", "Synthetic.")
    spec = replace(PARTS, rank=40, max_iterations=4, start="random")
    moved, per_iteration = [0], []
    with connected("local:1") as client:

        class Counting(DaskTeam):
            def run(self, order: Order) -> PartSums:
                answer = super().run(order)
                moved[0] += len(dumps(order)) + len(dumps(answer))
                return answer

        def count(now: FitProgress) -> bool:
            per_iteration.append(moved[0])
            moved[0] = 0
            return False

        found = fit_in_parts(
            data,
            spec,
            callback=count,
            make_team=lambda ready, folder, room: Counting(client, ready.parts, ready.shared),
        )
    assert len(per_iteration) == len(found.history) == 5
    factors = 200 * 40 * 8
    assert all(2 * factors < one < 200_000 for one in per_iteration[1:])


def test_fits_of_a_consensus_are_shared_out() -> None:
    made = generate_ehr(300, n_diagnoses=60, n_medications=64, seed=2)
    data = Dataset("made", made.tensor, None, "", "Synthetic.")
    spec = ModelSpec(rank=2, consensus=3, max_iterations=5, n_restarts=1)
    found = fit_on_cluster(data, spec, "local:2")
    assert found.model.digest == fit_dataset(data, spec).digest
    assert found.model.agreement is not None and len(found.workers) == 2
    assert (
        "consensus"
        in fit_on_cluster(data, replace(spec, row_relation="neighbourhoods"), "local:1").why_whole
    )


def test_the_command(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    asked = ["fit", "heart_failure", "--rank", "2", "--iterations", "3", "--json"]
    assert main([*asked, "--out", str(tmp_path / "here")]) == 0
    here = json.loads(capsys.readouterr().out)
    assert main([*asked, "--cluster", "local:1", "--out", str(tmp_path / "there")]) == 0
    there = json.loads(capsys.readouterr().out)
    assert there["model_digest"] == here["model_digest"] and there["workers"] == 1


@pytest.mark.parametrize(
    ("address", "said"),
    [
        ("tcp://10.0.0.7:8786", "needs TLS"),
        ("tcp://scheduler.example:8786", "needs TLS"),
        ("tcp://0.0.0.0:8786", "needs TLS"),
        ("local:0", "not the address"),
        ("local:many", "not the address"),
        ("http://127.0.0.1:8786", "not the address"),
        ("tls://host", "not the address"),
        ("tls://host:99999999", "not the address"),
        ("", "not the address"),
    ],
)
def test_unsafe_and_odd_addresses_are_refused(address: str, said: str) -> None:
    with pytest.raises(InvalidSettings, match=said):
        read_address(address)


def test_nobody_there_is_said(monkeypatch: pytest.MonkeyPatch, data: Dataset) -> None:
    monkeypatch.setattr("swiftcore.cluster.connection.PATIENCE", 4.0)
    with pytest.raises(InvalidSettings, match="does not answer"):
        fit_on_cluster(data, PARTS, "tcp://127.0.0.1:9")

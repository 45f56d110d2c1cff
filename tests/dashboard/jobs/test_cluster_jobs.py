"""Jobs on a cluster of the settings: the same answer under the same key, watched and stopped."""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
from support.dask_processes import Cluster, cluster
from support.tiny_store import ended, tiny_dataset, wait_for

from dashboard.jobs import jobs
from dashboard.jobs.compute import load_fit
from dashboard.store.cards import RunState
from dashboard.store.request import Request
from dashboard.store.store import Store
from swiftcore.cluster.address import FILE

pytestmark = pytest.mark.slow  # every worker loads the compiler


@pytest.fixture(scope="module")
def running() -> Iterator[Cluster]:
    with cluster(1) as found:
        yield found


@pytest.fixture
def lab(running: Cluster, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> str:
    """The name of a configured cluster that runs."""
    path = tmp_path / "clusters.toml"
    path.write_text(f'[lab]\naddress = "{running.address}"\n')
    path.chmod(0o600)
    monkeypatch.setenv(FILE.variable, str(path))
    return "lab"


def worker_seconds(running: Cluster) -> float:
    [pid] = running.pids
    return float(sum(psutil.Process(pid).cpu_times()[:2]))


def test_a_fit_and_an_experiment_have_the_answers_of_this_machine(
    store: Store, fitted_store: Store, fit_id: str, lab: str, running: Cluster
) -> None:
    here = fitted_store.run(fit_id).request
    dataset = store.add_dataset(tiny_dataset(), synthetic=True)
    before = worker_seconds(running)
    run = jobs.start(store, Request("fit", dataset, here.settings), lab)
    card = ended(store, run)
    assert card.state is RunState.DONE, card.message
    assert run == fit_id and worker_seconds(running) > before + 0.5
    models = [load_fit(one, run) for one in (store, fitted_store)]
    assert models[0].digest == models[1].digest
    assert jobs.start(store, Request("fit", dataset, here.settings)) == run  # stored: no cluster
    asked = Request("stability", dataset, {"folds": 3, "ranks": [3]}, run)
    there = ended(store, jobs.start(store, asked, lab))
    again = ended(fitted_store, jobs.start(fitted_store, asked))
    assert there.state is again.state is RunState.DONE, (there.message, again.message)
    tables = [one.experiment(asked.key()).tables["matches"] for one in (store, fitted_store)]
    assert tables[0].equals(tables[1])


def test_it_can_be_watched_and_stopped(store: Store, lab: str) -> None:
    long = {"rank": 20, "max_iterations": 1_000_000, "tolerance": 0.0, "n_restarts": 1}
    run = jobs.start(store, Request("fit", store.add_dataset(tiny_dataset(400)), long), lab)

    def fitting() -> bool:
        card = store.run(run)
        assert card.state.active, card.message
        return bool((card.progress or {}).get("history"))

    wait_for(fitting)
    assert jobs.cancel(store, run).state is RunState.CANCELLED
    assert store.job(run).pid() is None


def test_a_cluster_that_is_not_there_fails_in_words(
    store: Store, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv(FILE.variable, str(tmp_path / "none.toml"))
    request = Request("fit", store.add_dataset(tiny_dataset()), {"rank": 2})
    card = ended(store, jobs.start(store, request, "lab"))
    assert card.state is RunState.FAILED and "no cluster of this name" in card.message

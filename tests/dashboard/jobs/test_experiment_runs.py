"""Experiments through a real worker: computed, stopped, and taken up where they were left."""

from __future__ import annotations

import os
import signal

import psutil
import pytest
from support.tiny_store import ended, tiny_dataset, wait_for

from dashboard.jobs import jobs
from dashboard.jobs.estimate import in_words
from dashboard.jobs.samples import requests
from dashboard.store.cards import RunState, newest_sound
from dashboard.store.request import KINDS, Request
from dashboard.store.store import Store
from swiftcore.data.samples import load_sample


@pytest.mark.slow
def test_stability_of_a_fit_goes_on_after_a_kill(fitted_store: Store, fit_id: str) -> None:
    dataset = fitted_store.run(fit_id).dataset
    # so many parts that the kill comes before the last
    request = Request("stability", dataset, {"folds": 12}, fit_id)
    run_id = jobs.start(fitted_store, request)
    parts = fitted_store.root / "parts" / run_id
    wait_for(lambda: parts.is_dir() and any(parts.glob("*.json")))
    pid = fitted_store.job(run_id).pid()
    assert pid is not None
    children = psutil.Process(pid).children(recursive=True)
    os.kill(pid, signal.SIGKILL)  # the worker alone; its helpers must notice by themselves
    wait_for(lambda: fitted_store.job(run_id).pid() is None)
    wait_for(lambda: not any(child.is_running() for child in children))
    assert fitted_store.run(run_id).state is RunState.INTERRUPTED
    assert any(parts.glob("*.json"))
    assert jobs.start(fitted_store, request) == run_id
    card = ended(fitted_store, run_id)
    assert card.state is RunState.DONE, card.message
    assert not parts.exists()
    experiment = fitted_store.experiment(run_id)
    assert experiment.kind == "stability" and experiment.about["settings"]["ranks"] == [3]
    assert list(experiment.tables["summary"]["phenotype"]) == ["P01", "P02", "P03"]
    assert newest_sound(fitted_store.runs(dataset), "stability", fit_id).id == run_id
    assert newest_sound(fitted_store.runs(dataset), "stability", "0" * 32) is None


@pytest.mark.slow
def test_an_evaluation_of_a_fit_judges_its_spec(fitted_store: Store, fit_id: str) -> None:
    fit = fitted_store.run(fit_id)
    settings = {"folds": 3, "methods": ["lasso_indicators"], "ranks": [2]}
    card = ended(
        fitted_store, jobs.start(fitted_store, Request("evaluation", fit.dataset, settings, fit_id))
    )
    assert card.state is RunState.DONE, card.message
    found = fitted_store.experiment(card.id)
    assert found.spec == fit.request.spec and found.about["settings"]["ranks"] == [2, 3]
    summary = found.tables["summary"].set_index(["method", "rank"])
    assert summary.loc[("swift", 3), "n"] == 3


@pytest.mark.slow
def test_ranks_are_tried_with_the_spec_of_a_fit(fitted_store: Store, fit_id: str) -> None:
    dataset = fitted_store.run(fit_id).dataset
    request = Request("ranks", dataset, {"ranks": [2]}, fit_id)
    card = ended(fitted_store, jobs.start(fitted_store, request))
    assert card.state is RunState.DONE, card.message
    assert list(fitted_store.experiment(card.id).tables["ranks"]["rank"]) == [2, 3]


@pytest.mark.slow
def test_an_experiment_without_an_outcome_says_so(store: Store) -> None:
    dataset = store.add_dataset(tiny_dataset(outcome=False))
    card = ended(store, jobs.start(store, Request("ablation", dataset, {"ranks": [2]})))
    assert card.state is RunState.FAILED
    assert "outcome" in card.message and "\n" not in card.message


@pytest.mark.parametrize("kind", [kind for kind in KINDS if kind != "projection"])
def test_every_kind_has_an_estimate(store: Store, kind: str) -> None:
    dataset = store.add_dataset(load_sample("heart_failure"))
    small = jobs.estimate(store, Request(kind, dataset))
    setting = {
        "fit": {"rank": 40},
        "tune": {"ranks": [40], "minutes": 60.0},
    }.get(kind, {"ranks": [40], "quick": False, "folds": 9})
    large = jobs.estimate(store, Request(kind, dataset, setting))
    assert 1 < small.seconds < large.seconds and 1e8 < small.bytes <= large.bytes
    assert small.sentence.startswith(("About ", "At most about ")) and small.sentence.endswith(
        " of memory."
    )


def test_what_is_stored_is_estimated_as_nothing(fitted_store: Store, fit_id: str) -> None:
    found = jobs.estimate(fitted_store, fitted_store.run(fit_id).request)
    assert found.seconds == 0 and "stored" in found.sentence


def test_times_are_said_as_people_say_them() -> None:
    said = [in_words(seconds) for seconds in (0.2, 7.4, 12, 47, 200, 5000, 20_000)]
    assert said == ["1 s", "7 s", "10 s", "50 s", "3 min", "83 min", "6 h"]


def test_the_samples_ask_for_every_experiment() -> None:
    kinds = [request.kind for _, request in requests("a" * 32, 12)]
    assert kinds == ["fit", "evaluation", "noise", "ablation", "stability", "ranks"]

"""The Robustness page answers each question from the numbers."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import made_up
from support.opened_page import (
    add_experiment,
    damage,
    for_scientists,
    open_page,
    tab,
    widget,
    words,
)
from support.tiny_store import tiny_dataset

from dashboard.store.store import Store

TAB = "robustness.tab"
ABLATION = "Similarity of features"


@pytest.fixture
def full_store(fitted_store: Store, fit_id: str) -> Store:
    add_experiment(fitted_store, made_up.evaluation())
    add_experiment(fitted_store, made_up.noise())
    add_experiment(fitted_store, made_up.ablation())
    add_experiment(fitted_store, made_up.stability(), fit_id)
    return fitted_store


def test_every_tab_begins_with_its_answer(
    full_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("robustness", full_store, monkeypatch)
    assert "With 30% false entries SWIFT keeps 90%" in words(page)
    assert "1 of 2 phenotypes are still found" in words(tab(page, TAB, "Phenotypes that survive"))
    assert "experiment's own computation" in words(page)  # not that of the chosen fit
    assert "least steady is P02" in words(tab(page, TAB, "Found again"))
    assert "experiment's own computation" not in words(page)
    assert "best with 20 phenotypes" in words(tab(page, TAB, "Number of phenotypes"))
    text = words(tab(page, TAB, "Similarity of features"))
    assert "clearly better than with no similarity" in text
    assert "0.020 better than with no similarity (1 - I)" in words(for_scientists(page))
    assert len(page.get("plotly_chart")) == 1


def test_the_settings_chosen_under_noise_are_shown(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = made_up.noise()
    scores = made.tables["scores"].assign(setting='{"sharpness": 2.0}', validation=0.5)
    add_experiment(fitted_store, replace(made, tables={**made.tables, "scores": scores}))
    page = open_page("robustness", fitted_store, monkeypatch)
    assert not [one for one in page.dataframe if "Setting" in one.value]  # not for clinicians
    for_scientists(page)
    [table] = [one.value for one in page.dataframe if "Setting" in one.value]
    assert set(table["Setting"]) == {"sharpness 2"} and len(table) == 2 * 3  # methods x levels


@pytest.mark.parametrize("kind", ["noise", "ablation", "evaluation"])
def test_scores_that_are_missing_are_said_to_be_missing(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, kind: str
) -> None:
    made = getattr(made_up, kind)()
    lost = {**made.tables, "scores": made.tables["scores"].assign(score=float("nan"))}
    add_experiment(fitted_store, replace(made, tables=lost))
    page = open_page("robustness", fitted_store, monkeypatch)
    if kind == "evaluation":
        tab(page, TAB, "Number of phenotypes")
        assert widget(page, "button", "offer.evaluation")
        return
    text = words(tab(page, TAB, {"noise": "False entries", "ablation": ABLATION}[kind]))
    assert "holds no scores" in text


def test_without_an_outcome_the_phenotypes_are_still_followed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    store.add_dataset(tiny_dataset(outcome=False))
    page = open_page("robustness", store, monkeypatch)
    assert "no outcome" in words(page)
    tab(page, TAB, "Found again")
    assert widget(page, "button", "offer.stability")


def test_a_failed_attempt_is_told_and_can_be_repeated(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    damage(fitted_store, add_experiment(fitted_store, made_up.noise()))
    page = open_page("robustness", fitted_store, monkeypatch)
    assert "damaged" in words(page) and widget(page, "button", "offer.noise")

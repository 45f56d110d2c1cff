"""An experiment with other tables than ours gives words on every page, never a traceback."""

from __future__ import annotations

from dataclasses import replace

import pytest
from support import made_up
from support.opened_page import add_experiment, add_foreign_links, drawn, open_page, tab, words

from dashboard.store.store import Store

VIEWS = ("phenotypes", "patients", "prediction", "robustness", "review", "runs")


@pytest.mark.parametrize("view", VIEWS)
def test_links_without_a_column(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch, view: str
) -> None:
    add_foreign_links(fitted_store, fit_id, "same_sign")
    page = open_page(view, fitted_store, monkeypatch)
    if view not in ("robustness", "runs"):  # those draw no links
        assert "no column same_sign" in words(page)


@pytest.mark.parametrize("view", VIEWS)
def test_stability_without_a_column(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch, view: str
) -> None:
    made = made_up.stability()
    tables = {**made.tables, "summary": made.tables["summary"].drop(columns="seeds")}
    add_experiment(fitted_store, replace(made, tables=tables), fit_id)
    page = drawn(open_page(view, fitted_store, monkeypatch).run())
    if view == "robustness":
        assert "no column seeds" in words(tab(page, "robustness.tab", "Found again"))


def test_tables_that_no_page_knows_are_left_alone(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    made = made_up.evaluation()
    more = {**made.tables, "weather": made.tables["scores"][["method"]]}
    add_experiment(fitted_store, replace(made, tables=more))
    assert "ahead of CP-ALS" in words(open_page("prediction", fitted_store, monkeypatch))

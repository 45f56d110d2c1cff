"""The page of rows: memberships, one row and why, similar rows, strength, new rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.made_runs import computed, fitted
from support.opened_page import drawn, open_page, tab, widget, words
from support.tiny_store import tiny_dataset

from dashboard.fit_view import row_tables
from dashboard.store.request import Request
from dashboard.store.store import Store
from swiftcore.tensor import Mode, SparseTensor


def test_rows_are_named_by_the_data_and_marked_as_row_level(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("patients", fitted_store, monkeypatch)
    assert page.title[0].value == "Patients"
    assert "Row-level data" in words(page)
    table = page.dataframe[0].value
    assert table["patient"].tolist() == [f"row {row}" for row in range(30)]
    assert np.allclose(table[["P01", "P02", "P03"]].sum(axis=1), 100)
    labels = [button.proto.label for button in page.get("download_button")]
    assert labels == ["Download row-level data (CSV)"]


def test_only_carriers_are_listed_strongest_first(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("patients", fitted_store, monkeypatch)
    drawn(widget(page, "selectbox", "w.carrying").set_value("P02").run())
    strength = page.dataframe[0].value["P02"]
    assert 0 < len(strength) < 30 and strength.is_monotonic_decreasing and strength.min() >= 10


def test_long_lists_are_paged(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted(store, tiny_dataset(rows=120), synthetic=True)
    page = open_page("patients", store, monkeypatch)
    assert len(page.dataframe[0].value) == 50 and "1 to 50 of 120" in words(page)


def test_one_row_is_explained_and_an_unknown_one_is_said(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tab(open_page("patients", fitted_store, monkeypatch), "tabs.patients", "One patient")
    entries = page.dataframe[0].value
    assert {"diagnosis", "medication", "phenotype", "part of it"} <= set(entries)
    near = page.dataframe[1].value
    assert "row 0" not in near["patient"].tolist() and near["Similarity"].iloc[0] > 0.9
    drawn(widget(page, "text_input", "w.row.label").set_value("nobody").run())
    assert "no row with exactly this label" in words(page)
    drawn(widget(page, "text_input", "w.row.label").set_value("row 7").run())
    assert "no row with exactly this label" not in words(page)


def test_strength_is_shown_per_outcome_and_hides_small_groups(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("patients", fitted_store, monkeypatch)
    tab(page, "tabs.patients", "Strength and outcome")
    counts = page.dataframe[0].value
    assert counts["fever"].tolist() == ["no", "yes", "Total"]
    page.session_state["swift.small_cells"] = 11
    drawn(page.run())
    assert any(not cell.isdecimal() for cell in page.dataframe[0].value["carry it"])


def test_data_without_outcome_work(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted(store, tiny_dataset(outcome=False), synthetic=True)
    page = open_page("patients", store, monkeypatch)
    assert "outcome" not in page.dataframe[0].value
    tab(page, "tabs.patients", "One patient")
    tab(page, "tabs.patients", "Strength and outcome")
    assert "carry it" in words(page)


def test_new_rows_are_shown_with_what_was_not_known(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    page = open_page("patients", fitted_store, monkeypatch)
    tab(page, "tabs.patients", "New patients")
    assert "No new rows yet" in words(page)
    data = tiny_dataset(rows=6, seed=8)
    labels = ("![x](http://evil.example)", *data.tensor.modes[1].labels[1:])
    modes = (data.tensor.modes[0], Mode("diagnosis", labels), data.tensor.modes[2])
    new = replace(data, tensor=SparseTensor(modes, data.tensor.coordinates, data.tensor.values))
    computed(fitted_store, Request("projection", fitted_store.add_dataset(new), {}, fit_id))
    drawn(page.run())
    assert "does not know them: 1 feature with" in words(page) and "evil" in words(page)
    table = page.dataframe[0].value
    assert len(table) == 6
    assert {"diagnosis", "medication", "phenotype"} <= set(page.dataframe[1].value)


def test_a_row_is_explained_by_the_model_itself(fitted_store: Store, fit_id: str) -> None:
    fit = fitted_store.fit(fit_id)
    tensor = fitted_store.dataset(fitted_store.datasets()[0].id).tensor
    table = row_tables.why(4, fit, tensor, ["diagnosis", "medication"])
    places, values = row_tables.row_entries(tensor, 4)
    assert sorted(values) == sorted(table["value"]) and len(places) == len(table)
    first = table.iloc[0]
    a = fit.modes[1].labels.index(first["diagnosis"])
    b = fit.modes[2].labels.index(first["medication"])
    parts = fit.factors[0][4] * fit.factors[1][a] * fit.factors[2][b]
    assert fit.identifiers[int(parts.argmax())] == first["phenotype"]
    assert first["part of it"] == pytest.approx(parts.max() / parts.sum())


def test_similar_rows_have_the_same_mix() -> None:
    shared = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.0, 0.0]])
    assert [row for row, _ in row_tables.similar_rows(shared, 0)] == [1]

"""The page of rows: memberships, one row and why, similar rows, strength, new rows."""

from __future__ import annotations

from dataclasses import replace

import numpy as np
import pytest
from support.made_runs import computed, fitted
from support.opened_page import drawn, open_page, tab, widget, words
from support.tiny_store import tiny_dataset

from dashboard.fit_view import row_tables
from dashboard.fit_view.row_map import row_map
from dashboard.fit_view.row_risk import risk_model
from dashboard.session import fit_summary
from dashboard.store.request import Request
from dashboard.store.store import Store
from swiftcore.phenotypes.shares import row_shares
from swiftcore.tensor import Mode, SparseTensor


def test_rows_are_named_by_the_data_and_marked_as_row_level(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("patients", fitted_store, monkeypatch)
    assert page.title[0].value == "Patients"
    assert "Row-level data" in words(page)
    table = page.dataframe[0].value
    assert table["patient"].tolist() == [f"patient row {row}" for row in range(30)]
    assert np.allclose(table[["P01", "P02", "P03"]].sum(axis=1), 1)
    labels = [button.proto.label for button in page.get("download_button")]
    assert labels == ["Download row-level data (CSV)"]


def test_only_carriers_are_listed_strongest_first(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("patients", fitted_store, monkeypatch)
    drawn(widget(page, "selectbox", "w.carrying").set_value("P02").run())
    strength = page.dataframe[0].value["P02"]
    assert 0 < len(strength) < 30 and strength.is_monotonic_decreasing and strength.min() >= 0.1


def test_long_lists_are_paged(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted(store, tiny_dataset(rows=120), synthetic=True)
    page = open_page("patients", store, monkeypatch)
    assert len(page.dataframe[0].value) == 50 and "1 to 50 of 120" in words(page)


def test_one_row_is_explained_and_found_by_a_part_of_its_label(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tab(open_page("patients", fitted_store, monkeypatch), "tabs.patients", "One patient")
    assert "patient row 0" in [each.value for each in page.header]
    diagnoses, medications, near = (page.dataframe[place].value for place in range(3))
    for table in (diagnoses, medications):
        assert {"feature", "phenotype", "part", "others"} <= set(table)
    assert diagnoses["others"].sum() == medications["others"].sum()  # both count the pairs
    assert "patient row 0" not in near["patient"].tolist()
    assert float(near["similarity"].iloc[0]) > 0.9
    drawn(widget(page, "text_input", "w.row.label").set_value("nobody").run())
    assert "No patient has this in its label" in words(page)
    drawn(widget(page, "text_input", "w.row.label").set_value("OW 7").run())
    found = widget(page, "selectbox", "w.row.found")
    assert found.options == ["patient row 7"]
    drawn(found.set_value(7).run())
    assert "patient row 7" in [each.value for each in page.header]


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
    assert {"feature", "phenotype", "part"} <= set(page.dataframe[1].value)


def test_the_risk_of_a_row_is_explained_and_what_if_changes_it(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = fitted(store, tiny_dataset(rows=120), synthetic=True)
    page = tab(open_page("patients", store, monkeypatch), "tabs.patients", "One patient")
    fit, data = store.fit(run), store.dataset(store.datasets()[0].id)
    model = risk_model(fit.factors[0], data.outcome, fit.links)
    assert model is not None
    (chance,), (left,) = model.chances(fit.factors[0][0]), model.without(fit.factors[0][0], 1)
    assert f"Why: predicted chance of fever: {chance:.0%}" in words(page)
    drawn(widget(page, "selectbox", "w.without").set_value("P02").run())
    assert f"it would be **{left:.0%}** instead of {chance:.0%}" in words(page)


def test_links_that_are_withheld_are_neither_shown_nor_to_be_guessed(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted(store, tiny_dataset(rows=120), synthetic=True)
    whole = fit_summary.summarize_fit
    monkeypatch.setattr(
        fit_summary,
        "summarize_fit",
        lambda *given: replace(whole(*given), links={}, blind_for="Ann"),
    )
    page = open_page("patients", store, monkeypatch)
    assert "fever" not in page.dataframe[0].value
    for name in ("One patient", "Map", "Strength and outcome"):
        tab(page, "tabs.patients", name)
        options = [each for box in page.selectbox for each in box.options]
        assert "fever" not in words(page).casefold() and "Fever" not in options


def test_the_map_lists_what_lies_in_the_ranges(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tab(open_page("patients", fitted_store, monkeypatch), "tabs.patients", "Map")
    assert "selected" not in words(page) and not page.dataframe
    chart = row_map(row_shares(fitted_store.fit(fitted_store.runs(kind="fit")[0].id).factors))
    across = page.slider[0]
    middle = float(np.round(np.median(chart.places[:, 0]), 2))
    drawn(across.set_value((across.min, middle)).run())
    inside = np.flatnonzero(chart.places[:, 0] <= middle)
    assert 0 < len(inside) < 30 and f"{len(inside)} selected" in words(page)
    listed = page.dataframe[0].value["patient"].tolist()
    assert listed == [f"patient row {row}" for row in inside]


def test_similar_rows_have_the_same_mix() -> None:
    shared = np.array([[1.0, 0.0], [0.9, 0.1], [0.0, 1.0], [0.0, 0.0]])
    assert [row for row, _ in row_tables.similar_rows(shared, 0)] == [1]


def test_a_label_is_found_whole_first_then_by_its_beginning_then_by_a_part() -> None:
    labels = ("xP01", "P012", "P01", "Q", "p01b")
    assert row_tables.find_rows(labels, "P01") == [2, 1, 4, 0]
    assert row_tables.find_rows(labels, "P01", most=1) == [2]
    assert row_tables.find_rows(labels, "  ") == []

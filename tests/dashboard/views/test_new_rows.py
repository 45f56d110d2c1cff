"""New rows are real persons unless somebody says otherwise, and no data set to compute with."""

from __future__ import annotations

import json
from dataclasses import replace

import numpy as np
import pytest
from support.made_runs import computed
from support.opened_page import drawn, open_app, open_page, tab, widget, words
from support.tiny_store import tiny_dataset

from dashboard.jobs import jobs
from dashboard.store.cards import NEW_ROWS
from dashboard.store.dataset_files import CARD, read_card
from dashboard.store.request import Request
from dashboard.store.store import Store
from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidData
from swiftcore.tensor import Mode, SparseTensor

TAB, NEW = "tabs.patients", "New patients"
CSV = "patient,diagnosis,medication,outcome\n" + "".join(  # new rows often have one outcome yet
    f"n{row},diagnosis {row % 8},medication {row % 6},no\n" for row in range(40)
)


def rows_with_strangers(strangers: int = 3) -> Dataset:
    """Twelve rows; of some of them nothing is known to the fit."""
    old = tiny_dataset(rows=12, seed=7)
    modes = (old.tensor.modes[0], Mode("diagnosis", (*old.tensor.modes[1].labels, "unknown")))
    places = old.tensor.coordinates.copy()
    places[np.isin(places[:, 0], range(strangers)), 1] = 8
    tensor = SparseTensor.from_coordinates(
        places, np.ones(len(places)), modes=(*modes, old.tensor.modes[2])
    )
    return replace(old, tensor=tensor, outcome=None, name="new: strangers")


def described(store: Store, fit_id: str, *, synthetic: bool = False) -> str:
    rows = store.add_dataset(rows_with_strangers(), synthetic=synthetic, role=NEW_ROWS)
    return computed(store, Request("projection", rows, {}, fit_id))


@pytest.mark.slow
def test_rows_uploaded_onto_a_samples_model_are_real(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert fitted_store.datasets()[0].synthetic
    page = tab(open_page("patients", fitted_store, monkeypatch), TAB, NEW)
    page.session_state["new_rows.upload"] = True
    page.run().get("file_uploader")[0].upload("rows.csv", CSV.encode()).run()
    widget(page, "button", "project").click().run(timeout=60)
    (run,) = fitted_store.runs(kind="projection")
    jobs.cancel(fitted_store, run.id)
    card = fitted_store.card(run.dataset)
    assert not card.synthetic and card.role == NEW_ROWS and card.name == "new: rows.csv"


def test_new_rows_are_no_data_set_to_choose(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = fitted_store.run(fit_id).dataset
    run = fitted_store.run(described(fitted_store, fit_id))
    app = open_app(fitted_store, monkeypatch)
    assert widget(app, "selectbox", "w.dataset").options == ["tiny 0 (synthetic)"]
    app = open_app(fitted_store, monkeypatch, data=run.dataset)
    assert "not in this store" in words(app)
    assert widget(app, "selectbox", "w.dataset").value == dataset


@pytest.mark.parametrize("synthetic", [False, True])
def test_small_counts_of_new_rows_follow_the_rows(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch, synthetic: bool
) -> None:
    described(fitted_store, fit_id, synthetic=synthetic)
    said = words(tab(open_page("patients", fitted_store, monkeypatch), TAB, NEW))
    assert ("knows: 3." in said) == synthetic
    assert "knows: hidden" in said or "knows: <11" in said or synthetic


def test_rows_are_deleted_with_what_describes_them(
    fitted_store: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    run = fitted_store.run(described(fitted_store, fit_id))
    page = tab(open_page("patients", fitted_store, monkeypatch), TAB, NEW)
    widget(page, "checkbox", f"sure.{run.id}").check().run()
    drawn(widget(page, "button", "delete_rows").click().run())
    assert "No new rows yet" in words(page)
    assert [card.id for card in fitted_store.runs()] == [fit_id]
    assert run.dataset not in [card.id for card in fitted_store.datasets()]


def test_deleting_a_fit_deletes_the_rows_it_described(fitted_store: Store, fit_id: str) -> None:
    described(fitted_store, fit_id)
    fitted_store.delete_run(fit_id)
    assert fitted_store.runs() == []
    assert [card.name for card in fitted_store.datasets()] == ["tiny 0"]


def test_the_same_rows_are_not_real_and_synthetic_at_once(fitted_store: Store) -> None:
    rows = rows_with_strangers()
    fitted_store.add_dataset(rows, synthetic=True, role=NEW_ROWS)
    with pytest.raises(InvalidData, match="here already, as synthetic"):
        fitted_store.add_dataset(rows, role=NEW_ROWS)


def test_rows_of_earlier_versions_count_as_real_too(fitted_store: Store) -> None:
    identifier = fitted_store.add_dataset(rows_with_strangers(), synthetic=True)
    plain = json.loads((fitted_store.root / "datasets" / identifier / CARD).read_bytes())
    assert read_card(json.dumps(plain).encode()).synthetic
    del plain["role"], plain["imported"]
    card = read_card(json.dumps(plain).encode())
    assert card.role == NEW_ROWS and not card.synthetic

"""Similarities that a person brings: looked at, attached, offered for a fit, kept and lost."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from support.opened_page import drawn, open_page, tab, widget, words
from support.tiny_store import tiny_dataset

from dashboard.store.backup import write_backup
from dashboard.store.cost_tables import TABLE_FILE
from dashboard.store.dataset_files import dataset_id
from dashboard.store.request import Request
from dashboard.store.restore import restore_backup
from dashboard.store.store import Store
from dashboard.widgets.run_forms import blended
from swiftcore.cost.outside.cost_table import CostTable
from swiftcore.errors import InvalidCost
from swiftcore.model_costs import model_costs
from swiftcore.spec import ModelSpec
from swiftcore.spec.cost_text import read_cost_text
from swiftcore.tensor import SparseTensor

OWN = "child,parent\n" + "".join(f"diagnosis {k},group {k % 2}\n" for k in range(7))


def open_tab(store: Store, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    return tab(open_page("data", store, monkeypatch), "data.tab", "How similar features are")


def upload(page: AppTest, content: str) -> AppTest:
    page.get("file_uploader")[0].upload("own.csv", content.encode()).run()
    return drawn(page)


def test_a_file_is_looked_at_attached_offered_and_taken_away(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    dataset = store.add_dataset(tiny_dataset(), synthetic=True)
    before = Request("fit", dataset).key()
    page = upload(open_tab(store, monkeypatch), OWN)
    assert "a hierarchy of features: 9 labels" in words(page)
    assert "1 of 8 features are not known there" in words(page)
    widget(page, "button", "cost.attach.1").click().run()
    drawn(page)
    (cost,) = store.costs(dataset)
    assert (cost.mode, cost.source) == ("diagnosis", "own.csv")
    assert page.get("selectbox")[1].value == cost.text  # it is looked at now
    nearest = page.dataframe[0].value
    assert nearest["Distance"].iloc[0] == 0.5  # a sibling: one of two places shared
    assert dataset_id(store.dataset(dataset)) == dataset
    assert Request("fit", dataset).key() == before

    runs = open_page("runs", store, monkeypatch)
    chosen = widget(runs, "selectbox", f"fit.cost.{dataset}.1")
    assert any("own.csv" in option for option in chosen.options)
    chosen.set_value(cost.text).run()
    widget(runs, "slider", f"fit.cost_share.{dataset}.1").set_value(25).run()
    drawn(runs)

    widget(page, "button", f"cost.detach.{cost.text}").click().run()
    assert not store.costs(dataset) and not drawn(page).exception


def test_a_bad_file_is_refused_with_its_line(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = store.add_dataset(tiny_dataset(), synthetic=True)
    page = upload(open_tab(store, monkeypatch), OWN + "group 1,diagnosis 1\n")
    assert "The way up goes in a circle" in words(page) and "line" in words(page)
    page = upload(open_tab(store, monkeypatch), "child,parent\nx,y\n")
    assert "none of its 8 features" in words(page)
    assert not [one for one in page.button if one.key == "cost.attach.1"]
    assert not store.costs(dataset)


def test_hierarchies_are_offered_where_they_know_the_features(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tiny_dataset()
    codes = ("428.0", "427.31", "401.9", "486", "493.9", "250.00", "585.9", "nobody knows")
    modes = (
        data.tensor.modes[0],
        replace(data.tensor.modes[1], labels=codes),
        data.tensor.modes[2],
    )
    tensor = SparseTensor(modes, data.tensor.coordinates, data.tensor.values)
    store.add_dataset(replace(data, tensor=tensor), synthetic=True)
    page = open_tab(store, monkeypatch)
    by = page.get("selectbox")[1]
    assert len(by.options) == 3  # the rows, ICD, CCS; nothing of medications
    by.set_value("icd").run()
    assert "1 of 8 features are not known there" in words(drawn(page))
    page.get("selectbox")[0].set_value(2).run()
    assert len(drawn(page).get("selectbox")[1].options) == 1


def test_rare_features_of_real_data_stay_hidden_in_a_preview(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tiny_dataset()
    store.add_dataset(data)  # of real persons: the limit holds
    pairs = np.unique(data.tensor.coordinates[:, :2], axis=0)
    rare = np.flatnonzero(np.bincount(pairs[:, 1], minlength=8) < 11)
    assert len(rare)  # else this test tests nothing
    page = upload(open_tab(store, monkeypatch), OWN)
    shown = " ".join(" ".join(map(str, table.value.to_numpy().ravel())) for table in page.dataframe)
    assert page.dataframe and not [k for k in rare if f"diagnosis {k}" in shown]


def table() -> CostTable:
    labels = tiny_dataset().tensor.modes[1].labels
    return CostTable("vectors", labels, np.random.default_rng(0).normal(size=(8, 3)), "v.txt")


def test_what_is_attached_comes_with_the_data_and_goes_with_them(store: Store) -> None:
    dataset = store.add_dataset(tiny_dataset())
    store.attach_cost(dataset, "diagnosis", table())
    store.attach_cost(dataset, "diagnosis", table())  # once is enough
    spec = ModelSpec(mode_costs={"diagnosis": table().text})
    costs = model_costs(store.dataset(dataset), spec)
    assert costs is not None and costs[1] is not None
    (cost,) = store.costs(dataset)
    (cost.folder / TABLE_FILE).write_bytes(b"changed")
    with pytest.raises(InvalidCost, match="no such table"):
        model_costs(store.dataset(dataset), spec)
    store.attach_cost(dataset, "diagnosis", table())  # a damaged one is replaced
    assert model_costs(store.dataset(dataset), spec) is not None
    store.delete_dataset(dataset)
    assert not list((store.root / "costs").iterdir())


def test_a_backup_brings_it_back(store: Store, tmp_path: Path) -> None:
    dataset = store.add_dataset(tiny_dataset())
    store.attach_cost(dataset, "diagnosis", table())
    done = write_backup(store.root, tmp_path / "b.zip")
    assert (done.datasets, done.runs, done.left_out) == (1, 0, [])
    restore_backup(tmp_path / "other", tmp_path / "b.zip")
    (cost,) = Store(tmp_path / "other").costs(dataset)
    assert cost.digest == table().digest


@pytest.mark.parametrize("percent", range(5, 101, 5))
def test_every_share_of_the_slider_makes_a_cost(percent: int) -> None:
    terms = read_cost_text(blended("icd", percent))
    assert terms[0] == (percent / 100, "icd") and len(terms) == (1 if percent == 100 else 2)

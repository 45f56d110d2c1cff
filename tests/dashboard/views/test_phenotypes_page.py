"""The page of phenotypes: ranking, detail, what is hidden, comparisons, hostile names."""

from __future__ import annotations

import dataclasses
import json
import re

import numpy as np
import pandas as pd
import pytest
from streamlit.testing.v1 import AppTest
from support import made_up
from support.made_runs import computed, fitted
from support.opened_page import (
    LIST,
    add_experiment,
    card_words,
    choose_listed,
    drawn,
    open_page,
    tab,
    widget,
    words,
)
from support.tiny_store import tiny_dataset

from dashboard.charts import phenotypes as charts
from dashboard.fit_view import phenotype_tables
from dashboard.store.request import Request
from dashboard.store.reviews import Review, Reviews
from dashboard.store.store import Store
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.phenotypes.describe import describe_phenotypes
from swiftcore.phenotypes.matching import match, similarity


def open_whole(store: Store, monkeypatch: pytest.MonkeyPatch, **link: str) -> AppTest:
    """The page with its charts, which come with the second drawing."""
    return drawn(open_page("phenotypes", store, monkeypatch, **link).run())


def test_list_and_card_come_before_the_charts(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("phenotypes", fitted_store, monkeypatch)
    assert len(page.html) == 2 and not page.get("plotly_chart")
    assert "Patients carrying it" in card_words(page)
    assert len(drawn(page.run()).get("plotly_chart")) == 1  # the map


def test_the_ranking_has_what_is_known(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    fit = fitted_store.fit(fit_id)
    summary = pd.DataFrame(
        {
            "phenotype": fit.identifiers,
            "seeds": [1.0, 0.5, 0.0],
            "folds": [1.0, 0.5, 0.5],
            "cosine": 0.9,
        }
    )
    tables = {"summary": summary, "matches": made_up.stability().tables["matches"]}
    add_experiment(fitted_store, Experiment("stability", {}, tables), fit_id)
    Reviews(fitted_store.root).save(
        Review(fit_id, "P02", fit.phenotype_digest(1), "Dr A", name="Fever group", verdict="yes")
    )
    page = tab(open_whole(fitted_store, monkeypatch), "tabs.phenotypes", "Table")
    table = page.dataframe[0].value.set_index("Id")
    assert table.loc["P02", "Name"] == "Fever group" and table.loc["P02", "Makes sense?"] == "yes"
    assert table.loc["P03", "Found again"] == 25.0
    assert table["Share of the data"].is_monotonic_decreasing
    first = table["Link to the outcome"].str.replace(",", "").str.split().str[0]
    assert set(first) <= {"strong", "moderate", "weak", "unclear", "none"}
    assert "Fever group" in card_words(page) and "25%" in card_words(page)
    widget(page, "selectbox", "w.sort").set_value("id").run()
    assert page.dataframe[0].value["Id"].tolist() == ["P01", "P02", "P03"]


def test_a_review_of_other_content_is_not_carried_over(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    Reviews(fitted_store.root).save(
        Review(fit_id, "P02", "f" * 32, "Dr A", name="Of another fit", verdict="yes")
    )
    page = tab(open_whole(fitted_store, monkeypatch), "tabs.phenotypes", "Table")
    assert "Of another fit" not in page.dataframe[0].value.to_string() + card_words(page)


def test_the_list_has_the_order_and_leads_to_the_card(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tab(open_whole(fitted_store, monkeypatch), "tabs.phenotypes", "Table")
    order = page.dataframe[0].value["Id"].tolist()
    listed = re.findall(r'class="key">(P\d+)<', page.html[0].value)
    offered = [one[:3] for one in widget(page, "radio", LIST).options]
    assert order == listed == offered
    assert f'class="key">{order[0]}<' in page.html[1].value
    choose_listed(page, order[1])
    assert f'class="key">{order[1]}<' in page.html[1].value
    assert page.query_params["p"] in (order[1], [order[1]])


def test_small_counts_and_rare_features_are_hidden_in_real_data(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tiny_dataset(rows=24)  # 8 rows carry each phenotype: fewer than 11
    fitted(store, data)
    page = tab(open_whole(store, monkeypatch), "tabs.phenotypes", "Table")
    table = page.dataframe[0].value
    assert table["Patients carrying it"].tolist() == ["<11"] * 3
    assert "are hidden (fewer than 11 patients)" in card_words(page)
    rows_with = {
        mode.labels[place]: len(set(data.tensor.coordinates[here, 0]))
        for axis, mode in enumerate(data.tensor.modes[1:], start=1)
        for place in range(len(mode))
        if (here := data.tensor.coordinates[:, axis] == place).any()
    }
    assert min(rows_with.values()) < 11
    assert table["Name"].is_unique
    for name in table["Name"]:
        parts = re.sub(r" \(\d\)$", "", name).split(" + ")  # the number of names that are the same
        assert parts == ["(too rare to name)"] or all(rows_with[part] >= 11 for part in parts)


def test_data_without_outcome_have_no_link(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    fitted(store, tiny_dataset(outcome=False), synthetic=True, max_iterations=2)
    page = tab(open_whole(store, monkeypatch), "tabs.phenotypes", "Table")
    assert "Link to the outcome" not in page.dataframe[0].value
    assert "Link" not in card_words(page)
    assert "Not converged" in words(page)


def test_all_comparisons_open(fitted_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    card = fitted_store.datasets()[0]
    first = fitted_store.runs(kind="fit")[0].id
    computed(fitted_store, Request("fit", card.id, {"rank": 2, "seed": 1}))
    page = open_whole(fitted_store, monkeypatch, run=first)
    for name in ("Overlap", "Compare two", "Compare with another run"):
        tab(page, "tabs.phenotypes", name)
    assert "pairs are nearly the same" in words(page)
    assert "Without a partner" in words(page)


def test_partners_are_found_whatever_their_order(fitted_store: Store, fit_id: str) -> None:
    fit = fitted_store.fit(fit_id)
    turned = dataclasses.replace(fit, factors=[factor[:, [2, 0, 1]] for factor in fit.factors])
    table = phenotype_tables.match_runs(fit, turned).set_index("here")
    assert table["there"].to_dict() == {"P01": "P02", "P02": "P03", "P03": "P01"}
    assert np.allclose(table["similarity"], 1)
    fewer = dataclasses.replace(fit, factors=[factor[:, :2] for factor in fit.factors])
    assert phenotype_tables.match_runs(fit, fewer)["similarity"].isna().sum() == 1


def test_pages_and_experiments_measure_similarity_the_same_way(
    fitted_store: Store, fit_id: str
) -> None:
    fit = fitted_store.fit(fit_id)
    rng = np.random.default_rng(0)
    blurred = [factor + 0.05 * rng.random(factor.shape) for factor in fit.factors]
    other = dataclasses.replace(fit, factors=blurred)
    table = phenotype_tables.match_runs(fit, other).sort_values("here")
    studied = match(fit.factors[1:], other.factors[1:])
    np.testing.assert_array_equal(table["similarity"], studied)
    own = phenotype_tables.most_similar(fit, 0, 1)[0]
    whole = similarity(fit.factors[1:], fit.factors[1:])
    assert own[1] == max(whole[0, 1:])


def test_what_is_hidden_is_counted(fitted_store: Store, fit_id: str) -> None:
    fit = fitted_store.fit(fit_id)
    tensor = fitted_store.dataset(fitted_store.datasets()[0].id).tensor
    has = phenotype_tables.presence(tensor, 1)
    dense = np.zeros(tensor.shape)
    dense[tuple(tensor.coordinates.T)] = 1
    assert np.array_equal(has.toarray(), dense.max(axis=2))
    for phenotype in describe_phenotypes(fit.factors, fit.modes, 60):
        found = phenotype_tables.profile(phenotype, "diagnosis", fit.factors[1], has, 0)
        positive = (fit.factors[1][:, phenotype.component] > 0).sum()
        assert len(found.table) + found.weak == positive and found.rare == 0
        assert found.table["weight"].sum() + found.weak_share == pytest.approx(1)
        first = fit.modes[1].labels.index(found.table["feature"][0])
        assert found.table["rows"][0] == dense[list(phenotype.rows), first].max(axis=1).sum()


HOSTILE = ["<img src=http://evil.example/x onerror=alert(1)>", "=1+1", "A" * 10_000, "\u202ertl"]


def test_charts_show_names_as_text(monkeypatch: pytest.MonkeyPatch) -> None:
    table = pd.DataFrame(
        {"feature": HOSTILE, "weight": 0.25, "lift": 2.0, "rows": "<11", "left": 0.1, "right": 0.2}
    )
    figures = [
        charts.feature_bars(table, "#D55E00", "Strength"),
        charts.glance(np.ones((4, 2)), HOSTILE, ["P01", "P02"], "Strength"),
        charts.back_to_back(table, HOSTILE[0], "P02", "Strength"),
    ]
    for figure in figures:
        text = json.dumps(figure.to_plotly_json(), default=str)
        assert "<img" not in text and "\\u202e" not in text
        assert "&lt;img" in text and "A" * 1000 not in text
        assert "[U+202E]" in text


def test_two_names_that_look_alike_when_cut_stay_two_bars() -> None:
    table = pd.DataFrame(
        {
            "feature": ["A" * 500 + "x", "A" * 500 + "y"],
            "weight": [0.5, 0.4],
            "lift": 1.0,
            "rows": "12",
        }
    )
    figure = charts.feature_bars(table, "#D55E00", "Strength")
    assert list(figure.data[0].y) == [0, 1] and list(figure.layout.yaxis.tickvals) == [0, 1]

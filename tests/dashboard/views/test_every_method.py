"""A result of any factorization can be looked at: every page, the report, and beside another."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from dataclasses import replace

import pandas as pd
import pytest
from openpyxl import load_workbook
from support.made_runs import computed
from support.opened_page import LIST, choose_listed, drawn, open_page, tab, widget, words
from support.tiny_store import tiny_dataset

from dashboard.report.contents import Report
from dashboard.report.from_store import report_of_run
from dashboard.report.html_report import render_report
from dashboard.report.tables import report_csv, report_json
from dashboard.report.workbook import make_workbook
from dashboard.session.shown_from import found_by
from dashboard.store.cards import NEW_ROWS, RunCard, RunState
from dashboard.store.lineage import MADE, made_for
from dashboard.store.request import Request
from dashboard.store.reviews import Reviews
from dashboard.store.store import Store
from dashboard.text.wording import PAGES
from dashboard.widgets.origin import OF_THE_FIT
from dashboard.widgets.tables import said_of_it, with_source
from swiftcore.evaluation.methods.catalogue import CATALOGUE, spec_for, title_of
from swiftcore.phenotypes.guidance import Pin

FACTORIZATIONS = [key for key, method in CATALOGUE.items() if method.is_factorization]
GUIDED = ("supervised_swift", "supervised_cp")
MADE_FOR = "Made to predict fever:"
SIGNED = 5  # components, enough for CP-ALS to use its signs on these data


@pytest.fixture(scope="module")
def fitted(tmp_path_factory: pytest.TempPathFactory) -> tuple[Store, dict[str, str]]:
    """One data set and a fit of it by each method."""
    store = Store(tmp_path_factory.mktemp("methods"))
    dataset = store.add_dataset(tiny_dataset(rows=45), synthetic=True)
    ranks = {key: SIGNED if CATALOGUE[key].signed else 3 for key in FACTORIZATIONS}
    short = {"max_iterations": 30}
    return store, {
        key: computed(store, Request("fit", dataset, spec_for(key, rank=rank, **short).plain()))
        for key, rank in ranks.items()
    }


Fitted = tuple[Store, dict[str, str]]


@pytest.mark.parametrize("key", FACTORIZATIONS)
def test_every_page_opens_and_says_the_method(
    key: str, fitted: Fitted, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, runs = fitted
    for view in PAGES if key == "cp_als" else OF_THE_FIT:  # the other pages draw no factors
        page = open_page(view, store, monkeypatch, run=runs[key])
        if view == "phenotypes":
            drawn(page.run())
            assert f"Found by {title_of(key)}." in words(page)
            charts = tab(page, "tabs.phenotypes", "All at a glance").get("plotly_chart")
            assert len(charts) == 2
            marked = [title_of(key) in chart.proto.spec for chart in charts]
            assert marked == [key != "swift"] * 2
        assert not page.error, [one.value for one in page.error]
        assert (MADE_FOR in words(page)) == (key in GUIDED and view in (*OF_THE_FIT, "robustness"))
        if view == "patients" and key == "cp_als":
            for name in ("One patient", "Strength and outcome", "New patients"):
                assert not tab(page, "tabs.patients", name).error


@pytest.mark.parametrize("key", FACTORIZATIONS)
def test_every_export_says_the_method(key: str, fitted: Fitted) -> None:
    store, runs = fitted
    report = report_of_run(store, Reviews(store.root), runs[key], 0)
    title = title_of(key)
    assert report.method == title and f"Found by {title}." in render_report(report)
    assert json.loads(report_json(report))["method"] == title
    about = zipfile.ZipFile(io.BytesIO(report_csv(report))).read("about.csv").decode("utf-8-sig")
    assert ["Method", title] in list(csv.reader(io.StringIO(about)))
    assert title in str(load_workbook(io.BytesIO(make_workbook(report))).active["A1"].value)
    guided = key in GUIDED
    assert (MADE_FOR in render_report(report)) == guided
    assert (MADE_FOR in json.loads(report_json(report))["made_to_predict"]) == guided
    tables = zipfile.ZipFile(io.BytesIO(report_csv(report)))
    for table in ("about.csv", "phenotypes.csv", "features.csv", "links.csv"):
        assert (MADE_FOR in tables.read(table).decode("utf-8-sig")) == guided, table
    note = load_workbook(io.BytesIO(make_workbook(report))).active["A3"].value
    assert (MADE_FOR in str(note)) == guided
    names = [sheet.working_name for sheet in report.phenotypes]
    assert len(set(names)) == len(names) > 1
    said = dict(report.settings)
    assert ("sharpness" in said) == (CATALOGUE[key].costs == "all") and "seed" in said


def signed_report(fitted: Fitted) -> Report:
    store, runs = fitted
    return report_of_run(store, Reviews(store.root), runs["cp_als"], 0)


def test_signs_are_in_every_export(fitted: Fitted) -> None:
    report = signed_report(fitted)
    less = [
        feature
        for sheet in report.phenotypes
        for mode in sheet.modes
        for feature in mode.features
        if feature.weight < 0
    ]
    assert less and all(feature.lift > 0 for feature in less)
    page = render_report(report)
    assert f"less {less[0].name}" in page and 'viewBox="-100' in page
    cells = load_workbook(io.BytesIO(make_workbook(report))).active
    assert any(f"less {less[0].name} (-" in str(c.value) for row in cells.rows for c in row)
    features = zipfile.ZipFile(io.BytesIO(report_csv(report))).read("features.csv").decode()
    assert min(float(row["weight"]) for row in csv.DictReader(io.StringIO(features[1:]))) < 0


def test_signs_are_drawn(fitted: Fitted, monkeypatch: pytest.MonkeyPatch) -> None:
    store, runs = fitted
    page = drawn(open_page("phenotypes", store, monkeypatch, run=runs["cp_als"]).run())
    assert "less" in words(page)  # what a minus means
    below = 0
    for phenotype in widget(page, "radio", LIST).options[:SIGNED]:
        choose_listed(page, phenotype.partition("\\")[0])
        card = page.html[-1].value
        names = re.findall(r'class="feature"><bdi[^>]*>(.*?)</bdi>', card)
        weights = [float(one) for one in re.findall(r'</th><td class="number">(-?[\d.]+)', card)]
        assert [name.startswith("less") for name in names] == [one < 0 for one in weights]
        ends = re.findall(r'class="strength" style="left:([\d.]+)%;width:([\d.]+)%', card)
        for (left, width), weight in zip(ends, weights, strict=True):  # 0 is in the middle
            assert float(left) + (float(width) if weight < 0 else 0) == pytest.approx(50, abs=0.7)
        below += sum(weight < 0 for weight in weights)
    assert below
    tab(page, "tabs.phenotypes", "All at a glance")
    heat = json.loads(page.get("plotly_chart")[0].proto.spec)
    assert heat["data"][0]["zmin"] == -heat["data"][0]["zmax"]


def test_a_saved_table_of_a_guided_result_says_so() -> None:
    with found_by("", made_for=MADE_FOR):
        assert list(with_source(pd.DataFrame({"a": [1]}), said_of_it()).columns) == ["a", MADE]
    with found_by(""):
        assert list(with_source(pd.DataFrame({"a": [1]}), said_of_it()).columns) == ["a"]


def test_prediction_says_what_is_circular_in_a_guided_result(
    fitted: Fitted, monkeypatch: pytest.MonkeyPatch
) -> None:
    store, runs = fitted
    for key in ("swift", "supervised_swift"):
        said = words(open_page("prediction", store, monkeypatch, run=runs[key]))
        assert ("circular" in said) == (key in GUIDED)


def test_runs_mark_a_guided_result(fitted: Fitted, monkeypatch: pytest.MonkeyPatch) -> None:
    store, runs = fitted
    page = tab(open_page("runs", store, monkeypatch), "runs.tab", "History")
    for key in ("swift", "supervised_cp"):
        widget(page, "selectbox", "history.run").select(runs[key]).run()
        assert (MADE_FOR in words(drawn(page))) == (key in GUIDED)
    page = tab(page, "runs.tab", "Compare two")
    widget(page, "selectbox", "compare.first").select(runs["supervised_swift"]).run()
    widget(page, "selectbox", "compare.second").select(runs["swift"]).run()
    assert words(drawn(page)).count(MADE_FOR) == 1


def test_a_refit_of_a_guided_result_is_marked_too() -> None:
    request = Request("fit", "0" * 32, {"rank": 2, "outcome_share": 0.3})
    parent = RunCard("1" * 32, "fit", "", request, RunState.DONE, 0, None, 1, "", {}, "", False)
    again = Request("fit", "0" * 32, {"rank": 2}, parent.id, (Pin("P01"),))
    child = replace(parent, id="2" * 32, request=again)
    assert made_for(child, [child, parent], "fever").startswith(MADE_FOR)
    assert made_for(child, [child], "fever") == ""
    assert made_for(replace(child, request=replace(again, guidance=(), run="")), [], "x") == ""


def test_new_rows_are_described_by_every_method(fitted: Fitted) -> None:
    store, runs = fitted
    rows = store.add_dataset(tiny_dataset(rows=6, seed=5), synthetic=True, role=NEW_ROWS)
    for key, run in runs.items():
        found = store.projection(computed(store, Request("projection", rows, {}, run)))
        assert len(found.memberships) == 6 and found.memberships.any()
        assert (found.memberships < 0).any() == CATALOGUE[key].signed


def test_swift_beside_cp_als_with_names(fitted: Fitted, monkeypatch: pytest.MonkeyPatch) -> None:
    store, runs = fitted
    card, more = store.datasets()[-1], runs["cp_als"]
    page = drawn(open_page("phenotypes", store, monkeypatch, run=runs["swift"]).run())
    page.session_state["w.other_run"] = more
    page.session_state["swift.other_run"] = more
    page = tab(page, "tabs.phenotypes", "Compare with another run")
    assert "Here: **SWIFT**, there: **CP-ALS**." in words(page)
    assert "Without a partner, in the other result: P0" in words(page)
    pairs = next(
        one["layout"]["yaxis"]["ticktext"]
        for one in (json.loads(chart.proto.spec) for chart in page.get("plotly_chart"))
        if one["layout"]["xaxis"]["title"].get("text") == "Similarity"
    )
    report = report_of_run(store, Reviews(store.root), runs["swift"], 0)
    names = {f"{sheet.identifier}: {sheet.name}" for sheet in report.phenotypes}
    assert {pair.split("<br>")[0] for pair in pairs} == names
    runs_page = tab(open_page("runs", store, monkeypatch, data=card.id), "runs.tab", "Compare two")
    assert "pairs are nearly the same" in words(runs_page)
    table = runs_page.dataframe[0].value.set_index("Setting")
    assert set(table.loc["method", ["One", "Other"]]) <= {title_of(key) for key in FACTORIZATIONS}
    assert set(table.loc["options", ["One", "Other"]]) == {""}


def test_the_form_offers_every_factorization(
    fitted: Fitted, store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("runs", fitted[0], monkeypatch)
    method = widget(page, "selectbox", "fit.method")
    assert method.options == [title_of(key) for key in FACTORIZATIONS]
    method.set_value("cp_als").run()
    widget(page, "number_input", "fit.rank").set_value(SIGNED).run()
    widget(page, "number_input", "fit.max_iterations.cp_als").set_value(30).run()
    assert "it opens at once" in words(drawn(page))  # the request of the fixture
    assert not [one for one in page.number_input if one.key.startswith("fit.sharpness")]
    store.add_dataset(tiny_dataset(outcome=False))
    page = open_page("runs", store, monkeypatch)
    offered = widget(page, "selectbox", "fit.method").options
    assert offered == [title_of(key) for key in FACTORIZATIONS if not CATALOGUE[key].needs_labels]

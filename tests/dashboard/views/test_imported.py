"""What was imported says so on every page, in every file that is saved, and nowhere else."""

from __future__ import annotations

import io
import json
import zipfile
from dataclasses import dataclass, replace
from typing import Any

import pytest
import streamlit as st
from openpyxl import load_workbook
from streamlit.testing.v1 import AppTest
from support import made_up
from support.hostile_bundles import members
from support.made_runs import computed
from support.opened_page import (
    add_experiment,
    drawn,
    for_scientists,
    open_app,
    open_page,
    tab,
    widget,
    words,
)

from dashboard.jobs import jobs
from dashboard.report.from_store import report_of_run
from dashboard.report.html_report import render_report
from dashboard.report.tables import report_csv, report_json
from dashboard.report.workbook import make_workbook
from dashboard.store.request import Request
from dashboard.store.reviews import Reviews
from dashboard.store.store import Store
from swiftcore.errors import InvalidSettings
from swiftcore.evaluation.experiments.result import Experiment

FILE = "from a colleague.zip"
MARK = f"imported from {FILE} on 20"
TABS = {
    "phenotypes": ("tabs.phenotypes", ("All at a glance", "Overlap", "Compare two")),
    "patients": ("tabs.patients", ("All patients", "One patient", "Strength and outcome")),
    "review": ("", ()),
    "prediction": ("", ()),
    "robustness": (
        "robustness.tab",
        (
            "False entries",
            "Phenotypes that survive",
            "Found again",
            "Number of phenotypes",
            "Similarity of features",
        ),
    ),
    "data": ("data.tab", ("This data set", "How similar features are")),
    "runs": ("runs.tab", ("History",)),
}


@dataclass
class Saved:
    """What the buttons of a page would write, and the pictures it would save."""

    files: dict[str, bytes]
    figures: dict[str, str]


@pytest.fixture
def saved(monkeypatch: pytest.MonkeyPatch) -> Saved:
    """Listens at the two doors through which files leave a page; both work as ever."""
    seen, button, chart = Saved({}, {}), st.download_button, st.plotly_chart

    def download_button(label: str, data: Any, file_name: str, *more: Any, **options: Any) -> Any:
        content = data() if callable(data) else data
        seen.files[file_name] = content.encode() if isinstance(content, str) else content
        return button(label, data, file_name, *more, **options)

    def plotly_chart(figure: Any, **options: Any) -> Any:
        name = options["config"]["toImageButtonOptions"]["filename"]
        seen.figures[name] = str(figure.layout.title.text)
        return chart(figure, **options)

    monkeypatch.setattr(st, "download_button", download_button)
    monkeypatch.setattr(st, "plotly_chart", plotly_chart)
    return seen


def of_tiny_data(experiment: Experiment) -> Experiment:
    about = {**experiment.about, "data": {**made_up.ABOUT["data"], "shape": [30, 8, 6]}}
    return replace(experiment, about=about)


@pytest.fixture
def imported(fitted_store: Store, fit_id: str, store: Store) -> str:
    """The id of a fit that was imported into the empty store, with every experiment of it."""
    run_id = store.import_run(fitted_store.export_run(fit_id, with_data=True), FILE)
    for made in (made_up.evaluation(), made_up.noise(), made_up.ablation(), made_up.stability()):
        run = fit_id if made.kind in ("noise", "stability") else ""
        study = add_experiment(fitted_store, of_tiny_data(made), run)
        store.import_run(fitted_store.export_run(study), FILE)
    return run_id


def texts(name: str, content: bytes) -> list[str]:
    """The words of a saved file; of an archive, those of each member."""
    if name.endswith(".xlsx"):
        return [str(load_workbook(io.BytesIO(content)).worksheets[0]["A1"].value)]
    if not name.endswith(".zip"):
        return [content.decode("utf-8-sig")]
    if "swift_run" in name:  # a bundle to hand on
        return [members(content)["run/origin.json"].decode()]
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return [archive.read(entry).decode("utf-8-sig") for entry in archive.infolist()]


def every_tab(page: AppTest, view: str) -> list[AppTest]:
    key, names = TABS[view]
    return [tab(page, key, name) for name in names] or [drawn(page.run())]


@pytest.mark.parametrize("view", TABS)
def test_every_page_and_every_file_of_it_is_marked(
    view: str, store: Store, imported: str, saved: Saved, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page(view, store, monkeypatch, run=imported)
    assert MARK in words(page)
    for each in every_tab(page, view):
        assert MARK in words(each)
    assert saved.files or view == "data"
    for name, content in saved.files.items():
        wanted = FILE if "swift_run" in name or name == "runs.csv" else MARK
        assert name.startswith("imported_") or name == "runs.csv", name
        for text in texts(name, content):
            empty = text.count("\n") == 1 and text.rstrip().endswith("source")
            assert wanted in text or empty, (name, text[:200])
    said = "came with an imported result" if view == "data" else MARK
    for name, title in saved.figures.items():
        assert name.startswith("imported_") and said in title, name
    assert saved.figures or view in ("runs", "review")


def test_the_frame_names_what_was_imported(
    store: Store, imported: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app(store, monkeypatch)
    assert MARK in words(app) and "data of this page came with an imported result" in words(app)
    assert "(imported)" in widget(app, "selectbox", "w.run").options[0]
    assert "(imported)" in widget(app, "selectbox", "w.dataset").options[0]


def test_reports_are_marked(store: Store, imported: str) -> None:
    report = report_of_run(store, Reviews(store.root), imported, 11)
    assert MARK in render_report(report) and MARK in report_json(report)
    assert all(MARK in section["source"] for section in json.loads(report_json(report))["sections"])
    for text in texts("tables.zip", report_csv(report)):
        assert all("imported from" in line for line in text.splitlines()[1:])
    assert MARK in texts("judge.xlsx", make_workbook(report))[0]


def test_an_own_fit_bears_no_mark_but_an_imported_comparison_does(
    fitted_store: Store,
    fit_id: str,
    store: Store,
    imported: str,
    saved: Saved,
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    own = computed(store, store.run(imported).request)
    assert own == fit_id
    page = open_page("phenotypes", store, monkeypatch)
    assert page.query_params["run"] == own and MARK not in words(page)
    saved.files.clear()
    page = for_scientists(open_page("prediction", store, monkeypatch, run=own))
    assert MARK in words(page), "the comparison of methods is an imported one"
    assert set(saved.files) == {"imported_scores.csv", "imported_chosen_settings.csv"}
    report = report_of_run(store, Reviews(store.root), own, 11)
    assert not report.source and not any(MARK in said for said in report.warnings)
    marked = {section.title for section in report.sections if section.source}
    assert "Link to the outcome" not in marked and len(marked) == 3  # stability is of another fit


def test_ones_own_experiment_goes_before_an_imported_one(
    store: Store, imported: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    own = computed(store, store.run(imported).request)
    add_experiment(store, made_up.evaluation())
    page = open_page("prediction", store, monkeypatch, run=own)
    assert "ahead of CP-ALS" in words(page) and MARK not in words(page)


def test_phenotypes_of_an_imported_fit_are_not_followed(store: Store, imported: str) -> None:
    dataset = store.run(imported).dataset
    with pytest.raises(InvalidSettings, match="Only phenotypes that were computed here"):
        jobs.start(store, Request("stability", dataset, {"ranks": [3]}, imported))

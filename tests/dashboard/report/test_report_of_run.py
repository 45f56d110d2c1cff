"""From a fit made by a real worker to every export, and judgements back through the workbook."""

from __future__ import annotations

import io
import json
from dataclasses import replace

import pytest
from openpyxl import load_workbook
from support import made_up

from dashboard.report.from_store import report_of_run
from dashboard.report.html_report import render_report
from dashboard.report.sections import Table
from dashboard.report.tables import report_csv, report_json
from dashboard.report.workbook import HEADER_ROW, make_workbook
from dashboard.report.workbook_reading import read_workbook
from dashboard.store.cards import UnknownRun
from dashboard.store.request import Request
from dashboard.store.reviews import Reviews
from dashboard.store.store import Store
from swiftcore.evaluation.experiments.result import Experiment


def test_a_fit_becomes_exports_and_judgements_come_back(fitted_store: Store, fit_id: str) -> None:
    reviews = Reviews(fitted_store.root)
    report = report_of_run(fitted_store, reviews, fit_id, 0)
    assert len(report.phenotypes) == 3 and report.row_noun == "patient"
    assert [section.title for section in report.sections] == ["Link to the outcome"]
    book = load_workbook(io.BytesIO(make_workbook(report)))
    titles = {cell.value: cell.column for cell in book.active[HEADER_ROW]}
    book.active.cell(HEADER_ROW + 1, titles["Makes sense"]).value = "yes"
    book.active.cell(HEADER_ROW + 1, titles["Clinical name"]).value = "A name by hand"
    out = io.BytesIO()
    book.save(out)
    digests = {each.identifier: each.digest for each in report.phenotypes}
    for review in read_workbook(out.getvalue(), run=fit_id, digests=digests, reviewer="Dr. A"):
        reviews.save(review)
    again = report_of_run(fitted_store, reviews, fit_id, 0)
    assert again.phenotypes[0].name == "A name by hand"
    assert "A name by hand" in render_report(again)
    plain = json.loads(report_json(again))
    assert plain["phenotypes"][0]["reviews"][0]["verdict"] == "yes"
    everything = render_report(again) + report_json(again) + str(report_csv(again))
    assert "row 7" not in everything, "labels of rows stay inside"


def test_noise_of_another_fit_bears_no_names_of_this_one(fitted_store: Store, fit_id: str) -> None:
    def section(of_run: str, experiment: Experiment, seed: int) -> dict[str, Table]:
        request = Request("noise", fitted_store.run(fit_id).dataset, {"seed": seed}, of_run)
        files = {"experiment.json": experiment.to_json().encode()}
        fitted_store.publish_run(request, files, 2e9 + seed, 1.0)
        report = report_of_run(fitted_store, Reviews(fitted_store.root), fit_id, 0)
        (found,) = [one for one in report.sections if one.title == "With false entries"]
        return {table.key: table for table in found.tables}

    noise = made_up.noise()
    assert set(section("", noise, 1)) == {"noise"}
    bare = replace(noise, tables={"survival": noise.tables["survival"]})  # data without an outcome
    own = section(fit_id, bare, 2)
    assert set(own) == {"survival"} and own["survival"].rows[0][1] != ""


def test_an_unknown_run_has_no_report(fitted_store: Store) -> None:
    with pytest.raises(UnknownRun):
        report_of_run(fitted_store, Reviews(fitted_store.root), "0" * 32, 11)

"""In how many fits a phenotype was found, and how far it varies, is in every file."""

from __future__ import annotations

import csv
import io
import json
import re
import zipfile
from dataclasses import replace

import numpy as np
import pytest
from openpyxl import load_workbook
from support.finished_run import finished, hostile_report, run_card

from dashboard.report.contents import Report, gather_report
from dashboard.report.html_report import render_report
from dashboard.report.tables import report_csv, report_json
from dashboard.report.workbook import HEADER_ROW, make_workbook
from swiftcore.phenotypes.consensus import Agreement


@pytest.fixture(scope="module")
def report() -> Report:
    """P03 in three of eight fits; each weight varies by a quarter of itself."""
    fit, dataset, card = finished(tuple(f"code {number}" for number in range(20)))
    spread = [factor / 4 for factor in fit.factors[1:]]
    agreed = replace(fit, agreement=Agreement(8, (8, 7, 3, 8), spread))
    return gather_report(run_card(), card, agreed, dataset)


def rows(report: Report, name: str) -> list[dict[str, str]]:
    content = zipfile.ZipFile(io.BytesIO(report_csv(report))).read(f"{name}.csv")
    return list(csv.DictReader(io.StringIO(content.decode("utf-8-sig"))))


def test_found_in_is_in_every_file(report: Report) -> None:
    fits = {"P01": 8, "P02": 7, "P03": 3, "P04": 8}
    page = re.sub(r"<[^>]+>|\s+", " ", render_report(report))
    assert re.search(r"Found again in +3 of 8 +computations: read it with care", page)
    plain = {one["id"]: one["found_in"] for one in json.loads(report_json(report))["phenotypes"]}
    assert plain == {name: {"fits": number, "of": 8} for name, number in fits.items()}
    table = {row["id"]: row["found in"] for row in rows(report, "phenotypes")}
    assert table == {name: f"{number} of 8 fits" for name, number in fits.items()}
    sheet = load_workbook(io.BytesIO(make_workbook(report))).active
    heading = [cell.value for cell in sheet[HEADER_ROW]]
    cells = [[cell.value for cell in row] for row in sheet.iter_rows(min_row=HEADER_ROW + 1)]
    assert {row[0]: row[heading.index("Found in")] for row in cells} == table


def test_the_spread_of_each_feature_is_in_every_file(report: Report) -> None:
    table = rows(report, "features")
    weights, spreads = (
        np.array([float(row[name]) for row in table]) for name in ("weight", "spread")
    )
    np.testing.assert_allclose(spreads, weights / 4)
    found = json.loads(report_json(report))["phenotypes"][0]["features"]["diagnosis"][0]
    assert found["spread"] == pytest.approx(found["weight"] / 4)
    shown = f"{100 * found['weight']:.1f} \N{PLUS-MINUS SIGN} {25 * found['weight']:.1f}"
    assert shown in re.sub(r"<[^>]+>", "", render_report(report))


def test_a_single_fit_claims_nothing() -> None:
    report = hostile_report()
    assert {one["found_in"] for one in json.loads(report_json(report))["phenotypes"]} == {None}
    assert "found in" not in rows(report, "phenotypes")[0]
    assert "spread" not in rows(report, "features")[0]
    sheet = load_workbook(io.BytesIO(make_workbook(report))).active
    assert "Found in" not in [cell.value for cell in sheet[HEADER_ROW]]

"""Exports of a stored fit: numbers, ids and structure, not the words around them."""

from __future__ import annotations

import csv
import io
import json
import re
import tempfile
import zipfile
from collections.abc import Callable
from functools import cache
from pathlib import Path
from typing import Any

import openpyxl

from dashboard.jobs.compute import compute
from dashboard.jobs.progress_reporter import ProgressReporter
from dashboard.report.contents import Report
from dashboard.report.from_store import report_of_run
from dashboard.report.html_report import render_report
from dashboard.report.tables import report_csv, report_json
from dashboard.report.workbook import make_workbook
from dashboard.store.request import Request
from dashboard.store.reviews import Review, Reviews
from dashboard.store.store import Store
from golden.made_data import patients
from golden.plain import FLOAT32, TABLES, Result, bits_of, digest, outline, result
from swiftcore.evaluation.experiments.run import run_experiment
from swiftcore.evaluation.experiments.settings import ExperimentSettings

# One start only: of several equal ones another machine may take another, in another order.
FIT = {"rank": 3, "max_iterations": 15, "row_relation": "none", "n_restarts": 1}
STUDIES: dict[str, dict[str, Any]] = {
    "stability": {"folds": 2, "ranks": [3], "methods": ["swift"]},
    "evaluation": {"folds": 3, "ranks": [3], "methods": ["swift", "cp_apr", "lasso_indicators"]},
    "noise": {"folds": 3, "ranks": [3], "methods": ["cp_apr"], "levels": [0.2], "draws": 1},
    "ablation": {
        "folds": 3,
        "ranks": [2],
        "methods": ["similarity_cp"],
        "recipes": ["cosine", "random"],
    },
}
# ids, digests, numbers, and names in the data
SHOWN = re.compile(r"|P\d+|[0-9a-f]{32}|[<>]?[-+]?[\d.,]+(e[-+]\d+)?%?|dx \d.*|rx \d.*")
WORDY = ("about",)  # dates, versions and settings
AS_TYPED = ("features", "reviews")  # tables whose texts are all data


def answered(store: Store, request: Request, created: float) -> str:
    """Compute a request here and now, and publish it."""
    job = store.job(request.key())
    job.create(request, created, attempt=1)
    return store.publish_run(request, compute(store, request, ProgressReporter(job)), created, 1.0)


@cache
def reports() -> dict[int, Report]:
    """A fit with every experiment and two reviews, with all counts and with small ones hidden."""
    made = patients()
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "store")
        dataset = store.add_dataset(made, synthetic=True)
        run = answered(store, Request("fit", dataset, FIT), 1.0e9)
        for number, (kind, settings) in enumerate(STUDIES.items()):
            of_run = run if kind in ("noise", "stability") else ""
            chosen = ExperimentSettings(**settings, seeds=2)
            content = run_experiment(kind, made, chosen).to_json().encode()
            request = Request(kind, dataset, settings, of_run)
            store.publish_run(request, {"experiment.json": content}, 1.1e9 + number, 1.0)
        reviews = Reviews(store.root)
        digests = [store.fit(run).phenotype_digest(part) for part in range(2)]
        reviews.save(Review(run, "P01", digests[0], "Dr. A", "Name of A", "yes", "", "", 4, "ok"))
        reviews.save(Review(run, "P02", digests[1], "Dr. B", "", "no", "duplicate", "P01", 5, "-"))
        return {limit: report_of_run(store, reviews, run, limit) for limit in (0, 11)}


def masked(cell: Any) -> Any:
    """Numbers, ids and names of the data; other words may be edited."""
    return cell if not isinstance(cell, str) or SHOWN.fullmatch(cell) else "..."


def plain_report(limit: int) -> Result:
    """The JSON export without prose, dates, versions and settings."""
    found = json.loads(report_json(reports()[limit]))
    sheets = [{k: v for k, v in one.items() if k != "link"} for one in found["phenotypes"]]
    tables = {
        key: [[masked(cell) for cell in row] for row in table["rows"]]
        for section in found["sections"]
        for key, table in section["tables"].items()
    }
    sizes = {key: [len(rows), len(rows[0])] for key, rows in tables.items()}
    return result(
        TABLES,
        always={
            "keys": sorted(found),
            "run": found["run"],
            "hidden_below": found["small_counts_hidden_below"],
            "sections": [list(section["tables"]) for section in found["sections"]],
            "sizes": sizes,
        },
        bits={"phenotypes": sheets, "tables": tables},
        close={"shares": [one["share"] for one in sheets], "ids": [one["id"] for one in sheets]},
    )


def csv_files(limit: int) -> Result:
    """Names, sizes and contents of the CSV files, without their headings."""
    with zipfile.ZipFile(io.BytesIO(report_csv(reports()[limit]))) as archive:
        files = {name: archive.read(name) for name in archive.namelist()}
    sizes, bits = {}, {}
    for name, content in files.items():
        if name.removesuffix(".csv") in WORDY:
            continue
        lines = list(csv.reader(io.StringIO(content.decode("utf-8-sig"), "")))
        typed = name.removesuffix(".csv") in AS_TYPED
        rows = [[cell if typed else masked(cell) for cell in line] for line in lines[1:]]
        sizes[name] = [len(lines[0]), content.startswith(b"\xef\xbb\xbf"), content.count(b"\r\n")]
        bits[name] = {"rows": digest(rows), "first": rows[0] if rows else []}
    return result(TABLES, always={"names": list(files), "sizes": sizes}, bits=bits)


def workbook() -> Result:
    """All cells below the headings, and how the sheet is set up."""
    book = openpyxl.load_workbook(io.BytesIO(make_workbook(reports()[11])))
    found: dict[str, Any] = {}
    cells: dict[str, Any] = {}
    for sheet in book.worksheets:
        rows = [list(row) for row in sheet.iter_rows(min_row=5, values_only=True)]
        found[sheet.dimensions] = {
            "lists": len(sheet.data_validations.dataValidation),
            "hidden": [name for name, one in sheet.column_dimensions.items() if one.hidden],
            "merged": [str(one) for one in sheet.merged_cells.ranges],
            "locked": [cell.protection.locked for cell in sheet[5]],
            "protected": sheet.protection.sheet,
            "frozen": sheet.freeze_panes,
        }
        cells[sheet.dimensions] = {"all": digest(rows), "first": rows[0]}
    return result(TABLES, always=found, bits=cells)


def page(limit: int) -> Result:
    """How much the HTML report shows, and the numbers in its tables."""
    text = render_report(reports()[limit])
    tags = ("table", "tr", "th", "td", "h1", "h2", "h3", "svg", "section", "script")
    numbers = re.findall(r'<td class="number">([^<]*)</td>', text)
    bars = re.findall(r'(?:<rect [^>]*width="|style="left:-?[\d.]+%;width:)([\d.]+)', text)
    return result(
        TABLES,
        always={tag: len(re.findall(rf"<{tag}[ >]", text)) for tag in tags},
        bits={
            "numbers": digest(numbers),
            "some": numbers[:12],
            "bars": digest(bars),
            "count": [len(numbers), len(bars)],
        },
    )


def projected() -> Result:
    """New rows described by a stored fit."""
    with tempfile.TemporaryDirectory() as folder:
        store = Store(Path(folder) / "store")
        run = answered(store, Request("fit", store.add_dataset(patients()), FIT), 1.0e9)
        new = store.add_dataset(patients(12, seed=7, outcome=False))
        request = Request("projection", new, {}, run)
        found = store.projection(answered(store, request, 1.1e9))
    return result(
        10 * FLOAT32,
        always={"ids": found.identifiers, "rows": found.row_labels, "empty": found.empty_rows},
        bits={"memberships": bits_of([found.memberships]), "profiles": bits_of(found.profiles)},
        close=outline(found.memberships),
    )


CASES: dict[str, Callable[[], Result]] = {
    "json_all_counts": lambda: plain_report(0),
    "json_small_hidden": lambda: plain_report(11),
    "csv_all_counts": lambda: csv_files(0),
    "csv_small_hidden": lambda: csv_files(11),
    "workbook": workbook,
    "page_all_counts": lambda: page(0),
    "page_small_hidden": lambda: page(11),
    "projection": projected,
}

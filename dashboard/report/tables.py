"""Everything a report shows as plain tables: CSV files in one zip, or one JSON object."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Mapping
from typing import Any

from dashboard.fit_view.phenotype_sheet import PhenotypeSheet
from dashboard.report.contents import Report
from dashboard.report.sections import Section, Table
from dashboard.store.imported import SOURCE
from dashboard.store.lineage import MADE
from dashboard.store.rounds import Settlement
from swiftcore.runtime.repeatable_zip import zip_bytes
from swiftcore.runtime.spreadsheet_text import csv_safe

SCHEMA = 1
OF_THE_PHENOTYPES = ("phenotypes", "features", "links")
_AGREED = ("verdict", "name", "arbiter")
_REVIEWED = ("reviewer", "name", "verdict", "problem", "duplicate_of", "confidence", "comment")


def report_tables(report: Report) -> tuple[Table, ...]:
    """Phenotypes, their features, reviews, what was computed about them, and how."""
    found = [table for section in report.sections for table in section.tables]
    return (_phenotypes(report), _features(report), _reviews(report), *found, _about(report))


def report_csv(report: Report) -> bytes:
    """A zip with one CSV file per table; no cell is taken for a formula.

    Tables of what was imported have one more column, which says so; tables of the phenotypes of
    a fit that was guided by the outcome, too.
    """
    sources = {table.key: part.source for part in report.sections for table in part.tables}
    return zip_bytes(
        (
            f"{table.key}.csv",
            _csv(
                table,
                {
                    MADE: report.made_for if table.key in OF_THE_PHENOTYPES else "",
                    SOURCE: sources.get(table.key, report.source),
                },
            ),
        )
        for table in report_tables(report)
    )


def _csv(table: Table, said: Mapping[str, str]) -> bytes:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\r\n")
    more = {column: words for column, words in said.items() if words}
    writer.writerow([csv_safe(column) for column in (*table.columns, *more)])
    for row in table.rows:
        cells = (*row, *more.values())
        writer.writerow([csv_safe(cell) if isinstance(cell, str) else cell for cell in cells])
    return text.getvalue().encode("utf-8-sig", "replace")


def report_json(report: Report) -> str:
    """One JSON object with a schema number; texts as they are, nothing where there is no number."""
    plain = {
        "format": "swift-report",
        "schema": SCHEMA,
        "run": report.run,
        "title": report.title,
        "data": report.subtitle,
        "method": report.method,
        "made_to_predict": report.made_for,
        **_source(report.source),
        "small_counts_hidden_below": report.limit,
        "warnings": list(report.warnings),
        "facts": dict(report.facts),
        "settings": dict(report.settings),
        "phenotypes": [_plain(sheet) for sheet in report.phenotypes],
        "sections": [_plain_section(section) for section in report.sections],
    }
    return json.dumps(plain, indent=1, allow_nan=False)


def _source(source: str) -> dict[str, str]:
    """Where something was imported from; what was computed here says nothing."""
    return {SOURCE: source} if source else {}


def _plain_section(section: Section) -> dict[str, Any]:
    return {
        "title": section.title,
        **_source(section.source),
        "sentence": section.sentence,
        "notes": list(section.notes),
        "tables": {
            table.key: {
                "title": table.title,
                "columns": list(table.columns),
                "rows": [list(row) for row in table.rows],
            }
            for table in section.tables
        },
    }


def _plain(sheet: PhenotypeSheet) -> dict[str, Any]:
    return {
        "id": sheet.identifier,
        "content": sheet.digest,
        "name": sheet.name,
        "working_name": sheet.working_name,
        "suggested_group": sheet.group,
        "share": sheet.share,
        "carriers": sheet.carriers,
        "link": sheet.link,
        "weight": sheet.weight,
        "steady": sheet.steady,
        "found_again": sheet.found_again,
        "found_in": dict(zip(("fits", "of"), sheet.found_in, strict=True))
        if sheet.found_in
        else None,
        "features": {
            mode.mode: [vars(feature) for feature in mode.features] for mode in sheet.modes
        },
        "reviews": [
            {name: getattr(review, name) for name in _REVIEWED} for review in sheet.reviews
        ],
        "agreed": None
        if sheet.agreed is None
        else {name: getattr(sheet.agreed, name) for name in _AGREED},
    }


def _phenotypes(report: Report) -> Table:
    columns = {
        "id": "identifier",
        "name": "name",
        "working_name": "working_name",
        "suggested_group": "group",
        "share": "share",
        f"{report.row_noun} count": "carriers",
        "link": "link",
        "weight": "weight",
        "same direction": "steady",
        "found again": "found_again",
        **({"found in": "found_words"} if report.of_consensus else {}),
        "content": "digest",
    }
    rows = [tuple(getattr(each, name) for name in columns.values()) for each in report.phenotypes]
    return _texts("phenotypes", "Phenotypes", tuple(columns), rows)


def _features(report: Report) -> Table:
    columns = {
        "feature": "name",
        "weight": "weight",
        **({"spread": "spread"} if report.of_consensus else {}),
        "lift": "lift",
        f"{report.row_noun} count": "rows",
    }
    return _texts(
        "features",
        "Features of each phenotype",
        ("phenotype", "mode", *columns),
        [
            (each.identifier, mode.mode, *(getattr(feature, name) for name in columns.values()))
            for each in report.phenotypes
            for mode in each.modes
            for feature in mode.features
        ],
    )


def _reviews(report: Report) -> Table:
    columns = ("phenotype", *(name.replace("_", " ") for name in _REVIEWED))
    rows = [
        (each.identifier, *(getattr(review, name) for name in _REVIEWED))
        for each in report.phenotypes
        for review in each.reviews
    ]
    rows += [
        (each.identifier, "agreed", one.name, one.verdict, "", "", None, _decided_by(one))
        for each in report.phenotypes
        if (one := each.agreed) is not None
    ]
    return _texts("reviews", "Reviews", columns, rows)


def _decided_by(one: Settlement) -> str:
    return f"decided by {one.arbiter}" if one.arbiter else "decided by vote"


def _about(report: Report) -> Table:
    rows = [("warning", warning) for warning in report.warnings]
    rows += [*report.facts, *report.settings]
    return _texts("about", "About this report", ("what", "value"), rows)


def _texts(key: str, title: str, columns: tuple[str, ...], rows: list[tuple[Any, ...]]) -> Table:
    return Table(key, title, columns, ("text",) * len(columns), tuple(rows))

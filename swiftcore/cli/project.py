"""``swift project``: new rows in the phenotypes of a model that is there already."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn

from swiftcore.cli.data_argument import add_set, load_data, screen
from swiftcore.cli.progress_line import StoppableLine
from swiftcore.cli.result_files import MODEL, write_json, write_table
from swiftcore.errors import where_list
from swiftcore.fitting import FittedModel
from swiftcore.phenotypes.identifiers import component_id
from swiftcore.phenotypes.shares import row_shares
from swiftcore.projection import KnownRows, on_features, project_rows
from swiftcore.runtime.spreadsheet_text import csv_safe

SCHEMA = 1  # of projection.json: raise it when a field changes its meaning


def add_project(parser: argparse.ArgumentParser) -> None:
    """A model, new data, and a folder for their memberships."""
    parser.add_argument("model", type=Path, help="a folder of swift fit --out, or its model.npz")
    parser.add_argument("data", help="new rows: a file or folder as the model was fitted to")
    add_set(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for files")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    parser.set_defaults(run=_project)


def _project(chosen: argparse.Namespace) -> int:
    path = chosen.model
    model = FittedModel.load(path / MODEL if path.is_dir() else path)
    dataset = load_data(chosen.data, chosen.settings)
    known = on_features(dataset.tensor, model.modes)
    with _RowsLine() as line:
        memberships = project_rows(model, known.tensor, line)
    shares = row_shares([memberships, *model.factors[1:]])
    ids = [component_id(component, model.spec.rank) for component in range(model.spec.rank)]
    rows = known.tensor.modes[0]
    lines: list[Sequence[object]] = [[rows.name, *ids, *(f"{one} share" for one in ids)]]
    for label, amounts, parts in zip(rows.labels, memberships, shares, strict=True):
        lines.append([csv_safe(label), *amounts.tolist(), *parts.tolist()])
    summary = _summary(known, ids)
    chosen.out.mkdir(parents=True, exist_ok=True)
    write_table(chosen.out / "memberships.csv", lines)
    write_json(chosen.out / "projection.json", summary)
    if chosen.json:
        json.dump(summary, sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        for sentence in _sentences(known):
            sys.stdout.write(f"{sentence}\n")
    screen.print(escape(f"Results are in {chosen.out}"), highlight=False)
    return 0


def _summary(known: KnownRows, ids: list[str]) -> dict[str, Any]:
    labels = known.tensor.modes[0].labels
    return {
        "schema": SCHEMA,
        "rows": len(labels),
        "phenotypes": ids,
        "unknown_features": known.unknown,
        "entries_left_out": known.left_out,
        "rows_without_known_features": [labels[row] for row in known.empty],
    }


def _sentences(known: KnownRows) -> list[str]:
    labels = known.tensor.modes[0].labels
    said = [f"{len(labels):,} rows described."]
    for mode, missing in known.unknown.items():
        said.append(f"Unknown to the model, {mode}: {len(missing):,}: {where_list(missing)}.")
    if known.left_out:
        said.append(f"Entries left out for that: {known.left_out:,}.")
    if known.empty:
        names = where_list(labels[row] for row in known.empty)
        said.append(f"Rows with nothing that the model knows: {len(known.empty):,}: {names}.")
    return said


class _RowsLine(StoppableLine):
    """Rows described; Ctrl-C leaves before the next ones, and nothing is written."""

    def __init__(self) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed}/{task.total}"),
        )
        super().__init__(Progress(*columns, console=screen, transient=True), "block of rows")
        self._task = self.progress.add_task("Describing rows", total=None)

    def __call__(self, done: int, total: int) -> None:
        self.progress.update(self._task, completed=done, total=total)
        if self.stop:
            raise KeyboardInterrupt

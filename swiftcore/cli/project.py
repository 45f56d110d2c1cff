"""``swift project``: new rows in the phenotypes of a model that is there already."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

from rich.markup import escape
from rich.progress import BarColumn, Progress, TextColumn

from swiftcore.cli.data_argument import add_set, is_sample, load_data, screen
from swiftcore.cli.finished_result import add_result, find_model
from swiftcore.cli.progress_line import StoppableLine
from swiftcore.cli.result_files import write_json, write_table
from swiftcore.cli.store_argument import add_store_of_run
from swiftcore.data.shards.reader import is_sharded, open_shards
from swiftcore.errors import where_list
from swiftcore.fitting import FittedModel
from swiftcore.phenotypes.identifiers import component_id
from swiftcore.phenotypes.shares import row_shares
from swiftcore.projection import KnownRows, matched, no_known_feature, project_rows
from swiftcore.runtime.spreadsheet_text import csv_safe
from swiftcore.tensor import SparseTensor

SCHEMA = 1  # of projection.json: raise it when a field changes its meaning


def add_commands(commands: Any) -> None:
    """A model, new data, and a folder for their memberships."""
    words = "describe new rows by the phenotypes of a model"
    parser = commands.add_parser("project", help=words)
    add_result(parser, "MODEL")
    parser.add_argument("data", help="new rows: a file or folder as the model was fitted to")
    add_set(parser)
    add_store_of_run(parser)
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help="folder for files")
    parser.add_argument("--json", action="store_true", help="print what was found as JSON")
    parser.set_defaults(run=_project)


def _project(chosen: argparse.Namespace) -> int:
    model, noted = find_model(chosen)
    total, blocks = _new_rows(chosen.data, chosen.settings, noted)
    ids = [component_id(component, model.spec.rank) for component in range(model.spec.rank)]
    found = _Found()
    chosen.out.mkdir(parents=True, exist_ok=True)
    with _RowsLine(total) as line:
        write_table(chosen.out / "memberships.csv", _lines(model, ids, blocks, found, line))
    summary = found.summary(ids)
    write_json(chosen.out / "projection.json", summary)
    if chosen.json:
        json.dump(summary, sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        for sentence in found.sentences():
            sys.stdout.write(f"{sentence}\n")
    screen.print(escape(f"Results are in {chosen.out}"), highlight=False)
    return 0


def _new_rows(
    name: str, settings: Sequence[str], noted: Sequence[str]
) -> tuple[int, Iterator[SparseTensor]]:
    """How many new rows there are, and they themselves: those in shards a shard at a time.

    Without settings they are read as the data of the fit were.
    """
    if is_sharded(Path(name)) and not settings:
        shards = open_shards(name)
        return shards.shape[0], (block.tensor for block in shards.row_blocks())
    if noted and not settings and not is_sample(name):
        told = f"Read as the data of the fit were: {', '.join(noted)}"
        screen.print(told, highlight=False, markup=False)
        settings = noted
    tensor = load_data(name, settings, new_rows=True).tensor
    return tensor.shape[0], iter([tensor])


def _lines(
    model: FittedModel,
    ids: Sequence[str],
    blocks: Iterable[SparseTensor],
    found: _Found,
    line: _RowsLine,
) -> Iterator[Sequence[object]]:
    """The table of memberships, made while it is written."""
    for block in blocks:
        if not found.rows:
            yield [block.modes[0].name, *ids, *(f"{one} share" for one in ids)]
        known = matched(block, model.modes)
        memberships = project_rows(model, known.tensor, line.after(found.rows))
        found.add(known)
        shares = row_shares([memberships, *model.factors[1:]])
        for label, amounts, parts in zip(block.modes[0].labels, memberships, shares, strict=True):
            yield [csv_safe(label), *amounts.tolist(), *parts.tolist()]
    if not found.entries:
        raise no_known_feature(found.left_out)


@dataclass
class _Found:
    """What was met in the new rows so far."""

    rows: int = 0
    entries: int = 0
    left_out: int = 0
    unknown: Mapping[str, list[str]] = field(default_factory=dict)
    empty: list[str] = field(default_factory=list)

    def add(self, known: KnownRows) -> None:
        """Some more rows; their features are those of the rows before them."""
        labels = known.tensor.modes[0].labels
        self.rows += len(labels)
        self.entries += known.tensor.n_entries
        self.left_out += known.left_out
        self.unknown = known.unknown
        self.empty += [labels[row] for row in known.empty]

    def summary(self, ids: Sequence[str]) -> dict[str, Any]:
        """As plain values, for a file."""
        return {
            "schema": SCHEMA,
            "rows": self.rows,
            "phenotypes": list(ids),
            "unknown_features": self.unknown,
            "entries_left_out": self.left_out,
            "rows_without_known_features": self.empty,
        }

    def sentences(self) -> list[str]:
        """For the screen."""
        said = [f"{self.rows:,} rows described."]
        for mode, missing in self.unknown.items():
            said.append(f"Unknown to the model, {mode}: {len(missing):,}: {where_list(missing)}.")
        if self.left_out:
            said.append(f"Entries left out for that: {self.left_out:,}.")
        if self.empty:
            names = where_list(self.empty)
            said.append(f"Rows with nothing that the model knows: {len(self.empty):,}: {names}.")
        if 2 * len(self.empty) > self.rows:
            said.append(
                "That is most of them: are the new rows of the same kind as those of the fit, "
                "and read in the same way (--set)?"
            )
        return said


class _RowsLine(StoppableLine):
    """Rows described; Ctrl-C leaves before the next ones, and nothing is written."""

    def __init__(self, total: int) -> None:
        columns = (
            TextColumn("{task.description}"),
            BarColumn(),
            TextColumn("{task.completed}/{task.total}"),
        )
        super().__init__(Progress(*columns, console=screen, transient=True), "block of rows")
        self._task = self.progress.add_task("Describing rows", total=total)

    def after(self, before: int) -> Callable[[int, int], None]:
        """Hears of the rows that are done, of those that come after so many others."""

        def begins(done: int, _: int) -> None:
            self.progress.update(self._task, completed=before + done)
            if self.stop:
                raise KeyboardInterrupt

        return begins

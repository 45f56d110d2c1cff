"""What the commands `swift data inspect` and `swift data build` do, without the command line."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from pathlib import Path
from typing import Any

from swiftcore.data.bundle import write_bundle
from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path.sandbox import Inspection, build_path
from swiftcore.data.from_path.sniff import KINDS
from swiftcore.data.option_help import as_toml
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import ColumnRole, Preview

MAX_COLUMNS, MAX_ROWS, MAX_WIDTH = 8, 4, 20
LAYOUTS = {
    "long": "long, one event per line",
    "wide": "wide, numbered columns",
    "onehot": "one-hot, a column of yes and no per feature",
    "lists": "lists in cells",
}


def describe(inspection: Inspection) -> str:
    """An inspection in plain lines of text."""
    what = KINDS.get(inspection.kind, "not recognised")
    lines = [f"{inspection.name}: {what}."]
    if inspection.tables:
        lines += ["", "Read:"]
        lines += [f"  {name}: {rows:,} rows" for name, rows in inspection.tables.items()]
    for preview in inspection.previews:
        lines += ["", *describe_rows(preview)]
    if inspection.layout:
        lines += ["", f"Layout: {LAYOUTS.get(inspection.layout, inspection.layout)}."]
    if inspection.roles:
        lines += ["", "Columns:", *_roles(inspection.roles)]
    if inspection.mapping:
        lines += ["", "Taken for:"]
        lines += [f"  {role}: {column}" for role, column in inspection.mapping.items()]
    if inspection.options:
        lines += ["", "Built with (a settings file for --options):"]
        lines += [f"  {line}".rstrip() for line in as_toml(inspection.options).splitlines()]
    if inspection.candidate_counts:
        lines += ["", "Could be the outcome (--set outcome_column=NAME):"]
        lines += [
            f"  {name}: {_rates(counts)}" for name, counts in inspection.candidate_counts.items()
        ]
    if inspection.summary:
        lines += ["", "Would be built:"]
        lines += [f"  {sentence}" for sentence in inspection.summary.sentences()]
    elif inspection.notes or inspection.left_out:
        lines += ["", "Noted so far:"]
        lines += [f"  {one}." for one in inspection.left_out]
        lines += [f"  {note}" for note in inspection.notes]
    if inspection.problems:
        count = len(inspection.problems)
        lines += ["", f"{count} problem{'s' if count > 1 else ''} to fix:"]
        lines += [f"  [{problem.code}] {problem}" for problem in inspection.problems]
    else:
        lines += ["", "No problems."]
    return "\n".join(lines)


def as_json(inspection: Inspection) -> dict[str, Any]:
    """An inspection as plain values, for programs."""
    summary = inspection.summary
    return {
        "name": inspection.name,
        "kind": inspection.kind,
        "layout": inspection.layout,
        "shape": list(summary.shape) if summary else None,
        "modes": list(summary.mode_names) if summary else None,
        "digest": inspection.digest or None,
        "roles": [dataclasses.asdict(one) for one in inspection.roles],
        "problems": [dataclasses.asdict(one) for one in inspection.problems],
        "left_out": [dataclasses.asdict(one) for one in inspection.left_out],
        "notes": list(inspection.notes),
        "tables": inspection.tables,
        "outcome_candidates": inspection.candidate_counts,
        "options": inspection.options,
    }


def describe_rows(preview: Preview) -> list[str]:
    """The first rows in lines of text, wide tables cut off."""
    shown = preview.columns[:MAX_COLUMNS]
    rows = [shown, *(row[: len(shown)] for row in preview.rows[:MAX_ROWS])]
    cells = [[_cut(" ".join(cell.split())) for cell in row] for row in rows]
    widths = [max(len(row[at]) for row in cells) for at in range(len(shown))]
    lines = [
        "  "
        + "  ".join(cell.ljust(width) for cell, width in zip(row, widths, strict=True)).rstrip()
        for row in cells
    ]
    more = len(preview.columns) - len(shown)
    rest = [f"  ... and {more} more columns"] if more else []
    return [f"First rows of {preview.table}:", *lines, *rest]


def _cut(text: str) -> str:
    return text if len(text) <= MAX_WIDTH else f"{text[: MAX_WIDTH - 1]}\u2026"


def _roles(roles: tuple[ColumnRole, ...]) -> list[str]:
    several = len({one.table for one in roles}) > 1
    names = [f"{one.table}: {one.column}" if several else one.column for one in roles]
    width = min(40, max(map(len, names)))
    return [
        f"  {name.ljust(width)}  {one.role}: {one.reason}"
        for name, one in zip(names, roles, strict=True)
    ]


def _rates(counts: Mapping[str, int]) -> str:
    whole = sum(counts.values())
    return ", ".join(f"{value} {count / whole:.0%}" for value, count in counts.items())


def build_bundle(
    path: str | Path, out: str | Path, options: BuildOptions | None = None
) -> tuple[Dataset, str]:
    """Build a data set and save it as a bundle.

    Returns
    -------
    Dataset
        As saved, with its summary.
    str
        The seal (SHA-256) of the bundle.

    Raises
    ------
    InvalidData
        With all problems found; nothing is written then.
    """
    dataset = build_path(path, options)
    return dataset, write_bundle(dataset, Path(out))

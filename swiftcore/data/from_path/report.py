"""What the commands `swift data inspect` and `swift data build` do, without the command line."""

from __future__ import annotations

from pathlib import Path

from swiftcore.data.bundle import write_bundle
from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path.sandbox import Inspection, build_path
from swiftcore.data.from_path.sniff import KINDS
from swiftcore.data.options import BuildOptions


def describe(inspection: Inspection) -> str:
    """An inspection in plain lines of text."""
    what = KINDS.get(inspection.kind, "not recognised")
    lines = [f"{inspection.name}: {what}."]
    if inspection.tables:
        lines += ["", "Read:"]
        lines += [f"  {name}: {rows:,} rows" for name, rows in inspection.tables.items()]
    if inspection.mapping:
        lines += ["", "Taken for:"]
        lines += [f"  {role}: {column}" for role, column in inspection.mapping.items()]
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

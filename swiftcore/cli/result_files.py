"""What ``swift fit --out`` leaves in its folder: the model for programs, tables for people."""

from __future__ import annotations

import csv
import io
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any

import numpy as np

from swiftcore.fitting import FittedModel
from swiftcore.phenotypes.describe import Phenotype
from swiftcore.phenotypes.identifiers import component_id
from swiftcore.phenotypes.shares import profiles
from swiftcore.runtime.atomic_file import atomic_file, write_atomic
from swiftcore.runtime.spreadsheet_text import csv_safe

SCHEMA = 1  # of phenotypes.json: raise it when a field changes its meaning
SPEC, MODEL, DATA = "spec.json", "model.npz", "data.json"
RESULTS = (
    *(MODEL, SPEC, DATA, "phenotypes.json"),
    *("profiles.csv", "history.csv", "memberships.csv"),
)


def write_results(
    folder: Path,
    fitted: FittedModel,
    phenotypes: Sequence[Phenotype],
    *,
    summary: Mapping[str, Any],
    data: Mapping[str, Any],
) -> None:
    """Every file of a fit; the model first: whatever happens after, the fit is kept.

    Parameters
    ----------
    summary, data : mapping
        The contents of ``phenotypes.json`` and ``data.json``.
    """
    fitted.save(folder / MODEL)
    write_json(folder / SPEC, fitted.spec.to_json())
    write_json(folder / DATA, data)
    write_json(folder / "phenotypes.json", summary)
    write_table(folder / "profiles.csv", _profiles(fitted, phenotypes))
    history = [list(vars(entry).values()) for entry in fitted.history]
    write_table(folder / "history.csv", [list(vars(fitted.history[0])), *history])
    write_table(folder / "memberships.csv", _memberships(fitted))


def summarize_fit(
    fitted: FittedModel,
    phenotypes: Sequence[Phenotype],
    *,
    run: str,
    from_store: bool,
    made_for: str = "",
) -> dict[str, Any]:
    """The result as plain values; the schema number changes when a field does.

    What computing took is not in it: the same fit has the same file, however it went.

    Parameters
    ----------
    run : str
        Its id in a store; empty for a fit that is in none.
    from_store : bool
        Whether it was found there and not computed now.
    made_for : str
        The mark of a result that was guided by the outcome.
    """
    dead = fitted.contents().dead_components
    found = {
        "schema": SCHEMA,
        "run": run or None,
        "from_store": from_store,
        "made_to_predict": made_for,
        "settings": fitted.spec.to_json(),
        "outcome": fitted.outcome.name,
        "iterations": len(fitted.history) - 1,
        "objective": fitted.history[-1].objective,
        "gap": fitted.history[-1].gap,
        "row_relation": fitted.row_relation.kind,
        "row_relation_why": fitted.row_relation.why,
        "model_digest": fitted.digest,
        "dead_components": [component_id(component, fitted.spec.rank) for component in dead],
        "phenotypes": [_plain(phenotype) for phenotype in phenotypes],
    }
    if fitted.guidance is not None:
        found["guidance"] = fitted.guidance.plain()
    return found


def _plain(phenotype: Phenotype) -> dict[str, Any]:
    return {
        "id": phenotype.identifier,
        "name": phenotype.name,
        "share": phenotype.share,
        "found_in": dict(zip(("fits", "of"), phenotype.found_in or (1, 1), strict=True)),
        "rows": len(phenotype.rows),
        "items": {mode: [vars(item) for item in items] for mode, items in phenotype.items.items()},
    }


def _profiles(fitted: FittedModel, phenotypes: Sequence[Phenotype]) -> list[list[object]]:
    """A line per feature, in the order of the data; absolute shares within each mode."""
    alive = sorted(phenotypes, key=lambda phenotype: phenotype.component)
    lines: list[list[object]] = [["mode", "feature", *(one.identifier for one in alive)]]
    names = list(alive[0].items) if alive else []
    columns = [one.component for one in alive]
    for name, mode, factor in zip(names, fitted.modes[1:], fitted.factors[1:], strict=bool(alive)):
        shares = np.abs(profiles(factor))[:, columns].tolist()
        lines += (
            [csv_safe(name), csv_safe(label), *values]
            for label, values in zip(mode.labels, shares, strict=True)
        )
    return lines


def _memberships(fitted: FittedModel) -> Iterator[list[object]]:
    rank, rows = fitted.spec.rank, fitted.modes[0]
    yield [rows.name, *(component_id(component, rank) for component in range(rank))]
    for label, values in zip(rows.labels, fitted.memberships, strict=True):
        yield [csv_safe(label), *values.tolist()]


def write_json(path: Path, content: Any) -> None:
    """Plain values as a file, whole or not at all."""
    write_atomic(path, (json.dumps(content, indent=2) + "\n").encode("utf-8", "surrogatepass"))


def write_table(path: Path, rows: Iterable[Sequence[object]]) -> None:
    """A CSV file, whole or not at all; its rows are never all in memory."""
    with atomic_file(path) as file:
        text = io.TextIOWrapper(file, "utf-8", "surrogatepass", newline="", write_through=True)
        csv.writer(text, lineterminator="\n").writerows(rows)
        text.detach()

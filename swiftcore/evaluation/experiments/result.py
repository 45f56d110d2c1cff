"""What every experiment gives: some facts about it, and named tables."""

from __future__ import annotations

import io
import json
import math
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

from swiftcore.errors import refuse
from swiftcore.evaluation.experiments.schema import TABLES, validate
from swiftcore.runtime.atomic_file import write_atomic
from swiftcore.runtime.plain_json import read_json
from swiftcore.runtime.ranges import shortened
from swiftcore.runtime.spreadsheet_text import csv_safe
from swiftcore.spec import ModelSpec

SCHEMA = 1


@dataclass(frozen=True, eq=False)
class Experiment:
    """A finished experiment, fit for a screen, a file or a report.

    Attributes
    ----------
    kind : str
        evaluation, noise, ablation, stability, ranks or links.
    about : dict
        Plain values: settings, metric, digest of the data, versions, seconds.
    tables : dict of DataFrame
        Columns hold text, whole numbers or floats; nothing else.
    """

    kind: str
    about: Mapping[str, Any]
    tables: Mapping[str, pd.DataFrame] = field(default_factory=dict)

    @property
    def spec(self) -> ModelSpec | None:
        """The spec that was judged, if one was given."""
        fit = self.about.get("settings", {}).get("fit", {})
        return ModelSpec.of(fit) if "method" in fit else None

    @property
    def judged(self) -> str:
        """The method whose row is the spec that was given; empty if none was."""
        return self.spec.method if self.spec else ""

    @property
    def ours(self) -> str:
        """The method with which the others were compared."""
        return self.judged or "swift"

    def to_json(self) -> str:
        """One JSON object; numbers that are no numbers become null."""
        tables = {name: _columns(table) for name, table in self.tables.items()}
        plain = {"schema": SCHEMA, "kind": self.kind, "about": dict(self.about), "tables": tables}
        return json.dumps(plain, default=_plain, allow_nan=False, separators=(",", ":"))

    @classmethod
    def from_json(cls, text: str | bytes) -> Experiment:
        """Read what :meth:`to_json` wrote.

        Raises
        ------
        InvalidData
            If it is no experiment, of another schema, without a table or column that pages
            draw, or with a value out of its range. Every experiment from a file passes here, so
            nobody has to look again; tables that nobody draws are left out.
        """
        try:
            plain = read_json(text)
            if plain["schema"] != SCHEMA:
                raise ValueError(f"schema {shortened(plain['schema'])}")
            kind, about = str(plain["kind"]), dict(plain["about"])
            tables = {
                name: _table(columns)
                for name, columns in plain["tables"].items()
                if name in TABLES.get(kind, ())
            }
        except (ValueError, LookupError, TypeError, AttributeError, OverflowError) as error:
            raise refuse(
                "experiment-file",
                "This is not a stored experiment, or it is damaged",
                "experiment",
                f"{type(error).__name__}: {error}"[:200],
                "Compute it again.",
            ) from error
        validate(kind, about, tables)
        return cls(kind, about, tables)

    def write(self, folder: Path) -> None:
        """One JSON file and one CSV file per table."""
        folder.mkdir(parents=True, exist_ok=True)
        write_atomic(folder / f"{self.kind}.json", self.to_json().encode())
        for name, table in self.tables.items():
            text = io.StringIO()
            safe = table.map(lambda cell: csv_safe(cell) if isinstance(cell, str) else cell)
            safe.to_csv(text, index=False, lineterminator="\n")
            write_atomic(folder / f"{self.kind}_{name}.csv", text.getvalue().encode())


@dataclass(frozen=True)
class ExperimentProgress:
    """Where an experiment stands.

    Attributes
    ----------
    done, total : int
        Parts finished (those found from an earlier run included) and parts in all.
    what : str
        The part just finished, in words.
    seconds, seconds_left : float
        Since the beginning; expected until the end (NaN before anything is known).
    failed : str
        Why the part just finished has no result; empty when it has one.
    """

    done: int
    total: int
    what: str
    seconds: float
    seconds_left: float
    failed: str = ""


ExperimentCallback = Callable[[ExperimentProgress], bool | None]
"""Called after every part; return True to stop. Finished parts are kept."""


def _columns(table: pd.DataFrame) -> dict[str, list[Any]]:
    return {str(name): [_cell(value) for value in table[name].tolist()] for name in table}


def _cell(value: Any) -> Any:
    return None if isinstance(value, float) and not math.isfinite(value) else value


def _table(columns: dict[str, list[Any]]) -> pd.DataFrame:
    return pd.DataFrame({name: _column(values) for name, values in columns.items()})


def _column(values: list[Any]) -> pd.Series[Any]:
    """Numbers with gaps are floats; text stays text; nothing else can be a cell."""
    if not all(value is None or isinstance(value, str | int | float) for value in values):
        raise TypeError("a cell that is neither text nor number")
    numbers = all(value is None or isinstance(value, int | float) for value in values)
    flags = values and all(isinstance(value, bool) for value in values)
    if values and numbers and not flags and any(value is None for value in values):
        return pd.Series([math.nan if value is None else float(value) for value in values])
    return pd.Series(values)


def _plain(value: Any) -> Any:
    if isinstance(value, np.generic):
        return value.item()
    raise TypeError(f"{type(value).__name__} cannot be stored")

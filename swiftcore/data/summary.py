"""What went into a tensor and what did not, in numbers and plain sentences."""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.building.similar_names import similar_names
from swiftcore.data.reading.findings import Findings, LeftOut
from swiftcore.data.tally import Tally
from swiftcore.errors import where_list
from swiftcore.runtime.ranges import (
    ANY_REAL,
    listed,
    named,
    real,
    record,
    record_faults,
    text,
    whole,
)
from swiftcore.tensor import Mode, SparseTensor

SHOWN_PAIRS = 20
SHOWN_LEAKY = 8
USUAL_FOLDS = 5  # of an evaluation: a class with fewer rows cannot be in each of them
_STORED = {  # names of fields in bundles, where they differ
    "leaky": "telling",
    "similar_names": "look_alikes",
    "similar_name_count": "look_alike_count",
}
_READ = {stored: name for name, stored in _STORED.items()}
_TEXT, _COUNT, _SHARE = text(100_000), whole(0), real(0, 1)
_SPREAD = record(dict.fromkeys(("least", "lower", "middle", "upper", "most"), ANY_REAL))
_MANY = 1_000_000
_FIELDS = {  # what a summary from a file may hold
    "kind": _TEXT,
    "shape": listed(_COUNT, _MANY),
    "mode_names": listed(_TEXT, _MANY),
    "entries": _COUNT,
    "density": _SHARE,
    "largest_value": ANY_REAL,
    "entries_per_row": _SPREAD,
    "rows_per_feature": listed(_SPREAD, _MANY),
    "tables": named(_COUNT),
    "mapping": named(_TEXT),
    "outcome_name": _TEXT,
    "outcome_counts": named(_COUNT),
    "left_out": listed(record({"where": _TEXT, "count": _COUNT, "reason": _TEXT}), _MANY),
    "notes": listed(_TEXT, _MANY),
    "similar_name_count": _COUNT,
    "similar_names": listed(listed(_TEXT, 3), _MANY),
    "leaky": listed(
        record(
            {
                **dict.fromkeys(("mode", "feature", "value"), _TEXT),
                "rows": _COUNT,
                "auc": _SHARE,
                "share": _SHARE,
            }
        ),
        _MANY,
    ),
}
LEAKY_AUC = 0.9
LEAKY_PRECISION, LEAKY_ROWS, LEAKY_SHARE = 0.95, 10, 0.2


@dataclass(frozen=True)
class Spread:
    """Smallest, lower quarter, middle, upper quarter and largest of some counts."""

    least: float
    lower: float
    middle: float
    upper: float
    most: float

    @classmethod
    def of(cls, counts: NDArray[Any]) -> Spread:
        return cls(*(float(value) for value in np.quantile(counts, [0, 0.25, 0.5, 0.75, 1])))

    def __str__(self) -> str:
        return f"{self.least:g} to {self.most:g}, half of them {self.lower:g} to {self.upper:g}"


@dataclass(frozen=True)
class LeakyFeature:
    """A feature that alone goes far to tell the outcome: perhaps the outcome itself.

    Attributes
    ----------
    auc : float
        Area under the ROC curve when rows are ranked by whether they have the feature.
    share : float
        Of the rows with the feature, how many have the outcome `value`.
    """

    mode: str
    feature: str
    value: str
    rows: int
    auc: float
    share: float

    def __str__(self) -> str:
        return (
            f"'{self.feature}' ({self.mode}) alone gives AUC {self.auc:.2f} for "
            f"'{self.value}': {self.share:.0%} of its {self.rows:,} rows have it."
        )


@dataclass(frozen=True)
class DatasetSummary:
    """Sizes, counts, omissions and warnings of one data set; goes to screen and into bundles."""

    kind: str
    shape: tuple[int, ...]
    mode_names: tuple[str, ...]
    entries: int
    density: float
    largest_value: float
    entries_per_row: Spread
    rows_per_feature: tuple[Spread, ...]
    tables: Mapping[str, int]
    mapping: Mapping[str, str]
    outcome_name: str
    outcome_counts: Mapping[str, int]
    left_out: tuple[LeftOut, ...]
    notes: tuple[str, ...]
    similar_name_count: int
    similar_names: tuple[tuple[str, str, str], ...]
    leaky: tuple[LeakyFeature, ...]

    def to_json(self) -> dict[str, Any]:
        plain = dataclasses.asdict(self)
        return {_STORED.get(name, name): value for name, value in plain.items()}

    @classmethod
    def from_json(cls, plain: Mapping[str, Any]) -> DatasetSummary:
        """Read what :meth:`to_json` gave; raises ValueError for anything else."""
        values = {_READ.get(name, name): value for name, value in plain.items()}
        if faults := list(record_faults(values, _FIELDS)):
            raise ValueError(f"summary: {faults[0]}")
        values["entries_per_row"] = Spread(**values["entries_per_row"])
        values["rows_per_feature"] = tuple(Spread(**one) for one in values["rows_per_feature"])
        values["left_out"] = tuple(LeftOut(**one) for one in values["left_out"])
        values["leaky"] = tuple(LeakyFeature(**one) for one in values["leaky"])
        values["similar_names"] = tuple(tuple(one) for one in values["similar_names"])
        for name in ("shape", "mode_names", "notes"):
            values[name] = tuple(values[name])
        return cls(**values)

    def sentences(self) -> list[str]:
        """The summary in words, one sentence per line."""
        sizes = " x ".join(
            f"{size:,} {name}" for size, name in zip(self.shape, self.mode_names, strict=True)
        )
        lines = [
            f"{sizes}; {self.entries:,} cells filled ({self.density:.2%}), "
            f"values up to {self.largest_value:g}.",
            f"Cells per row: {self.entries_per_row}.",
        ]
        for name, spread in zip(self.mode_names[1:], self.rows_per_feature, strict=True):
            lines.append(f"Rows per entry of {name}: {spread}.")
        if self.outcome_counts:
            counts = ", ".join(f"{value}: {n:,}" for value, n in self.outcome_counts.items())
            lines.append(f"Outcome '{self.outcome_name}': {counts}.")
            lines += self._small_classes()
        else:
            lines.append("No outcome.")
        lines += [f"{one}." for one in self.left_out]
        lines += list(self.notes)
        if self.similar_name_count:
            mode, first, second = self.similar_names[0]
            lines.append(
                f"{self.similar_name_count:,} pairs of names look alike and were kept "
                f"apart, for example '{first}' and '{second}' in {mode}."
            )
        return lines + told(self.leaky)

    def _small_classes(self) -> list[str]:
        """What an evaluation would refuse later, with the way out."""
        small = {
            value: count
            for value, count in self.outcome_counts.items()
            if value and count < USUAL_FOLDS
        }
        if not small:
            return []
        named = where_list(f"'{value}' ({count})" for value, count in small.items())
        return [
            f"Too few rows for an evaluation in {USUAL_FOLDS} folds: {named}. "
            f"--least-class-size {USUAL_FOLDS} of 'swift evaluate' leaves such classes out; "
            "or use fewer folds."
        ]


def summarize(
    tensor: SparseTensor,
    outcome: NDArray[Any] | None,
    outcome_name: str,
    findings: Findings,
) -> DatasetSummary:
    """Describe a tensor, together with everything found while it was read."""
    return summary_of(_tally(tensor, outcome), tensor.modes, outcome_name, findings)


def summary_of(
    tally: Tally, modes: Sequence[Mode], outcome_name: str, findings: Findings
) -> DatasetSummary:
    """Describe what was counted; of the first mode only the name is used."""
    pairs = [(mode.name, *both) for mode in modes[1:] for both in similar_names(mode.labels)]
    per_row = tally.entries_per_row
    shape = (len(per_row), *(len(mode) for mode in modes[1:]))
    return DatasetSummary(
        kind=findings.kind,
        shape=shape,
        mode_names=tuple(mode.name for mode in modes),
        entries=tally.n_entries,
        density=float(tally.n_entries / np.prod([float(size) for size in shape])),
        largest_value=tally.largest_value,
        entries_per_row=Spread.of(per_row),
        rows_per_feature=tuple(Spread.of(support) for support in tally.support),
        tables=dict(findings.tables),
        mapping=dict(findings.mapping),
        outcome_name=outcome_name,
        outcome_counts=dict(sorted(tally.class_rows.items())),
        left_out=tuple(findings.left_out),
        notes=tuple(findings.notes),
        similar_name_count=len(pairs),
        similar_names=tuple(pairs[:SHOWN_PAIRS]),
        leaky=tuple(_leaky(tally, modes)),
    )


def leaky_features(tensor: SparseTensor, outcome: NDArray[Any] | None) -> list[LeakyFeature]:
    """Features whose presence alone predicts an outcome value, most leaky first."""
    return _leaky(_tally(tensor, outcome), tensor.modes)


def told(leaky: Sequence[LeakyFeature]) -> list[str]:
    """A sentence for each of the first features, and how many more there are."""
    more = len(leaky) - SHOWN_LEAKY
    lines = [str(one) for one in leaky[:SHOWN_LEAKY]]
    if more > 0:
        lines.append(f"{more:,} more features alone tell the outcome nearly as well.")
    return lines


def _tally(tensor: SparseTensor, outcome: NDArray[Any] | None) -> Tally:
    tally = Tally(tensor.shape[1:])
    tally.add(tensor, outcome)
    return tally


def _leaky(tally: Tally, modes: Sequence[Mode]) -> list[LeakyFeature]:
    found: list[LeakyFeature] = []
    values = sorted(tally.class_support)
    if len(values) < 2:
        return found
    n_rows = sum(tally.class_rows.values())
    for value in values[1:] if len(values) == 2 else values:
        n_positive = tally.class_rows[value]
        for mode, rows, hits in zip(
            modes[1:], tally.support, tally.class_support[value], strict=True
        ):
            auc = (1 + hits / n_positive - (rows - hits) / (n_rows - n_positive)) / 2
            share = hits / np.maximum(rows, 1)
            pure = (share >= LEAKY_PRECISION) & (hits >= LEAKY_SHARE * n_positive)
            pure &= share >= 2 * n_positive / n_rows
            leaky = (auc >= LEAKY_AUC) | (auc <= 1 - LEAKY_AUC) | pure
            for index in np.flatnonzero(leaky & (rows >= LEAKY_ROWS)):
                about = int(rows[index]), float(auc[index]), float(share[index])
                found.append(LeakyFeature(mode.name, mode.labels[index], value, *about))
    return sorted(found, key=lambda one: -abs(one.auc - 0.5))

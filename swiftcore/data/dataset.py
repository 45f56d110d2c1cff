"""What every reader returns: a tensor, perhaps an outcome, and where both came from."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from swiftcore.cost.outside.knowledge import OutsideKnowledge
from swiftcore.data.side_tables import SideTables
from swiftcore.data.summary import DatasetSummary
from swiftcore.errors import refuse
from swiftcore.tensor import SparseTensor
from swiftcore.tensor.masks import refuse_masked


@dataclass(frozen=True, eq=False)
class Dataset:
    """A tensor ready to be factorized.

    Attributes
    ----------
    name : str
        Short, fit for a list to choose from.
    tensor : SparseTensor
        Its first mode holds the rows: patients, articles.
    outcome : ndarray of bool or str, (rows,), or None
        What may be predicted for each row: yes or no, or a category.
    outcome_name : str
        What the outcome is called; empty when there is none.
    origin : str
        One sentence for a person: from which files, by which steps.
    summary : DatasetSummary or None
        What went in and what was left out, when the data were read from files.
    word_counts, words : sparse array (rows, words) or None, tuple of str
        How often each row of a text data set uses each word, for the row cost.
    row_groups : tuple of str
        Rows of one group (visits of one patient) must not be split over folds; empty when
        every row stands for itself.
    outside : OutsideKnowledge
        Codes and cost tables of the features; no part of the data themselves.
    side : SideTables
        Covariates, dated events and texts of the rows; never part of a factorization.
    options : mapping
        The options of the build that were not at their defaults.
    """

    name: str
    tensor: SparseTensor
    outcome: NDArray[Any] | None
    outcome_name: str
    origin: str
    summary: DatasetSummary | None = None
    word_counts: sparse.csr_array | None = None
    words: tuple[str, ...] = ()
    row_groups: tuple[str, ...] = ()
    outside: OutsideKnowledge = field(default_factory=OutsideKnowledge)
    side: SideTables = field(default_factory=SideTables)
    options: Mapping[str, Any] = field(default_factory=dict)

    def __post_init__(self) -> None:
        rows = self.tensor.shape[0]
        refuse_masked(self.outcome, f"{self.name}, outcome")
        self.side.check(self.tensor.shape, self.name)
        if self.outcome is not None and self.outcome.shape != (rows,):
            raise refuse(
                "outcome-count",
                "There must be one outcome per row",
                self.name,
                f"an outcome of shape {self.outcome.shape} for {rows} rows",
                "Give one outcome for each row of the first mode.",
            )

    def with_rows(self, rows: NDArray[np.int64]) -> Dataset:
        """Some of the rows, with all that is known of them and of the features."""
        return replace(
            self,
            tensor=self.tensor.select(0, rows),
            outcome=None if self.outcome is None else self.outcome[rows],
            summary=None,  # it is of all rows
            word_counts=None if self.word_counts is None else self.word_counts[rows],
            row_groups=tuple(self.row_groups[row] for row in rows) if self.row_groups else (),
            side=self.side.with_rows(rows),
        )

    def __repr__(self) -> str:
        outcome = self.outcome_name or "no outcome"
        return f"Dataset({self.name!r}, {self.tensor!r}, {outcome})"

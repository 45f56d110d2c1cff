"""``--cost MODE=...``: names of files become the tables they hold."""

from __future__ import annotations

from collections.abc import Mapping
from pathlib import Path

from rich.markup import escape

from swiftcore.cli.data_argument import screen
from swiftcore.cost.outside.cost_table import CostTable
from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path.sandbox import read_costs
from swiftcore.errors import InvalidData, InvalidSettings, Problem, SwiftError, where_list
from swiftcore.evaluation.methods.catalogue import factorization
from swiftcore.model_costs import missing_features
from swiftcore.spec import ModelSpec
from swiftcore.spec.cost_text import (
    BUILT_IN,
    TABLE,
    CostTerm,
    cost_text,
    read_cost_text,
    short_cost,
)


def read_cost_flags(costs: Mapping[str, str]) -> tuple[dict[str, str], list[CostTable]]:
    """Texts of costs by mode with files in place of tables; reads each file once.

    Raises
    ------
    SwiftError
        With everything that is wrong with the texts and the files.
    """
    tables: dict[str, CostTable] = {}
    texts: dict[str, str] = {}
    problems: list[Problem] = []

    def resolve(name: str) -> str:
        if name not in tables:
            tables[name] = _read(name)
        return tables[name].text

    for mode, text in costs.items():
        try:
            whole = Path(text).is_file() and text not in BUILT_IN
            terms = read_cost_text(text, f"the cost of {mode}", resolve) if not whole else None
            texts[mode] = cost_text(terms or [CostTerm(1.0, resolve(text))])
        except SwiftError as error:
            problems += error.problems
    if problems:
        raise InvalidSettings(problems)
    return texts, list(tables.values())


def _read(name: str) -> CostTable:
    """The table in a file; the screen says what it is."""
    if not Path(name).exists():
        known = ", ".join(BUILT_IN)
        raise InvalidData(
            Problem(
                "cost-unknown",
                "There is no such cost and no such file",
                "--cost",
                repr(name)[:80],
                f"Give a file, choose from {known}, or blend: 0.5*icd+0.5*cosine.",
            )
        )
    table, notes = read_costs(name)
    for note in notes:
        screen.print(escape(note), highlight=False)
    return table


def say_missing(dataset: Dataset, spec: ModelSpec) -> None:
    """Which features the sources of costs do not know, and what that means for the fit."""
    if not factorization(spec.method).uses("mode_costs"):
        return
    sizes = {mode.name: len(mode) for mode in dataset.tensor.modes}
    for (mode, source), labels in missing_features(dataset, spec).items():
        table = dataset.outside.tables.get(source.removeprefix(TABLE))
        name = table.source if table is not None else short_cost(source)
        screen.print(
            escape(
                f"{name} does not know {len(labels):,} of {sizes[mode]:,} in {mode}: "
                f"{where_list(labels)}. They are as far from all others as its farthest two."
            ),
            highlight=False,
        )

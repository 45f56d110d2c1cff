"""The costs of a fit: one per mode, as the spec asks and as the data and what they bring allow."""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import replace
from functools import partial
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.cost import build_costs
from swiftcore.cost.cosine import unit_rows
from swiftcore.cost.memory import refuse_costs
from swiftcore.cost.neighbourhoods import GivenRows, Neighbourhoods
from swiftcore.cost.outside.cost_table import CostTable
from swiftcore.cost.outside.mode_cost import ModeCost, outside_cost, unknown_features
from swiftcore.cost.recipe import compared_features, recipe_cost, row_neighbourhoods
from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidSettings, refuse
from swiftcore.evaluation.methods.catalogue import factorization
from swiftcore.evaluation.methods.row_relation import relation_of
from swiftcore.spec import ModelSpec
from swiftcore.spec.cost_text import CostTerm, cost_text, read_cost_text

Costs = list[Any]
"""Per mode a matrix, for the rows perhaps neighbourhoods, or None where no mass moves."""


def model_costs(dataset: Dataset, spec: ModelSpec) -> Costs | None:
    """One cost per mode, None where no mass moves; None for a method that uses none.

    A cost between all rows, the largest matrix, is built only where every two are compared.
    """
    used = factorization(spec.method).costs
    if used == "none":
        return None
    tensor = dataset.tensor
    rows = tensor.modes[0]
    kind = relation_of(spec, len(rows), rows.name).kind
    if spec.mode_costs:
        return _own_costs(dataset, spec, kind)
    # The random recipe draws the rows' costs first, so they are drawn even if nobody uses them.
    dense = kind == "dense" or (used == "features" and spec.costs == "random")
    costs = build_costs(
        tensor if dense else tensor.select(0, [0]),
        spec.costs,
        reference=tensor,
        seed=spec.seed,
        word_counts=dataset.word_counts if dense else None,
    )
    if kind == "neighbourhoods":
        return [_neighbourhoods(dataset, spec), *costs[1:]]
    return [costs[0] if dense else None, *costs[1:]]


def _own_costs(dataset: Dataset, spec: ModelSpec, kind: str) -> Costs:
    """Costs where some modes have one of their own."""
    rows = dataset.tensor.modes[0].name
    if kind != "neighbourhoods":
        return [cost.matrix for cost in costs_by_mode(dataset, spec)]
    if rows not in spec.mode_costs:
        others = costs_by_mode(dataset, replace(spec, row_relation="none"))[1:]
        return [_neighbourhoods(dataset, spec), *(cost.matrix for cost in others)]
    given, *matrices = [cost.matrix for cost in costs_by_mode(dataset, spec)]
    assert given is not None  # none has no neighbourhoods
    features = compared_features(dataset.tensor, dataset.word_counts)
    return [Neighbourhoods.of_similar(unit_rows(features), GivenRows(given)), *matrices]


def _neighbourhoods(dataset: Dataset, spec: ModelSpec) -> Neighbourhoods:
    counts = dataset.word_counts
    return row_neighbourhoods(dataset.tensor, spec.costs, word_counts=counts, seed=spec.seed)


def costs_by_mode(dataset: Dataset, spec: ModelSpec) -> list[ModeCost]:
    """Every mode's cost by its own text, with the features that a source does not know.

    Raises
    ------
    InvalidSettings
        If a cost is for a mode that the data do not have.
    InvalidCost
        If a source is not there, or knows none of the features.
    """
    check_modes(dataset, spec)
    modes = dataset.tensor.modes
    texts = spec.cost_texts([mode.name for mode in modes])
    if factorization(spec.method).costs == "features":
        texts[0] = "none"
    refuse_costs(len(mode) for mode, text in zip(modes, texts, strict=True) if text != "none")
    return [
        outside_cost(
            text,
            mode.labels,
            tables=dataset.outside.tables,
            codes=dataset.outside.of_mode(mode.name),
            from_data=partial(_from_data, dataset, spec.seed, axis),
            where=f"the cost of {mode.name}",
        )
        for axis, (mode, text) in enumerate(zip(modes, texts, strict=True))
    ]


def attach_costs(
    dataset: Dataset, spec: ModelSpec, tables: Iterable[CostTable]
) -> tuple[Dataset, ModelSpec]:
    """Let a data set carry the tables that a spec names, cut to the features of their modes.

    Returns
    -------
    Dataset
        With the tables.
    ModelSpec
        It names them by what is left of them, so that nothing else of a file is needed later.
    """
    check_modes(dataset, spec)
    spec = _on_twins(dataset, spec)
    brought = {table.text: table for table in tables}
    modes = {mode.name: mode for mode in dataset.tensor.modes}
    kept: list[CostTable] = []
    costs: dict[str, str] = {}
    for name, text in spec.mode_costs.items():
        terms = []
        for term in read_cost_text(text):
            if term.name in brought:
                kept.append(dataset.outside.fitted_to(brought[term.name], modes[name]))
                term = CostTerm(term.weight, kept[-1].text)
            terms.append(term)
        costs[name] = cost_text(terms)
    outside = dataset.outside.with_tables(kept)
    return replace(dataset, outside=outside), replace(spec, mode_costs=costs)


def _on_twins(dataset: Dataset, spec: ModelSpec) -> ModelSpec:
    """A cost for a mode is one for the modes of the same features too, unless they have their own.

    Documents have their words twice, as "word" and as "other word".
    """
    costs = dict(spec.mode_costs)
    for mode in dataset.tensor.modes[1:]:
        twins = [one.name for one in dataset.tensor.modes[1:] if one.labels == mode.labels]
        given = [costs[name] for name in twins if name in spec.mode_costs]
        if mode.name not in costs and given:
            costs[mode.name] = given[0]
    return replace(spec, mode_costs=costs)


def missing_features(dataset: Dataset, spec: ModelSpec) -> dict[tuple[str, str], tuple[str, ...]]:
    """By mode and source, the features that a source does not know; raises as the fit would."""
    check_modes(dataset, spec)
    return {
        (mode.name, source): labels
        for mode in dataset.tensor.modes
        if mode.name in spec.mode_costs
        for source, labels in unknown_features(
            spec.mode_costs[mode.name],
            mode.labels,
            tables=dataset.outside.tables,
            codes=dataset.outside.of_mode(mode.name),
            where=f"the cost of {mode.name}",
        ).items()
    }


def check_modes(dataset: Dataset, spec: ModelSpec) -> None:
    """Raise InvalidSettings if a cost is for a mode that the data do not have."""
    names = [mode.name for mode in dataset.tensor.modes]
    if wrong := [repr(name) for name in spec.mode_costs if name not in names]:
        raise refuse(
            "cost-mode",
            "A cost is for a mode that the data do not have",
            "mode_costs",
            ", ".join(wrong)[:80],
            f"Choose from {', '.join(names)}.",
            kind=InvalidSettings,
        )


def _from_data(dataset: Dataset, seed: int, axis: int, name: str) -> NDArray[np.float64]:
    rng = np.random.default_rng([seed, axis])
    return recipe_cost(dataset.tensor, axis, name, rng=rng, word_counts=dataset.word_counts)

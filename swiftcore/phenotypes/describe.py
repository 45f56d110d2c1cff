"""From factors and labels to phenotypes that a person can read."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from html import escape

import numpy as np
from numpy.typing import NDArray

from swiftcore.errors import InvalidSettings, refuse
from swiftcore.phenotypes.identifiers import component_id, dead_components
from swiftcore.tensor import Mode

CARRIED = 0.1  # a row carries a phenotype that makes up at least this share of it


@dataclass(frozen=True)
class Item:
    """One feature within a phenotype.

    Attributes
    ----------
    label : str
    index : int
        In its mode.
    weight : float
        Share of the phenotype's mass in this mode: how frequent the feature is in it.
    lift : float
        Weight relative to the feature's share of all phenotypes: how specific it is.
    relevance : float
        What the items are ranked by.
    """

    label: str
    index: int
    weight: float
    lift: float
    relevance: float


@dataclass(frozen=True)
class Phenotype:
    """One component of the factorization, described.

    Attributes
    ----------
    identifier : str
        P01, P02, ...: the column of the factors, whatever the order of the list.
    component : int
        That column, counted from 0.
    share : float
        Share of the model's mass.
    items : dict of mode name to tuple of Item
        The top features of each mode after the first, most relevant first.
    rows : tuple of int
        Rows that carry it, strongest first.
    """

    identifier: str
    component: int
    share: float
    items: dict[str, tuple[Item, ...]]
    rows: tuple[int, ...]

    @property
    def name(self) -> str:
        """A working name: the top feature of each mode."""
        return " + ".join(items[0].label for items in self.items.values() if items)

    def _repr_html_(self) -> str:
        """As a notebook shows it."""
        return Phenotypes([self])._repr_html_()


class Phenotypes(list[Phenotype]):
    """A list of phenotypes that a notebook shows as a table."""

    def _repr_html_(self) -> str:
        """One row per phenotype; labels are somebody's text and never markup."""
        modes = list(self[0].items) if self else []
        head = "".join(f"<th>{escape(name)}</th>" for name in ("id", "share", "rows", *modes))
        rows = "".join(f"<tr>{_html_cells(phenotype)}</tr>" for phenotype in self)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _html_cells(phenotype: Phenotype) -> str:
    features = (
        "<br>".join(f"{item.weight:.0%} {escape(item.label)}" for item in items)
        for items in phenotype.items.values()
    )
    cells = (
        escape(phenotype.identifier),
        f"{phenotype.share:.1%}",
        str(len(phenotype.rows)),
        *features,
    )
    return "".join(f"<td>{cell}</td>" for cell in cells)


def describe_phenotypes(
    factors: Sequence[NDArray[np.float64]],
    modes: Sequence[Mode],
    top: int = 5,
    *,
    frequency_weight: float = 1.0,
    carried: float = CARRIED,
) -> Phenotypes:
    """Describe every living component, the one with the largest share first.

    Parameters
    ----------
    factors : sequence of ndarray, (mode size x rank)
    modes : sequence of Mode
    top : int
        Features listed per mode; features without any weight are never listed.
    frequency_weight : float
        1 ranks features by how frequent they are in the phenotype, 0 by how specific they
        are to it (lift); between, by the weighted mean of both logarithms.
    carried : float
        Share of a row's memberships from which on it counts as carrying the phenotype.
    """
    _check_choices(top, frequency_weight)
    mass = np.prod([factor.sum(axis=0) for factor in factors], axis=0)
    rank, total, dead = len(mass), mass.sum(), dead_components(mass)
    row_share = _row_shares(factors)
    found = [
        Phenotype(
            identifier=component_id(component, rank),
            component=component,
            share=float(mass[component] / total),
            items={
                _unique_name(modes, axis): _top_items(
                    factors[axis], mass, component, modes[axis].labels, top, frequency_weight
                )
                for axis in range(1, len(modes))
            },
            rows=_carriers(row_share[:, component], carried),
        )
        for component in range(rank)
        if component not in dead
    ]
    return Phenotypes(sorted(found, key=lambda phenotype: (-phenotype.share, phenotype.component)))


def _check_choices(top: int, frequency_weight: float) -> None:
    if top < 1:
        raise refuse(
            "top",
            "At least one feature must be shown",
            "top",
            repr(top),
            "Give a whole number of 1 or more.",
            kind=InvalidSettings,
        )
    if not 0 <= frequency_weight <= 1:
        raise refuse(
            "frequency-weight",
            "The relevance weight is out of range",
            "frequency_weight",
            repr(frequency_weight),
            "Give a number from 0 to 1.",
            kind=InvalidSettings,
        )


def _row_shares(factors: Sequence[NDArray[np.float64]]) -> NDArray[np.float64]:
    """Rows x components: which share of each row's memberships a component makes up."""
    per_row = factors[0] * np.prod([factor.sum(axis=0) for factor in factors[1:]], axis=0)
    row_sums = per_row.sum(axis=1, keepdims=True)
    share = np.divide(per_row, row_sums, out=np.zeros_like(per_row), where=row_sums > 0)
    return np.asarray(share)


def _top_items(
    factor: NDArray[np.float64],
    mass: NDArray[np.float64],
    component: int,
    labels: Sequence[str],
    top: int,
    frequency_weight: float,
) -> tuple[Item, ...]:
    sums = factor.sum(axis=0)
    profiles = np.divide(factor, sums, out=np.zeros_like(factor), where=sums > 0)
    overall = profiles @ (mass / mass.sum())
    weight = profiles[:, component]
    present = np.flatnonzero(weight > 0)
    lift = weight[present] / overall[present]
    relevance = frequency_weight * np.log(weight[present]) + (1 - frequency_weight) * np.log(lift)
    order = np.lexsort((present, -relevance))[:top]
    return tuple(
        Item(
            labels[present[i]],
            int(present[i]),
            float(weight[present[i]]),
            float(lift[i]),
            float(relevance[i]),
        )
        for i in order
    )


def _carriers(share: NDArray[np.float64], carried: float) -> tuple[int, ...]:
    rows = np.flatnonzero(share >= carried)
    return tuple(int(row) for row in rows[np.lexsort((rows, -share[rows]))])


def _unique_name(modes: Sequence[Mode], axis: int) -> str:
    """The mode's name; numbered when two modes share it, as word and word do."""
    same = [other for other in range(len(modes)) if modes[other].name == modes[axis].name]
    return modes[axis].name if len(same) == 1 else f"{modes[axis].name} {same.index(axis) + 1}"

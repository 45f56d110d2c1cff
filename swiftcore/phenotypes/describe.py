"""From factors and labels to phenotypes that a person can read."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from html import escape

import numpy as np
from numpy.typing import NDArray

from swiftcore.errors import InvalidSettings, refuse
from swiftcore.phenotypes.consensus import Agreement
from swiftcore.phenotypes.identifiers import component_id, dead_components
from swiftcore.phenotypes.item import Item
from swiftcore.phenotypes.names import CANDIDATES, Frequencies, row_frequencies, working_names
from swiftcore.phenotypes.shares import masses, profiles, row_shares
from swiftcore.tensor import Mode, SparseTensor

CARRIED = 0.1  # a row carries a phenotype that makes up at least this share of it


@dataclass(frozen=True)
class Phenotype:
    """One component of the factorization, described.

    Attributes
    ----------
    identifier : str
        P01, P02, ...: the column of the factors, whatever the order of the list.
    component : int
        That column, counted from 0.
    name : str
        A working name, made of what tells it from the others.
    share : float
        Share of the model's mass.
    items : dict of mode name to tuple of Item
        The top features of each mode after the first, most relevant first.
    rows : tuple of int
        Rows that carry it, strongest first.
    found_in : tuple of two ints, or None
        Of a consensus: in how many fits it was found, and of how many.
    """

    identifier: str
    component: int
    name: str
    share: float
    items: dict[str, tuple[Item, ...]]
    rows: tuple[int, ...]
    found_in: tuple[int, int] | None = None

    @property
    def found_rarely(self) -> bool:
        """Whether most of the fits behind a consensus do not have it."""
        return self.found_in is not None and 2 * self.found_in[0] < self.found_in[1]

    def _repr_html_(self) -> str:
        """As a notebook shows it."""
        return Phenotypes([self])._repr_html_()


class Phenotypes(list[Phenotype]):
    """A list of phenotypes that a notebook shows as a table."""

    def _repr_html_(self) -> str:
        """One row per phenotype; labels are somebody's text and never markup."""
        modes = list(self[0].items) if self else []
        head = "".join(
            f"<th>{escape(name)}</th>" for name in ("id", "name", "share", "rows", *modes)
        )
        rows = "".join(f"<tr>{_html_cells(phenotype)}</tr>" for phenotype in self)
        return f"<table><thead><tr>{head}</tr></thead><tbody>{rows}</tbody></table>"


def _html_cells(phenotype: Phenotype) -> str:
    features = (
        "<br>".join(f"{item.weight:.0%} {escape(item.label)}" for item in items)
        for items in phenotype.items.values()
    )
    cells = (
        escape(phenotype.identifier),
        escape(phenotype.name),
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
    tensor: SparseTensor | None = None,
    frequencies: Frequencies | None = None,
    agreement: Agreement | None = None,
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
    tensor : SparseTensor, optional
        The data, for names that do without what most rows have.
    frequencies : sequence of ndarray, optional
        What these names need of data that nobody has whole: the share of rows with each feature.
    agreement : Agreement, optional
        Of the fits behind a consensus.
    """
    _check_choices(top, frequency_weight)
    mass = masses(factors)
    rank, dead = len(mass), dead_components(mass)
    alive = [component for component in range(rank) if component not in dead]
    if not alive:
        return Phenotypes()
    shares, listed = row_shares(factors), [_Listed.of(factor, mass) for factor in factors[1:]]
    ids = {component: component_id(component, rank) for component in alive}
    known = frequencies or (None if tensor is None else row_frequencies(tensor))
    names = _names(ids, listed, modes[1:], known)
    found = [
        Phenotype(
            identifier=ids[component],
            component=component,
            name=names[ids[component]],
            share=float(mass[component] / mass.sum()),
            items={
                unique_mode_name(modes, axis): _with_spread(
                    one.items(component, modes[axis].labels, top, frequency_weight),
                    *(agreement, axis, component),
                )
                for axis, one in enumerate(listed, start=1)
            },
            rows=_carriers(shares[:, component], carried),
            found_in=None if agreement is None else agreement.of(component),
        )
        for component in alive
    ]
    return Phenotypes(sorted(found, key=lambda phenotype: (-phenotype.share, phenotype.component)))


def _names(
    ids: Mapping[int, str],
    listed: Sequence[_Listed],
    modes: Sequence[Mode],
    frequencies: Frequencies | None,
) -> dict[str, str]:
    """A working name for every id."""
    labelled = list(zip(listed, modes, strict=True))
    candidates = {
        name: [one.items(component, mode.labels, CANDIDATES) for one, mode in labelled]
        for component, name in ids.items()
    }
    return working_names(candidates, frequencies)


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


@dataclass(frozen=True, eq=False)
class _Listed:
    """One mode of all phenotypes: signed profiles, and the share of each feature in all."""

    weights: NDArray[np.float64]
    overall: NDArray[np.float64]

    @classmethod
    def of(cls, factor: NDArray[np.float64], mass: NDArray[np.float64]) -> _Listed:
        weights = profiles(factor)
        return cls(weights, np.abs(weights) @ (mass / mass.sum()))

    def items(
        self, component: int, labels: Sequence[str], top: int, frequency_weight: float = 1.0
    ) -> tuple[Item, ...]:
        """The most relevant features of a phenotype, those without any weight left out."""
        weight = np.abs(self.weights[:, component])
        present = np.flatnonzero(weight > 0)
        lift = weight[present] / self.overall[present]
        relevance = frequency_weight * np.log(weight[present]) + (1 - frequency_weight) * np.log(
            lift
        )
        order = np.lexsort((present, -relevance))[:top]
        return tuple(
            Item(
                labels[present[i]],
                int(present[i]),
                float(self.weights[present[i], component]),
                float(lift[i]),
                float(relevance[i]),
            )
            for i in order
        )


def _with_spread(
    items: tuple[Item, ...], agreement: Agreement | None, axis: int, component: int
) -> tuple[Item, ...]:
    if agreement is None:
        return items
    spread = agreement.spread[axis - 1][:, component]
    return tuple(replace(item, spread=float(spread[item.index])) for item in items)


def _carriers(share: NDArray[np.float64], carried: float) -> tuple[int, ...]:
    rows = np.flatnonzero(share >= carried)
    return tuple(int(row) for row in rows[np.lexsort((rows, -share[rows]))])


def unique_mode_name(modes: Sequence[Mode], axis: int) -> str:
    """The mode's name; numbered when two modes share it, as word and word do."""
    same = [other for other in range(len(modes)) if modes[other].name == modes[axis].name]
    return modes[axis].name if len(same) == 1 else f"{modes[axis].name} {same.index(axis) + 1}"

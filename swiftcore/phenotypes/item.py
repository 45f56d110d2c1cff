"""One feature within a phenotype."""

from __future__ import annotations

from dataclasses import dataclass


@dataclass(frozen=True)
class Item:
    """One feature within a phenotype.

    Attributes
    ----------
    label : str
    index : int
        In its mode.
    weight : float
        Share of the phenotype's mass in this mode: how frequent the feature is in it. Below 0
        where a method with signs says that it is rarer.
    lift : float
        Weight, without its sign, relative to the feature's share of all phenotypes: how
        specific it is.
    relevance : float
        What the items are ranked by.
    spread : float or None
        Of a consensus: how far the weight typically is from this one in the fits behind it.
    """

    label: str
    index: int
    weight: float
    lift: float
    relevance: float
    spread: float | None = None

"""False entries, as the paper adds them to test what phenotypes stand up to."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from swiftcore.errors import InvalidSettings, refuse
from swiftcore.tensor import SparseTensor


@dataclass(frozen=True)
class Noise:
    """How much noise, and which draw of it.

    Attributes
    ----------
    level : float
        p: each of as many empty cells as there are nonzeros is filled with this chance.
    draw : int
        Different draws are independent.
    """

    level: float
    draw: int = 0

    def __post_init__(self) -> None:
        if not 0 <= self.level <= 1:
            raise refuse(
                "noise-level",
                "The noise level is out of range",
                "level",
                repr(self.level),
                "Give a share from 0 to 1.",
                kind=InvalidSettings,
            )


def add_noise(tensor: SparseTensor, noise: Noise) -> SparseTensor:
    """The tensor with false entries.

    As many empty cells as there are nonzeros are picked at random; each is filled with
    probability ``level``: by 1 if all values are 1, else by a whole number drawn evenly from
    1 to the largest value.
    """
    rng = np.random.default_rng([round(noise.level * 1_000_000), noise.draw, 77])
    places = _empty_cells(tensor, rng)
    places = places[rng.random(len(places)) < noise.level]
    largest = int(tensor.values.max(initial=1.0))
    binary = bool((tensor.values == 1).all())
    amounts = np.ones(len(places)) if binary else rng.integers(1, largest + 1, len(places))
    return SparseTensor.from_coordinates(
        np.vstack([tensor.coordinates, places]),
        np.concatenate([tensor.values, amounts.astype(np.float64)]),
        modes=tensor.modes,
    )


def _empty_cells(tensor: SparseTensor, rng: np.random.Generator) -> NDArray[np.int64]:
    """As many distinct empty cells as there are nonzeros, or all if there are fewer."""
    shape = tensor.shape
    n_cells = int(np.prod([float(size) for size in shape]))
    taken = np.ravel_multi_index(tuple(tensor.coordinates.T), shape)
    wanted = min(tensor.n_entries, n_cells - tensor.n_entries)
    if 4 * tensor.n_entries > n_cells:  # crowded: list the empty cells
        empty = np.setdiff1d(np.arange(n_cells), taken)
        chosen = rng.choice(empty, wanted, replace=False)
    else:
        chosen = np.empty(0, dtype=np.int64)
        while len(chosen) < wanted:
            more = np.setdiff1d(rng.integers(0, n_cells, 2 * wanted), taken)
            chosen = np.unique(np.concatenate([chosen, more]))
        chosen = rng.choice(chosen, wanted, replace=False)
    return np.column_stack(np.unravel_index(chosen, shape)).astype(np.int64)

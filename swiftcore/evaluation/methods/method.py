"""What an evaluation needs to know of a method: how to embed rows, or how to classify them."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.evaluation.protocol.preparation import Prepared

Setting = Mapping[str, Any]
PRESENCE = "presence"  # in a setting: count every entry as 1


def on_amounts(setting: Setting) -> dict[str, Any]:
    """The same setting without presence."""
    return {name: value for name, value in setting.items() if name != PRESENCE}


@dataclass(frozen=True, eq=False)
class Embedded:
    """Memberships of the rows of every part, for factors found on the training rows.

    Attributes
    ----------
    memberships : dict of ndarray, (rows x rank)
        train, validation and test, all made in the same way.
    factors : sequence of ndarray
        Of the training rows; the digest of a trial includes them.
    converged : bool
    """

    memberships: Mapping[str, NDArray[np.float64]]
    factors: Sequence[NDArray[np.float64]]
    converged: bool


@dataclass(frozen=True)
class Method:
    """A method with its grids; a classifier has no rank.

    Attributes
    ----------
    key : str
        As in :data:`swiftcore.evaluation.methods.names.METHOD_TITLES`.
    kind : str
        factorization or classifier.
    embed : callable, optional
        (prepared, rank, setting, seed) to :class:`Embedded`; for factorizations.
    classify : callable, optional
        (prepared, setting, seed) to probabilities; for classifiers. Those of the validation
        rows are from the training rows alone, those of the test rows (and of the known ones
        themselves) from training and validation rows together.
    grid, quick_grid : tuple of dict
        Settings among which the validation rows choose.
    """

    key: str
    kind: str
    embed: Callable[[Prepared, int, Setting, int], Embedded] | None = None
    classify: Callable[[Prepared, Setting, int], Mapping[str, NDArray[np.float64]]] | None = None
    grid: tuple[Setting, ...] = field(default=({},), hash=False)
    quick_grid: tuple[Setting, ...] = field(default=({},), hash=False)

    def settings(self, quick: bool, binary: bool = False) -> tuple[Setting, ...]:
        """The grid; where every entry is 1 anyway, presence is no setting of its own."""
        grid = self.quick_grid if quick else self.grid
        if not binary:
            return grid
        plain = [on_amounts(setting) for setting in grid]
        return tuple(one for number, one in enumerate(plain) if one not in plain[:number])

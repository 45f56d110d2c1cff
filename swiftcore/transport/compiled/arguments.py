"""What the compiled loops read and write, in named groups: the legend to their arguments.

Numba takes a named tuple apart when it compiles, so a group costs nothing inside the loops.
A range of columns of one unfolding is worked on at a time; ``e`` counts its nonzeros, ``c`` its
columns, ``n`` the rows of the unfolding (the size of its mode), ``r`` the components.
"""

from __future__ import annotations

from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

# Columns of what every sweep notes of each column (the objective and its bound follow):
# the mass of Delta, <log u, Delta>, sum Psi a, gap / lambda, <log v, Psi>, KL(Psi || x).
MASS, LOG_U, TILT, GAP, MOMENT, DIVERGENCE = range(6)
N_SUMS = 6


class Columns(NamedTuple):
    """The data: which nonzeros each column has.

    Attributes
    ----------
    starts : (c + 1), column j holds the nonzeros from ``starts[j]`` to ``starts[j + 1]``
    rows : (e), the row of each nonzero
    places : (c, other modes), where in the stacked factors each column's other indices are
    log_x : (e), logarithms of the values
    """

    starts: NDArray[np.int64]
    rows: NDArray[np.int32]
    places: NDArray[np.int64]
    log_x: NDArray[np.float64]


class Model(NamedTuple):
    """The factors that the transport is solved for.

    Attributes
    ----------
    stacked : (sum of all mode sizes, r), all factors one below the other
    own : (n, r), the part of it that belongs to the mode of the unfolding
    """

    stacked: NDArray[Any]
    own: NDArray[Any]


class Scaling(NamedTuple):
    """The paper's V on the nonzeros, changed in place by a sweep.

    Attributes
    ----------
    log_v : (e)
    v : (e), exp(log_v - shift of its column), in the number type of the blocks
    shift : (c), the largest log_v of each column
    """

    log_v: NDArray[np.float64]
    v: NDArray[Any]
    shift: NDArray[np.float64]


class Halfway(NamedTuple):
    """What the first half of a sweep leaves for the second.

    Attributes
    ----------
    ktu : (e), K'u on the nonzeros; zeros before
    sums : (c, 4), per column kappa, the mass of Delta, <log u, Delta>, and what turns the
        scaled Delta into the true one
    """

    ktu: NDArray[np.float64]
    sums: NDArray[np.float64]


class Numerators(NamedTuple):
    """Where the factor update's numerators are added up.

    Attributes
    ----------
    wanted : without, nothing is added
    own : (n, r), those of the unfolding's mode
    others : (rows, r), those of the other modes, only the rows that the columns reach
    shifts : (other modes), what to add to a place in the stacked factors to get its row there
    """

    wanted: bool
    own: NDArray[np.float64]
    others: NDArray[np.float64]
    shifts: NDArray[np.int64]


class Weights(NamedTuple):
    """The problem's numbers, for columns solved in logarithms.

    Attributes
    ----------
    sharpness, marginal_weight : rho and lambda
    offset : of the kernel, K = exp(-sharpness C - offset)
    """

    sharpness: float
    marginal_weight: float
    offset: float


class Patience(NamedTuple):
    """How far columns solved in logarithms are to be brought.

    Attributes
    ----------
    tolerance : stop when a column's duality gap is this share of its mass
    steps : Newton steps at most
    cold : nothing is known of log v yet
    """

    tolerance: float
    steps: int
    cold: bool

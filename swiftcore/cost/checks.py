"""Is this matrix a cost? All faults are found and named with their place."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from swiftcore.cost.neighbourhoods import Neighbourhoods
from swiftcore.errors import InvalidCost, Problem, refuse, where_list
from swiftcore.tensor.masks import refuse_masked

ROUNDING = 1e-12  # negative zeros and asymmetry below this are what rounding leaves behind
ROWS_AT_A_TIME = 256  # large matrices are looked through in strips, without copies
FAULTS = (  # code, what is wrong, what was found, how to fix it
    ("cost-nan", "A cost is not a number", "NaN", "Fill in a distance."),
    ("cost-infinite", "A cost is infinite", "infinity", "Use a large finite distance."),
    ("cost-negative", "A cost is negative", "a value below 0", "Distances are 0 or more."),
    (
        "cost-asymmetric",
        "The cost there and back differs",
        "C[i, j] != C[j, i]",
        "Symmetrize the matrix, for instance (C + C') / 2.",
    ),
)


def check_costs(
    costs: Sequence[ArrayLike | Neighbourhoods | None], shape: Sequence[int]
) -> list[Any]:
    """Check one cost matrix per mode; ``None`` means that no mass moves within the mode.

    The first mode, that of the rows, may have neighbourhoods instead of a matrix.

    Raises
    ------
    InvalidCost
        With every fault of every matrix.
    """
    _check_count(costs, len(shape))
    checked: list[Any] = []
    problems: list[Problem] = []
    for mode, (cost, size) in enumerate(zip(costs, shape, strict=True)):
        try:
            if isinstance(cost, Neighbourhoods):
                checked.append(_checked_neighbourhoods(cost, size, mode))
            else:
                checked.append(None if cost is None else check_cost(cost, size, f"mode {mode + 1}"))
        except InvalidCost as error:
            problems += error.problems
    if problems:
        raise InvalidCost(problems)
    return checked


def _checked_neighbourhoods(cost: Neighbourhoods, size: int, mode: int) -> Neighbourhoods:
    if mode > 0 or len(cost.order) != size:
        raise refuse(
            "cost-neighbourhoods",
            "Neighbourhoods are for the rows of the data, each in one of them",
            f"mode {mode + 1}",
            f"{len(cost.order):,} rows for a mode of size {size:,}",
            "Give the first mode neighbourhoods of its own rows.",
            kind=InvalidCost,
        )
    return cost


def _check_count(costs: Any, n_modes: int) -> None:
    count = len(costs) if isinstance(costs, Sequence | np.ndarray) else None
    if count != n_modes:
        found = type(costs).__name__ if count is None else str(count)
        raise refuse(
            "cost-count",
            "There must be one cost matrix per mode",
            "costs",
            f"{found} for {n_modes} modes",
            "Give a matrix or None for each mode.",
            kind=InvalidCost,
        )


def check_cost(cost: ArrayLike, size: int, where: str) -> NDArray[np.float64]:
    """A cost matrix of the given size: finite, 0 or more, symmetric, zero on the diagonal.

    Raises
    ------
    InvalidCost
        With every fault found and where it stands.
    """
    matrix = _square(cost, size, where)
    problems = _cell_problems(matrix, where)
    diagonal = np.diagonal(matrix)
    if np.any(diagonal != 0):
        problems.append(_diagonal_problem(matrix, diagonal, where))
    if problems:
        raise InvalidCost(problems)
    return np.maximum(matrix, 0) if matrix.min(initial=0.0) < 0 else matrix


def _square(cost: ArrayLike, size: int, where: str) -> NDArray[Any]:
    """The cost as a matrix of floats, without a copy where it is one."""
    refuse_masked(cost, where, kind=InvalidCost)
    try:
        raw: NDArray[Any] = np.asarray(cost)
    except ValueError:  # rows of different lengths
        raw = np.empty(0, dtype=object)
    if raw.dtype.kind not in "biuf" or raw.shape != (size, size):
        raise refuse(
            "cost-shape",
            "The cost must be a square matrix of real numbers",
            where,
            f"{raw.dtype} of shape {raw.shape}",
            f"Give a {size} x {size} matrix.",
            kind=InvalidCost,
        )
    return raw if raw.dtype in (np.float32, np.float64) else raw.astype(np.float64)


def _cell_problems(matrix: NDArray[Any], where: str) -> list[Problem]:
    faults = _faults(matrix)
    return [
        Problem(code, what, f"{where}, cells {where_list(faults[code])}", found, cure)
        for code, what, found, cure in FAULTS
        if faults[code]
    ]


def _faults(matrix: NDArray[Any]) -> dict[str, list[tuple[int, int]]]:
    """The cells with each fault, the first 1000 of every strip."""
    faults: dict[str, list[tuple[int, int]]] = {code: [] for code, _, _, _ in FAULTS}
    slack = (1e-6 if matrix.dtype == np.float32 else ROUNDING) * _largest_finite(matrix)
    for low in range(0, len(matrix), ROWS_AT_A_TIME):
        strip = matrix[low : low + ROWS_AT_A_TIME]
        mirror = matrix[:, low : low + ROWS_AT_A_TIME].T
        finite = np.isfinite(strip)
        with np.errstate(invalid="ignore"):
            uneven = finite & (np.abs(strip - mirror) > slack)
            negative = finite & (strip < -slack)
        for code, bad in (
            ("cost-nan", np.isnan(strip)),
            ("cost-infinite", np.isinf(strip)),
            ("cost-negative", negative),
            ("cost-asymmetric", uneven),
        ):
            if bad.any():
                faults[code] += [(int(i) + low, int(j)) for i, j in np.argwhere(bad)[:1000]]
    return faults


def _largest_finite(matrix: NDArray[Any]) -> float:
    """The largest finite absolute value, at least 1; also in strips."""
    largest = 1.0
    for low in range(0, len(matrix), ROWS_AT_A_TIME):
        strip = np.abs(matrix[low : low + ROWS_AT_A_TIME])
        largest = max(largest, float(strip.max(initial=1.0, where=np.isfinite(strip))))
    return largest


def _diagonal_problem(matrix: NDArray[Any], diagonal: NDArray[Any], where: str) -> Problem:
    if np.array_equal(matrix, np.eye(len(matrix))):
        return Problem(
            "cost-identity",
            "An identity matrix is not a cost",
            where,
            "1 on the diagonal and 0 elsewhere: staying put would be the only costly move",
            "To say that features are unrelated, use one-minus-identity.",
        )
    bad = np.flatnonzero(diagonal != 0)
    return Problem(
        "cost-diagonal",
        "Staying put must cost nothing",
        f"{where}, diagonal {where_list(bad)}",
        f"{diagonal[bad[0]]:.6g}",
        "Set the diagonal to 0.",
    )

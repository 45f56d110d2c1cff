"""How long each kind of baseline goes on unless it is asked otherwise; light, for the catalogue."""

from __future__ import annotations

from typing import NamedTuple


class Stopping(NamedTuple):
    """When sweeps end: at most this many, or when a sweep changes the loss by less (relative)."""

    max_iterations: int
    tolerance: float


SWEEPS = Stopping(200, 1e-5)  # alternating and multiplicative updates
KIM = Stopping(100, 1e-4)  # as in Kim et al. 2017

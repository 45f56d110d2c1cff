"""How long each kind of baseline goes on unless it is asked otherwise; light, for the catalogue."""

from __future__ import annotations

SWEEPS = {"max_iterations": 200, "tolerance": 1e-5}  # alternating and multiplicative updates
KIM = {"max_iterations": 100, "tolerance": 1e-4}  # as in Kim et al. 2017

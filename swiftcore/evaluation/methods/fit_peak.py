"""How much memory a whole fit takes at its peak, from the data to the model: the one estimate.

It needs no data, no estimator and no compiler, so that everybody goes by it: the fit before it
builds anything, the dashboard before it starts one. ``benchmarks.memory`` holds it against what
fits really take.
"""

from __future__ import annotations

import os
from dataclasses import dataclass, replace

from swiftcore.baselines.defaults import all_cells_memory
from swiftcore.cost.memory import kept_bytes, making_bytes
from swiftcore.evaluation.methods.catalogue import factorization
from swiftcore.evaluation.methods.row_relation import relation_of
from swiftcore.spec import ModelSpec
from swiftcore.spec.cost_text import TABLE
from swiftcore.spec.row_relation import neighbourhoods_of
from swiftcore.swift.memory import fit_memory
from swiftcore.tensor import TensorSize

# A process with estimators and loops before it has any data: 340 MB if the loops were compiled
# before on this machine, 490 MB if it compiles them itself.
BASE = 400_000_000
LEADER = 280_000_000  # a process that lets others fit
SHARED = 150_000_000  # of each, what processes have in common: the files of the program
REORDERED = 32  # bytes of an entry in the order of the neighbourhoods
LABEL = 100  # bytes of the name of a row or a feature


@dataclass(frozen=True)
class PeakMemory:
    """Bytes of a process that fits, by what takes them.

    Attributes
    ----------
    base : int
        The program itself.
    data : int
        The data set, with its labels.
    costs : int
        Cost matrices, kept from the moment they are built.
    making : int
        What building them takes besides; over before the fit begins.
    fit : int
        What the fit takes besides.
    """

    base: int
    data: int
    costs: int
    making: int
    fit: int

    @property
    def total(self) -> int:
        return self.base + self.data + self.costs + max(self.making, self.fit)

    @property
    def before_costs(self) -> int:
        """What is taken already when the data have been read."""
        return self.base + self.data


def fit_peak(size: TensorSize, spec: ModelSpec, n_jobs: int | None = None) -> PeakMemory:
    """What ``fit_dataset`` takes.

    Parameters
    ----------
    n_jobs : int, optional
        Workers; None: one per core.
    """
    used = factorization(spec.method).costs
    texts = spec.cost_texts(size.names or ("",) * len(size.shape))
    if used == "none":
        texts = ["none"] * len(texts)
    elif used == "features" and (spec.mode_costs or spec.costs != "random"):
        texts[0] = "none"
    row_mode = (*size.names, "")[0]
    kind = relation_of(spec, size.shape[0], row_mode).kind
    blocks = neighbourhoods_of(size.shape[0]) if kind == "neighbourhoods" else 1
    sized = list(zip(size.shape, texts, strict=True))
    if kind == "neighbourhoods" and row_mode not in spec.mode_costs:  # built when they are used
        sized[0] = (size.shape[0], "none")
    squares = tuple(length for length, text in sized if text != "none")
    tables = kept_bytes(length for length, text in sized if TABLE in text)  # at most as large
    blended = max((kept_bytes([length]) for length, text in sized if "+" in text), default=0)
    data = 8 * (len(size.shape) + 2) * size.entries + LABEL * sum(size.shape) + tables
    if used == "all":
        exponents = [None if text == "none" else spec.sharpness for text in texts]  # costs reach 1
        jobs = n_jobs or os.cpu_count() or 1
        fit = fit_memory(
            size, spec.rank, dtype=spec.dtype, n_jobs=jobs, exponents=exponents, blocks=blocks
        ).total
        fit += REORDERED * size.entries if blocks > 1 else 0
    else:
        fit = _baseline_memory(size, spec)
    if spec.consensus > 1:  # its fits run one after another where the memory is short
        fit += _gathered_memory(size, spec)
    making = making_bytes(squares) + blended
    return PeakMemory(BASE, data, kept_bytes(squares), making, fit)


def team_peak(size: TensorSize, spec: ModelSpec, processes: int) -> float:
    """What fits side by side take, each in a process of its own, with the one that leads them."""
    one = fit_peak(size, spec, 1)
    return LEADER + one.data + processes * (one.total - SHARED)


def projection_peak(size: TensorSize, spec: ModelSpec, rows_at_once: int) -> float:
    """What describing new rows takes, some at a time; ``size`` is theirs, in the fit's features."""
    part = size.with_rows(min(rows_at_once, size.shape[0]))
    alone = replace(spec, row_relation="none", dtype="float64")
    data = fit_peak(size, alone).data  # as they came, and in the features of the fit
    return fit_peak(part, alone).total + 2 * data


def _baseline_memory(size: TensorSize, spec: ModelSpec) -> int:
    """Of the methods that are compared with SWIFT: products of the factors at every entry."""
    fit = 16 * size.entries * spec.rank + 8 * 12 * spec.rank * sum(size.shape)
    cells = all_cells_memory(size.shape, spec.rank)
    return fit + (cells if factorization(spec.method).every_cell else 0)


def _gathered_memory(size: TensorSize, spec: ModelSpec) -> int:
    """Feature profiles of all fits, twice, how similar they are, and the memberships tried."""
    components = spec.consensus * spec.rank
    profiles = 2 * components * sum(size.shape[1:])
    return 8 * (profiles + 4 * components**2 + 4 * spec.rank * size.shape[0])

"""What is to be computed, how much memory it needs, and what to do where there is not so much."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass, replace
from typing import Any

from swiftcore.evaluation.methods.fit_peak import fit_peak
from swiftcore.runtime.memory import in_units, not_enough_memory
from swiftcore.spec import SETTINGS, ModelSpec
from swiftcore.tensor import TensorSize

FEWEST_ROWS = 10  # nobody is advised to use fewer


@dataclass(frozen=True)
class MemoryNeed:
    """A computation, as far as its memory hangs on it.

    Attributes
    ----------
    what : str
        The computation, for a person.
    size : TensorSize
        Of the largest data that are fitted, or of the rows that are described.
    spec : ModelSpec
        Of the largest fit.
    peak : callable
        Its bytes, for a size and a spec.
    free : tuple of str
        Settings of the spec that a person may change for the sake of memory.
    """

    what: str
    size: TensorSize
    spec: ModelSpec
    peak: Callable[[TensorSize, ModelSpec], float]
    free: tuple[str, ...] = ("row_relation", "dtype", "rank")

    @property
    def bytes(self) -> float:
        return self.peak(self.size, self.spec)

    def refuse_beyond(self, had: float) -> None:
        """Raise :class:`NotEnoughMemory` if it needs more than so many bytes."""
        if self.bytes > had:
            raise not_enough_memory(self.what, self.bytes, had, self.ways_out(had))

    def ways_out(self, had: float) -> str:
        """What would make it small enough, each by itself; nothing that would not help."""
        smaller: tuple[tuple[str, Any], ...] = (
            ("row_relation", "neighbourhoods"),
            ("row_relation", "none"),
            ("dtype", "float32"),
            ("rank", max(1, self.spec.rank // 2)),
        )
        ways = []
        for name, value in smaller:
            other = replace(self.spec, **{name: value})
            needed = self.peak(self.size, other)
            if name in self.free and needed < self.bytes and needed <= had:
                label = f"{SETTINGS[name].clinician} ({name.replace('_', ' ')})"
                ways.append(f"set {label} to {value}, which takes {in_units(needed)}")
        if (rows := self._most_rows(had)) >= FEWEST_ROWS:
            ways.append(f"use at most {rows:,} rows")
        ways.append("close other programs, or use a machine with more memory")
        return f"{ways[0][0].upper()}{'; or '.join(ways)[1:]}."

    def _most_rows(self, had: float) -> int:
        """How many of the rows would do, in two digits; 0 if none."""
        low, high = 0, self.size.shape[0]
        while high - low > 1:
            middle = (low + high) // 2
            if self.peak(self.size.with_rows(middle), self.spec) <= had:
                low = middle
            else:
                high = middle
        unit = int(10 ** max(0, len(str(low)) - 2))
        return low // unit * unit


def fit_need(size: TensorSize, spec: ModelSpec, n_jobs: int | None = None) -> MemoryNeed:
    """What ``fit_dataset`` needs."""
    return MemoryNeed(
        f"a fit of {size} at rank {spec.rank}",
        size,
        spec,
        lambda size, spec: fit_peak(size, spec, n_jobs).total,
    )

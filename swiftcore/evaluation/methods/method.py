"""What is known of a method that can be compared: one entry of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from itertools import product
from typing import Any

from swiftcore.baselines.defaults import SWEEPS
from swiftcore.spec import SETTINGS, ModelSpec

Changes = Mapping[str, Any]
"""Settings by name, as changes of a method's usual ones."""
# Settings of a method that moves mass; the others leave them aside.
OF_TRANSPORT = (
    "sharpness",
    "marginal_weight",
    "start",
    "n_restarts",
    "row_relation",
    "dtype",
    "momentum",
    "value_unit",
    "outcome_share",
)
AS_RECORDED: Changes = {
    "entry_values": "counts",
    "row_mass": "as recorded",
    "feature_weighting": "none",
}
PRESENCE: Changes = {"entry_values": "presence"}  # count every entry as 1


@dataclass(frozen=True)
class Method:
    """A method with its grids.

    Attributes
    ----------
    key, title, short_title : str
        In files and on the command line; for people; where there is little room.
    kind : {"factorization", "classifier"}
        A classifier works on the raw rows and has no rank.
    model : str
        ``module:Class`` of the estimator; loaded when it is first used.
    grid, quick_grid : tuple of dict
        Settings among which the validation rows choose.
    defaults : dict
        Settings whose usual value for this method is not that of :class:`ModelSpec`. Other
        methods than SWIFT see rows and features as they were recorded.
    needs_labels : bool
        Whether it cannot be fitted without an outcome.
    signed : bool
        Whether factors may be negative.
    costs : {"none", "features", "all"}
        Which cost matrices it uses.
    every_cell : bool
        Whether its time grows with the cells, not with the nonzeros.
    sweep_seconds : tuple of two floats
        Core seconds of a sweep per entry (or cell), and how much each component adds to it;
        measured on two ordinary cores. SWIFT has an estimate of its own.
    """

    key: str
    title: str
    kind: str = "factorization"
    model: str = ""
    grid: tuple[Changes, ...] = field(default=({},), hash=False)
    quick_grid: tuple[Changes, ...] = field(default=({},), hash=False)
    defaults: Changes = field(default_factory=SWEEPS._asdict, hash=False)
    short_title: str = ""
    needs_labels: bool = False
    signed: bool = False
    costs: str = "none"
    every_cell: bool = False
    sweep_seconds: tuple[float, float] = (1e-7, 1e-8)

    @property
    def is_factorization(self) -> bool:
        return self.kind == "factorization"

    @property
    def repeatable(self) -> bool:
        """Whether it can be fitted again and again to see which components come back."""
        return self.is_factorization and not self.needs_labels

    def uses(self, setting: str) -> bool:
        """Whether a setting of the spec changes anything for this method."""
        if setting in ("consensus", "consensus_rows"):
            return not self.signed  # weights with signs cannot be averaged over fits
        if setting in OF_TRANSPORT:
            return self.costs == "all"
        return self.costs != "none" or setting not in ("costs", "mode_costs")

    def settings(self, quick: bool, binary: bool = False) -> tuple[Changes, ...]:
        """The grid; where every entry is 1 anyway, presence is no setting of its own."""
        grid = self.quick_grid if quick else self.grid
        if not binary:
            return grid
        plain = [on_usual_values(changes) for changes in grid]
        return tuple(one for number, one in enumerate(plain) if one not in plain[:number])

    def fixed(self, changes: Changes) -> Method:
        """The same method with one setting, so that there is nothing to choose."""
        return replace(self, grid=(changes,), quick_grid=(changes,))

    def spec(self, **changes: Any) -> ModelSpec:
        """The usual spec of this factorization, with some changes.

        Names that are no settings of every model are options of this one.
        """
        known = {name: value for name, value in changes.items() if name in SETTINGS}
        options = {name: value for name, value in changes.items() if name not in SETTINGS}
        if options:
            known["options"] = {**known.get("options", {}), **options}
        usual = self.defaults if self.costs == "all" else {**AS_RECORDED, **self.defaults}
        return ModelSpec.of({**usual, **known, "method": self.key})


def on_usual_values(changes: Changes) -> dict[str, Any]:
    """The same settings on the values that are usual for the method."""
    return {name: value for name, value in changes.items() if name not in PRESENCE}


def either(*grid: Changes) -> tuple[Changes, ...]:
    """Each setting on the usual values and on presence."""
    usual = [on_usual_values(changes) for changes in grid]
    return (*usual, *({**changes, **PRESENCE} for changes in usual))


def every(**choices: Sequence[Any]) -> tuple[Changes, ...]:
    """Every combination of the values given."""
    return tuple(dict(zip(choices, values, strict=True)) for values in product(*choices.values()))

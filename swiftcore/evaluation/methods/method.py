"""What is known of a method that can be compared: one entry of the catalogue."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from itertools import product
from typing import Any

from swiftcore.baselines.defaults import SWEEPS
from swiftcore.spec import SETTINGS, ModelSpec

Changes = Mapping[str, Any]
"""Settings by name, as changes of a method's usual ones."""
PRESENCE = "presence"  # the setting that counts every entry as 1


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
        Settings whose usual value for this method is not that of :class:`ModelSpec`.
    needs_labels : bool
        Whether it cannot be fitted without an outcome.
    signed : bool
        Whether factors may be negative.
    costs : {"none", "features", "all"}
        Which cost matrices it uses.
    every_cell : bool
        Whether its time grows with the cells, not with the nonzeros.
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

    @property
    def is_factorization(self) -> bool:
        return self.kind == "factorization"

    @property
    def repeatable(self) -> bool:
        """Whether it can be fitted again and again to see which components come back."""
        return self.is_factorization and not self.needs_labels

    def settings(self, quick: bool, binary: bool = False) -> tuple[Changes, ...]:
        """The grid; where every entry is 1 anyway, presence is no setting of its own."""
        grid = self.quick_grid if quick else self.grid
        if not binary:
            return grid
        plain = [on_counts(changes) for changes in grid]
        return tuple(one for number, one in enumerate(plain) if one not in plain[:number])

    def spec(self, **changes: Any) -> ModelSpec:
        """The usual spec of this factorization, with some changes.

        Names that are no settings of every model are options of this one.
        """
        known = {name: value for name, value in changes.items() if name in SETTINGS}
        options = {name: value for name, value in changes.items() if name not in SETTINGS}
        if options:
            known["options"] = {**known.get("options", {}), **options}
        return ModelSpec.of({**self.defaults, **known, "method": self.key})


def on_counts(changes: Changes) -> dict[str, Any]:
    """The same settings without presence."""
    return {name: value for name, value in changes.items() if name != PRESENCE}


def either(*grid: Changes) -> tuple[Changes, ...]:
    """Each setting on the counts and on presence."""
    counts = [on_counts(changes) for changes in grid]
    return (*counts, *({**changes, PRESENCE: True} for changes in counts))


def every(**choices: Sequence[Any]) -> tuple[Changes, ...]:
    """Every combination of the values given."""
    return tuple(dict(zip(choices, values, strict=True)) for values in product(*choices.values()))

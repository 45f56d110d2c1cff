"""Which table holds events, which patients: as for small tables, by the names of the columns."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace

from swiftcore.data.building.column_roles import (
    ID_NAMES,
    ColumnRoles,
    guess_roles,
    plain_name,
    set_here,
)
from swiftcore.data.building.ehr_tables import TABLE_ENDING
from swiftcore.data.building.multi_table import is_of_patients, name_column
from swiftcore.data.building.outcome import OUTCOME
from swiftcore.data.options import BuildOptions, allow_only
from swiftcore.data.out_of_core.table_head import TableHead
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.text_table import TextTable

# What this way of building can do with each option; everything else is for small tables.
_ALLOWED: dict[str, tuple[object, ...]] = {
    "kind": ("", "tables"),
    "layout": ("", "long"),
    "join": ("patient", "visit"),
    "rows": ("patient",),
    "code_groups": ("",),
    "medication_groups": ("",),
    "code_names": ("",),
    "outcome": ("", "none", "column"),
    "outcome_codes": ((),),
    "drop_codes": ((),),
    "before_outcome": (False,),
    "lookback_days": (0.0,),
    "duplicates": ("sum",),
    "merge_similar_names": (False,),
}


@dataclass(frozen=True)
class EventColumns:
    """One table of events and the columns that are counted.

    Attributes
    ----------
    mode : str
        What the features are called.
    name, visit, value : str
        Columns of the features' names, of visits and of amounts; empty when there is none.
    """

    head: TableHead
    number: int
    title: str
    mode: str
    who: str
    feature: str
    name: str
    visit: str
    value: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Those that are read, each once."""
        every = (self.who, self.feature, self.name, self.visit, self.value)
        return tuple(dict.fromkeys(filter(None, every)))


@dataclass(frozen=True)
class TablePlan:
    """What one table may be: of events, of patients, or either (told by whether ids repeat)."""

    head: TableHead
    number: int
    title: str
    roles: ColumnRoles
    events: EventColumns | None
    may_be_patients: bool
    outcome: str

    @property
    def columns(self) -> tuple[str, ...]:
        """Those that are read, whatever it turns out to be."""
        events = self.events.columns if self.events else ()
        return tuple(dict.fromkeys(filter(None, (self.roles.row, *events, self.outcome))))


def check_options(options: BuildOptions) -> None:
    """Raise :class:`InvalidSettings` with every option that needs the reader of small tables."""
    what = "Tables larger than memory cannot be built so"
    allow_only(options, _ALLOWED, "option-large", what, "Leave the option out, or build a .npz.")


def plan_tables(
    heads: Sequence[TableHead], options: BuildOptions, findings: Findings
) -> list[TablePlan]:
    """The role of every table that has a column of patients, as far as names tell."""
    plans = []
    for number, head in enumerate(sorted(heads, key=lambda one: one.name)):
        table = TextTable(head.name, head.columns, None)
        settings = set_here(head.columns, options.columns)
        roles = guess_roles(table, settings, findings)
        if plain_name(roles.row) not in ID_NAMES and "row" not in settings:
            findings.note(f"{head.name} was not used: no column of patients or row ids.")
            continue
        title = TABLE_ENDING.sub("", head.name.rsplit("/", 1)[-1])
        events = _events(head, number, title, roles) if roles.features else None
        outcome = _outcome_column(head, options)
        may_be = is_of_patients(title, True, bool(roles.features))
        plans.append(TablePlan(head, number, title, roles, events, may_be, outcome))
    findings.stop_if_problems()
    return plans


def distinct_modes(events: Sequence[EventColumns]) -> list[EventColumns]:
    """Modes of the same name are named after their tables instead."""
    names = [one.mode for one in events]
    return [one if names.count(one.mode) == 1 else replace(one, mode=one.title) for one in events]


def _events(head: TableHead, number: int, title: str, roles: ColumnRoles) -> EventColumns:
    table = TextTable(head.name, head.columns, None)
    feature, name = roles.features[0], name_column(table, roles)
    return EventColumns(
        head, number, title, feature, roles.row, feature, name, roles.visit, roles.value
    )


def _outcome_column(head: TableHead, options: BuildOptions) -> str:
    """The column asked for, or one called outcome, if this table has it."""
    if options.outcome == "none":
        return ""
    wanted = options.outcome_column.strip().lower() or OUTCOME
    return next((one for one in head.columns if one.strip().lower() == wanted), "")

"""How one table is read: its layout, the role of every column and why, and what must be asked."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

from swiftcore.data.building.column_roles import ColumnRoles
from swiftcore.data.building.layouts.feature_columns import FeatureGroup
from swiftcore.data.building.layouts.profile import Profile
from swiftcore.data.reading.findings import ColumnRole
from swiftcore.errors import Problem


@dataclass(frozen=True)
class TableReading:
    """One table, understood.

    Attributes
    ----------
    layout : str
        "long", "wide", "onehot" or "lists"; two of them joined by "+".
    roles : ColumnRoles
        For the builders; of a table that is melted its features are empty.
    groups : tuple of FeatureGroup
        What is melted; empty for a table of one event per line.
    domain : str
        The column of a long table that says what kind of feature each line names.
    columns : tuple of ColumnRole
        For people.
    doubts : tuple of Problem
        What has two readings, and how to settle it.
    """

    layout: str
    roles: ColumnRoles
    groups: tuple[FeatureGroup, ...] = ()
    domain: str = ""
    columns: tuple[ColumnRole, ...] = ()
    doubts: tuple[Problem, ...] = ()
    profiles: Mapping[str, Profile] = field(default_factory=dict)

    @property
    def melts(self) -> bool:
        return bool(self.groups or self.domain)

"""The role of every column in words: what it is taken for, and why."""

from __future__ import annotations

import re
from collections.abc import Mapping
from dataclasses import replace

from swiftcore.data.building.column_roles import DRUG_NAMES, find_column, plain_name
from swiftcore.data.building.layouts.feature_columns import FeatureGroup
from swiftcore.data.building.layouts.profile import ATC, Profile
from swiftcore.data.building.layouts.seen_table import SeenTable
from swiftcore.data.building.layouts.table_reading import TableReading
from swiftcore.data.building.row_covariates import AGE, SEX, SITE
from swiftcore.data.reading.findings import ColumnRole
from swiftcore.errors import Problem

_DOSE = re.compile(r"\d\s?(mg|ml|mcg|g|ug|iu|ie)\b", re.IGNORECASE)
_GROUPED = {
    "wide": "one of the numbered columns {name}",
    "lists": "lists in a cell",
    "onehot": "yes or no: one feature per column",
}
_UNUSED = {
    "empty": ("ignored", "empty"),
    "date": ("date", "dates; when is told by another column, or not at all"),
    "text": ("free text", "running text"),
    "number": ("covariate", "numbers, which are no features"),
    "whole": ("covariate", "numbers, which are no features"),
    "flag": ("covariate", "yes or no"),
    "grade": ("covariate", "a few grades"),
}


def explained(
    seen: SeenTable, settings: Mapping[str, str], reading: TableReading, doubts: tuple[Problem, ...]
) -> TableReading:
    """The reading with the role of every column, and with what must be asked."""
    chosen = _chosen(seen, settings)
    grouped = {column: group for group in reading.groups for column in group.columns}
    taken = _taken(seen, reading)
    columns = []
    for name, profile in seen.profiles.items():
        if name in chosen and name not in grouped:
            role, reason = chosen[name], "set by you"
            role = _code_or_drug(profile, name) if role == "features" else role
        elif name in grouped:
            role, reason = _of_group(profile, grouped[name])
        elif name in taken:
            role, reason = taken[name]
        else:
            role, reason = _left(seen, reading.roles.row, profile)
        columns.append(ColumnRole(seen.name, name, role, reason, profile.examples()))
    return replace(reading, columns=tuple(columns), doubts=doubts, profiles=seen.profiles)


def _chosen(seen: SeenTable, settings: Mapping[str, str]) -> dict[str, str]:
    names = {"row": "id", "value": "count", "text": "free text", "label": "outcome"}
    names["covariates"] = "covariate"
    return {
        find_column(tuple(seen.columns), part.strip()): names.get(role, role)
        for role, text in settings.items()
        for part in text.split(",")
        if part.strip()
    }


def _taken(seen: SeenTable, reading: TableReading) -> dict[str, tuple[str, str]]:
    roles = reading.roles
    found = {}
    if roles.row:
        many = seen.repeats(roles.row)
        found[roles.row] = ("id", "it has several rows each" if many else "it differs on every row")
    if roles.visit:
        found[roles.visit] = ("visit", f"each belongs to one {roles.row}")
    if roles.date:
        found[roles.date] = ("date", "dates that differ within an id, or stand once per row")
    if roles.value:
        found[roles.value] = ("count", "numbers of how often, or named so")
    if roles.outcome:
        found[roles.outcome] = ("outcome", "by its name, and one entry per id")
    if reading.domain:
        found[reading.domain] = ("domain", "it says what kind of code each line holds")
    for name in roles.features:
        profile = seen.profiles[name]
        why = "codes" if profile.codes > 0.5 else f"{profile.distinct:,} names that come back"
        found[name] = (_code_or_drug(profile, name), why)
    return found


def _of_group(profile: Profile, group: FeatureGroup) -> tuple[str, str]:
    reason = _GROUPED[group.layout].format(name=group.name)
    if len(group.columns) == 1 and group.layout == "wide":
        reason = "codes, one per row"
    return _code_or_drug(profile, group.name), reason


def _code_or_drug(profile: Profile, name: str) -> str:
    """Whether features are medications: ATC codes, doses, or a name that says so."""
    texts = list(profile.counts)[:200]
    drugs = sum(bool(ATC.search(one) or _DOSE.search(one)) for one in texts)
    named = profile.codes < 0.5 and DRUG_NAMES.search(plain_name(name))
    return "drug" if named or (texts and drugs > 0.5 * len(texts)) else "code"


def _left(seen: SeenTable, row: str, profile: Profile) -> tuple[str, str]:
    """A column that nothing is built from."""
    if any(one.fullmatch(plain_name(profile.name)) for one in (AGE, SEX, SITE)):
        return "covariate", "age, sex or site; of several the first is kept"
    if profile.kind in _UNUSED:
        role, reason = _UNUSED[profile.kind]
        if profile.kind == "whole" and row and profile.unique > 0.5 and profile.even > 0.95:
            return "ignored", "numbers that differ on most rows"
        return role, reason
    if profile.filled >= 20 and profile.unique > 0.9:
        return "ignored", "it differs on nearly every row"
    if row and seen.repeats(row) and not seen.steady(row, profile.name):
        return "ignored", "it describes what happened, or follows from another column"
    return "covariate", "a few entries that describe a row"

"""Which columns of several tables say whose a row is: those with the same entries."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

from swiftcore.data.building.column_roles import ID_NAMES, plain_name
from swiftcore.data.building.layouts.id_column import find_id
from swiftcore.data.building.layouts.profile import Profile
from swiftcore.data.building.layouts.seen_table import SeenTable
from swiftcore.data.reading.text_table import TextTable

LEAST_IDS, SHARED = 5, 0.5


@dataclass(frozen=True)
class _Candidate:
    table: int
    column: str
    entries: frozenset[str]


def shared_ids(tables: Sequence[TextTable], seen: Sequence[SeenTable]) -> dict[str, str]:
    """By table, its column of row ids, as far as names or common entries tell.

    A known name goes first. Otherwise the column that most other tables have the entries of; of
    two such columns the one with fewer entries, for a patient has several visits.
    """
    found = {}
    candidates = [
        _Candidate(number, name, frozenset(table.coded(name).labels))
        for number, (table, look) in enumerate(zip(tables, seen, strict=True))
        for name, profile in look.profiles.items()
        if _may_be_id(profile)
    ]
    for number, table in enumerate(tables):
        known = [name for name in ID_NAMES for one in table.columns if plain_name(one) == name]
        if known:
            found[table.name] = next(one for one in table.columns if plain_name(one) == known[0])
            continue
        own = [one for one in candidates if one.table == number]
        ranked = sorted(
            ((_partners(one, candidates), -len(one.entries), one.column) for one in own),
            reverse=True,
        )
        if ranked and ranked[0][0]:
            found[table.name] = ranked[0][2]
        elif alone := find_id(seen[number].columns, seen[number].profiles, table.columns)[0]:
            found[table.name] = alone
    return found


def _may_be_id(profile: Profile) -> bool:
    numbered = profile.kind == "whole" or (profile.kind == "label" and profile.even > 0.8)
    return numbered and profile.codes < 0.5 and profile.distinct >= LEAST_IDS


def _partners(one: _Candidate, others: Sequence[_Candidate]) -> int:
    """How many other tables have a column with these entries."""
    return len(
        {
            other.table
            for other in others
            if other.table != one.table
            and len(one.entries & other.entries)
            >= SHARED * min(len(one.entries), len(other.entries))
            and plain_name(other.column) == plain_name(one.column)
        }
        or {
            other.table
            for other in others
            if other.table != one.table
            and len(one.entries & other.entries)
            >= MOST_SHARED * max(len(one.entries), len(other.entries))
        }
    )


MOST_SHARED = 0.7

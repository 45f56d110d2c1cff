"""Which columns of several tables say whose a row is: those with the same entries."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

from swiftcore.data.building.column_roles import ID_NAMES, OF_LINES, plain_name
from swiftcore.data.building.layouts.id_column import find_id
from swiftcore.data.building.layouts.profile import Profile
from swiftcore.data.building.layouts.seen_table import SeenTable
from swiftcore.data.reading.text_table import TextTable

MIN_IDS, SHARED, NEARLY_SHARED = 5, 0.5, 0.7
INSIDE = 0.9  # of the entries of a column that points to the ids of another table
_ENDS = ("id", "nr", "no", "key", "fk", "ref")


@dataclass(frozen=True)
class _Candidate:
    table: int
    column: str
    entries: frozenset[str]


def shared_ids(tables: Sequence[TextTable], seen: Sequence[SeenTable]) -> dict[str, str]:
    """By table, its column of row ids, as far as names or common entries tell.

    A known name goes first, unless it only numbers the lines and another column points to the
    patients. Otherwise the column that most other tables have the entries of; of
    two such columns the one with fewer entries, for a patient has several visits.
    """
    found = {}
    candidates = [
        _Candidate(number, name, frozenset(table.coded(name).labels))
        for number, (table, look) in enumerate(zip(tables, seen, strict=True))
        for name, profile in look.profiles.items()
        if _may_be_id(profile)
    ]
    pointers = _pointers(candidates, seen)
    for number, table in enumerate(tables):
        if pointer := pointers.get(number):
            found[table.name] = pointer
            continue
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


def _pointers(candidates: Sequence[_Candidate], seen: Sequence[SeenTable]) -> dict[int, str]:
    """By table whose "id" numbers its lines, the column that says whose each line is.

    It points to the lines of another table, as pat_id does to those of patients, or other tables
    have it, too; lines that a column points to are patients themselves.
    """
    lines = {
        one.table: one
        for one in candidates
        if plain_name(one.column) in OF_LINES and not seen[one.table].repeats(one.column)
    }
    others = [
        one
        for one in candidates
        if plain_name(one.column) not in OF_LINES and plain_name(one.column).endswith(_ENDS)
    ]
    targets = {(one.table, one.column): _target(one, lines) for one in others}
    found = {}
    for number in lines.keys() - set(targets.values()):
        own = [one for one in others if one.table == number and seen[number].repeats(one.column)]
        ranked = sorted(
            ((targets[number, one.column] >= 0, len(one.entries), one.column) for one in own),
            reverse=True,
        )
        shared = [name for hit, _, name in ranked if hit or _elsewhere(name, number, others)]
        if shared:
            found[number] = shared[0]
    return found


def _target(one: _Candidate, lines: Mapping[int, _Candidate]) -> int:
    """The table that a column points to: it holds nearly all entries, and few others; or -1."""
    best, share = -1, SHARED
    for number, other in lines.items():
        both = len(one.entries & other.entries)
        points = number != one.table and both >= INSIDE * len(one.entries)
        if points and both >= share * len(other.entries):
            best, share = number, both / len(other.entries)
    return best


def _elsewhere(column: str, number: int, others: Sequence[_Candidate]) -> bool:
    return any(
        other.table != number and plain_name(other.column) == plain_name(column) for other in others
    )


def _may_be_id(profile: Profile) -> bool:
    numbered = profile.kind == "whole" or (profile.kind == "label" and profile.even > 0.8)
    return numbered and profile.codes < 0.5 and profile.distinct >= MIN_IDS


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
            >= NEARLY_SHARED * max(len(one.entries), len(other.entries))
        }
    )

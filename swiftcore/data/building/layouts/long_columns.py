"""Columns of a table with one event per line: features, their domain, how often."""

from __future__ import annotations

import re
from collections.abc import Sequence

from swiftcore.data.building.column_roles import FEATURE_NAMES, plain_name
from swiftcore.data.building.layouts.profile import MOST, NEARLY_ALL, Profile
from swiftcore.data.building.layouts.seen_table import SeenTable
from swiftcore.data.reading.coded import number_of
from swiftcore.data.reading.header import shape

FEW = 5  # entries, up to which a column describes rather than names what happened
FEW_OF_EACH = 10  # the same in a table with one row per id
MAX_DOMAINS, LEAST_CODES = 6, 3
_AMOUNT = re.compile(r"num|count|anzahl|nombre|numero|quantity|menge|dos(e|age)|value|amount")
_DOMAIN = re.compile(r"diag|dx|condition|med|drug|rx|proc|lab|allerg", re.IGNORECASE)


def long_features(seen: SeenTable, row: str, free: Sequence[str]) -> list[str]:
    """Columns that name what happened: labels that come back and differ within an id."""
    repeats = seen.repeats(row)
    found = [name for name in free if _names_events(seen, row, seen.profiles[name], repeats)]
    kept = []
    for name in found:
        others = [one for one in found if one != name and one not in _twins(seen, name, found)]
        first = all(one not in kept for one in _twins(seen, name, found))
        if first and not any(seen.follows(name, one) for one in others if not _alike(seen, name)):
            kept.append(name)
    return kept


def _alike(seen: SeenTable, name: str) -> bool:
    """Codes are never taken for what describes another column."""
    return seen.profiles[name].codes > 0.5


def _twins(seen: SeenTable, name: str, found: Sequence[str]) -> list[str]:
    """Columns that say the same in other words; of them the one with codes comes first."""
    same = [
        one for one in found if one != name and seen.follows(one, name) and seen.follows(name, one)
    ]
    order = {one: (-(seen.profiles[one].codes > 0.5), found.index(one)) for one in [name, *same]}
    return [one for one in same if order[one] < order[name]]


def _names_events(seen: SeenTable, row: str, profile: Profile, repeats: bool) -> bool:
    plain = plain_name(profile.name)
    telling = bool(FEATURE_NAMES.search(plain))
    if profile.kind == "whole":
        largest = max(number_of(text) for text in profile.counts)
        if not telling or _AMOUNT.search(plain) or largest < 100:
            return False
    elif profile.kind not in ("label", "list"):
        return False
    if profile.filled >= 20 and profile.unique > MOST:
        return False
    if repeats and not telling and seen.steady(row, profile.name):
        return False
    few = FEW if repeats else FEW_OF_EACH
    return profile.distinct > few or profile.codes > 0.5 or (telling and profile.distinct > 1)


def domain_column(
    seen: SeenTable, row: str, features: Sequence[str], free: Sequence[str]
) -> tuple[str, str]:
    """The column that says what kind of code stands on each line, or one that may.

    Every code belongs to one domain. So does it to one chapter; but codes of two domains look
    different, or the domains have telling names.

    Returns
    -------
    str, str
        The column, and a column of which nobody can tell; at most one of them is not empty.
    """
    for name in free:
        profile = seen.profiles[name]
        if profile.kind != "label" or not 2 <= profile.distinct <= MAX_DOMAINS:
            continue
        for code in features:
            if code == name or seen.only_in_one(code, name) < NEARLY_ALL:
                continue
            by_domain = seen.entries_by(name, code)
            if min(map(len, by_domain.values())) < LEAST_CODES or seen.steady(row, name):
                continue
            if all(_DOMAIN.search(one) for one in by_domain) or _look_different(by_domain):
                return name, ""
            starts = [{text[:1] for text in codes} for codes in by_domain.values()]
            parted = sum(map(len, starts)) == len(set.union(*starts))
            return ("", "") if parted else ("", name)
    return "", ""


def _look_different(by_domain: dict[str, list[str]]) -> bool:
    """Whether codes of different domains have different forms."""
    forms = [{shape(text) for text in codes} for codes in by_domain.values()]
    for place, codes in enumerate(by_domain.values()):
        others = set().union(*(form for at, form in enumerate(forms) if at != place))
        if sum(shape(text) in others for text in codes) > 0.1 * len(codes):
            return False
    return True


def count_column(seen: SeenTable, row: str, free: Sequence[str]) -> str:
    """How often something happened: small whole numbers from 1, most of them 1, then 2 ..."""
    for name in free:
        profile = seen.profiles[name]
        if profile.kind != "whole" or seen.steady(row, name):
            continue
        sizes = {int(number_of(text)): size for text, size in profile.counts.items()}
        falling = all(sizes.get(k, 0) >= sizes.get(k + 1, 0) for k in range(1, 4))
        usual = min(sizes) == 1 and sizes[1] >= 0.3 * profile.filled and max(sizes) < 1000
        if usual and falling and not _numbers_rows(seen, row, name):
            return name
    return ""


def _numbers_rows(seen: SeenTable, row: str, column: str) -> bool:
    """Whether a column only numbers the rows of each id."""
    pairs = seen.pairs_of(row, column)
    return pairs >= MOST * seen.profiles[column].filled and seen.repeats(row)

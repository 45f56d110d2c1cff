"""Which column says whose a row is: by the form of its entries, how they repeat, and its place."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import pairwise

import numpy as np

from swiftcore.data.building.column_roles import ID_NAMES, VISIT_NAMES, plain_name
from swiftcore.data.building.layouts.profile import Profile
from swiftcore.data.reading.coded import Coded, number_of

_HINT = re.compile(r"(id|nr|no|num|nbr|nummer|number|key|pid)$|^(pat|person|subject|case|mrn)")
_VISIT_HINT = re.compile(r"encounter|visit|stay|admission|hadm|aufenthalt|besuch|sejour|ingreso")
LEAST, AHEAD = 2.0, 1.0  # points an id needs, and ahead of others
SMALL = 1000  # whole numbers below may be amounts
SEVERAL = 0.2  # patients by visits, at least


def find_id(
    columns: Mapping[str, Coded], profiles: Mapping[str, Profile], free: Sequence[str]
) -> tuple[str, str, list[str]]:
    """The column of row ids, that of visits, and the rivals if nothing sets one ahead.

    Returns
    -------
    str, str, list of str
        Row and visit column, "" where there is none; rivals only without a row column.
    """
    points = {
        name: _points(columns[name], profiles[name], place)
        for place, name in enumerate(columns)
        if name in free
    }
    able = sorted((one for one in points if points[one] >= LEAST), key=lambda one: -points[one])
    named = [
        one
        for one in able
        if not numbers_lines(profiles[one])
        if _HINT.search(plain_name(one)) and _in_runs(columns[one], profiles[one])
    ]
    if named:
        able = [one for one in able if not numbers_lines(profiles[one])]
    if not able:
        return "", "", []
    best = able[0]
    for other in able[1:3]:
        pair = _patient_and_visit(columns[best], columns[other])
        if pair is not None and not is_amount(profiles[pair[0]]):
            return _of_pair(*pair)
    rivals = [one for one in able if points[one] > points[best] - AHEAD]
    visits = [one for one in rivals if _is_visit(one)]
    if len(rivals) > 1 and len(rivals) - len(visits) == 1:
        row = next(one for one in rivals if one not in visits)
        return row, visits[0], []
    return (best, "", []) if len(rivals) == 1 else ("", "", rivals)


def _of_pair(coarse: str, fine: str) -> tuple[str, str, list[str]]:
    """Patient and visit, or patient and a number such as a post code: only names tell."""
    if _is_visit(fine) and not _is_visit(coarse):
        return coarse, fine, []
    named = [bool(_HINT.search(plain_name(one))) for one in (coarse, fine)]
    if named[0] != named[1]:
        return (coarse, fine, []) if named[0] else (fine, "", [])
    return "", "", [fine, coarse]


def _is_visit(name: str) -> bool:
    plain = plain_name(name)
    return plain in VISIT_NAMES or bool(_VISIT_HINT.search(plain))


def _points(column: Coded, profile: Profile, place: int) -> float:
    """How much speaks for a column of ids."""
    if profile.kind not in ("whole", "label") or profile.distinct < 2:
        return -1.0
    plain = plain_name(profile.name)
    runs = _in_runs(column, profile)
    points = 3.0 if plain in ID_NAMES else 1.5 if _HINT.search(plain) else 0.0
    points += 2.0 if profile.even >= 0.95 else 0.0
    points += 1.5 if runs else 0.0
    points += 1.0 if place == 0 else 0.5 if place < 3 else 0.0
    points -= 3.0 if profile.codes > 0.5 and not runs else 0.0
    points -= 3.0 if _words(profile) >= 3 else 0.0
    points -= 2.0 if not any(any(map(str.isdigit, text)) for text in profile.counts) else 0.0
    points -= 2.0 if profile.distinct <= 10 and profile.rows >= 50 else 0.0
    points -= 3.0 if is_amount(profile) else 0.0
    return points


def _in_runs(column: Coded, profile: Profile) -> bool:
    """Whether rows of the same entry stand together, or each has its own."""
    codes = column.codes[~column.missing()]
    runs = 1 + int((codes[1:] != codes[:-1]).sum()) if len(codes) else 0
    return runs <= 1.2 * profile.distinct


def is_amount(profile: Profile) -> bool:
    """Whether whole numbers are ages, counts or days rather than numbers of somebody.

    Those are written with as many digits each, or go up from row to row.
    """
    if profile.kind != "whole":
        return False
    texts = [text.strip() for text in profile.counts]
    if all(len(text) == len(texts[0]) and len(text) > 3 for text in texts):
        return False
    values = [number_of(text) for text in texts]
    rising = all(one < other for one, other in pairwise(values))
    running = min(values) <= 1 and max(values) - min(values) + 1 == len(values)
    return max(values) < SMALL and not rising and not running


def numbers_lines(profile: Profile) -> bool:
    """Whether a column only numbers the lines of a table, from 0 or 1 on."""
    if profile.kind != "whole" or not profile.rows == profile.filled == profile.distinct:
        return False
    first = int(number_of(next(iter(profile.counts))))
    return first in (0, 1) and all(
        number_of(text) == first + at for at, text in enumerate(profile.counts)
    )


def _words(profile: Profile) -> float:
    """How many words an entry has on average."""
    return sum(len(text.split()) for text in profile.counts) / profile.distinct


def _patient_and_visit(one: Coded, other: Coded) -> tuple[str, str] | None:
    """Of two ids the patient and the visit: a visit has one patient, a patient several visits."""
    width = max(len(other.labels), 1)
    pairs = len(np.unique(one.codes * width + other.codes))
    sizes = len(np.unique(one.codes)), len(np.unique(other.codes))
    if sizes[0] == sizes[1] or pairs != max(sizes) or min(sizes) < 2:
        return None
    if min(sizes) < SEVERAL * max(sizes):
        return None
    return (one.name, other.name) if sizes[0] < sizes[1] else (other.name, one.name)

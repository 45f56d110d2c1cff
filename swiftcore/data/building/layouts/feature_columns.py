"""Which columns of a table belong together as one kind of feature."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from swiftcore.data.building.layouts.profile import CODE, NO, Profile

LEAST_FLAGS, LEAST_BESIDE = 3, 5  # columns of yes and no: alone, and beside other features
_NUMBER = re.compile(r"\d+")
_PREFIX = re.compile(r"([^\W\d_][^_:.=/|\s-]*)[_:.=/|\s-]+(.+)")
_ENDS = " _-.#:()/"
FEW_ENTRIES = 4  # of a column, up to which they need not be shared
SHARED = 0.3  # of the entries of a numbered column that its fellows have, too


@dataclass(frozen=True)
class FeatureGroup:
    """Columns that hold features of one kind.

    Attributes
    ----------
    name : str
        Becomes the name of the mode.
    layout : {"wide", "onehot", "lists"}
    columns : tuple of str
    labels : tuple of str
        The feature of each column, of a one-hot group.
    separators : tuple of str
        Of the lists in each column; "" where a cell holds one entry.
    """

    name: str
    layout: str
    columns: tuple[str, ...]
    labels: tuple[str, ...] = ()
    separators: tuple[str, ...] = ()


def numbered_groups(
    profiles: Mapping[str, Profile], kinds: tuple[str, ...] = ("label", "list")
) -> list[FeatureGroup]:
    """Columns such as diag_1 ... diag_9, that hold the same kind of entries."""
    stems: dict[str, dict[str, int]] = defaultdict(dict)
    for name in profiles:
        number = _NUMBER.search(name)
        if CODE.fullmatch(name.strip()):
            continue
        if number:
            stem = f"{name[: number.start()]}#{name[number.end() :]}"
            stems[stem][name] = int(number.group())
        else:
            stems[f"{name} (#)"][name] = 1  # "Diagnose", "Diagnose (2)", "Diagnose (3)"
    found = []
    for stem, numbers in stems.items():
        for run in _runs(numbers, profiles, kinds):
            name = _stem_name(stem) if len(run) == len(numbers) else run[0]
            separators = tuple(profiles[one].separator for one in run)
            found.append(FeatureGroup(name, "wide", tuple(run), separators=separators))
    return found


def _runs(
    numbers: Mapping[str, int], profiles: Mapping[str, Profile], kinds: tuple[str, ...]
) -> list[list[str]]:
    """Columns of one stem with numbers in a row and entries in common; columns without any entry
    go with those before them."""
    runs: list[list[str]] = []
    last = None
    for name, number in sorted(numbers.items(), key=lambda one: one[1]):
        profile = profiles[name]
        here = [profiles[one] for one in runs[-1]] if runs else []
        next_one = last is not None and number == last + 1
        last = number
        if profile.kind == "empty" and here and next_one:
            runs[-1].append(name)
        elif profile.kind in kinds:
            if here and next_one and _alike([*here, profile]):
                runs[-1].append(name)
            else:
                runs.append([name])
        else:
            last = None
    return [run for run in runs if len(run) > 1]


def _stem_name(stem: str) -> str:
    before, _, after = stem.partition("#")
    return f"{before.rstrip(_ENDS)} {after.strip(_ENDS)}".strip() or "feature"


def _alike(columns: Sequence[Profile]) -> bool:
    """Whether the columns share entries, and these are no names of persons."""
    pooled: Counter[str] = Counter()
    for one in columns:
        pooled.update(one.counts.keys())
    entries = sum(one.filled for one in columns)
    shared = sum(size for one in columns for text, size in one.counts.items() if pooled[text] > 1)
    last = sum(size for text, size in columns[-1].counts.items() if pooled[text] > 1)
    few = columns[-1].filled < FEW_ENTRIES <= columns[0].filled
    return few or (shared >= SHARED * entries and last >= SHARED * columns[-1].filled)


def flag_groups(profiles: Sequence[Profile], beside: bool) -> list[FeatureGroup]:
    """Columns of yes and no, one per feature, by the first part of their names if they have one.

    Parameters
    ----------
    beside : bool
        Whether the table has other features; then only many columns with the very same entries
        are features, and others describe the rows.
    """
    grades: dict[frozenset[str], list[Profile]] = defaultdict(list)
    for one in profiles:
        if one.kind == "grade":
            grades[one.vocabulary].append(one)
    graded = list(_merged(grades).values())
    flags = [one for one in profiles if one.kind != "grade"]
    if beside:
        kept = [one for some in (*graded, flags) if len(some) >= LEAST_BESIDE for one in some]
    else:
        kept = [one for some in (flags, *graded) if len(some) >= LEAST_FLAGS for one in some]
    return _by_prefix([one.name for one in kept]) if len(kept) >= LEAST_FLAGS else []


def _merged(groups: Mapping[frozenset[str], list[Profile]]) -> dict[frozenset[str], list[Profile]]:
    """Graded columns whose entries are among those of another belong to it."""
    whole = [key for key in groups if not any(key < other for other in groups)]
    merged: dict[frozenset[str], list[Profile]] = {key: [] for key in whole}
    for key, some in groups.items():
        merged[next(other for other in whole if key <= other)] += some
    return merged


def _by_prefix(names: Sequence[str]) -> list[FeatureGroup]:
    parted = {name: match.groups() for name in names if (match := _PREFIX.fullmatch(name))}
    sizes = Counter(first for first, _ in parted.values())
    usual = [first for first, size in sizes.items() if size >= LEAST_FLAGS]
    inside = [name for name in names if name in parted and parted[name][0] in usual]
    if 1 <= len(usual) <= 3 and len(inside) >= 0.8 * len(names):
        return [
            FeatureGroup(
                first,
                "onehot",
                tuple(name for name in inside if parted[name][0] == first),
                tuple(parted[name][1] for name in inside if parted[name][0] == first),
            )
            for first in usual
        ]
    coded = [name for name in names if CODE.fullmatch(name.strip())]
    chosen = coded if len(coded) >= 0.8 * len(names) else list(names)
    return [FeatureGroup("feature", "onehot", tuple(chosen), tuple(chosen))]


def is_no(text: str) -> bool:
    """Whether a cell of a one-hot column says that the row lacks the feature."""
    return text.strip().lower() in NO


def features_of(groups: Iterable[FeatureGroup]) -> set[str]:
    """All columns of some groups."""
    return {column for group in groups for column in group.columns}

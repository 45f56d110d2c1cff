"""Which columns of a table belong together as one kind of feature."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

from swiftcore.data.building.layouts.profile import (
    CODE,
    NO,
    Profile,
    list_separator,
    numbers_are_codes,
    plain_kind,
)

MIN_FLAGS, MIN_BESIDE = 3, 5  # columns of yes and no: alone, and beside other features
_NUMBER = re.compile(r"\d+")
_PREFIX = re.compile(r"([^\W\d_][^_:.=/|\s-]*)[_:.=/|\s-]+(.+)")
_ENDS = " _-.#:()/"
NAMELESS = "feature"  # a mode of features that have no common name
OFTEN, MIN_RATE = 2.0, 0.35  # of a column that says yes far more often than others
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
    profiles: Mapping[str, Profile], usual: tuple[str, ...] = ("label", "list", "text")
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
        columns = [profiles[one] for one in sorted(numbers, key=numbers.__getitem__)]
        coded = all(numbers_are_codes(one.name, one.counts) for one in columns)
        kinds = (*usual, "whole", "number") if coded else usual
        if len(columns) > 1 and _in_a_row(numbers) and _one_kind(columns, kinds):
            found.append(_numbered(_stem_name(stem), columns))
        else:
            for run in _runs(numbers, profiles, kinds):
                found.append(_numbered(run[0], [profiles[one] for one in run]))
    return found


def _numbered(name: str, columns: Sequence[Profile]) -> FeatureGroup:
    """A group of columns; whether their cells hold lists is told by all of them together."""
    separator = list_separator(_pooled(columns))
    names = tuple(one.name for one in columns)
    return FeatureGroup(name, "wide", names, separators=(separator,) * len(names))


def _pooled(columns: Sequence[Profile]) -> Counter[str]:
    pooled: Counter[str] = Counter()
    for one in columns:
        pooled.update(one.counts)
    return pooled


def _in_a_row(numbers: Mapping[str, int]) -> bool:
    each = sorted(numbers.values())
    return each == list(range(each[0], each[0] + len(each)))


def _one_kind(columns: Sequence[Profile], kinds: tuple[str, ...]) -> bool:
    """Whether the columns hold the same kind of entries: many are in several of them."""
    pooled = _pooled(columns)
    if not pooled or plain_kind(pooled) not in kinds:
        return False
    within = Counter(text for one in columns for text in one.counts)
    entries = sum(one.filled for one in columns)
    if columns[0].filled < FEW_ENTRIES and all(one.filled < FEW_ENTRIES for one in columns):
        return any(times > 1 for times in within.values())
    return sum(n for text, n in pooled.items() if within[text] > 1) >= SHARED * entries


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


def flag_groups(
    profiles: Sequence[Profile], beside: bool, order: Sequence[str]
) -> list[FeatureGroup]:
    """Columns of yes and no, one per feature, by the first part of their names if they have one.

    Parameters
    ----------
    beside : bool
        Whether the table has other features; then only many columns with the very same entries
        are features, and others describe the rows.
    order : sequence of str
        All columns of the table: features stand side by side.
    """
    grades: dict[frozenset[str], list[Profile]] = defaultdict(list)
    for one in profiles:
        if one.kind == "grade":
            grades[one.vocabulary].append(one)
    graded = list(_merged(grades).values())
    flags = [one for one in profiles if one.kind != "grade"]
    if beside:
        kept = [one for some in (*graded, flags) if len(some) >= MIN_BESIDE for one in some]
    else:
        kept = [one for some in (flags, *graded) if len(some) >= MIN_FLAGS for one in some]
    names = [one.name for one in kept]
    return _by_prefix(names, order) if len(kept) >= MIN_FLAGS else []


def beside_numbered(names: Iterable[str], groups: Iterable[FeatureGroup]) -> set[str]:
    """Columns numbered as those of a group are, such as poa_1, poa_2 beside diag_1, diag_2."""
    stems: dict[str, dict[str, str]] = defaultdict(dict)
    for name in names:
        if number := _NUMBER.search(name):
            stems[name[: number.start()] + "#" + name[number.end() :]][name] = number.group()
    series = [set(_NUMBER.findall(" ".join(group.columns))) for group in groups]
    return {
        name
        for numbers in stems.values()
        if len(numbers) > 1 and any(set(numbers.values()) == one for one in series)
        for name in numbers
    }


def _merged(groups: Mapping[frozenset[str], list[Profile]]) -> dict[frozenset[str], list[Profile]]:
    """Graded columns whose entries are among those of another belong to it."""
    whole = [key for key in groups if not any(key < other for other in groups)]
    merged: dict[frozenset[str], list[Profile]] = {key: [] for key in whole}
    for key, some in groups.items():
        merged[next(other for other in whole if key <= other)] += some
    return merged


def _by_prefix(names: Sequence[str], order: Sequence[str]) -> list[FeatureGroup]:
    parted = {name: match.groups() for name in names if (match := _PREFIX.fullmatch(name))}
    sizes = Counter(first for first, _ in parted.values())
    usual = [first for first, size in sizes.items() if size >= MIN_FLAGS]
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
    chosen = coded if len(coded) >= 0.8 * len(names) else _side_by_side(names, order)
    return [FeatureGroup(NAMELESS, "onehot", tuple(chosen), tuple(chosen))]


def _side_by_side(names: Sequence[str], order: Sequence[str]) -> list[str]:
    """The columns without one or two that stand apart from all the others."""
    runs: list[list[str]] = [[]]
    for column in order:
        if column in names:
            runs[-1].append(column)
        elif runs[-1]:
            runs.append([])
    long = [run for run in runs if len(run) >= MIN_FLAGS]
    return [name for run in long for name in run] if long else list(names)


def unlike_others(group: FeatureGroup, profiles: Mapping[str, Profile]) -> list[str]:
    """Columns of a one-hot group, named by words, that say yes far more often than the others.

    One of them may be the outcome: nothing else would tell.
    """
    if group.name != NAMELESS or all(map(CODE.fullmatch, group.columns)):
        return []
    rates = {
        name: sum(n for text, n in profiles[name].counts.items() if not is_no(text))
        / max(profiles[name].rows, 1)
        for name in group.columns
    }
    usual = sorted(rates.values())[len(rates) // 2]
    return [name for name, rate in rates.items() if rate > max(OFTEN * usual, MIN_RATE)]


def is_no(text: str) -> bool:
    """Whether a cell of a one-hot column says that the row lacks the feature."""
    return text.strip().lower() in NO


def features_of(groups: Iterable[FeatureGroup]) -> set[str]:
    """All columns of some groups."""
    return {column for group in groups for column in group.columns}

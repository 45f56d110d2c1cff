"""Group codes: diagnoses to CCS or categories, medications to ATC, anything by a user's map."""

from __future__ import annotations

import functools
import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.building.ccs import (
    SYSTEMS,
    ccs_categories,
    ccs_codes,
    ccs_codes_near,
    guess_systems,
    icd_category,
    plain_code,
)
from swiftcore.data.building.events import Cells, Events
from swiftcore.data.reading.coded import Coded
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import refuse
from swiftcore.phenotypes.labels import split_label

MAX_UNKNOWN = 0.8
CCS_TITLE = "CCS single level (AHRQ)"
_ATC = re.compile(r"^[A-Z](\d\d([A-Z]([A-Z](\d\d)?)?)?)?$")


@dataclass(frozen=True)
class CodeMap:
    """Code (without dot, upper case) to group name.

    Attributes
    ----------
    title : str
        What to call the grouping.
    groups : mapping of str to mapping
        Per code system ("icd9", "icd10", or "" for any) the group of every code.
    """

    title: str
    groups: Mapping[str, Mapping[str, str]]
    keeps_unknown = False

    def group(self, code: str, system: str) -> str:
        """The group of one code, or of the first of several joined by commas; "" if none."""
        for part in code.split(","):
            plain = plain_code(part)
            systems = [system] if system in self.groups else list(self.groups)
            for one in systems:
                if plain in self.groups[one]:
                    return self.groups[one][plain]
        return ""

    def near(self, code: str, system: str) -> str:
        """A group for a code that has none of its own; "" here: only the map's codes count."""
        del code, system
        return ""


class CcsMap(CodeMap):
    """The CCS, which also has a place for categories ("428") and for other editions' codes."""

    def near(self, code: str, system: str) -> str:
        """The group that most codes have which begin like this one.

        Of two groups with equally many codes, the one whose codes come first is taken.
        """
        if system not in self.groups:  # no diagnosis by its form: digits may mean anything
            return ""
        for part in code.split(","):
            if below := ccs_codes_near(part, system):
                return Counter(self.groups[system][one] for one in below).most_common(1)[0][0]
        return ""


@dataclass(frozen=True)
class CodeCut:
    """Groups that the codes themselves spell out: the beginning of a code is its group.

    Attributes
    ----------
    title : str
        What to call the grouping.
    cut : callable
        The group of one code in its system; "" if it is no such code.
    """

    title: str
    cut: Callable[[str, str], str]
    keeps_unknown = True

    def group(self, code: str, system: str) -> str:
        """The group of one code, or of the first of several joined by commas; "" if none."""
        return next(filter(None, (self.cut(part, system) for part in code.split(","))), "")

    def near(self, code: str, system: str) -> str:
        """None: what is no such code has no beginning that means anything."""
        del code, system
        return ""


Grouping = CodeMap | CodeCut


@functools.cache
def ccs() -> CcsMap:
    """The CCS single-level diagnosis groups of both editions, which number them alike."""
    categories = ccs_categories()
    groups = {
        system: {code: categories[number].name for code, number in ccs_codes(system).items()}
        for system in SYSTEMS
    }
    return CcsMap(CCS_TITLE, groups)


def icd_categories() -> CodeCut:
    """ICD categories: three characters, four for the E codes of ICD-9."""
    return CodeCut("ICD category (three characters)", icd_category)


def atc(characters: int) -> CodeCut:
    """ATC groups by their first 1, 3, 4 or 5 characters, which are the levels 1 to 4."""

    def cut(code: str, system: str) -> str:
        del system
        plain = plain_code(code)
        return plain[:characters] if len(plain) >= characters and _ATC.match(plain) else ""

    return CodeCut(f"ATC ({characters} character{'s' if characters > 1 else ''})", cut)


def map_from_rows(rows: list[list[str]], title: str, what: str = "group") -> CodeMap:
    """A user's map: code, group and, if there is a third column, the group's name."""
    groups: dict[str, str] = {}
    doubtful = []
    for row in rows:
        if len(row) >= 2 and row[0].strip() and row[1].strip():
            name = row[2].strip() if len(row) > 2 and row[2].strip() else row[1].strip()
            if groups.setdefault(plain_code(row[0]), name) != name:
                doubtful.append(row[0])
    if doubtful:
        raise refuse(
            "map-doubtful",
            f"The map gives one code two {what}s",
            title,
            f"{len(doubtful)} such codes, for example '{doubtful[0]}'",
            f"Leave one {what} per code.",
        )
    if not groups:
        raise refuse(
            "map-empty",
            "The map holds no codes",
            title,
            "0 codes",
            "Give a CSV with the columns code, group and perhaps name."
            if what == "group"
            else f"Give a CSV with the columns code and {what}.",
        )
    return CodeMap(title, {"": groups})


def regroup(events: Events, grouping: Grouping, findings: Findings) -> Events:
    """The same events with groups as features; events without a group are counted.

    A label's own system is used where the source names it; otherwise its form decides, and
    for V and E codes, which both systems have, the other codes of the table do.
    """
    systems = events.system or guess_systems(events.codes)
    feature, lost = _grouped(events.feature, events.codes, systems, grouping, events.name, findings)
    grouped = replace(events, feature=feature, codes=feature.labels, system=())
    return grouped.take(~lost)


def regroup_cells(cells: Cells, place: int, grouping: Grouping, findings: Findings) -> Cells:
    """The same for one feature of a long table, whose labels may hold a code and a name."""
    feature = cells.features[place]
    codes = tuple(split_label(label)[0] or label for label in feature.labels)
    systems = guess_systems(codes)
    new, lost = _grouped(feature, codes, systems, grouping, feature.name, findings)
    features = (*cells.features[:place], new, *cells.features[place + 1 :])
    return replace(cells, features=features).take(~lost)


def _grouped(
    feature: Coded,
    codes: Sequence[str],
    systems: Sequence[str],
    grouping: Grouping,
    where: str,
    findings: Findings,
) -> tuple[Coded, NDArray[np.bool_]]:
    """Groups as labels, and which rows have none; refused when hardly any has one."""
    keys = list(zip(codes, feature.labels, systems, strict=True))
    names = [grouping.group(code, one) or grouping.group(label, one) for code, label, one in keys]
    near = {
        at: found
        for at, (code, _, system) in enumerate(keys)
        if not names[at] and (found := grouping.near(code, system))
    }
    names = [near.get(at, name) for at, name in enumerate(names)]
    used = np.bincount(feature.codes, minlength=len(names)) > 0
    lost = feature.marked([not name for name in names])
    if len(lost) and lost.mean() > MAX_UNKNOWN:
        raise refuse(
            "map-foreign",
            "The grouping knows hardly any of the codes",
            where,
            f"{lost.mean():.0%} of the events unknown to {grouping.title}",
            "Choose the grouping that fits the codes.",
        )
    known = {name for name, one in zip(names, used.tolist(), strict=True) if name and one}
    findings.note(
        f"{where}: {int(used.sum()):,} codes were grouped by {grouping.title} into {len(known):,}."
    )
    _note_near({codes[at]: name for at, name in near.items() if used[at]}, where, findings)
    if not grouping.keeps_unknown:
        reason = f"events whose code is not in {grouping.title}"
        findings.leave_out(reason, int(lost.sum()), where)
        return feature.relabel(names), lost
    if lost.any():
        unknown = len(np.unique(feature.codes[lost]))
        findings.note(
            f"{where}: {unknown:,} codes ({int(lost.sum()):,} events) have no "
            f"{grouping.title}; they stay as they are."
        )
    return feature.relabel(_apart(names, feature.labels, systems)), np.zeros_like(lost)


def _note_near(near: Mapping[str, str], where: str, findings: Findings) -> None:
    if near:
        code, group = next(iter(near.items()))
        findings.note(
            f"{where}: {len(near):,} codes are not in the CCS themselves and were grouped like "
            f"most codes that begin so, for example {code} as '{group}'."
        )


def _apart(names: Sequence[str], labels: Sequence[str], systems: Sequence[str]) -> list[str]:
    """Categories with their system where both systems have them ("V45"), else alone."""
    found = Counter(name for name, _ in set(zip(names, systems, strict=True)) if name)
    return [
        (f"{name} ({system})" if found[name] > 1 else name) or label
        for name, label, system in zip(names, labels, systems, strict=True)
    ]

"""Group codes: ICD-9 and ICD-10-CM diagnoses to CCS, anything else by a user's map file."""

from __future__ import annotations

import functools
from collections.abc import Mapping
from dataclasses import dataclass, replace

from swiftcore.data.building.ccs import (
    SYSTEMS,
    ccs_categories,
    ccs_codes,
    guess_systems,
    plain_code,
)
from swiftcore.data.building.events import Events
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import refuse

MAX_UNKNOWN = 0.8
CCS_TITLE = "CCS single level (AHRQ)"


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

    def group(self, code: str, system: str) -> str:
        """The group of one code, or of the first of several joined by commas; "" if none."""
        for part in code.split(","):
            plain = plain_code(part)
            systems = [system] if system in self.groups else list(self.groups)
            for one in systems:
                if plain in self.groups[one]:
                    return self.groups[one][plain]
        return ""


@functools.cache
def ccs() -> CodeMap:
    """The CCS single-level diagnosis groups of both editions, which number them alike."""
    categories = ccs_categories()
    groups = {
        system: {code: categories[number].name for code, number in ccs_codes(system).items()}
        for system in SYSTEMS
    }
    return CodeMap(CCS_TITLE, groups)


def map_from_rows(rows: list[list[str]], title: str) -> CodeMap:
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
            "The map gives one code two groups",
            title,
            f"{len(doubtful)} such codes, for example '{doubtful[0]}'",
            "Leave one group per code.",
        )
    if not groups:
        raise refuse(
            "map-empty",
            "The map holds no codes",
            title,
            "0 codes",
            "Give a CSV with the columns code, group and perhaps name.",
        )
    return CodeMap(title, {"": groups})


def regroup(events: Events, codes: CodeMap, findings: Findings) -> Events:
    """The same events with groups as features; events without a group are counted.

    A label's own system is used where the source names it; otherwise its form decides, and
    for V and E codes, which both systems have, the other codes of the table do.
    """
    systems = events.system or guess_systems(events.codes)
    names = [
        codes.group(code, system) or codes.group(label, system)
        for code, label, system in zip(events.codes, events.feature.labels, systems, strict=True)
    ]
    lost = events.feature.marked([not name for name in names])
    findings.leave_out(f"events whose code is not in {codes.title}", int(lost.sum()), events.name)
    if lost.mean() > MAX_UNKNOWN:
        raise refuse(
            "map-foreign",
            "The grouping knows hardly any of the codes",
            events.name,
            f"{lost.mean():.0%} of the events unknown to {codes.title}",
            "Choose the grouping that fits the codes.",
        )
    findings.note(
        f"{events.name}: {len(events.codes):,} codes were grouped by {codes.title} into "
        f"{len(set(names) - {''}):,}."
    )
    feature = events.feature.relabel(names)
    grouped = replace(events, feature=feature, codes=feature.labels, system=())
    return grouped.take(~lost)

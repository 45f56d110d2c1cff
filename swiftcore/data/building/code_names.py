"""What the options say of codes: how to group them, what they are called, in which modes."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

import numpy as np

from swiftcore.data.building.ccs import guess_systems
from swiftcore.data.building.code_groups import (
    CodeMap,
    Grouping,
    atc,
    ccs,
    icd_categories,
    map_from_rows,
    regroup,
    regroup_cells,
)
from swiftcore.data.building.column_roles import DRUG_NAMES, plain_name
from swiftcore.data.building.events import Cells, Records
from swiftcore.data.building.feature_labels import labelled
from swiftcore.data.options import ATC_GROUPS, CCS, GROUPINGS, ICD_CATEGORIES, BuildOptions
from swiftcore.data.reading.coded import Coded
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.source import Budget, Source
from swiftcore.data.reading.text import read_text_table
from swiftcore.errors import InvalidSettings, refuse
from swiftcore.phenotypes.labels import split_label


@dataclass(frozen=True)
class CodedModes:
    """Which of the feature modes holds diagnoses and which medications; None: no such mode."""

    diagnoses: int | None
    medications: int | None


def coded_modes(names: Sequence[str]) -> CodedModes:
    """By their names; where no name tells, diagnoses come first and medications second."""
    drugs = next((at for at, one in enumerate(names) if DRUG_NAMES.search(plain_name(one))), None)
    others = [at for at in range(len(names)) if at != drugs]
    if drugs is None and len(names) > 1:
        drugs = 1
    return CodedModes(others[0] if others else None, drugs)


def group_records(records: Records, options: BuildOptions, findings: Findings) -> Records:
    """The records with the groups that the options ask for as features."""
    events = list(records.events)
    for place, grouping in _groupings([one.name for one in events], options, findings):
        events[place] = regroup(events[place], grouping, findings)
    return replace(records, events=tuple(events))


def group_cells(cells: Cells, options: BuildOptions, findings: Findings) -> Cells:
    """The same for a long table."""
    for place, grouping in _groupings([one.name for one in cells.features], options, findings):
        cells = regroup_cells(cells, place, grouping, findings)
    return cells


def _groupings(
    modes: Sequence[str], options: BuildOptions, findings: Findings
) -> list[tuple[int, Grouping]]:
    known = coded_modes(modes)
    found = []
    for place, setting, what in (
        (known.diagnoses, options.code_groups, "diagnoses"),
        (known.medications, options.medication_groups, "medications"),
    ):
        if setting and place is None:
            findings.note(f"There are no {what} to group: the features are {', '.join(modes)}.")
        elif setting and place is not None:
            found.append((place, _grouping(setting, options)))
    return found


def _grouping(setting: str, options: BuildOptions) -> Grouping:
    if setting == CCS:
        return ccs()
    if setting == ICD_CATEGORIES:
        return icd_categories()
    if setting in ATC_GROUPS:
        return atc(ATC_GROUPS[setting])
    return _user_map(setting, options, ("code", "group", "name"))


def name_records(records: Records, options: BuildOptions, findings: Findings) -> Records:
    """The records with the names that the options give to codes, as "name [code]"."""
    if not options.code_names:
        return records
    modes = _named(
        [
            (table.name, table.feature, table.codes, table.system or guess_systems(table.codes))
            for table in records.events
        ],
        options,
        findings,
    )
    both = zip(records.events, modes, strict=True)
    events = tuple(replace(table, feature=feature) for table, feature in both)
    return replace(records, events=events)


def name_cells(cells: Cells, options: BuildOptions, findings: Findings) -> Cells:
    """The same for a long table."""
    if not options.code_names:
        return cells
    modes = []
    for one in cells.features:
        codes = tuple(split_label(label)[0] or label for label in one.labels)
        modes.append((one.name, one, codes, guess_systems(codes)))
    return replace(cells, features=tuple(_named(modes, options, findings)))


_Mode = tuple[str, Coded, tuple[str, ...], tuple[str, ...]]  # name, feature, codes, systems


def _named(modes: Sequence[_Mode], options: BuildOptions, findings: Findings) -> list[Coded]:
    """The features under their names; refused when not one has a name."""
    own = options.code_names != CCS
    names = _user_map(options.code_names, options, ("code", "name")) if own else ccs()
    diagnoses = coded_modes([mode for mode, *_ in modes]).diagnoses
    features, any_named = [], options.code_groups == CCS
    for place, (mode, feature, codes, systems) in enumerate(modes):
        grouped = place == diagnoses and options.code_groups == CCS  # these are names already
        if grouped or not (own or place == diagnoses):  # ATC codes look like those of ICD-10
            features.append(feature)
            continue
        found = [
            names.group(code, system) or names.near(code, system)
            for code, system in zip(codes, systems, strict=True)
        ]
        used = np.bincount(feature.codes, minlength=len(found)) > 0
        unknown = sum(not name for name, one in zip(found, used.tolist(), strict=True) if one)
        any_named |= unknown < int(used.sum())
        if unknown:
            findings.note(
                f"{mode}: {unknown:,} of {int(used.sum()):,} codes have no name in {names.title}; "
                "they stay as they are."
            )
        pairs = [
            (code, name) if name else ("", label)
            for code, name, label in zip(codes, found, feature.labels, strict=True)
        ]
        features.append(labelled(feature, pairs, systems, always_codes=True)[0])
    if not any_named:
        raise refuse(
            "names-foreign",
            "The table names none of the codes",
            ", ".join(mode for mode, *_ in modes),
            f"no code of the data in {names.title}",
            "Give a table of the codes that the data use, or group by names in the map of groups.",
        )
    return features


def _user_map(setting: str, options: BuildOptions, wanted: Sequence[str]) -> CodeMap:
    """A map file: the wanted columns by their names, else the first ones; two are needed."""
    path = Path(setting)
    if not path.exists():
        raise refuse(
            "map-missing",
            "There is no such table of codes",
            "options code_groups, medication_groups, code_names",
            f"'{path.name}'",
            f"Give the path of a CSV, or one of {', '.join(GROUPINGS)}.",
            kind=InvalidSettings,
        )
    source = Source(path, Budget(options.limits))
    file = source.names[0]
    table = read_text_table(source.read(file), file, options, source.budget, Findings())
    lower = {column.strip().lower(): column for column in table.columns}
    named = [lower[one] for one in wanted if one in lower]
    chosen = named if set(wanted[:2]) <= set(lower) else list(table.columns[: len(wanted)])
    if len(chosen) < 2:
        raise refuse(
            "map-columns",
            "The map needs two columns",
            path.name,
            f"{len(table.columns)} column",
            f"Give the columns {wanted[0]} and {wanted[1]}.",
        )
    columns = [table.texts(column) for column in chosen]
    rows = [list(row) for row in zip(*columns, strict=True)]
    return map_from_rows(rows, path.name, wanted[1])

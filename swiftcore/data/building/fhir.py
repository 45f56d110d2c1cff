"""FHIR R4 resources to records: one code system per kind, references followed, nothing voided."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.building.events import Events, Records
from swiftcore.data.building.feature_labels import labelled
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.coded import Coded, days
from swiftcore.data.reading.fhir_resources import (
    EVENTS,
    MEDICATIONS,
    Coding,
    Event,
    Resources,
    read_resources,
)
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.source import Source
from swiftcore.errors import refuse, where_list

FHIR = "fhir"
MODES = {
    "Condition": "condition",
    **dict.fromkeys(MEDICATIONS, "medication"),
    "Procedure": "procedure",
}
SYSTEMS = {  # short names; of systems that are equally frequent the first is used
    "http://hl7.org/fhir/sid/icd-10-cm": "icd10",
    "http://hl7.org/fhir/sid/icd-10": "icd10",
    "http://hl7.org/fhir/sid/icd-9-cm": "icd9",
    "http://www.nlm.nih.gov/research/umls/rxnorm": "rxnorm",
    "http://www.whocc.no/atc": "atc",
    "http://hl7.org/fhir/sid/ndc": "ndc",
    "http://snomed.info/sct": "snomed",
    "http://www.ama-assn.org/go/cpt": "cpt",
}
_MARK = "\x1f"  # between system and code while both are one


def read_fhir(source: Source, options: BuildOptions, findings: Findings) -> Records:
    """Conditions, medications and procedures of a FHIR export, and who died.

    Raises
    ------
    InvalidData
        When it holds no events, or a file is damaged.
    """
    found = read_resources(source, findings)
    for (kind, status), count in found.void.items():
        findings.leave_out(f"resources marked '{status}'", count, kind)
    findings.leave_out("resources without an id", found.without_id, source.path.name)
    if found.other:
        findings.note(f"Resources that are not used: {where_list(sorted(found.other), 8)}.")
    kinds = _kinds(found, options, source.path.name, findings)
    events = tuple(_events(kind, found, findings) for kind in kinds)
    _note_strangers(events, found, findings)
    traits = {
        column: {who: about[column] for who, about in found.patients.items()}
        for column in ("gender", "birthDate", "deceased")
    }
    return Records(events, traits if found.patients else {}, _died(found, findings))


def _kinds(found: Resources, options: BuildOptions, where: str, findings: Findings) -> list[str]:
    """The types of resources that become modes.

    Named by the option `tables`; else conditions and the first kind of medication there is,
    since a request and its dispense are one fact told twice. Procedures stand in for what is
    missing.
    """
    present = [kind for kind in EVENTS if kind in found.events]
    if options.tables:
        wanted = {part.strip().lower() for part in options.tables.split(",")}
        chosen = [kind for kind in present if kind.lower() in wanted]
    else:
        first = next((kind for kind in MEDICATIONS if kind in present), "")
        chosen = [kind for kind in ("Condition", first) if kind in present]
        if len(chosen) < 2 and "Procedure" in present:
            chosen.append("Procedure")
    if not chosen:
        raise refuse(
            "fhir-no-events",
            "The export holds no conditions, medications or procedures to use",
            where,
            f"resources {where_list(sorted({*found.counts, *found.other})) or 'none'}",
            f"Export resources such as {', '.join(EVENTS[:2])} and Patient.",
        )
    rest = [kind for kind in present if kind not in chosen]
    if rest:
        findings.note(
            f"Not used: {where_list(rest)}; name what to use, such as "
            f"tables={', '.join([*chosen, rest[0]])}."
        )
    return chosen


def _events(kind: str, found: Resources, findings: Findings) -> Events:
    listed = found.events[kind]
    concepts = [_concept(event, found) for event in listed]
    system = _main_system(kind, [codings for codings, _ in concepts], findings)
    feature, pairs = _paired(MODES[kind], _named(kind, concepts, system, findings))
    split = [_MARK in key for key, _ in pairs]
    systems = tuple(
        key.split(_MARK)[0] if both else "" for (key, _), both in zip(pairs, split, strict=True)
    )
    plain = [(key.split(_MARK)[-1], name) for key, name in pairs]
    feature, codes, systems = labelled(feature, plain, systems)
    who = Coded.from_texts("patient", [found.resolve(one.subject, "Patient") for one in listed])
    visits = [found.resolve(one.encounter, "Encounter") for one in listed]
    visit = Coded.from_texts("encounter", visits) if any(visits) else None
    findings.mapping[MODES[kind]] = f"{kind}: {system or 'text'}"
    events = Events(
        MODES[kind],
        who,
        feature,
        codes,
        systems,
        visit,
        _times(kind, listed, visits, found, findings),
    )
    return events.usable(findings, kind)


def _concept(event: Event, found: Resources) -> tuple[tuple[Coding, ...], str]:
    if event.codings or not event.medication:
        return event.codings, event.text
    key = f"Medication/{found.resolve(event.medication, 'Medication')}"
    codings, text = found.medications.get(key, ((), ""))
    return codings, text or event.text


def _main_system(kind: str, concepts: Sequence[tuple[Coding, ...]], findings: Findings) -> str:
    """The code system that most resources have; a concept may be coded in several."""
    counts = Counter(
        name for codings in concepts for name in {_short(system) for system, _, _ in codings}
    )
    if not counts:
        return ""
    order = list(dict.fromkeys(SYSTEMS.values()))
    ranks = {name: order.index(name) if name in order else len(order) for name in counts}
    best = min(counts, key=lambda name: (-counts[name], ranks[name], name))
    if len(counts) > 1:
        told = ", ".join(
            f"{name or 'no system'} in {count:,}" for name, count in counts.most_common(5)
        )
        findings.note(
            f"{kind}: of {len(concepts):,} resources codes are of {told}; {best or 'no system'} is "
            "used where it is given, else the first code."
        )
    return best


def _short(system: str) -> str:
    return SYSTEMS.get(system, system)


def _named(
    kind: str, concepts: Sequence[tuple[tuple[Coding, ...], str]], system: str, findings: Findings
) -> list[tuple[str, str]]:
    """System and code of each concept as one, and its name.

    The name is what the system calls the code. Where that is left out it is what others call it,
    or the most frequent text that stands with it; a concept without a code goes by its text.
    """
    chosen = [
        next((one for one in codings if _short(one[0]) == system), codings[0]) if codings else None
        for codings, _ in concepts
    ]
    keys = [f"{_short(one[0])}{_MARK}{one[1]}" if one else "" for one in chosen]
    displays: dict[str, Counter[str]] = {}
    texts: dict[str, Counter[str]] = {}
    for key, one, (_, text) in zip(keys, chosen, concepts, strict=True):
        if one and one[2]:
            displays.setdefault(key, Counter())[one[2]] += 1
        elif key and text:
            texts.setdefault(key, Counter())[text] += 1
    usual = {
        key: max(names, key=lambda one: (names[one], one))
        for key, names in {**texts, **displays}.items()
    }
    several = sum(len(names) > 1 for names in displays.values())
    if several:
        findings.note(f"{kind}: {several:,} codes go under several names; each name is a feature.")
    return [
        (key, (one[2] if one else text) or usual.get(key, ""))
        for key, one, (_, text) in zip(keys, chosen, concepts, strict=True)
    ]


def _paired(name: str, keys: list[tuple[str, str]]) -> tuple[Coded, list[tuple[str, str]]]:
    distinct = list(dict.fromkeys(keys))
    place = {key: at for at, key in enumerate(distinct)}
    codes = np.fromiter((place[key] for key in keys), np.int64, len(keys))
    return Coded(name, codes, tuple(map(str, range(len(distinct))))), distinct


def _times(
    kind: str, listed: list[Event], visits: list[str], found: Resources, findings: Findings
) -> NDArray[np.float64] | None:
    """The day of each event; that of its encounter where it has none of its own."""
    dates = [
        event.date or found.encounters.get(visit, "")
        for event, visit in zip(listed, visits, strict=True)
    ]
    return days(Coded.from_texts("date", dates), kind, "", findings) if any(dates) else None


def _died(found: Resources, findings: Findings) -> dict[str, float] | None:
    gone = {who: about["died"] for who, about in found.patients.items() if about["deceased"] == "1"}
    if not gone:
        return None
    when = days(Coded.from_texts("deceasedDateTime", list(gone.values())), "Patient", "", findings)
    return dict(zip(gone, when.tolist(), strict=True))


def _note_strangers(events: Sequence[Events], found: Resources, findings: Findings) -> None:
    """Events of patients whom the export does not hold are kept and counted."""
    for one in events if found.patients else ():
        strange = one.subject.marked([label not in found.patients for label in one.subject.labels])
        if strange.any():
            findings.note(
                f"{int(strange.sum()):,} events in {one.name} belong to patients that are not in "
                "the export."
            )

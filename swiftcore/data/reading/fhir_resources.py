"""Resources of a FHIR R4 export, from bulk ndjson or bundles, cut down to what is used of them."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.json_records import looks_like_json, parse_values
from swiftcore.data.reading.source import Source

MEDICATIONS = (
    "MedicationRequest",
    "MedicationStatement",
    "MedicationAdministration",
    "MedicationDispense",
)
EVENTS = ("Condition", *MEDICATIONS, "Procedure")
USED = ("Patient", "Medication", "Encounter", *EVENTS)
_TYPE = re.compile(rb'"resourceType"\s*:\s*"(\w+)"')
_DATES = {
    "Condition": ("onsetDateTime", "onsetPeriod", "recordedDate"),
    "Procedure": ("performedDateTime", "performedPeriod"),
    "MedicationRequest": ("authoredOn",),
    "MedicationStatement": ("effectiveDateTime", "effectivePeriod", "dateAsserted"),
    "MedicationAdministration": ("effectiveDateTime", "effectivePeriod"),
    "MedicationDispense": ("whenHandedOver", "whenPrepared"),
}
# Statuses that say it never was so.
_VOID = ("entered-in-error", "refuted", "cancelled", "not-done", "not-taken", "declined")
Resource = dict[str, Any]
Coding = tuple[str, str, str]
"""System, code and name."""


@dataclass(frozen=True)
class Event:
    """What happened to whom: references as written, codings as given, text, date."""

    subject: str
    encounter: str
    codings: tuple[Coding, ...]
    text: str
    date: str
    medication: str = ""


@dataclass
class Resources:
    """Everything read so far.

    Attributes
    ----------
    aliases : dict of str to str
        What else a resource is called ("urn:uuid:...", "identifier system|value"), to "Type/id".
    medications : dict of str to (codings, text)
        By "Medication/id".
    counts, other : dict of str to int
        How many of each type that is used, and that is not.
    """

    patients: dict[str, Resource] = field(default_factory=dict)
    events: dict[str, list[Event]] = field(default_factory=dict)
    medications: dict[str, tuple[tuple[Coding, ...], str]] = field(default_factory=dict)
    encounters: dict[str, str] = field(default_factory=dict)
    aliases: dict[str, str] = field(default_factory=dict)
    counts: dict[str, int] = field(default_factory=dict)
    other: dict[str, int] = field(default_factory=dict)
    without_id: int = 0
    void: dict[tuple[str, str], int] = field(default_factory=dict)

    def add(self, resource: Resource, address: str = "") -> None:
        """Take one resource in; `address` is what a bundle calls it."""
        kind = _text(resource.get("resourceType"))
        if kind == "Bundle":
            for entry in _list(resource.get("entry")):
                inner = _dict(_dict(entry).get("resource"))
                if inner:
                    self.add(inner, _text(_dict(entry).get("fullUrl")))
            return
        if kind not in USED:
            self.other[kind] = self.other.get(kind, 0) + 1
            return
        self.counts[kind] = self.counts.get(kind, 0) + 1
        own = _text(resource.get("id")) or address.rsplit(":", 1)[-1].rsplit("/", 1)[-1]
        if address:
            self.aliases[address] = f"{kind}/{own}"
        if kind in EVENTS:
            self._add_event(kind, resource)
        elif not own:
            self.without_id += 1
        elif kind == "Patient":
            self._add_patient(own, resource)
        elif kind == "Medication":
            self.medications[f"Medication/{own}"] = concept(resource.get("code"))
        else:
            self.encounters[own] = _text(_dict(resource.get("period")).get("start"))

    def _add_patient(self, own: str, resource: Resource) -> None:
        died = resource.get("deceasedDateTime")
        gone = resource.get("deceasedBoolean") is True or bool(died)
        self.patients[own] = {
            "gender": _text(resource.get("gender")),
            "birthDate": _text(resource.get("birthDate")),
            "deceased": "1" if gone else "0",
            "died": _text(died),
        }
        for one in map(_dict, _list(resource.get("identifier"))):
            name = f"identifier {_text(one.get('system'))}|{_text(one.get('value'))}"
            self.aliases.setdefault(name, f"Patient/{own}")

    def _add_event(self, kind: str, resource: Resource) -> None:
        status = _void_status(resource)
        if status:
            self.void[kind, status] = self.void.get((kind, status), 0) + 1
            return
        either = _dict(resource.get("medication"))  # of R5
        named = resource.get("medicationCodeableConcept") or either.get("concept")
        codings, text = concept(resource.get("code") or named)
        medication = _dict(resource.get("medicationReference") or either.get("reference"))
        reference, text = (
            _text(medication.get("reference")),
            text or _text(medication.get("display")),
        )
        if reference.startswith("#"):
            for inner in map(_dict, _list(resource.get("contained"))):
                if _text(inner.get("id")) == reference[1:]:
                    codings, text = concept(inner.get("code"))
            reference = ""
        subject = resource.get("subject") or resource.get("patient")
        visit = _dict(resource.get("encounter") or resource.get("context"))
        self.events.setdefault(kind, []).append(
            Event(
                _reference(_dict(subject)),
                _text(visit.get("reference")),
                codings,
                text,
                _date(kind, resource),
                reference,
            )
        )

    def resolve(self, reference: str, kind: str) -> str:
        """The id of the resource of a type that a reference means; "" when it means another."""
        known = self.aliases.get(reference)
        if known is None and "?identifier=" in reference:
            known = self.aliases.get("identifier " + reference.split("?identifier=", 1)[1])
        if known is None and reference.startswith("urn:"):
            return reference.rsplit(":", 1)[-1]
        parts = (known or reference.split("/_history/", 1)[0]).rsplit("/", 2)
        return parts[-1] if len(parts) > 1 and parts[-2] == kind else ""


def first_type(source: Source, name: str) -> str:
    """The type of the first resource of a file; "" when it holds none."""
    head = source.unpacked_head(name)
    types = _TYPE.findall(head) if looks_like_json(head) else []
    return "Bundle" if b"Bundle" in types else types[0].decode() if types else ""


def read_resources(source: Source, findings: Findings) -> Resources:
    """All resources of a path; files of types that are not used are not opened.

    Raises
    ------
    InvalidData
        When a file is damaged.
    """
    found = Resources()
    for name in source.names:
        kind = first_type(source, name)
        if kind == "" or (kind not in USED and kind != "Bundle"):
            if kind:
                findings.note(f"{name} was not read: {kind} is not used.")
            continue
        before = sum(found.counts.values())
        for resource in fhir_values(source, name):
            found.add(resource)
        findings.tables[name] = sum(found.counts.values()) - before
    return found


def fhir_values(source: Source, name: str) -> Iterator[Resource]:
    """The resources of one file."""
    for value in parse_values(source.read(name), name):
        for one in value if isinstance(value, list) else [value]:
            if isinstance(one, dict):
                yield one


def concept(value: Any) -> tuple[tuple[Coding, ...], str]:
    """The codings of a CodeableConcept, and its text."""
    whole = _dict(value)
    codings = tuple(
        (_text(one.get("system")), _text(one.get("code")), _text(one.get("display")))
        for one in map(_dict, _list(whole.get("coding")))
        if _text(one.get("code"))
    )
    return codings, _text(whole.get("text"))


def _void_status(resource: Resource) -> str:
    """Why a resource says that nothing happened; "" when it does not."""
    if resource.get("doNotPerform") is True:
        return "do not perform"
    verified, _ = concept(resource.get("verificationStatus"))
    said = [_text(resource.get("status")), *(code for _, code, _ in verified)]
    return next((status for status in said if status in _VOID), "")


def _reference(value: Resource) -> str:
    """A literal reference, or the identifier that stands for one."""
    if reference := _text(value.get("reference")):
        return reference
    identifier = _dict(value.get("identifier"))
    if not identifier:
        return ""
    return f"identifier {_text(identifier.get('system'))}|{_text(identifier.get('value'))}"


def _date(kind: str, resource: Resource) -> str:
    for name in _DATES[kind]:
        value = resource.get(name)
        text = _text(value.get("start")) if isinstance(value, dict) else _text(value)
        if text:
            return text
    return ""


def _text(value: Any) -> str:
    return value if isinstance(value, str) else ""


def _dict(value: Any) -> Resource:
    return value if isinstance(value, dict) else {}


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []

"""FHIR as servers write it: references of every kind, several codings, voided resources."""

from __future__ import annotations

import json
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from swiftcore.data.building.fhir import read_fhir
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.source import Budget, Source
from swiftcore.errors import InvalidData

SNOMED, ICD = "http://snomed.info/sct", "http://hl7.org/fhir/sid/icd-10-cm"
RXNORM = "http://www.nlm.nih.gov/research/umls/rxnorm"
Write = Callable[[str, str | bytes], Path]


def code(*codings: tuple[str, str, str], text: str = "") -> dict[str, Any]:
    listed = [{"system": s, "code": c, **({"display": d} if d else {})} for s, c, d in codings]
    return {"coding": listed, **({"text": text} if text else {})}


def condition(subject: Any, concept: dict[str, Any], **more: Any) -> dict[str, Any]:
    reference = {"reference": subject} if isinstance(subject, str) else subject
    return {"resourceType": "Condition", "subject": reference, "code": concept, **more}


def records(path: Path, findings: Findings | None = None, **options: Any) -> Any:
    chosen = BuildOptions(**options)
    return read_fhir(Source(path, Budget(chosen.limits)), chosen, findings or Findings())


def ndjson(write: Write, *resources: dict[str, Any]) -> Path:
    return write("export.ndjson", "\n".join(json.dumps(one) for one in resources))


FLU = code((SNOMED, "6142004", "Influenza"))


def patient(own: str, **more: Any) -> dict[str, Any]:
    return {"resourceType": "Patient", "id": own, **more}


def test_references_of_every_kind_lead_to_the_patient(write: Write) -> None:
    entries = [
        {
            "fullUrl": "urn:uuid:11-22",
            "resource": patient("a", identifier=[{"system": "s", "value": "v"}]),
        },
        *(
            {"resource": condition(reference, FLU)}
            for reference in (
                "Patient/a",
                "https://server.example/fhir/Patient/a",
                "https://server.example/fhir/Patient/a/_history/3",
                "urn:uuid:11-22",
                "Patient?identifier=s|v",
                {"identifier": {"system": "s", "value": "v"}},
            )
        ),
        {"resource": condition("Group/a", FLU)},
    ]
    bundle = {"resourceType": "Bundle", "type": "collection", "entry": entries}
    findings = Findings()
    events = records(write("b.json", json.dumps(bundle, indent=1)), findings).events[0]
    assert [events.subject.labels[k] for k in events.subject.codes] == ["a"] * 6
    assert [one.count for one in findings.left_out] == [1]  # a group is no patient


def test_medications_by_reference_contained_and_by_text(write: Write) -> None:
    def request(**medication: Any) -> dict[str, Any]:
        subject = {"reference": "Patient/a"}
        return {"resourceType": "MedicationRequest", "subject": subject, **medication}

    aspirin = code((RXNORM, "1191", "Aspirin"))
    path = ndjson(
        write,
        patient("a"),
        {"resourceType": "Medication", "id": "m1", "code": aspirin},
        request(medicationReference={"reference": "Medication/m1"}),
        request(medicationReference={"reference": "urn:uuid:m1"}),
        request(medicationCodeableConcept=aspirin),
        request(
            medicationReference={"reference": "#x"},
            contained=[{"resourceType": "Medication", "id": "x", "code": aspirin}],
        ),
        request(medicationCodeableConcept={"text": "home-made syrup"}),
        request(medicationReference={"display": "Ointment"}),
        request(),
    )
    findings = Findings()
    events = records(path, findings).events[0]
    names = [events.feature.labels[k] for k in events.feature.codes]
    assert names == ["Aspirin"] * 4 + ["home-made syrup", "Ointment"]
    assert dict(zip(events.codes, events.system, strict=True))["1191"] == "rxnorm"
    assert [(one.count, "without an entry" in one.reason) for one in findings.left_out] == [
        (1, True)
    ]


def test_one_code_system_per_kind_and_names_where_display_is_missing(write: Write) -> None:
    both = code((SNOMED, "44054006", "Diabetes"), (ICD, "E11.9", ""), text="T2DM")
    path = ndjson(
        write,
        *(condition("Patient/a", both) for _ in range(3)),
        condition("Patient/b", code((ICD, "E11.9", ""), text="T2DM")),
        condition("Patient/b", code((ICD, "I10", "Hypertension"))),
        condition("Patient/b", code((SNOMED, "6142004", "Influenza"))),
    )
    findings = Findings()
    events = records(path, findings).events[0]
    names = [events.feature.labels[k] for k in events.feature.codes]
    assert names == ["T2DM"] * 4 + ["Hypertension", "Influenza"]
    assert set(zip(events.codes, events.system, strict=True)) == {
        ("E11.9", "icd10"),
        ("I10", "icd10"),
        ("6142004", "snomed"),
    }
    assert any("icd10 is used where it is given" in note for note in findings.notes)


def test_what_never_was_so_is_left_out_and_counted(write: Write) -> None:
    refuted = {"coding": [{"code": "refuted"}]}
    wrong = {"coding": [{"code": "entered-in-error"}]}
    path = ndjson(
        write,
        condition("Patient/a", FLU),
        condition("Patient/a", FLU, verificationStatus=refuted),
        condition("Patient/a", FLU, verificationStatus=wrong),
        {**condition("Patient/a", FLU), "resourceType": "Procedure", "status": "not-done"},
        {**condition("Patient/a", FLU), "resourceType": "Procedure", "status": "completed"},
    )
    findings = Findings()
    assert [len(one) for one in records(path, findings).events] == [1, 1]
    assert sorted((one.where, one.reason.split("'")[1]) for one in findings.left_out) == [
        ("Condition", "entered-in-error"),
        ("Condition", "refuted"),
        ("Procedure", "not-done"),
    ]


def test_people_dates_and_deaths_are_kept(write: Write) -> None:
    path = ndjson(
        write,
        patient(
            "a", gender="female", birthDate="1950-02-03", deceasedDateTime="2020-01-03T00:00:00Z"
        ),
        patient("b", gender="male", birthDate="1960", deceasedBoolean=True),
        patient("c"),
        {"resourceType": "Encounter", "id": "e", "period": {"start": "2019-01-01"}},
        condition("Patient/a", FLU, onsetDateTime="2020-01-02"),
        condition("Patient/b", FLU, onsetPeriod={"start": "2020-01-02T12:00:00Z"}),
        condition("Patient/c", FLU, encounter={"reference": "Encounter/e"}),
    )
    read = records(path)
    assert read.traits["gender"] == {"a": "female", "b": "male", "c": ""}
    assert read.traits["deceased"] == {"a": "1", "b": "1", "c": "0"}
    day = np.datetime64("2020-01-03").astype(int)
    assert read.died["a"] == day and np.isnan(read.died["b"]) and "c" not in read.died
    first = np.datetime64("2019-01-01").astype(int)
    assert read.events[0].time.tolist() == [day - 1, day - 0.5, first]


def test_a_request_and_its_dispense_are_not_counted_twice(write: Write) -> None:
    one = {"subject": {"reference": "Patient/a"}, "medicationCodeableConcept": FLU}
    path = ndjson(
        write,
        condition("Patient/a", FLU),
        {"resourceType": "MedicationRequest", **one},
        {"resourceType": "MedicationDispense", **one},
        {**condition("Patient/a", FLU), "resourceType": "Procedure"},
    )
    findings = Findings()
    assert [one.name for one in records(path, findings).events] == ["condition", "medication"]
    assert any("Not used: MedicationDispense, Procedure" in note for note in findings.notes)
    chosen = records(path, tables="condition, medicationdispense, procedure").events
    assert [one.name for one in chosen] == ["condition", "medication", "procedure"]


def test_an_export_without_events_names_what_it_holds(write: Write) -> None:
    path = ndjson(write, patient("a"), {"resourceType": "Observation"})
    with pytest.raises(InvalidData) as caught:
        records(path)
    assert caught.value.problems[0].code == "fhir-no-events"
    assert "Observation" in caught.value.problems[0].found

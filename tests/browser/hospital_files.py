"""What a hospital hands over, made up: two groups of patients in foreign layouts and formats."""

from __future__ import annotations

import csv
import json
import random
import zipfile
from collections.abc import Iterable, Sequence
from datetime import date, timedelta
from pathlib import Path

from openpyxl import Workbook

CODES = (("I50.0", "I10.00", "I48.0", "E78.5"), ("E11.90", "E66.00", "N18.3", "H36.0"))
DRUGS = (
    ("Ramipril", "Bisoprolol", "Torasemid", "Apixaban"),
    ("Metformin", "Insulin glargin", "Atorvastatin", "Empagliflozin"),
)
PATIENTS, EVENTS = 80, 5


def events(seed: int) -> Iterable[tuple[int, str, str]]:
    """Who has what and takes what."""
    draw = random.Random(seed)
    for who in range(PATIENTS):
        for _ in range(EVENTS):
            yield who, draw.choice(CODES[who % 2]), draw.choice(DRUGS[who % 2])


def german_workbook(folder: Path) -> Path:
    """A sheet with a title above its header, and real dates."""
    book = Workbook()
    sheet = book.active
    assert sheet is not None
    sheet.append(["Abfrage KIS Station 4B, Stand 01.02.2024"])
    sheet.append([])
    sheet.append(["Patientennummer", "Aufnahmedatum", "Alter", "Hauptdiagnose", "Wirkstoff"])
    for number, (who, code, drug) in enumerate(events(1)):
        day = date(2023, 1, 1) + timedelta(days=number % 300)
        sheet.append([f"{700_000 + who}", day, 40 + who % 50, code, drug])
    path = folder / "abfrage.xlsx"
    book.save(path)
    return path


def wide_table(folder: Path) -> Path:
    """Numbered columns of diagnoses and drugs, one line per encounter."""
    draw = random.Random(2)
    people = ["encounter_id", "patient_nbr", "gender", "age"]
    header = [*people, "diag_1", "diag_2", "diag_3", "drug_1", "drug_2"]
    lines: list[Sequence[object]] = [header]
    for number in range(2 * PATIENTS):
        who = number // 2
        codes, drugs = draw.sample(CODES[who % 2], 3), draw.sample(DRUGS[who % 2], 2)
        age = f"[{50 + who % 3 * 10}-{60 + who % 3 * 10})"
        lines.append([1_000_000 + number, 5_000 + who, "MF"[who % 2], age, *codes, *drugs])
    return _write(folder / "wide.csv", lines, ",")


def three_tables(folder: Path) -> list[Path]:
    """Semicolons, and an id column that nobody has heard of."""
    found = list(events(3))
    people = [[9_000 + who, "mw"[who % 2], 30 + who % 60, who % 3 // 2] for who in range(PATIENTS)]
    return [
        _write(folder / f"{name}.csv", [header, *lines], ";")
        for name, header, lines in (
            ("diagnosen", ["patient_nbr", "kode"], [[9_000 + who, code] for who, code, _ in found]),
            ("mittel", ["patient_nbr", "wirkstoff"], [[9_000 + w, drug] for w, _, drug in found]),
            ("stamm", ["patient_nbr", "geschlecht", "alter", "verstorben"], people),
        )
    ]


def fhir_zip(folder: Path) -> Path:
    """A bulk export: patients, conditions, requests for medication."""
    icd = "http://hl7.org/fhir/sid/icd-10-cm"
    made: dict[str, list[dict[str, object]]] = {"Condition": [], "MedicationRequest": []}
    made["Patient"] = [
        {"id": f"p{who}", "gender": ("male", "female")[who % 2], "birthDate": f"19{30 + who % 60}"}
        for who in range(PATIENTS)
    ]
    for number, (who, code, drug) in enumerate(events(4)):
        whose = {"id": f"e{number}", "subject": {"reference": f"Patient/p{who}"}}
        coding = {"coding": [{"system": icd, "code": code}]}
        made["Condition"].append({**whose, "code": coding})
        made["MedicationRequest"].append(
            {**whose, "status": "active", "medicationCodeableConcept": {"text": drug}}
        )
    path = folder / "fhir.zip"
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for kind, resources in made.items():
            lines = [json.dumps({"resourceType": kind, **one}) for one in resources]
            archive.writestr(f"{kind}.ndjson", "\n".join(lines) + "\n")
    return path


def _write(path: Path, lines: Iterable[Sequence[object]], delimiter: str) -> Path:
    with path.open("w", newline="", encoding="utf-8") as handle:
        csv.writer(handle, delimiter=delimiter).writerows(lines)
    return path

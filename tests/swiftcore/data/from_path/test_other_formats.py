"""Real tables, written again as sheets, JSON, databases, Parquet and FHIR, give the same tensor."""

from __future__ import annotations

import json
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest
from support.rewritten import FORMATS, Tables, fhir_resources, read_folder

from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path.read_path import read_path
from swiftcore.data.from_path.sandbox import build_path
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings

Shared = Callable[[str], Path]
FOLDERS: dict[str, tuple[tuple[str, ...], BuildOptions]] = {
    "eicu_demo": (
        ("tidy_diagnoses_ccs", "tidy_medications_class", "tidy_patients"),
        BuildOptions(outcome="death"),
    ),
    "gibleed_omop": (("PERSON", "CONDITION_ERA", "DRUG_ERA", "CONCEPT"), BuildOptions()),
    "mimic3_demo": (
        ("DIAGNOSES_ICD", "PRESCRIPTIONS", "PATIENTS", "ADMISSIONS"),
        BuildOptions(outcome="death", join="visit"),
    ),
    "synthea_1k": (("conditions", "medications", "patients"), BuildOptions(outcome="death")),
}
QUICK = {"gibleed_omop": ("duckdb", "hive")}  # large: the other formats every night


def same(one: Dataset, other: Dataset) -> None:
    assert one.tensor.digest() == other.tensor.digest()
    assert (one.outcome is None) == (other.outcome is None)
    if one.outcome is not None and other.outcome is not None:
        assert one.outcome.tolist() == other.outcome.tolist()


def cases() -> list[Any]:
    return [
        pytest.param(
            folder,
            kind,
            marks=() if kind in QUICK.get(folder, FORMATS) else pytest.mark.nightly,
        )
        for folder in FOLDERS
        for kind in FORMATS
        if kind != "csv"
    ]


@pytest.mark.slow
@pytest.mark.parametrize(("folder", "kind"), cases())
def test_the_same_tensor_from_every_format(
    folder: str, kind: str, shared: Shared, tmp_path: Path
) -> None:
    names, options = FOLDERS[folder]
    tables = read_folder(shared(folder), names)
    clean = build_path(FORMATS["csv"](tables, tmp_path / "clean"), options)
    written = build_path(FORMATS[kind](tables, tmp_path / "written"), options)
    same(written, clean)
    assert written.summary and clean.summary and written.summary.kind == clean.summary.kind
    assert sorted(written.summary.tables.values()) == sorted(clean.summary.tables.values())


def synthea(shared: Shared) -> Tables:
    return read_folder(shared("synthea_1k"), ("conditions", "medications", "patients"))


@pytest.mark.slow
def test_fhir_in_files_in_a_zip_and_in_bundles(shared: Shared, tmp_path: Path) -> None:
    options = BuildOptions(outcome="death")
    tables = synthea(shared)
    clean = build_path(FORMATS["csv"](tables, tmp_path / "clean"), options)
    (tmp_path / "bulk").mkdir()
    lines: dict[str, list[str]] = {}
    bundles: dict[str, list[dict[str, Any]]] = {}
    for resource in fhir_resources(tables):
        lines.setdefault(str(resource["resourceType"]), []).append(json.dumps(resource))
        bundles.setdefault(owner(resource), []).append(as_transaction(resource))
    for kind, some in lines.items():
        (tmp_path / "bulk" / f"{kind}.000.ndjson").write_text("\n".join(some) + "\n")
    same(build_path(tmp_path / "bulk", options), clean)
    with zipfile.ZipFile(tmp_path / "bulk.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for kind, some in lines.items():
            archive.writestr(f"export/{kind}.ndjson", "\n".join(some))
    same(build_path(tmp_path / "bulk.zip", options), clean)
    (tmp_path / "bundles").mkdir()
    for who, entries in bundles.items():
        bundle = {"resourceType": "Bundle", "type": "transaction", "entry": entries}
        (tmp_path / "bundles" / f"{who}.json").write_text(json.dumps(bundle, indent=2))
    same(build_path(tmp_path / "bundles", options), clean)


def owner(resource: dict[str, Any]) -> str:
    who = resource["id"] if resource["resourceType"] == "Patient" else ""
    return str(who or resource["subject"]["reference"].removeprefix("Patient/"))


def as_transaction(resource: dict[str, Any]) -> dict[str, Any]:
    """As Synthea writes it: references are the addresses of the entries."""
    inner = dict(resource)
    if "subject" in inner:
        inner["subject"] = {"reference": f"urn:uuid:{owner(resource)}"}
    return {"fullUrl": f"urn:uuid:{resource['id']}", "resource": inner}


def test_documents_in_a_sheet_and_in_lines(shared: Shared, tmp_path: Path) -> None:
    texts = sorted((shared("bbc") / "bbc" / "tech").glob("*.txt"))[:40]
    texts += sorted((shared("bbc") / "bbc" / "sport").glob("*.txt"))[:40]
    rows = [[one.stem + one.parent.name, one.read_text("cp1252"), one.parent.name] for one in texts]
    tables: Tables = {"documents": (["id", "text", "label"], rows)}
    clean = read_path(FORMATS["csv"](tables, tmp_path / "clean"), BuildOptions(), Findings())
    for kind in ("xlsx", "jsonl", "sqlite", "parquet"):
        written = FORMATS[kind](tables, tmp_path / kind)
        same(read_path(written, BuildOptions(), Findings()), clean)

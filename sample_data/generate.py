"""Make the sample data anew: ``python sample_data/generate.py``.

Writes the same bytes every time, and ``SHA256SUMS`` beside them.
"""

from __future__ import annotations

import argparse
import csv
import hashlib
from collections.abc import Iterable
from datetime import date, timedelta
from pathlib import Path

import numpy as np

from swiftcore.data.synthetic.ehr import SyntheticEhr, generate_ehr
from swiftcore.data.synthetic.ehr_draws import DAYS_OBSERVED
from swiftcore.data.synthetic.news import generate_news

SEED = 2021
FIRST_DAY = date(2019, 1, 1)


def write_heart_failure(folder: Path) -> None:
    """1000 synthetic patients as three tables, joined by patient_id and visit_id."""
    ehr = generate_ehr(seed=SEED)
    patients = ehr.tensor.modes[0].labels
    # Heart failure is found after the observed years, so nothing recorded follows from it.
    delay = np.random.default_rng(SEED).integers(1, 365, size=len(patients))
    onset = [
        _day(DAYS_OBSERVED + int(wait)) if ill else ""
        for ill, wait in zip(ehr.outcome, delay, strict=True)
    ]
    who = ehr.patients
    sex = np.where(who.is_man, "male", "female")
    columns = (patients, sex, who.age, who.clinic, ehr.outcome.astype(int), onset)
    _write_csv(
        folder / "patients.csv",
        ["patient_id", "sex", "age", "clinic", "heart_failure", "heart_failure_date"],
        zip(*columns, strict=True),
    )
    _write_records(folder / "diagnoses.csv", ehr, "diagnosis", ehr.visits.diagnoses)
    _write_records(folder / "medications.csv", ehr, "medication", ehr.visits.medications)


def _write_records(path: Path, ehr: SyntheticEhr, kind: str, records: np.ndarray) -> None:
    patients = ehr.tensor.modes[0].labels
    labels = next(mode.labels for mode in ehr.tensor.modes if mode.name == kind)
    width = len(str(len(ehr.visits.patient)))
    _write_csv(
        path,
        ["patient_id", "visit_id", "date", kind],
        (
            (
                patients[ehr.visits.patient[visit]],
                f"V{visit + 1:0{width}d}",
                _day(int(ehr.visits.day[visit])),
                labels[feature],
            )
            for visit, feature in records
        ),
    )


def write_news(folder: Path) -> None:
    """400 synthetic articles, 80 in each of five categories, as one table."""
    _write_csv(
        folder / "articles.csv",
        ["id", "category", "title", "text"],
        (
            (f"A{number:03d}", article.category, article.title, article.text)
            for number, article in enumerate(generate_news(seed=SEED), start=1)
        ),
    )


def write_digests(folder: Path) -> None:
    """SHA-256 of every data file, as ``sha256sum --check SHA256SUMS`` reads it."""
    lines = [
        f"{hashlib.sha256(path.read_bytes()).hexdigest()}  {path.relative_to(folder).as_posix()}\n"
        for path in sorted(folder.glob("*/*.csv"))
    ]
    (folder / "SHA256SUMS").write_text("".join(lines), encoding="utf-8", newline="\n")


def _day(number: int) -> str:
    return (FIRST_DAY + timedelta(days=number)).isoformat()


def _write_csv(path: Path, header: list[str], rows: Iterable[tuple[object, ...]]) -> None:
    path.parent.mkdir(parents=True, exist_ok=True)
    with path.open("w", encoding="utf-8", newline="") as file:
        writer = csv.writer(file, lineterminator="\n")
        writer.writerow(header)
        writer.writerows(rows)


def main() -> None:
    """Remake every sample file and its digests."""
    parser = argparse.ArgumentParser(description="Make the sample data anew.")
    here = Path(__file__).resolve().parent
    parser.add_argument("--out", type=Path, default=here, help="folder (this one by default)")
    folder = parser.parse_args().out
    write_heart_failure(folder / "heart_failure")
    write_news(folder / "news")
    write_digests(folder)


if __name__ == "__main__":
    main()

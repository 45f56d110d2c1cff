"""Synthetic records as Parquet tables, written block by block: what a hospital would hand over."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator
from datetime import date
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as arrow_parquet  # type: ignore[import-untyped]
from numpy.typing import NDArray

from swiftcore.data.synthetic.ehr import Cohort, Vocabulary

FIRST_DAY = date(2019, 1, 1)
PATIENTS, DIAGNOSES, MEDICATIONS = "patients", "diagnoses", "medications"
_CATEGORY = pa.dictionary(pa.int32(), pa.string())
_WHO = [("patient_id", pa.string())]
_WHEN = [*_WHO, ("visit_id", pa.int64()), ("date", pa.date32())]
_SCHEMAS = {
    PATIENTS: pa.schema(
        [
            *_WHO,
            ("sex", _CATEGORY),
            ("age", pa.int64()),
            ("clinic", _CATEGORY),
            ("heart_failure", pa.int8()),
        ]
    ),
    DIAGNOSES: pa.schema([*_WHEN, ("diagnosis", _CATEGORY)]),
    MEDICATIONS: pa.schema([*_WHEN, ("medication", _CATEGORY)]),
}


@contextlib.contextmanager
def new_tables(folder: Path | None, words: Vocabulary) -> Iterator[RecordTables]:
    """Tables that grow block by block; without a folder nothing is written."""
    with contextlib.ExitStack() as stack:
        writers = {}
        if folder is not None:
            folder.mkdir(parents=True, exist_ok=True)
            for name, schema in _SCHEMAS.items():
                writer = arrow_parquet.ParquetWriter(folder / f"{name}.parquet", schema)
                writers[name] = stack.enter_context(writer)
        yield RecordTables(writers, words)


class RecordTables:
    """See :func:`new_tables`."""

    def __init__(self, writers: dict[str, Any], words: Vocabulary) -> None:
        self._writers, self._words = writers, words
        self._n_visits = 0
        self._who: list[Any] = []

    def add(self, ids: tuple[str, ...], cohort: Cohort) -> None:
        """The records of one block; who the patients are is kept for the end."""
        if not self._writers:
            return
        visits = cohort.visits
        for name, records, labels in (
            (DIAGNOSES, visits.diagnoses, self._words.diagnoses.labels),
            (MEDICATIONS, visits.medications, self._words.medications.labels),
        ):
            visit, feature = records.T
            columns = [
                _category(visits.patient[visit], ids).cast(pa.string()),
                pa.array(visit + self._n_visits + 1),
                pa.array((visits.day[visit] + _days_until(FIRST_DAY)).astype(np.int32)).cast(
                    pa.date32()
                ),
                _category(feature, labels),
            ]
            self._writers[name].write_table(pa.table(columns, schema=_SCHEMAS[name]))
        self._n_visits += len(visits.patient)
        who = cohort.patients
        clinics, clinic = np.unique(who.clinic, return_inverse=True)
        self._who.append(
            [
                pa.array(ids),
                _category(who.is_man.astype(np.int64), ("female", "male")),
                pa.array(who.age),
                _category(clinic, tuple(clinics.tolist())),
            ]
        )

    def finish(self, outcome: NDArray[np.bool_]) -> None:
        """The table of the patients, with their outcome."""
        first = 0
        for columns in self._who:
            until = first + len(columns[0])
            ill = pa.array(outcome[first:until].astype(np.int8))
            self._writers[PATIENTS].write_table(
                pa.table([*columns, ill], schema=_SCHEMAS[PATIENTS])
            )
            first = until


def _category(codes: NDArray[np.int64], labels: tuple[str, ...]) -> Any:
    return pa.DictionaryArray.from_arrays(codes.astype(np.int32), list(labels))


def _days_until(day: date) -> int:
    return (day - date(1970, 1, 1)).days

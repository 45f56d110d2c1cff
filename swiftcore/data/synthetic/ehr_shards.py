"""Synthetic health records of any number of patients: drawn and written block by block.

Every block of patients has random numbers of its own, so it comes out the same whatever is drawn
before, after or beside it. The first block is drawn as :func:`generate_ehr` draws its patients: up
to one block, the two give the same data. Only a few numbers per patient are held over all blocks:
who falls ill depends on the risk of everybody.
"""

from __future__ import annotations

import tempfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import Path

import numpy as np

from swiftcore.data.bundle import write_bundle
from swiftcore.data.shards.manifest import ENDING
from swiftcore.data.shards.reader import open_shards
from swiftcore.data.shards.writer import SHARD_ROWS, About, check_free, new_shards
from swiftcore.data.summary import DatasetSummary
from swiftcore.data.synthetic.ehr import (
    HEART_FAILURE_SHARE,
    OUTCOME_NAME,
    Cohort,
    Vocabulary,
    check_settings,
    choose_vocabulary,
    draw_cohort,
    filled_cells,
    patient_ids,
)
from swiftcore.data.synthetic.ehr_patients import highest
from swiftcore.data.synthetic.ehr_tables import new_tables
from swiftcore.errors import InvalidSettings, refuse
from swiftcore.runtime.ranges import out_of_range, whole

MAX_WHOLE = 200_000  # patients in one .npz, which is read and written whole


@dataclass(frozen=True)
class Request:
    """How many patients of which sort; the same request gives the same bytes.

    Attributes
    ----------
    block : int
        Patients per block, and per shard; part of the request, for it decides what is drawn.
    """

    n_patients: int
    seed: int = 0
    n_diagnoses: int = 100
    n_medications: int = 100
    block: int = SHARD_ROWS

    def __post_init__(self) -> None:
        check_settings(
            self.n_patients, self.n_diagnoses, self.n_medications, 12, HEART_FAILURE_SHARE
        )
        if faults := out_of_range({"seed": self.seed}, {"seed": whole(0)}):
            raise InvalidSettings(faults)

    def vocabulary(self) -> Vocabulary:
        return choose_vocabulary(self.n_diagnoses, self.n_medications)

    def blocks(self) -> Iterator[tuple[int, int]]:
        """First patient of each block, and the first one after it."""
        for first in range(0, self.n_patients, self.block):
            yield first, min(first + self.block, self.n_patients)


def draw_block(request: Request, number: int, words: Vocabulary) -> Cohort:
    """One block of patients; needs no other."""
    first = number * request.block
    size = min(request.block, request.n_patients - first)
    seed = [request.seed, number] if number else request.seed
    return draw_cohort(size, words, np.random.default_rng(seed))


def generate_file(
    request: Request, out: Path, tables: Path | None = None
) -> tuple[DatasetSummary, str]:
    """Write synthetic records as NAME.swift (shards) or NAME.npz (one file).

    Parameters
    ----------
    tables : Path, optional
        A folder that receives the records as tables too: patients, diagnoses, medications.

    Returns
    -------
    DatasetSummary, str
        What was written, and its seal.
    """
    if out.name.endswith(ENDING):
        return _generate_shards(request, out, tables)
    if not out.name.endswith(".npz") or request.n_patients > MAX_WHOLE:
        raise refuse(
            "generate-name",
            "Synthetic records cannot be written so",
            out.name,
            f"{request.n_patients:,} patients",
            f"End the name in {ENDING}; or in .npz for at most {MAX_WHOLE:,} patients.",
            kind=InvalidSettings,
        )
    with tempfile.TemporaryDirectory(prefix=f".{out.name[:40]}-", dir=out.parent) as folder:
        draft = Path(folder) / f"draft{ENDING}"
        summary, _ = _generate_shards(request, draft, tables)
        return summary, write_bundle(open_shards(draft).to_dataset(), out)


def _generate_shards(
    request: Request, out: Path, tables: Path | None
) -> tuple[DatasetSummary, str]:
    check_free(out)
    words = request.vocabulary()
    risks = []
    with new_shards(out, words.modes) as shards, new_tables(tables, words) as records:
        for number, (first, until) in enumerate(request.blocks()):
            cohort = draw_block(request, number, words)
            ids = patient_ids(request.n_patients, first, until)
            shape = (len(ids), *(len(mode) for mode in words.modes))
            places = filled_cells(cohort.visits, shape)
            shards.add(ids, places, np.ones(len(places)))
            risks.append(cohort.risk)
            records.add(ids, cohort)
        outcome = highest(np.concatenate(risks), HEART_FAILURE_SHARE)
        records.finish(outcome)
        origin = (
            f"Synthetic health records of {request.n_patients:,} patients, seed {request.seed}."
        )
        return shards.finish(About("synthetic EHR", origin, "patient", OUTCOME_NAME), outcome)

"""The state of a fit of parts in files: one for the features, one for each part's rows.

The parts' files are written first, into a folder of their own; the file of the features names
that folder and is written last, so that a kill at any moment leaves a whole state or the last.
"""

from __future__ import annotations

import hashlib
import logging
import shutil
import time
import zipfile
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.swift.checkpoint import FitCheckpoint, row_folders
from swiftcore.swift.engine import LoopState, Point
from swiftcore.swift.factor_update import Factors
from swiftcore.swift.fit_file import FitFile, FitState, key_of
from swiftcore.swift.parts.engine import PartsEngine, RowsElsewhere
from swiftcore.swift.parts.row_part import RowPart, Shared

logger = logging.getLogger(__name__)
SELDOM = 20  # times as long as writing takes, at least, lies between two writings


def parts_key(parts: Sequence[RowPart], shared: Shared, settings: Mapping[str, Any]) -> str:
    """A digest of everything that the bits of a fit depend on."""
    data = hashlib.sha256()
    for part in parts:
        for array in (part.starts, part.places, part.values):
            data.update(np.ascontiguousarray(array).data)
    about = {"data": data.hexdigest(), "alike": shared.alike, "scale": shared.scale}
    return key_of(about, settings, {})


class PartsFile:
    """Reads and writes the state of one fit of parts."""

    def __init__(self, checkpoint: FitCheckpoint, key: str) -> None:
        self._path, self._file = checkpoint.path, FitFile(checkpoint, key)
        self._free_at = 0.0

    @property
    def due(self) -> bool:
        """Whether the last writing is long enough ago."""
        return self._file.due and time.monotonic() >= self._free_at

    def read(self, engine: PartsEngine) -> LoopState | None:
        """Where an earlier process left this very fit, its parts brought back; None if nowhere."""
        loop = self._file.read().loop
        if loop is None:
            return None
        try:
            facts = loop.trial[0]
            number, generation, engine.next_number = (int(one) for one in facts[:3])
            engine.team.load(self._folder(generation))
            if len(facts) > 3:
                sums, weights = np.split(facts[3:], 2)
                engine.weighted[number] = (sums, weights)
        except (OSError, ValueError, LookupError, zipfile.BadZipFile) as error:
            logger.warning("the rows of %s are left aside: %s", self._path.name, error)
            return None
        best = loop.best
        if best is not None:
            best = Point(_numbered(best.factors), best.value, _numbered(best.step))
        loop = replace(loop, trial=_numbered(loop.trial), best=best)
        self._file.resume(loop)
        return loop

    def write(self, engine: PartsEngine, now: LoopState) -> None:
        """Keep a state; when the disk refuses, the earlier one stays and the fit goes on."""
        before = time.monotonic()
        older = row_folders(self._path)
        generation = 1 + max((int(one.name.rpartition("-")[2]) for one in older), default=0)
        folder = self._folder(generation)
        kept = self._write_rows(engine, folder) and self._file.write(
            FitState(loop=_without_rows(engine, now, generation))
        )
        for one in older if kept else [folder]:
            shutil.rmtree(one, ignore_errors=True)
        done = time.monotonic()
        self._free_at = done + SELDOM * (done - before)

    def _write_rows(self, engine: PartsEngine, folder: Path) -> bool:
        """Whether the states of all parts are in a folder now."""
        try:
            folder.mkdir()
            engine.team.save(folder)
        except OSError as error:
            logger.warning("%s could not be written: %s", folder.name, error.strerror or error)
            return False
        return True

    def _folder(self, generation: int) -> Path:
        return self._path.with_name(f"{self._path.stem}-rows-{generation}")


def _without_rows(engine: PartsEngine, now: LoopState, generation: int) -> LoopState:
    """A state for the file of the features, with what it says of those of the rows."""
    number = now.trial[0].number  # type: ignore[attr-defined]
    facts = np.array([number, generation, engine.next_number], dtype=np.float64)
    facts = np.concatenate([facts, *engine.weighted.get(number, ())])
    best = now.best
    if best is not None:
        best = Point(_as_array(best.factors), best.value, _as_array(best.step))
    return replace(now, trial=[facts, *now.trial[1:]], best=best)


def _numbered(factors: Sequence[NDArray[Any]]) -> Factors:
    return [RowsElsewhere(int(factors[0][0])), *factors[1:]]  # type: ignore[list-item]


def _as_array(factors: Factors) -> Factors:
    return [np.array([float(factors[0].number)]), *factors[1:]]  # type: ignore[attr-defined]

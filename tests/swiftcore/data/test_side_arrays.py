"""Side tables come back from a bundle as they were; what does not fit is refused."""

from __future__ import annotations

import hashlib
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from swiftcore.data import bundle
from swiftcore.data.bundle import bundle_bytes, bundle_from_bytes, read_bundle, write_bundle
from swiftcore.data.dataset import Dataset
from swiftcore.data.options import Limits
from swiftcore.data.reading.source import Budget
from swiftcore.data.samples import load_sample
from swiftcore.data.side_arrays import side_arrays
from swiftcore.data.side_tables import Covariate, DatedEvents, SideTables
from swiftcore.errors import InvalidData
from swiftcore.tensor import Mode, SparseTensor

DAYS = np.array(["2020-02-29", "NaT", "1899-12-31"], dtype="datetime64[D]")


def small() -> Dataset:
    modes = (Mode("patient", ("a", "b", "c")), Mode("code", ("x", "y")))
    tensor = SparseTensor.from_coordinates([[0, 0], [1, 1], [2, 0]], [1.0, 2.0, 1.0], modes=modes)
    side = SideTables(
        (
            Covariate("age", "number", np.array([61.5, np.nan, 40.0])),
            Covariate("site", "text", np.array(["Süd", "", "Nord"])),
            Covariate("admitted", "date", DAYS),
        ),
        DatedEvents(np.array([0, 2]), np.array([1, 1]), np.array([0, 0]), DAYS[[0, 2]]),
        ("one text", "", "a third\nof two lines"),
    )
    return Dataset("d", tensor, None, "", "made up", side=side)


def same(left: SideTables, right: SideTables) -> bool:
    mine, theirs = side_arrays(left), side_arrays(right)
    return mine.keys() == theirs.keys() and all(
        np.array_equal(mine[name], theirs[name], equal_nan=mine[name].dtype.kind == "f")
        for name in mine
    )


def test_a_bundle_keeps_what_is_known_of_the_rows(tmp_path: Path) -> None:
    for data in (small(), load_sample("heart_failure"), load_sample("news")):
        seal = write_bundle(data, tmp_path / "d.swift.npz")
        back = read_bundle(tmp_path / "d.swift.npz")
        assert back.side and same(data.side, back.side)
        assert write_bundle(back, tmp_path / "e.swift.npz") == seal


def test_a_bundle_without_side_tables_is_written_as_before() -> None:
    bare = replace(small(), side=SideTables())
    assert not side_arrays(bare.side)
    assert not bundle_from_bytes(bundle_bytes(bare), "d", Budget(Limits())).side


HARMS: dict[str, tuple[str, NDArray[Any]]] = {
    "a code without a label": ("covariate_1", np.array([0, 1, 9], np.int32)),
    "a code below 0": ("covariate_1", np.array([0, 1, -1], np.int32)),
    "too few values": ("covariate_0", np.array([1.0, 2.0])),
    "an infinite age": ("covariate_0", np.array([1.0, 2.0, np.inf])),
    "a day without a calendar": ("covariate_2", np.array([0, 1, 2**40])),
    "a table as a column": ("covariate_0", np.ones((3, 3))),
    "an event of no row": ("event_row", np.array([0, 3], np.int32)),
    "an event of no feature": ("event_feature", np.array([0, 2], np.int32)),
    "an event of the rows' own mode": ("event_mode", np.array([0, 1], np.int32)),
    "an event too many": ("event_day", np.array([1, 2, 3], np.int32)),
    "a text too few": ("row_texts_ends", np.array([3], np.int64)),
    "texts that run backwards": ("row_texts_ends", np.array([9, 3, 4], np.int64)),
    "fractions for events": ("event_mode", np.array([1.0, 1.0])),
}


@pytest.mark.parametrize("harm", HARMS)
def test_what_does_not_fit_is_refused(harm: str, monkeypatch: pytest.MonkeyPatch) -> None:
    name, array = HARMS[harm]
    monkeypatch.setattr(bundle, "side_arrays", lambda side: {**side_arrays(side), name: array})
    content = bundle_bytes(small())
    assert hashlib.sha256(content[:-64]).hexdigest().encode() == content[-64:]  # sealed again
    with pytest.raises(InvalidData):
        bundle_from_bytes(content, "d", Budget(Limits()))

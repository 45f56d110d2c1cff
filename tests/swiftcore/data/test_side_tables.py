"""Side tables follow the rows that are chosen."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from swiftcore.data.side_tables import Covariate, DatedEvents, SideTables
from swiftcore.errors import SwiftError

ROWS = 5


@given(
    st.lists(st.tuples(st.integers(0, ROWS - 1), st.integers(0, 9)), max_size=20),
    st.lists(st.integers(0, ROWS - 1), max_size=8),
)
def test_chosen_rows_keep_their_events(pairs: list[tuple[int, int]], chosen: list[int]) -> None:
    row, feature = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    dates = np.datetime64("2020-01-01") + feature.astype("timedelta64[D]")
    events = DatedEvents(row, np.ones_like(row), feature, dates)
    kept = events.with_rows(np.array(chosen, dtype=np.int64))
    expected = [(new, f) for new, old in enumerate(chosen) for r, f in pairs if r == old]
    assert list(zip(kept.row.tolist(), kept.feature.tolist(), strict=True)) == expected
    assert len(kept.date) == len(kept.mode) == len(expected)


def test_a_column_of_the_wrong_length_is_refused() -> None:
    side = SideTables((Covariate("age", "number", np.zeros(4)),), texts=("a", "b"))
    with pytest.raises(SwiftError, match="one value per row"):
        side.check((ROWS, 3), "mine")


def test_covariates_and_texts_follow_the_rows() -> None:
    side = SideTables((Covariate("age", "number", np.arange(3.0)),), texts=("a", "b", "c"))
    kept = side.with_rows(np.array([2, 0]))
    assert kept.covariates[0].values.tolist() == [2.0, 0.0]
    assert kept.texts == ("c", "a")
    assert kept and not SideTables()

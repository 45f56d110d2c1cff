"""A reader of one text covariate of a card who knows all totals, and which counts are small."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from dashboard.fit_view.table_one import OTHER, TextLine


def check_line(
    line: TextLine, carries: NDArray[np.bool_], words: NDArray[np.str_], limit: int
) -> int:
    """No hidden small count follows from the rest; how many values are hidden."""
    listed = [one.value for one in line.values]
    pooled = pd.Series(words).where(pd.Series(words).isin(listed), OTHER)
    counts = pd.crosstab(pooled, carries)
    bounds = {}
    for one in line.values:
        inside, outside = int(counts.loc[one.value, True]), int(counts.loc[one.value, False])
        for share, count, total in (
            (one.carriers, inside, carries.sum()),
            (one.others, outside, (~carries).sum()),
        ):
            assert share is None or share == pytest.approx(count / total)
            assert share is None or not 0 < count < limit, "a small count is shown"
        if one.carriers is None or one.others is None:
            assert one.carriers is None and one.others is None, "the rest of a known total is shown"
            ends = [_known_of(count, limit) for count in (inside, outside)]
            both = inside + outside
            low, high = max(ends[0][0], both - ends[1][1]), min(ends[0][1], both - ends[1][0])
            small = any(0 < count < limit for count in (inside, outside))
            bounds[one.value] = (low, high, inside, small)
    hidden_sum = sum(inside for _, _, inside, _ in bounds.values())
    for value, (low, high, _, small) in bounds.items():
        rest = [ends for other, ends in bounds.items() if other != value]
        least = max(low, hidden_sum - sum(ends[1] for ends in rest))
        most = min(high, hidden_sum - sum(ends[0] for ends in rest))
        assert not small or most > least, f"{value} follows from the rest: {counts}"
    return len(bounds)


def _known_of(count: int, limit: int) -> tuple[int, int]:
    """What a reader who is told which hidden counts are 0, small or large knows of one."""
    if count == 0:
        return 0, 0
    return (1, limit - 1) if count < limit else (limit, 10**6)

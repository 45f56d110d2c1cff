"""No hidden small count of a card follows from what is shown; the reader knows every rule.

The reader also knows how many rows there are, and how many of all rows have each feature, each
value and the outcome. Carriers are drawn at random around what rows have, so that overlaps of
every size occur; everything else comes from the sample, its covariates shuffled.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray
from support.hidden_lines import check_line
from support.shipped_sample import Sample

from dashboard.fit_view.phenotype_sheet import PhenotypeSheet, gather_sheet
from dashboard.fit_view.table_one import TextLine
from dashboard.privacy.small_counts import hidden, hidden_overlap

Flags = NDArray[np.bool_]
TABLES = 10_000


def has_feature(sample: Sample) -> pd.DataFrame:
    """Which row has which feature, from the entries; columns are features of all modes."""
    tensor = sample.dataset.tensor
    found = {}
    for axis in range(1, tensor.n_modes):
        for place, label in enumerate(tensor.modes[axis].labels):
            flags = np.zeros(tensor.shape[0], dtype=bool)
            flags[tensor.coordinates[tensor.coordinates[:, axis] == place, 0]] = True
            found[label] = flags
    return pd.DataFrame(found)


def cards(
    sample: Sample, has: pd.DataFrame, many: int, seed: int
) -> Iterator[tuple[PhenotypeSheet, Flags, Sample, int]]:
    """Random carriers of random phenotypes, among shuffled rows with few or many cases."""
    rng = np.random.default_rng(seed)
    every, rows = list(sample.summary.phenotypes.values()), len(has)
    for _ in range(many):
        chosen, limit = every[rng.integers(len(every))], int(rng.integers(5, 12))
        feature = str(rng.choice([item.label for items in chosen.items.values() for item in items]))
        carries = has[feature].to_numpy() ^ (rng.random(rows) < rng.choice([0, 0.005, 0.02, 0.3]))
        carries &= rng.random(rows) < rng.choice([0.03, 0.3, 0.97, 1])
        order = rng.permutation(rows)
        covariates = tuple(
            replace(one, values=one.values[order]) for one in sample.dataset.side.covariates
        )
        outcome = rng.random(rows) < rng.choice([0.01, 0.05, 0.3])
        outcome[rng.choice(rows, 2, replace=False)] = True, False
        data = replace(
            sample.dataset,
            outcome=outcome,
            side=replace(sample.dataset.side, covariates=covariates),
        )
        summary = replace(sample.summary, limit=limit)
        phenotype = replace(chosen, rows=tuple(np.flatnonzero(carries).tolist()))
        yield gather_sheet(summary, phenotype, data), carries, replace(sample, dataset=data), limit


def check_overlap(said: str, carries: Flags, other: Flags, limit: int, met: set[str]) -> None:
    """A count of rows in both groups: exact, or such that no small cell has one value only."""
    rows, first, second = len(carries), int(carries.sum()), int(other.sum())
    both = int((carries & other).sum())
    cells = [both, first - both, second - both, rows - first - second + both]
    small = any(0 < cell < limit for cell in cells)
    met.add(said[0] if small else "=")
    if not small:
        assert said == f"{both:,}"
        return
    sizes = [n for n in range(rows + 1) if hidden(n, limit, rows) == hidden(first, limit, rows)]
    could = {
        (n, size - n, second - n, rows - size - second + n)
        for size in sizes
        for n in range(max(0, size + second - rows), min(size, second) + 1)
        if hidden_overlap(n, size, second, rows, limit) == said
    }
    for cell, values in zip(cells, zip(*could, strict=True), strict=True):
        assert not 0 < cell < limit or len(set(values)) > 1, (said, cells, limit)


def check_card(
    sheet: PhenotypeSheet, carries: Flags, has: pd.DataFrame, data: Sample, limit: int
) -> set[str]:
    """Every hidden number of one card; what kinds of texts it had."""
    met: set[str] = set()
    first, rows = int(carries.sum()), len(carries)
    for one in (feature for mode in sheet.modes for feature in mode.features):
        check_overlap(one.rows, carries, has[one.name].to_numpy(), limit, met)
    for line in sheet.who.lines:
        assert limit <= first <= rows - limit
        if isinstance(line, TextLine) and line.values:
            (values,) = (
                one.values.astype(str)
                for one in data.dataset.side.covariates
                if one.name == line.name
            )
            check_line(line, carries, values, limit)
    outcome = data.dataset.outcome
    if sheet.rates is not None and outcome is not None:
        cases = int((carries & outcome).sum())
        cells = [cases, first - cases, int(outcome.sum()) - cases]
        cells.append(rows - sum(cells))
        shown = sheet.rates.carriers is not None
        assert shown == (not any(0 < cell < limit for cell in cells))
        met.add("rates shown" if shown else "rates hidden")
    return met


def check_cards(sample: Sample, many: int, seed: int) -> None:
    has, met = has_feature(sample), set()
    for sheet, carries, data, limit in cards(sample, has, many, seed):
        met |= check_card(sheet, carries, has, data, limit)
    assert met == {"=", "<", ">", "h", "rates shown", "rates hidden"}


def test_no_small_count_of_a_card_follows(hospital: Sample) -> None:
    check_cards(hospital, 200, seed=5)


@pytest.mark.nightly
def test_no_small_count_of_ten_thousand_cards_follows(hospital: Sample) -> None:
    check_cards(hospital, TABLES, seed=6)


def test_overlaps_of_every_size_hide_what_would_follow() -> None:
    """All 2 x 2 tables of few rows: of each text some other count must be possible."""
    for limit in (5, 11):
        for first in range(limit, 41):
            for second in range(limit, 41):
                _check_all_overlaps(first, second, 45, limit)
    assert hidden_overlap(332, 344, 500, 1000, 11) == "332"
    assert hidden_overlap(332, 344, 336, 1000, 11) == ">325"
    assert hidden_overlap(340, 344, 348, 1000, 11) == ">333"
    assert hidden_overlap(3, 344, 336, 1000, 11) == "<11"
    assert hidden_overlap(3, 344, 336, 1000, 0) == "3"


def _check_all_overlaps(first: int, second: int, rows: int, limit: int) -> None:
    shown: dict[str, list[int]] = {}
    for both in range(max(0, first + second - rows), min(first, second) + 1):
        shown.setdefault(hidden_overlap(both, first, second, rows, limit), []).append(both)
    for counts in shown.values():
        for both in counts:
            cells = (both, first - both, second - both, rows - first - second + both)
            assert len(counts) > 1 or not any(0 < cell < limit for cell in cells)

"""The small data sets as fixtures."""

from __future__ import annotations

import pytest
from support.evaluation_data import planted_patients, small_corpus

from swiftcore.data.dataset import Dataset


@pytest.fixture(scope="session")
def patients() -> Dataset:
    return planted_patients()


@pytest.fixture(scope="session")
def corpus() -> Dataset:
    return small_corpus()

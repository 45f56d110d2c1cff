"""The samples with their shipped results, read once for all tests of cards."""

from __future__ import annotations

import pytest
from support.shipped_sample import Sample, read_samples


@pytest.fixture(scope="package")
def samples(tmp_path_factory: pytest.TempPathFactory) -> dict[str, Sample]:
    """By name."""
    return read_samples(tmp_path_factory.mktemp("samples"))


@pytest.fixture(scope="package")
def hospital(samples: dict[str, Sample]) -> Sample:
    """The sample with patients."""
    return samples["heart_failure"]

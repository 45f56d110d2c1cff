"""What a computation will take is said by the formula that the fit itself goes by."""

from __future__ import annotations

import json
import os

import pytest
from support.tiny_store import tiny_dataset

from dashboard.jobs.estimate import estimate, fit_seconds
from dashboard.store.dataset_files import read_card
from dashboard.store.request import Request
from dashboard.store.store import Store
from swiftcore.evaluation.methods.catalogue import spec_for
from swiftcore.evaluation.methods.fit_peak import fit_peak
from swiftcore.tensor import TensorSize


@pytest.mark.parametrize("relation", ["auto", "none"])
@pytest.mark.parametrize("sharpness", [10.0, 1000.0])
def test_the_estimate_is_that_of_the_fit(store: Store, sharpness: float, relation: str) -> None:
    data = tiny_dataset(rows=200)
    settings = {"sharpness": sharpness, "row_relation": relation}
    request = Request("fit", store.add_dataset(data), settings)
    fit = fit_peak(TensorSize.of(data.tensor), request.spec, os.cpu_count())
    assert estimate(store, request).bytes == fit.total


def test_a_card_without_the_longest_columns_takes_the_longest_possible(store: Store) -> None:
    """As cards were written before."""
    dataset = store.add_dataset(tiny_dataset(rows=200))
    path = store.root / "datasets" / dataset / "card.json"
    card = read_card(json.dumps({**json.loads(path.read_bytes()), "longest": None}).encode())
    assert card.size.longest == card.shape
    assert store.card(dataset).size == TensorSize.of(tiny_dataset(rows=200).tensor)


def test_a_sharp_fit_is_said_to_need_more(store: Store) -> None:
    """Its columns are solved one by one, with the shares of a whole column in memory."""
    data = tiny_dataset(rows=3000)
    longest = TensorSize.of(data.tensor).longest[0]
    dataset = store.add_dataset(data)
    blunt, sharp = (
        estimate(store, Request("fit", dataset, {"sharpness": one})).bytes for one in (10.0, 1e3)
    )
    assert longest > 100 and sharp - blunt > 4 * 3000 * longest


def test_other_methods_are_estimated_by_what_they_go_over(store: Store) -> None:
    """Entries, or every cell; never by the transport that only SWIFT has."""
    small, large = (store.add_dataset(tiny_dataset(rows=rows)) for rows in (300, 3000))

    def seconds(dataset: str, method: str, **changes: object) -> float:
        spec = spec_for(method, **changes)
        return fit_seconds(store.usable_card(dataset), spec.plain())

    for method in ("cp_als", "cp_continuous", "cp_apr"):
        assert seconds(large, method) == pytest.approx(10 * seconds(small, method), rel=0.1)
        assert seconds(small, method, rank=40) > seconds(small, method, rank=10)
        assert seconds(small, method, sharpness=1000.0) == seconds(small, method)
    cells = store.usable_card(small)
    dense = seconds(small, "cp_continuous") / (cells.shape[0] * 8 * 6)
    assert dense == pytest.approx(seconds(large, "cp_continuous") / (3000 * 8 * 6))

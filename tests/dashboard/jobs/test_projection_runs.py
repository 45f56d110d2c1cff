"""New rows on a finished fit: each by itself, by the names of its features."""

from __future__ import annotations

import numpy as np
import pytest
from support.tiny_store import ended, tiny_dataset

from dashboard.jobs import jobs
from dashboard.jobs.compute import load_fit
from dashboard.store.cards import RunState, newest_sound
from dashboard.store.request import Request
from dashboard.store.results import entry_shares
from dashboard.store.store import Store
from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidData
from swiftcore.projection import on_features
from swiftcore.tensor import Mode, SparseTensor


def new_rows() -> Dataset:
    """Rows of the same kind with modes in another order, an unknown feature and a missing one."""
    old = tiny_dataset(rows=12, seed=7).tensor
    keep = old.coordinates[:, 1] != 4  # nobody has diagnosis 4
    places = old.coordinates[keep][:, [0, 2, 1]]
    strange = [[0, 6, 0], [3, 0, 8], [11, 6, 8]]
    labels = [mode.labels for mode in old.modes]
    modes = (
        Mode("patient", (*(f"new {row}" for row in range(12)), "stranger")),
        Mode("medication", (*labels[2], "unknown drug")),
        Mode("diagnosis", (*labels[1], "=HYPERLINK(unknown)")),
    )
    places = np.vstack([places, strange, [[12, 6, 8]]])
    tensor = SparseTensor.from_coordinates(places, np.ones(len(places)), modes=modes)
    return Dataset("new", tensor, None, "", "Made by a test.")


@pytest.mark.slow
def test_a_projection_is_the_transform_of_each_row_alone(fitted_store: Store, fit_id: str) -> None:
    dataset = fitted_store.add_dataset(new_rows())
    run_id = jobs.start(fitted_store, Request("projection", dataset, {}, fit_id))
    card = ended(fitted_store, run_id)
    assert card.state is RunState.DONE, card.message
    found = fitted_store.projection(run_id)
    assert newest_sound(fitted_store.runs(dataset), "projection", fit_id) == card
    assert found.unknown == {"diagnosis": ("=HYPERLINK(unknown)",), "medication": ("unknown drug",)}
    assert found.entries_left_out == 4 and found.empty_rows == (12,)
    assert found.memberships.shape == (13, 3) and not found.memberships[12].any()
    assert found.row_labels[0] == "new 0" and found.identifiers == ("P01", "P02", "P03")

    model = load_fit(fitted_store, fit_id)
    rows = on_features(new_rows().tensor, model.modes).tensor
    for row in range(12):
        alone = model.transform(rows.select(0, [row]))
        np.testing.assert_allclose(found.memberships[row], alone[0], rtol=1e-6, atol=1e-9)
    some = model.transform(rows.select(0, [11, 2, 5]))
    np.testing.assert_allclose(found.memberships[[11, 2, 5]], some, rtol=1e-6, atol=1e-9)

    for row in range(12):
        places = found.coordinates[found.coordinates[:, 0] == row]
        assert len(places) == int((rows.coordinates[:, 0] == row).sum())
        shares = entry_shares(found.memberships[row], found.profiles, places[:, 1:])
        np.testing.assert_allclose(shares.sum(axis=1), 1)
    assert 12 not in found.coordinates[:, 0]


def test_shares_are_those_of_the_model() -> None:
    membership = np.array([2.0, 1.0])
    profiles = [np.array([[0.5, 0.0], [0.5, 1.0]]), np.array([[1.0, 0.5], [0.0, 0.5]])]
    shares = entry_shares(membership, profiles, np.array([[0, 0], [1, 0], [0, 1]]))
    np.testing.assert_allclose(shares, [[1, 0], [1 / 1.5, 0.5 / 1.5], [0, 0]])


def test_rows_without_any_known_feature_are_refused() -> None:
    modes = (Mode("patient", ("a",)), Mode("diagnosis", ("x",)), Mode("medication", ("y",)))
    tensor = SparseTensor.from_coordinates([[0, 0, 0]], [1.0], modes=modes)
    known = tiny_dataset().tensor.modes
    with pytest.raises(InvalidData, match="share no feature"):
        on_features(tensor, known)
    flat = SparseTensor.from_coordinates([[0, 0]], [1.0], modes=modes[:2])
    with pytest.raises(InvalidData, match="number of modes"):
        on_features(flat, known)

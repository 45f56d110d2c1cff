"""What the charts of the Data page draw."""

from __future__ import annotations

import numpy as np
import pytest

from dashboard.charts import data, style
from dashboard.fit_view.phenotype_tables import presence, row_counts
from swiftcore.tensor import SparseTensor


def test_entries_are_counted_in_steps_that_cover_every_row() -> None:
    per_row = np.array([0, 1, 1, 5, 400])
    table = data.entries_table(per_row)
    assert table["rows"].sum() == 5 and len(table) <= data.BARS
    assert (table["from"].to_numpy()[1:] == table["to"].to_numpy()[:-1] + 1).all()
    small = data.entries_table(np.array([0, 2, 2]))
    assert small["rows"].tolist() == [1, 0, 2]
    assert list(data.entries_bars(small, "patient").data[0].y) == [1, 0, 2]


def test_a_feature_counts_once_per_row() -> None:
    places = np.array([[0, 0, 0], [0, 0, 1], [0, 1, 0], [1, 1, 0], [2, 1, 1]])
    tensor = SparseTensor.from_coordinates(places, np.ones(5), shape=(4, 3, 2))
    counts = row_counts(presence(tensor, 1)).astype(np.int64)
    table = data.frequency_table(counts, ["a", "b", "c"], 4)
    assert table["feature"].tolist() == ["b", "a", "c"]
    assert table["rows"].tolist() == [3, 1, 0] and table["share"].tolist() == [0.75, 0.25, 0.0]
    figure = data.frequency_bars(table.head(2), "#000000")
    assert list(figure.data[0].x) == [3, 1]
    assert list(figure.layout.yaxis.ticktext) == ["b", "a"]


@pytest.fixture
def cost() -> np.ndarray:
    """0 and 2 are close, 1 and 3 are close."""
    close = np.ones((4, 4)) - np.eye(4)
    close[0, 2] = close[2, 0] = close[1, 3] = close[3, 1] = 0.1
    return close


def test_clustering_puts_close_features_side_by_side(cost: np.ndarray) -> None:
    order = style.clustered(cost)
    assert sorted(order) == [0, 1, 2, 3]
    assert abs(order.index(0) - order.index(2)) == 1
    assert abs(order.index(1) - order.index(3)) == 1
    assert style.clustered(np.zeros((2, 2))) == [0, 1]


def test_the_heatmap_shows_the_costs_and_user_text_as_typed(cost: np.ndarray) -> None:
    figure = data.cost_heatmap(cost, ["<i>x</i>", "y", "z", "y"])
    assert np.allclose(figure.data[0].z, cost)
    assert figure.layout.xaxis.ticktext[0] == "&lt;i&gt;x&lt;/i&gt;"
    assert "<i>" not in figure.data[0].customdata[0, 0]


def test_nearest_features_come_closest_first_without_the_feature_itself(cost: np.ndarray) -> None:
    table = data.nearest(cost, ["a", "b", "c", "d"], "c", top=2)
    assert table["feature"].tolist() == ["a", "b"]
    assert table["distance"].tolist() == [0.1, 1.0]
    assert table["similarity"].tolist() == pytest.approx([0.9, 0.0])

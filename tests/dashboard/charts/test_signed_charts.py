"""Charts of factors with signs: 0 in the middle, what is below it said; names on every cell."""

from __future__ import annotations

import numpy as np
import pandas as pd

from dashboard.charts import patients, phenotypes, style


def bars(*weights: float) -> pd.DataFrame:
    return pd.DataFrame(
        {"feature": [f"f{place}" for place in range(len(weights))], "weight": weights}
    ).assign(lift=1.0, rows="12")


def test_bars_of_less_go_to_the_left_and_say_so() -> None:
    figure = phenotypes.feature_bars(bars(0.6, -0.4), style.BLUE, "Strength")
    assert list(figure.layout.yaxis.ticktext) == ["f0", "less f1"]
    assert list(figure.data[0].text) == ["+60%", "-40%"]
    assert list(figure.data[0].marker.color) == [style.BLUE, style.GREY]
    low, high = figure.layout.xaxis.range
    assert low == -high and high > 0.6
    plain = phenotypes.feature_bars(bars(0.6, 0.4), style.BLUE, "Strength")
    assert plain.layout.xaxis.range[0] == 0 and list(plain.data[0].text) == ["60%", "40%"]


def test_heatmaps_have_zero_in_the_middle_only_with_signs() -> None:
    values = np.array([[0.5, -0.2], [0.1, 0.3]])
    signed = phenotypes.glance(values, ["a", "b"], ["P01", "P02"], "Strength")
    assert (signed.data[0].zmin, signed.data[0].zmax) == (-0.5, 0.5)
    plain = phenotypes.glance(np.abs(values), ["a", "b"], ["P01", "P02"], "Strength")
    assert plain.data[0].zmin == 0 and plain.data[0].colorscale != signed.data[0].colorscale


def test_rows_and_columns_of_heatmaps_are_named() -> None:
    for figure in (
        phenotypes.glance(np.ones((2, 1)), ["a", "b"], ["P01"], "Strength"),
        phenotypes.overlap(np.eye(2), ["P01", "P02"]),
    ):
        assert figure.layout.xaxis.ticktext[0] == "P01" and figure.layout.xaxis.side == "top"
        assert len(figure.layout.yaxis.ticktext) == 2
        assert figure.layout.yaxis.autorange == "reversed"


def test_two_phenotypes_with_signs_stand_one_above_the_other() -> None:
    table = pd.DataFrame({"feature": ["a", "b"], "left": [0.5, -0.1], "right": [0.2, 0.4]})
    figure = phenotypes.back_to_back(table, "one", "other", "Strength")
    assert figure.layout.barmode == "group" and list(figure.data[0].x) == [0.5, -0.1]
    table["left"] = [0.5, 0.1]
    assert phenotypes.back_to_back(table, "one", "other", "Strength").layout.barmode == "overlay"


def test_pairs_are_named_and_turned_ones_said() -> None:
    table = pd.DataFrame(
        {
            "here": ["P01: gout", "P02: flu"],
            "there": ["P02: <b>", "P01: x"],
            "similarity": [0.9, 0.4],
            "turned": [False, True],
        }
    )
    figure = phenotypes.matched(table)
    assert list(figure.layout.yaxis.ticktext) == [
        "P01: gout<br>P02: &lt;b&gt;",
        "P02: flu<br>P01: x",
    ]
    assert list(figure.data[0].text) == ["0.90", "0.40, turned round"]


def test_a_row_that_has_less_of_a_phenotype() -> None:
    figure = patients.row_bars(["P01", "P02"], [0.7, -0.3], "Part")
    assert figure.layout.xaxis.range[0] < -0.3
    assert list(figure.data[0].marker.color) == [style.GREEN, style.GREY]

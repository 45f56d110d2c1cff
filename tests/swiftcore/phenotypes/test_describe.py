"""From factors to readable phenotypes, on factors small enough to check by hand."""

from __future__ import annotations

from html import escape

import numpy as np
import pytest

from swiftcore import InvalidSettings, Mode, Phenotypes, describe_phenotypes
from swiftcore.phenotypes.consensus import Agreement
from swiftcore.phenotypes.shares import masses, profiles, row_shares

MODES = (
    Mode("patient", ("a", "b", "c")),
    Mode("diagnosis", ("flu", "gout", "none")),
    Mode("drug", ("x", "y")),
)
FACTORS = [
    np.array([[3.0, 0.0, 0.0], [1.0, 1.0, 0.0], [0.0, 8.0, 0.0]]),
    np.array([[0.75, 0.5, 0.2], [0.25, 0.5, 0.8], [0.0, 0.0, 0.0]]),
    np.array([[1.0, 0.1, 0.5], [0.0, 0.9, 0.5]]),
]


def test_order_identifiers_and_shares() -> None:
    found = describe_phenotypes(FACTORS, MODES)
    assert [p.identifier for p in found] == ["P02", "P01"]  # the dead third is not described
    assert [p.component for p in found] == [1, 0]
    assert [p.share for p in found] == pytest.approx([9 / 13, 4 / 13])


def test_items_are_ranked_by_weight_and_weightless_ones_left_out() -> None:
    first = next(p for p in describe_phenotypes(FACTORS, MODES) if p.identifier == "P01")
    assert list(first.items) == ["diagnosis", "drug"]
    assert [item.label for item in first.items["diagnosis"]] == ["flu", "gout"]
    assert [item.label for item in first.items["drug"]] == ["x"]
    assert [item.index for item in first.items["diagnosis"]] == [0, 1]
    assert [item.weight for item in first.items["diagnosis"]] == [0.75, 0.25]
    assert first.name == "flu + x"


def test_lift_is_weight_over_overall_share() -> None:
    first = next(p for p in describe_phenotypes(FACTORS, MODES) if p.identifier == "P01")
    flu = (4 * 0.75 + 9 * 0.5) / 13
    item = first.items["diagnosis"][0]
    assert item.lift == pytest.approx(0.75 / flu)
    assert item.relevance == pytest.approx(np.log(0.75))


def test_specific_instead_of_frequent() -> None:
    factors = [np.ones((1, 2)), np.array([[0.6, 0.9], [0.4, 0.1]])]
    modes = (Mode("row", ("a",)), Mode("word", ("common", "rare")))
    by_frequency = describe_phenotypes(factors, modes, frequency_weight=1.0)[0]
    by_lift = describe_phenotypes(factors, modes, frequency_weight=0.0)[0]
    assert by_frequency.items["word"][0].label == "common"
    assert by_lift.items["word"][0].label == "rare"
    item = describe_phenotypes(factors, modes, frequency_weight=0.25)[0].items["word"][0]
    assert item.relevance == pytest.approx(0.25 * np.log(item.weight) + 0.75 * np.log(item.lift))


def test_top_limits_each_mode() -> None:
    for phenotype in describe_phenotypes(FACTORS, MODES, top=1):
        assert all(len(items) == 1 for items in phenotype.items.values())


def test_rows_that_carry_it_strongest_first() -> None:
    second, first = describe_phenotypes(FACTORS, MODES)
    assert first.rows == (0, 1)
    assert second.rows == (2, 1)
    assert describe_phenotypes(FACTORS, MODES, carried=0.9)[1].rows == (0,)


def test_the_scale_of_the_columns_does_not_matter() -> None:
    """Weight may sit in any mode; the description is of the model."""
    moved = [FACTORS[0] / [2.0, 5.0, 1.0], FACTORS[1] * [2.0, 5.0, 1.0], FACTORS[2]]
    for one, other in zip(
        describe_phenotypes(FACTORS, MODES), describe_phenotypes(moved, MODES), strict=True
    ):
        assert other.identifier == one.identifier
        assert other.rows == one.rows
        assert other.share == pytest.approx(one.share)
        weights = [[i.weight for i in p.items["diagnosis"]] for p in (one, other)]
        assert weights[0] == pytest.approx(weights[1])


def test_identifiers_sort_as_text_for_large_ranks() -> None:
    rank = 120
    factors = [np.ones((2, rank)), np.ones((2, rank))]
    found = describe_phenotypes(factors, MODES[2:] * 2)
    names = [phenotype.identifier for phenotype in found]
    assert names[0] == "P001" and names[-1] == "P120"
    assert names == sorted(names)


def test_modes_of_the_same_name_are_kept_apart() -> None:
    modes = (Mode("document", ("a",)), Mode("word", ("x", "y")), Mode("word", ("x", "y")))
    factors = [np.ones((1, 1)), np.array([[0.9], [0.1]]), np.array([[0.2], [0.8]])]
    (only,) = describe_phenotypes(factors, modes)
    assert len(only.items) == 2
    assert only.name == "x + y"


def test_nothing_alive_nothing_described() -> None:
    assert describe_phenotypes([np.zeros((3, 2)), np.zeros((3, 2))], MODES[:2]) == []


@pytest.mark.parametrize(
    "settings",
    [
        {"frequency_weight": -0.1},
        {"frequency_weight": 1.1},
        {"frequency_weight": np.nan},
        {"top": -1},
    ],
)
def test_refused(settings: dict) -> None:
    with pytest.raises(InvalidSettings):
        describe_phenotypes(FACTORS, MODES, **settings)


def test_a_notebook_shows_a_table_in_which_no_label_is_markup() -> None:
    modes = (
        MODES[0],
        Mode("<b>diagnosis", ("<script>alert(1)</script>", "gout", "none")),
        Mode("drug", ('x" onload="alert(1)', "y")),
    )
    found = describe_phenotypes(FACTORS, modes)
    shown = found._repr_html_()
    assert shown.count("<tr>") == 1 + len(found)
    assert "<script" not in shown and "<b>" not in shown and 'x" ' not in shown
    assert "75% &lt;script&gt;alert(1)&lt;/script&gt;" in shown and "&lt;b&gt;diagnosis" in shown
    assert f"<td>P02</td><td>{escape(found[0].name)}</td><td>69.2%</td><td>2</td>" in shown
    assert found[0]._repr_html_() == Phenotypes(found[:1])._repr_html_()
    assert Phenotypes()._repr_html_().count("<td>") == 0


SIGNED = [
    np.array([[2.0, -3.0], [1.0, 0.0], [-1.0, 1.0]]),
    np.array([[0.8, -0.6], [-0.6, 0.8], [0.0, 0.0]]),
    np.array([[1.0, 0.0], [0.0, 1.0]]),
]


def test_signs_are_kept_and_shares_go_by_absolute_value() -> None:
    first, second = sorted(describe_phenotypes(SIGNED, MODES), key=lambda one: one.component)
    assert [first.share, second.share] == pytest.approx([0.5, 0.5])  # 4 x 1.4 each
    weights = [(item.label, item.weight) for item in second.items["diagnosis"]]
    assert weights == [("gout", pytest.approx(0.8 / 1.4)), ("flu", pytest.approx(-0.6 / 1.4))]
    assert all(item.lift > 0 for item in second.items["diagnosis"])
    assert second.rows == (2,)  # row 0 has less of it, which is not carrying it
    assert second.name == "gout + y"


def test_row_shares_add_up_by_absolute_value() -> None:
    shares = row_shares(SIGNED)
    np.testing.assert_allclose(np.abs(shares).sum(axis=1), 1)
    np.testing.assert_allclose(shares[0], [0.4, -0.6])
    plain = row_shares(FACTORS)
    np.testing.assert_allclose(plain[:2], [[1, 0, 0], [0.5, 0.5, 0]])
    np.testing.assert_allclose(np.abs(profiles(SIGNED[1])).sum(axis=0), 1)
    np.testing.assert_allclose(masses(SIGNED), [4 * 1.4, 4 * 1.4])


def test_a_consensus_says_in_how_many_fits_and_how_far_off() -> None:
    spread = [np.full(factor.shape, 0.25) for factor in FACTORS[1:]]
    rank = FACTORS[0].shape[1]
    agreed = Agreement(5, (2,) + (5,) * (rank - 1), spread)
    found = {p.component: p for p in describe_phenotypes(FACTORS, MODES, agreement=agreed)}
    assert found[0].found_in == (2, 5) and found[0].found_rarely
    assert found[1].found_in == (5, 5) and not found[1].found_rarely
    assert all(i.spread == 0.25 for p in found.values() for m in p.items.values() for i in m)
    alone = describe_phenotypes(FACTORS, MODES)[0]
    assert alone.found_in is None and not alone.found_rarely

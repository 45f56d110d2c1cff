"""The sparse tensor: what it takes, what it makes of it, what it refuses."""

from __future__ import annotations

import numpy as np
import pytest

from swiftcore import InvalidData, Mode, SparseTensor

PLACES = [[0, 1, 2], [1, 0, 0], [0, 0, 1]]


def codes(error: pytest.ExceptionInfo[InvalidData]) -> list[str]:
    return [problem.code for problem in error.value.problems]


def make(places: object, values: object, **kwargs: object) -> SparseTensor:
    return SparseTensor.from_coordinates(places, values, **kwargs)  # type: ignore[arg-type]


def test_entries_are_sorted_and_dense_form_agrees() -> None:
    tensor = make(PLACES, [1.0, 2.0, 3.0])
    assert tensor.shape == (2, 2, 3)
    assert tensor.coordinates.tolist() == [[0, 0, 1], [0, 1, 2], [1, 0, 0]]
    assert tensor.values.tolist() == [3.0, 1.0, 2.0]
    assert tensor.to_dense()[0, 1, 2] == 1.0
    assert tensor.to_dense().sum() == 6.0
    assert tensor.density == pytest.approx(3 / 12)


def test_duplicates_are_summed_and_zeros_dropped() -> None:
    tensor = make([[0, 0], [1, 1], [0, 0], [1, 0]], [1, 5, 2, 0], shape=(2, 2))
    assert tensor.coordinates.tolist() == [[0, 0], [1, 1]]
    assert tensor.values.tolist() == [3.0, 5.0]


def test_the_sum_of_duplicates_does_not_depend_on_their_order() -> None:
    values = np.array([1e16, 1.0, 1.0, 1.0, 1.0, 0.3])
    sums = {
        make(np.zeros((6, 2), dtype=int), values[order]).values[0]
        for order in (np.random.default_rng(seed).permutation(6) for seed in range(30))
    }
    assert len(sums) == 1


def test_input_is_copied_and_result_is_read_only() -> None:
    places, values = np.array(PLACES), np.array([1.0, 2.0, 3.0])
    tensor = make(places, values)
    before = tensor.digest()
    places[:], values[:] = 0, 9.0
    assert tensor.digest() == before
    with pytest.raises(ValueError, match="read-only"):
        tensor.values[0] = 7.0


@pytest.mark.parametrize("dtype", [bool, np.int8, np.uint64, np.float16, np.float32])
def test_real_number_types_are_taken(dtype: type) -> None:
    tensor = make(PLACES, np.array([1, 1, 1], dtype=dtype))
    assert tensor.values.dtype == np.float64
    assert tensor.values.tolist() == [1.0, 1.0, 1.0]


def test_whole_floats_are_coordinates() -> None:
    assert make([[0.0, 1.0], [2.0, 0.0]], [1, 1]).shape == (3, 2)


@pytest.mark.parametrize(
    ("places", "values", "kwargs", "code"),
    [
        (PLACES, [1.0, np.nan, 1.0], {}, "value-nan"),
        (PLACES, [1.0, np.inf, 1.0], {}, "value-infinite"),
        (PLACES, [1.0, -1.0, 1.0], {}, "value-negative"),
        (PLACES, ["a", "b", "c"], {}, "value-type"),
        (PLACES, np.array([1, "x", None], dtype=object), {}, "value-type"),
        (PLACES, [1j, 1j, 1j], {}, "value-type"),
        (PLACES, [[1.0], [1.0], [1.0]], {}, "value-type"),
        (PLACES, [1.0], {}, "value-count"),
        ([0, 1, 2], [1.0, 1.0, 1.0], {}, "coordinate-shape"),
        ([[0], [1], [2]], [1.0, 1.0, 1.0], {}, "coordinate-shape"),
        ([[0.5, 1.0]], [1.0], {}, "coordinate-type"),
        ([[np.nan, 1.0]], [1.0], {}, "coordinate-type"),
        ([[np.inf, 1.0]], [1.0], {}, "coordinate-type"),
        ([["a", "b"]], [1.0], {}, "coordinate-type"),
        ([[-1, 0]], [1.0], {}, "coordinate-range"),
        ([[2**40, 0]], [1.0], {}, "coordinate-range"),
        (np.array([[2**64 - 1, 0]], dtype=np.uint64), [1.0], {}, "coordinate-range"),
        (PLACES, [1.0] * 3, {"shape": (2, 2)}, "mode-count"),
        (PLACES, [1.0] * 3, {"shape": (2, 2, 2)}, "index-outside"),
        (PLACES, [1.0] * 3, {"shape": (2, 2, 0)}, "mode-empty"),
        (np.empty((0, 3), dtype=int), [], {}, "no-entries"),
        ([[0, 0], [0, 0]], [1e308, 1e308], {}, "value-sum"),
    ],
)
def test_refused(places: object, values: object, kwargs: dict, code: str) -> None:
    with pytest.raises(InvalidData) as error:
        make(places, values, **kwargs)
    assert codes(error) == [code]


def test_all_value_faults_are_reported_at_once_with_their_places() -> None:
    with pytest.raises(InvalidData) as error:
        make([[0, 0], [0, 1], [1, 0], [1, 1]], [np.nan, np.inf, -1.0, -2.0])
    assert codes(error) == ["value-nan", "value-infinite", "value-negative"]
    assert error.value.problems[2].where == "entries 2, 3"


def test_label_count_must_fit() -> None:
    with pytest.raises(InvalidData) as error:
        make(PLACES, [1.0] * 3, shape=(2, 2, 3), modes=[Mode.numbered("m", 2)] * 3)
    assert codes(error) == ["label-count"]


def test_many_bad_places_are_listed_short() -> None:
    with pytest.raises(InvalidData, match="and 95 more"):
        make(np.zeros((100, 2), dtype=int), -np.ones(100))


def test_select_keeps_order_labels_and_values() -> None:
    modes = [Mode("p", ("a", "b", "c")), Mode("d", ("x", "y"))]
    tensor = make([[0, 0], [1, 1], [2, 0], [2, 1]], [1, 2, 3, 4], modes=modes)
    part = tensor.select(0, [2, 0])
    assert part.modes[0].labels == ("c", "a")
    assert part.modes[1] == modes[1]
    np.testing.assert_array_equal(part.to_dense(), tensor.to_dense()[[2, 0]])
    np.testing.assert_array_equal(
        tensor.select(0, np.array([True, False, True])).to_dense(), tensor.to_dense()[[0, 2]]
    )
    for rows in ([0], [1, 2], [0, 1], [0, 1, 2], [2]):  # rows that follow each other
        part = tensor.select(0, rows)
        assert part.modes[0].labels == tuple("abc"[row] for row in rows)
        np.testing.assert_array_equal(part.to_dense(), tensor.to_dense()[rows])


@pytest.mark.parametrize("mode", [-1, 3])
def test_select_refuses_a_mode_that_is_not_there(mode: int) -> None:
    with pytest.raises(InvalidData, match="no such mode"):
        make(PLACES, [1.0, 2.0, 3.0]).select(mode, [0, 1])


@pytest.mark.parametrize(
    ("indices", "code"),
    [([], "select-range"), ([3], "select-range"), ([-1], "select-range"), ([0, 0], "select-twice")],
)
def test_select_refuses(indices: list[int], code: str) -> None:
    with pytest.raises(InvalidData) as error:
        make(PLACES, [1.0, 2.0, 3.0]).select(2, indices)
    assert codes(error) == [code]


@pytest.mark.parametrize("indices", [np.array([True]), np.array([0.5, 1.0]), ["a"]])
def test_select_refuses_what_is_no_index(indices: object) -> None:
    """A mask of another length than the mode, fractions, words."""
    with pytest.raises(InvalidData):
        make(PLACES, [1.0, 2.0, 3.0]).select(2, indices)  # type: ignore[arg-type]


def test_digest_ignores_order_and_nothing_else() -> None:
    tensor = make(PLACES, [1.0, 2.0, 3.0])
    assert make(PLACES[::-1], [3.0, 2.0, 1.0]) == tensor
    labelled = [Mode("mode 1", ("0", "other")), *tensor.modes[1:]]
    others = [
        make(PLACES, [1.0, 2.0, 3.0 + 1e-15]),
        make(PLACES, [1.0, 2.0, 3.0], shape=(2, 2, 4)),
        make(PLACES, [1.0, 2.0, 3.0], modes=labelled),
        make([[0, 1, 2], [1, 0, 1], [0, 0, 1]], [1.0, 2.0, 3.0]),
    ]
    assert len({t.digest() for t in (tensor, *others)}) == 5
    assert tensor != "something else"


def test_digest_keeps_labels_apart() -> None:
    """Labels are not simply run together."""
    places = [[0, 0], [1, 1]]
    first = make(places, [1, 1], modes=[Mode("m", ("ab", "c")), Mode("n", ("x", "y"))])
    second = make(places, [1, 1], modes=[Mode("m", ("a", "bc")), Mode("n", ("x", "y"))])
    third = make(places, [1, 1], modes=[Mode("ma", ("b", "c")), Mode("n", ("x", "y"))])
    assert len({first.digest(), second.digest(), third.digest()}) == 3


def test_labels_that_are_no_valid_text_still_have_a_digest() -> None:
    make([[0, 0]], [1], modes=[Mode("m", ("\ud800",)), Mode("n", ("é",))]).digest()


def test_labels_are_text_whatever_they_came_in() -> None:
    for labels in ([1, 2], np.array([1, 2]), ("1", "2")):
        assert Mode("patient", labels) == Mode("patient", ("1", "2"))  # type: ignore[arg-type]


def test_a_label_given_twice_is_refused() -> None:
    modes = [Mode("patient", ("a", "a")), Mode("code", ("x", "y"))]
    with pytest.raises(InvalidData) as error:
        SparseTensor.from_coordinates([[0, 0], [1, 1]], [1, 1], modes=modes)
    assert error.value.problems[0].code == "label-twice"

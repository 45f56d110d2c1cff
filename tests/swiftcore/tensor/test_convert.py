"""Sparse tensors to other libraries and back: nothing is lost, nothing wrong is taken."""

from __future__ import annotations

import subprocess
import sys

import numpy as np
import pandas as pd
import pytest
import scipy.sparse
import sparse
from hypothesis import given, settings
from hypothesis import strategies as st

from swiftcore import InvalidData, InvalidSettings, Mode, SparseTensor

ANY_TEXT = st.text(st.characters(), max_size=6)  # with lone surrogates, as file names have them
POSITIVE = st.floats(1e-300, 1e300)


@st.composite
def tensors(draw: st.DrawFn, least: int = 2, most: int = 4) -> SparseTensor:
    """Any labels, modes that share a name, labels without an entry, no entry at all."""
    n_modes = draw(st.integers(least, most))
    names = st.sampled_from(["patient", "value", ""]) | ANY_TEXT
    labels = st.lists(ANY_TEXT, min_size=1, max_size=5, unique=True).map(tuple)
    modes = [Mode(draw(names), draw(labels)) for _ in range(n_modes)]
    place = st.tuples(*(st.integers(0, len(mode) - 1) for mode in modes))
    entries = draw(st.dictionaries(place, POSITIVE, max_size=12))
    coordinates = np.array(list(entries), dtype=int).reshape(-1, n_modes)
    return SparseTensor.from_coordinates(coordinates, list(entries.values()), modes=modes)


@given(tensors())
@settings(max_examples=60, deadline=None)
def test_a_long_table_and_back_is_the_same_tensor(tensor: SparseTensor) -> None:
    frame = tensor.to_frame()
    assert frame.shape == (tensor.n_entries, tensor.n_modes + 1)
    assert SparseTensor.from_frame(frame).digest() == tensor.digest()
    shuffled = frame.sample(frac=1, random_state=0)  # an index of its own, another order
    assert SparseTensor.from_frame(shuffled).digest() == tensor.digest()


@given(tensors(most=2), st.sampled_from(["coo", "csr", "csc", "lil"]))
@settings(max_examples=60, deadline=None)
def test_a_scipy_array_and_back_is_the_same_tensor(tensor: SparseTensor, form: str) -> None:
    array = tensor.to_scipy().asformat(form)
    np.testing.assert_array_equal(array.toarray(), tensor.to_dense())
    assert SparseTensor.from_scipy(array, tensor.modes).digest() == tensor.digest()


@given(tensors(), st.sampled_from(["coo", "gcxs", "dok"]))
@settings(max_examples=60, deadline=None)
def test_a_pydata_array_and_back_is_the_same_tensor(tensor: SparseTensor, form: str) -> None:
    array = tensor.to_sparse().asformat(form)
    np.testing.assert_array_equal(array.todense(), tensor.to_dense())
    assert SparseTensor.from_sparse(array, tensor.modes).digest() == tensor.digest()


def test_a_plain_table_has_the_labels_that_occur_sorted() -> None:
    frame = pd.DataFrame(
        {"patient": [2, 10, 2], "drug": ["y", "x", "y"], "count": [1, 2, 3]}, index=[7, 7, 8]
    )
    tensor = SparseTensor.from_frame(frame)
    assert tensor.modes == (Mode("patient", ("10", "2")), Mode("drug", ("x", "y")))
    assert tensor.coordinates.tolist() == [[0, 0], [1, 1]]
    assert tensor.values.tolist() == [2.0, 4.0]  # repeated rows are summed


def test_arrays_without_modes_are_numbered() -> None:
    array = scipy.sparse.csr_matrix(np.array([[0, 2.0], [1.0, 0], [0, 0]]))
    tensor = SparseTensor.from_scipy(array)
    assert tensor.shape == (3, 2)
    assert tensor.modes[1].labels == ("0", "1")
    np.testing.assert_array_equal(tensor.to_dense(), array.toarray())


def test_copies_may_be_changed() -> None:
    tensor = SparseTensor.from_coordinates([[0, 1], [1, 0]], [1.0, 2.0])
    before = tensor.digest()
    frame, array, coo = tensor.to_frame(), tensor.to_scipy(), tensor.to_sparse()
    frame.loc[0, "value"] = 9.0
    array.data[0] = 9.0
    coo.data[0] = 9.0
    assert tensor.digest() == before


TABLE = pd.DataFrame({"patient": ["a", "b"], "drug": ["x", "y"], "value": [1.0, 2.0]})
WRONG_TABLES = {
    "label-missing": TABLE.assign(drug=["x", None]),
    "frame-columns": TABLE[["patient", "value"]],
    "value-type": TABLE[["value", "drug", "patient"]],
    "label-twice": TABLE.assign(drug=pd.Categorical([1, "1"])),
    "value-negative": TABLE.assign(value=[1, -1]),
}
WRONG_ARRAYS = {
    "array-type": np.eye(2),
    "value-negative": scipy.sparse.eye_array(2) * -1,
    "array-fill": sparse.ones((2, 2)),
    "coordinate-shape": sparse.COO([[0, 1]], [1.0, 1.0], shape=(3,)),
}


@pytest.mark.parametrize("code", WRONG_TABLES)
def test_a_table_that_is_no_tensor_is_refused(code: str) -> None:
    with pytest.raises(InvalidData) as error:
        SparseTensor.from_frame(WRONG_TABLES[code])
    assert [problem.code for problem in error.value.problems] == [code]


def test_a_missing_category_is_refused_too() -> None:
    wrong = WRONG_TABLES["label-missing"].astype({"drug": "category"})
    with pytest.raises(InvalidData, match=r"column 'drug', rows 1"):
        SparseTensor.from_frame(wrong)


@pytest.mark.parametrize("code", WRONG_ARRAYS)
def test_an_array_that_is_no_tensor_is_refused(code: str) -> None:
    with pytest.raises(InvalidData) as error:
        SparseTensor.from_scipy(WRONG_ARRAYS[code])
    assert [problem.code for problem in error.value.problems] == [code]


def test_three_modes_are_no_scipy_array() -> None:
    with pytest.raises(InvalidData, match="two modes"):
        SparseTensor.from_coordinates([[0, 0, 0]], [1]).to_scipy()


def test_without_the_package_sparse_its_arrays_are_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setitem(sys.modules, "sparse", None)
    with pytest.raises(InvalidSettings, match="pip install sparse"):
        SparseTensor.from_coordinates([[0, 0]], [1]).to_sparse()


def test_tensors_do_not_wait_for_pandas() -> None:
    code = "import sys, swiftcore.tensor; print({'pandas', 'scipy', 'sparse'} & set(sys.modules))"
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert answer.stdout.strip() == "set()", answer.stdout + answer.stderr

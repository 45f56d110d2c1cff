"""Sparse tensors as other libraries hold them: a long pandas table, scipy and pydata arrays.

Nothing here is needed to fit, so pandas, scipy and sparse are imported only when asked for.
"""

from __future__ import annotations

from importlib import import_module
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.errors import InvalidSettings, refuse, where_list

if TYPE_CHECKING:
    import pandas as pd
    import scipy.sparse

    from swiftcore.tensor.sparse_tensor import SparseTensor

VALUE = "value"  # the heading of the last column
Labels = tuple[str, ...]


def to_frame(tensor: SparseTensor) -> pd.DataFrame:
    """One row per entry: a column of labels per mode, then the value.

    Labels are categorical, so that those without an entry, and their order, come along.
    """
    import pandas as pd

    columns: list[Any] = [
        pd.Categorical.from_codes(
            tensor.coordinates[:, axis], categories=pd.Index(mode.labels, dtype=object)
        )
        for axis, mode in enumerate(tensor.modes)
    ]
    frame = pd.DataFrame(dict(enumerate([*columns, tensor.values.copy()])))
    names = [*(mode.name for mode in tensor.modes), VALUE]  # two modes may share a name
    frame.columns = pd.Index(names, dtype=object)
    return frame


def entries_of_frame(
    frame: pd.DataFrame,
) -> tuple[NDArray[np.int64], NDArray[Any], list[tuple[str, Labels]]]:
    """Coordinates, values, and name and labels of each mode, from a long table.

    The last column holds the values, every other one names the labels of a mode: a
    categorical column all of them, in order, any other those that occur, sorted as text.
    """
    if frame.shape[1] < 3:
        raise refuse(
            "frame-columns",
            "A long table has a column per mode, then one of values",
            "the table",
            f"{frame.shape[1]} columns",
            "Give at least two columns of labels and one of values.",
        )
    names = [str(name) for name in frame.columns[:-1]]
    coded = [_coded(frame.iloc[:, axis], name) for axis, name in enumerate(names)]
    modes = [(name, labels) for name, (_, labels) in zip(names, coded, strict=True)]
    return np.column_stack([codes for codes, _ in coded]), frame.iloc[:, -1].to_numpy(), modes


def _coded(column: pd.Series[Any], name: str) -> tuple[NDArray[np.int64], Labels]:
    """For each row the number of its label, and the labels."""
    import pandas as pd

    missing = np.flatnonzero(column.isna())
    if len(missing):
        raise refuse(
            "label-missing",
            "A row has no label",
            f"column {name!r}, rows {where_list(missing)}",
            "missing values",
            "Fill them in or leave these rows out.",
        )
    if isinstance(column.dtype, pd.CategoricalDtype):
        labels = tuple(str(label) for label in column.cat.categories)
        return np.asarray(column.cat.codes, dtype=np.int64), labels
    texts = [str(label) for label in column]
    number = {label: index for index, label in enumerate(sorted(set(texts)))}
    return np.array([number[text] for text in texts], dtype=np.int64), tuple(number)


def to_scipy(tensor: SparseTensor) -> scipy.sparse.coo_array:
    """A tensor of two modes as a scipy array; its labels stay behind."""
    from scipy.sparse import coo_array

    if tensor.n_modes != 2:
        raise refuse(
            "scipy-modes",
            "Only a tensor of two modes becomes a scipy array",
            "the tensor",
            f"{tensor.n_modes} modes",
            "Use to_sparse or to_frame.",
        )
    rows, columns = tensor.coordinates.T.copy()
    return coo_array((tensor.values.copy(), (rows, columns)), shape=tensor.shape)


def to_sparse(tensor: SparseTensor) -> Any:
    """A tensor as a COO array of the package sparse; its labels stay behind."""
    try:
        sparse = import_module("sparse")
    except ModuleNotFoundError as missing:
        raise refuse(
            "sparse-missing",
            "The package sparse is not installed",
            "to_sparse",
            str(missing),
            "Install it: pip install sparse",
            kind=InvalidSettings,
        ) from missing
    places = np.ascontiguousarray(tensor.coordinates.T)
    return sparse.COO(places, tensor.values.copy(), tensor.shape, has_duplicates=False, sorted=True)


def entries_of_array(array: Any) -> tuple[NDArray[np.int64], NDArray[Any], tuple[int, ...]]:
    """Coordinates, values and shape of any array of scipy.sparse or of the package sparse."""
    if not hasattr(array, "asformat"):
        raise refuse(
            "array-type",
            "This is no sparse array",
            "the array",
            f"an object of type {type(array).__name__}",
            "Give an array of scipy.sparse or of the package sparse.",
        )
    if (filled := getattr(array, "fill_value", 0)) != 0:
        raise refuse(
            "array-fill",
            "Cells without an entry must mean 0",
            "fill_value",
            str(filled),
            "Subtract the fill value first.",
        )
    entries = array.asformat("coo")
    places = np.column_stack([np.asarray(axis, dtype=np.int64) for axis in entries.coords])
    return places, np.asarray(entries.data), tuple(int(size) for size in array.shape)

"""Texts of any length as arrays without objects: one run of bytes, and where each text ends."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray


def text_arrays(name: str, texts: Sequence[str]) -> dict[str, NDArray[Any]]:
    """The two arrays that hold some texts under a name."""
    encoded = [text.encode("utf-8", "surrogatepass") for text in texts]
    ends = np.cumsum([len(text) for text in encoded], dtype=np.int64)
    return {name: np.frombuffer(b"".join(encoded), "u1"), f"{name}_ends": ends}


def read_texts(arrays: Mapping[str, NDArray[Any]], name: str) -> tuple[str, ...]:
    """The texts again; raises ValueError or LookupError when the arrays hold none."""
    run, places = arrays[name].tobytes(), arrays[f"{name}_ends"]
    ends = places.tolist()
    starts = [0, *ends][: len(ends)]
    if places.ndim != 1 or places.dtype.kind not in "iu" or any(np.diff([0, *ends, len(run)]) < 0):
        raise ValueError(f"the ends of {name}")
    return tuple(
        run[a:b].decode("utf-8", "surrogatepass") for a, b in zip(starts, ends, strict=True)
    )

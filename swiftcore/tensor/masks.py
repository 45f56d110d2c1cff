"""Masked arrays of numpy, whose mask is lost where they become ordinary arrays."""

from __future__ import annotations

from typing import Any

import numpy as np

from swiftcore.errors import InvalidData, SwiftError, refuse


def refuse_masked(given: Any, where: str, kind: type[SwiftError] = InvalidData) -> None:
    """Raise if an entry is masked: what stands behind a mask means nothing."""
    if np.ma.is_masked(given):
        mask = np.ma.getmaskarray(given)
        raise refuse(
            "masked",
            "Some entries are masked",
            where,
            f"{np.count_nonzero(mask):,} of {mask.size:,} masked",
            "Leave them out, or fill them in, before you hand over the array.",
            kind=kind,
        )

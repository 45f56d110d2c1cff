"""The page's icon, drawn here so that nothing is fetched."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from dashboard.charts.style import BLUE, GREEN, VERMILLION

SIZE = 32


def page_icon() -> NDArray[np.uint8]:
    """Three bars, as in the charts."""
    picture = np.full((SIZE, SIZE, 3), 255, dtype=np.uint8)
    for row, (colour, length) in enumerate([(VERMILLION, 28), (BLUE, 20), (GREEN, 12)]):
        top = 3 + 10 * row
        picture[top : top + 7, 2 : 2 + length] = list(bytes.fromhex(colour[1:]))
    return picture

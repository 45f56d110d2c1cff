"""The page's icon, drawn here so that nothing is fetched."""

from __future__ import annotations

import struct
import zlib
from functools import cache

import numpy as np

from dashboard.charts.style import BLUE, GREEN, VERMILLION

SIZE = 32


@cache
def page_icon() -> bytes:
    """A PNG of three bars, as in the charts."""
    picture = np.full((SIZE, SIZE, 3), 255, dtype=np.uint8)
    for row, (colour, length) in enumerate([(VERMILLION, 28), (BLUE, 20), (GREEN, 12)]):
        top = 3 + 10 * row
        picture[top : top + 7, 2 : 2 + length] = list(bytes.fromhex(colour[1:]))
    lines = b"".join(b"\0" + line.tobytes() for line in picture)
    header = struct.pack(">IIBBBBB", SIZE, SIZE, 8, 2, 0, 0, 0)
    chunks = _chunk(b"IHDR", header) + _chunk(b"IDAT", zlib.compress(lines)) + _chunk(b"IEND", b"")
    return b"\x89PNG\r\n\x1a\n" + chunks


def _chunk(kind: bytes, content: bytes) -> bytes:
    check = zlib.crc32(kind + content)
    return struct.pack(">I", len(content)) + kind + content + struct.pack(">I", check)

"""Zip files whose bytes depend on what is in them, and not on when they were written."""

from __future__ import annotations

import io
import zipfile
from collections.abc import Iterable

DATE = (1980, 1, 1, 0, 0, 0)  # the earliest that the format knows


def zip_bytes(
    files: Iterable[tuple[str, bytes | memoryview]],
    *,
    compress: bool = True,
    level: int | None = None,
    comment: bytes = b"",
) -> bytes:
    """Files under their names, in the order given; the same files give the same bytes.

    Parameters
    ----------
    level : int, optional
        1 is fastest, 9 is smallest; the usual one if left out.
    comment : bytes
        Stands at the very end of the file.
    """
    out = io.BytesIO()
    method = zipfile.ZIP_DEFLATED if compress else zipfile.ZIP_STORED
    with zipfile.ZipFile(out, "w", method) as archive:
        for name, content in files:
            archive.writestr(zipfile.ZipInfo(name, DATE), content, method, level)
        archive.comment = comment
    return out.getvalue()

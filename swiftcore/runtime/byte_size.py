"""Amounts of memory as people write them: 2GB, 500 MB."""

from __future__ import annotations

import re

from swiftcore.errors import InvalidSettings, refuse

_UNITS = {"MB": 10**6, "GB": 10**9, "TB": 10**12}
_AMOUNT = re.compile(rf"(\d{{1,6}}(?:\.\d{{1,6}})?) ?({'|'.join(_UNITS)})", re.IGNORECASE)


def byte_size(words: str, least: int, where: str) -> int:
    """Bytes meant by a text such as 2GB.

    Raises
    ------
    InvalidSettings
        When it is no such text, or less than is needed at least.
    """
    found = _AMOUNT.fullmatch(words.strip())
    amount = round(float(found[1]) * _UNITS[found[2].upper()]) if found else 0
    if amount < least:
        raise refuse(
            "memory-amount",
            "An amount of memory cannot be used",
            where,
            repr(words)[:40],
            f"Give at least {least // 10**6} MB, for example 2GB.",
            kind=InvalidSettings,
        )
    return amount

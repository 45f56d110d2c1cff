"""The Clinical Classifications Software (CCS) of AHRQ: codes, categories and what is above them.

The tables lie in `ccs_tables`, with their provenance; `tools/ccs_tables.py` made them.
"""

from __future__ import annotations

import functools
import gzip
from collections.abc import Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType

__all__ = ["CcsCategory", "CcsLevel", "ccs_categories", "ccs_category", "ccs_codes"]

SYSTEMS = ("icd9", "icd10")
_TABLES = files("swiftcore.data.building") / "ccs_tables"


@dataclass(frozen=True)
class CcsLevel:
    """A place in the multi-level CCS: "7" is a chapter (level 1), "7.2" a part of it (level 2)."""

    number: str
    label: str


@dataclass(frozen=True)
class CcsCategory:
    """One of the 283 categories of the single-level CCS.

    Attributes
    ----------
    number, name : str
        "108" and "Congestive heart failure; nonhypertensive".
    levels : tuple of CcsLevel
        What is above it in the multi-level CCS: its chapter (level 1) and, in every chapter
        but the last, its part of the chapter (level 2).
    """

    number: str
    name: str
    levels: tuple[CcsLevel, ...]


@functools.cache
def ccs_categories() -> Mapping[str, CcsCategory]:
    """All categories by their number, in order."""
    labels = dict(_rows("levels.tsv"))
    categories = {}
    for number, deepest, name in _rows("categories.tsv"):
        above = dict.fromkeys((deepest.partition(".")[0], deepest))  # one of them in chapter 18
        levels = tuple(CcsLevel(one, labels[one]) for one in above)
        categories[number] = CcsCategory(number, name, levels)
    return MappingProxyType(categories)


@functools.cache
def ccs_codes(system: str) -> Mapping[str, str]:
    """The number of the category of every code (no dot, upper case) of "icd9" or "icd10"."""
    codes = {}
    code = category = ""
    for same, rest, changed in _rows(f"{system}.tsv.gz"):
        code, category = code[: int(same)] + rest, changed or category
        codes[code] = category
    return MappingProxyType(codes)


def ccs_category(code: str, system: str) -> CcsCategory | None:
    """The category of a diagnosis code of "icd9" or "icd10", with or without its dot."""
    number = ccs_codes(system).get(plain_code(code))
    return None if number is None else ccs_categories()[number]


def plain_code(code: str) -> str:
    """A code as the tables have it: no dot, upper case."""
    return code.strip().replace(".", "").upper()


def _rows(name: str) -> list[list[str]]:
    content = (_TABLES / name).read_bytes()
    text = (gzip.decompress(content) if name.endswith(".gz") else content).decode("utf-8")
    return [line.split("\t") for line in text.splitlines()]

"""The Clinical Classifications Software (CCS) of AHRQ: codes, categories and what is above them.

The tables lie in `ccs_tables`, with their provenance; `tools/ccs_tables.py` made them.
"""

from __future__ import annotations

import functools
import gzip
import itertools
import re
from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass
from importlib.resources import files
from types import MappingProxyType

__all__ = ["CcsCategory", "CcsLevel", "ccs_categories", "ccs_category", "ccs_codes"]

_ICD9 = re.compile(r"^(\d{3}(\.?\d{1,2})?|V\d{2}(\.?\d{1,2})?|E\d{3}(\.?\d)?)$")
_ICD10 = re.compile(r"^[A-TV-Z]\d[0-9A-Z](\.?[0-9A-Z]{1,4})?$|^U\d\d", re.IGNORECASE)
SYSTEMS = ("icd9", "icd10")
SHORTEST = 3  # characters of a category of codes
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


def ccs_codes_below(beginning: str, system: str) -> list[str]:
    """All codes of "icd9" or "icd10" that begin so, in order; none for fewer than 3 characters."""
    if len(beginning) < SHORTEST:
        return []
    codes = _sorted_codes(system)
    first = last = bisect_left(codes, beginning)
    while last < len(codes) and codes[last].startswith(beginning):
        last += 1
    return codes[first:last]


def ccs_codes_near(code: str, system: str) -> list[str]:
    """All codes that begin as this one does, as far as any do: a category stands for those below.

    The code is shortened from its end until codes begin so ("428" as it is, "I10.90" of the
    German edition as "I10"), never below three characters.
    """
    plain = plain_code(code)
    lengths = range(len(plain), SHORTEST - 1, -1)
    return next(filter(None, (ccs_codes_below(plain[:length], system) for length in lengths)), [])


@functools.cache
def _sorted_codes(system: str) -> list[str]:
    return sorted(ccs_codes(system))


def shared_beginning(paths: Iterable[tuple[str, ...]]) -> tuple[str, ...]:
    """The places that all paths go through before they part."""
    shared = itertools.takewhile(lambda places: len(set(places)) == 1, zip(*paths, strict=False))
    return tuple(places[0] for places in shared)


def icd_category(code: str, system: str) -> str:
    """The category of a diagnosis code: "428" of 428.0, "E880" of E880.1, "I50" of I50.9.

    Returns "" for what does not look like a code of "icd9" or "icd10".
    """
    form = {"icd9": _ICD9, "icd10": _ICD10}.get(system)
    plain = plain_code(code)
    if form is None or not form.match(plain):
        return ""
    return plain[: 4 if system == "icd9" and plain.startswith("E") else SHORTEST]


def plain_code(code: str) -> str:
    """A code as the tables have it: no dot, upper case."""
    return code.strip().replace(".", "").upper()


def _rows(name: str) -> list[list[str]]:
    content = (_TABLES / name).read_bytes()
    text = (gzip.decompress(content) if name.endswith(".gz") else content).decode("utf-8")
    return [line.split("\t") for line in text.splitlines()]


def guess_systems(codes: tuple[str, ...]) -> tuple[str, ...]:
    """Code system of every code by its form, V and E codes by the company they keep."""
    firsts = [code.split(",")[0].strip().upper() for code in codes]
    digits = sum(bool(_ICD9.match(code)) and code[0].isdigit() for code in firsts)
    letters = sum(bool(_ICD10.match(code)) and not _ICD9.match(code) for code in firsts)
    usual = "icd9" if digits > letters else "icd10"

    def system(code: str) -> str:
        nine, ten = bool(_ICD9.match(code)), bool(_ICD10.match(code))
        return usual if nine and ten else "icd9" if nine else "icd10" if ten else ""

    return tuple(system(code) for code in firsts)

"""What a column holds, told by its entries and not by its name, which may be in any language."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass

import numpy as np

from swiftcore.data.reading.coded import FALSE_WORDS, TRUE_WORDS, Coded, number_of
from swiftcore.data.reading.header import shape

SAMPLE_ROWS = 10_000  # enough to tell what a column holds
YES = TRUE_WORDS | {"x", "ja", "j", "oui", "o", "si", "sí", "s", "sim", "wahr", "vrai", "+", "✓"}
NO = FALSE_WORDS | {"nein", "non", "não", "nao", "nee", "falsch", "faux", "falso", "-"}
BLANK = frozenset(("", "na", "n/a", "nan", "null", "none", "?", "-", "\\n"))
# ICD-10, V and E of ICD-9, ATC; long ones without a dot are numbers of cases as often as codes
CODE = re.compile(r"[A-Z]\d[A-Z0-9](\.[A-Z0-9]{1,4}|[A-Z0-9]{0,2})?[*+!]?|[A-Z]\d{2}[A-Z]{2}\d{2}")
ATC = re.compile(r"[A-Z]\d{2}[A-Z]{2}\d{2}")
AMOUNT_NAMES = re.compile(r"num|count|anzahl|nombre|quantity|menge|dos(e|age)|value|amount")
NUMBER_CODE = re.compile(r"\d{3,}(\.\d{1,2})?")  # ICD-9 and concept ids: codes that are numbers
CODE_NAMES = re.compile(r"code|diag|dx|icd|ccs|concept|atc|ndc|snomed|rxcui|loinc")
_DATE = re.compile(r"\d{4}-\d{1,2}-\d{1,2}([ T].*)?|\d{1,2}[./-]\d{1,2}[./-]\d{2,4}( .*)?")
_COMPACT_DATE = re.compile(r"(19|20)\d\d(0[1-9]|1[0-2])([0-2]\d|3[01])")
SEPARATORS = ("|", ";", ",")
# rare, or also inside names: they separate codes, or what stands in ever new company
IN_NAMES = (" / ", " + ", " & ", " - ", "/", "+", "&", "~", "^", "$", "#", "\\")
_BRACKETS = re.compile(r"\s*[\[({]([^\[\](){}]*)[\])}]\s*")  # around lists that programs write
NEARLY_ALL, MOST = 0.95, 0.9
WORDS_OF_TEXT = 6
MAX_GRADES = 5
FEW_WORDS, MOVING = 5, 0.3  # entries of what describes others; of a list, those in several places


@dataclass(frozen=True)
class Profile:
    """One column by its content.

    Attributes
    ----------
    kind : str
        "empty", "flag" (yes or no), "grade" (no, or how), "date", "whole", "number", "text",
        "list" or "label".
    filled : int
        Rows with an entry.
    counts : mapping of str to int
        How often each entry occurs; blanks are left out.
    separator : str
        Between the entries of a list.
    codes, even : float
        Share of the rows whose entry has the form of a diagnosis or ATC code, and that of the
        commonest form if it holds digits: numbers of patients look alike.
    """

    name: str
    kind: str
    rows: int
    filled: int
    counts: Mapping[str, int]
    separator: str = ""
    codes: float = 0.0
    even: float = 0.0

    @property
    def distinct(self) -> int:
        return len(self.counts)

    @property
    def unique(self) -> float:
        """Distinct entries by rows that have one."""
        return self.distinct / self.filled if self.filled else 0.0

    @property
    def vocabulary(self) -> frozenset[str]:
        """The entries, small, of a column with few of them."""
        return frozenset(one.strip().lower() for one in self.counts)

    def examples(self, shown: int = 3) -> str:
        return ", ".join(text[:30] for text in list(self.counts)[:shown])


def numbers_are_codes(name: str, texts: Iterable[str]) -> bool:
    """Whether a column of numbers holds codes: it is named so, and all have the form of codes.

    Numbers are never features for any other reason.
    """
    named = CODE_NAMES.search(name.lower()) and not AMOUNT_NAMES.search(name.lower())
    return bool(named) and all(NUMBER_CODE.fullmatch(text.strip()) for text in texts)


def is_blank(text: str) -> bool:
    """Whether a cell says that nothing is known."""
    return text.strip().lower() in BLANK


def profile_of(column: Coded) -> Profile:
    """What the entries of a column are."""
    sizes = np.bincount(column.codes, minlength=len(column.labels)).tolist()
    counts = {
        label: size
        for label, size in zip(column.labels, sizes, strict=True)
        if size and not is_blank(label)
    }
    filled, rows = sum(counts.values()), len(column)
    if not filled:
        return Profile(column.name, "empty", rows, 0, counts)
    kind = plain_kind(counts)
    separator = list_separator(counts) if kind in ("label", "text") else ""
    kind = "list" if separator else kind
    codes = sum(n for text, n in counts.items() if CODE.fullmatch(text.strip())) / filled
    forms: Counter[str] = Counter()
    for text, size in counts.items():
        forms[shape(text)] += size
    form, usual = forms.most_common(1)[0]
    even = usual / filled if "9" in form else 0.0
    return Profile(column.name, kind, rows, filled, counts, separator, codes, even)


def plain_kind(counts: Mapping[str, int]) -> str:
    """What some entries are, lists apart."""
    filled = sum(counts.values())
    words = {text.strip().lower() for text in counts}
    if words <= YES | NO and len(words) <= 2:
        return "flag"
    if 3 <= len(words) <= MAX_GRADES and words & NO and not all(map(_is_number, words)):
        return "grade"

    def share(fits: re.Pattern[str]) -> float:
        return sum(n for text, n in counts.items() if fits.fullmatch(text.strip())) / filled

    if share(_DATE) >= NEARLY_ALL or share(_COMPACT_DATE) == 1.0:
        return "date"
    numbers = [text for text in counts if _is_number(text)]
    if sum(counts[text] for text in numbers) >= 0.99 * filled:
        return "whole" if all(re.fullmatch(r"\s*\d+\s*", text) for text in numbers) else "number"
    length = sum(len(text.split()) * n for text, n in counts.items()) / filled
    lines = sum(n for text, n in counts.items() if "\n" in text.strip())
    if lines > 0.5 * filled or (length >= WORDS_OF_TEXT and len(counts) > 0.5 * filled):
        return "text"
    return "label"


def _is_number(text: str) -> bool:
    return bool(np.isfinite(number_of(text)))


def list_separator(counts: Mapping[str, int]) -> str:
    """What separates the entries of lists in cells; "" when the cells hold no lists.

    In lists the same entries come back in other company; in a name such as "Diabetes, type 2" the
    parts stay together and in their places.
    """
    lines = any("\n" in text for text in counts)  # running text, or an entry per line of a cell
    for separator in ("\n",) if lines else (*SEPARATORS, *IN_NAMES):
        least = max(2, (0.5 if separator in IN_NAMES else 0.1) * len(counts))
        if sum(separator in text for text in counts) < least:
            continue
        cells = [list_entries(text, separator) for text in counts]
        several = [cell for cell in cells if len(cell) > 1]
        if len(several) < least:
            continue
        known = Counter(one for cell in cells for one in set(cell))
        if _describe_others(several, known) or _measures(known):
            continue
        total = sum(map(len, several))
        if sum(known[one] > 1 for cell in several for one in cell) < 0.5 * total:
            continue
        if separator in ("|", ";") and len(several) >= 0.5 * len(counts):
            spaced = f" {separator} "
            texts = [text for text in counts if separator in text]
            apart = all(text.count(spaced) == text.count(separator) for text in texts)
            return spaced if apart else separator
        coded = sum(bool(CODE.fullmatch(one)) for cell in several for one in cell) >= MOST * total
        wordy = any(len(one.split()) > WORDS_OF_TEXT for one in known)
        if coded or (not wordy and _keep_changing(cells, known, separator)):
            return separator
    return ""


def _describe_others(several: Sequence[Sequence[str]], known: Counter[str]) -> bool:
    """Whether lists say something of others, such as a code system: few words, repeated."""
    repeat = sum(len(set(cell)) < len(cell) for cell in several)
    return len(known) <= FEW_WORDS and repeat > 0.5 * len(several)


def _measures(known: Mapping[str, int]) -> bool:
    """Whether the entries of lists are dates or measurements, which are never features."""
    kind = plain_kind(known)
    return kind == "date" or (kind == "number" and not all(map(NUMBER_CODE.fullmatch, known)))


def _keep_changing(cells: Sequence[Sequence[str]], known: Counter[str], separator: str) -> bool:
    """Whether the parts of cells are entries of lists, rather than those of names."""
    several = [cell for cell in cells if len(cell) > 1]
    if separator in IN_NAMES:
        return len(several) > 2 * len(known)
    places: dict[str, set[int]] = {}
    for cell in several:
        for place, one in enumerate(cell):
            places.setdefault(one, set()).add(place)
    again = [len(places[one]) > 1 for one in places if known[one] > 1]
    return len(known) <= len(cells) and sum(again) > MOVING * len(again)


def list_entries(cell: str, separator: str) -> list[str]:
    """The entries of a list in a cell; blanks around them are left only beside a bar.

    Brackets around the list and quotes around its entries are not part of them.
    """
    wrapped = _BRACKETS.fullmatch(cell)
    inside = cell if wrapped is None else wrapped[1]
    parts = [part for part in inside.split(separator) if not is_blank(part)]
    return parts if separator == "|" else [_unquoted(part.strip()) for part in parts]


def _unquoted(text: str) -> str:
    quoted = len(text) > 2 and text[0] == text[-1] and text[0] in "'\""
    return text[1:-1] if quoted else text

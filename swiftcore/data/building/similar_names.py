"""Names a reader would take for the same: reported always, merged only on request."""

from __future__ import annotations

import unicodedata
from collections import defaultdict
from collections.abc import Iterable

# letters of other alphabets drawn like Latin ones
_TWINS = str.maketrans(
    "\u0430\u0435\u043e\u0440\u0441\u0443\u0445\u0456\u0458\u0455\u04bb\u0501\u051b\u051d"
    "\u03bf\u03b1\u03bd\u03c1\u03b9\u03ba\u03c5\u0432\u043d\u043c\u0442\u043a",
    "aeopcyxijshdqwoavpikybhmtk",
)
_INVISIBLE = dict.fromkeys(map(ord, "\u200b\u200c\u200d\u2060\ufeff\u00ad\u200e\u200f"))


def spelling_key(name: str) -> str:
    """The same for names that differ in case, spacing, composition or look-alike letters."""
    plain = unicodedata.normalize("NFKC", name).translate(_INVISIBLE).casefold()
    return " ".join(plain.translate(_TWINS).split()).rstrip(" .,;:") or name


def similar_names(names: Iterable[str]) -> list[tuple[str, str]]:
    """Pairs of names easily mistaken for each other, also numbers written in two ways."""
    groups: dict[str, list[str]] = defaultdict(list)
    for name in names:
        groups[spelling_key(name)].append(name)
        number = _as_number(name)
        if number is not None:
            groups[f"number {number!r}"].append(name)
    found = set()
    for alike in groups.values():
        first = min(alike)
        found |= {(first, other) for other in alike if other != first}
    return sorted(found)


def _as_number(name: str) -> float | None:
    text = name.strip()
    digits = text.isascii() and text.replace(".", "", 1).isdigit()
    if not digits or len(text) > 15:  # beyond 2**53 floats would merge ids
        return None
    return float(text)

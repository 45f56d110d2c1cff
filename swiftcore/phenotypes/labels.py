"""Labels that carry a code: which part is the code, which the description."""

from __future__ import annotations

import functools
import re

_CODE = r"[A-Z]\d[0-9A-Z](?:\.?[0-9A-Z]{1,4})?|[A-Z]\d{2}[A-Z]{1,2}\d{0,2}|\d{3}\.\d{1,2}|\d{5,18}"
_ALONE = re.compile(rf"^(?:{_CODE}|\d{{3,4}}|[EV]\d{{2,5}})$", re.IGNORECASE)
# "428.0 Congestive heart failure"; of bare digits only "250 Diabetes", never "250 mg metformin"
_FIRST = re.compile(
    rf"^({_CODE}|\d{{3}}(?=\s*[-:,]?\s+[A-Z][a-z]))\s*[-:,]?\s+([^\W\d].*)$",
)
_LAST = re.compile(rf"^(.+?)\s*\[({_CODE}|[\d.]+)\]$")  # as data with one name twice have it
_SNOMED = re.compile(r"\s+\((?:disorder|finding|situation|procedure|person|event|product)\)$")


@functools.lru_cache(maxsize=20_000)
def split_label(label: str) -> tuple[str, str]:
    """Code and description of a label; either may be empty, never both.

    "428.0 Heart failure" and "Heart failure [428.0]" have both, "I50.9" is a code, and
    "250 mg metformin" a description.
    """
    text = " ".join(label.split())
    code = ""
    if _ALONE.match(text):
        return text, ""
    if found := _FIRST.match(text):
        code, text = found[1], found[2]
    elif found := _LAST.match(text):
        text, code = found[1], found[2]
    return code, _SNOMED.sub("", text) or "(blank)"


def spoken(label: str) -> str:
    """What a person would say: the description, or the code where there is none."""
    code, description = split_label(label)
    return description or code

"""Which line of a file, or which code, a feature of the data means."""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property

from swiftcore.data.building.ccs import SYSTEMS

_AT_THE_END = re.compile(r"^(.*\S)\s*[\[(]([^\[\]()]{1,20})[\])]$")
_IN_FRONT = re.compile(
    r"^([A-Za-z]{0,2}\d[\w.]{0,9}|[A-Za-z]\d{2}[\w.]{0,8})(?:\s*[:;|-]\s+|\s+|:)(\S.*)$"
)


@dataclass(frozen=True)
class Named:
    """A feature with everything it may be known by.

    Attributes
    ----------
    label : str
        In the data.
    code : str
        Of its source where the label hides it, perhaps as "icd9:4280".
    """

    label: str
    code: str = ""

    @property
    def system(self) -> str:
        """The code system, where the source names it."""
        system = self.code.partition(":")[0]
        return system if system in SYSTEMS else ""

    @cached_property
    def texts(self) -> tuple[str, ...]:
        """Code of the source, the label, what stands in front of it or in brackets behind it."""
        code = self.code.partition(":")[2] if self.system else self.code
        found = [*code.split(","), self.label]
        if behind := _AT_THE_END.match(self.label.strip()):
            found += [behind[2], behind[1]]
        if front := _IN_FRONT.match(self.label.strip()):
            found += [front[1], front[2]]
        return tuple(dict.fromkeys(text.strip() for text in found if text.strip()))

    @cached_property
    def keys(self) -> tuple[str, ...]:
        """The same without case, dots in codes and doubled spaces."""
        return tuple(dict.fromkeys(name_key(text) for text in self.texts))


def name_key(text: str) -> str:
    """A name or a code in the form in which it is compared."""
    plain = " ".join(unicodedata.normalize("NFKC", text).casefold().split())
    return plain.replace(".", "") if any(map(str.isdigit, plain)) else plain


def named_features(labels: Sequence[str], codes: Mapping[str, str] | None = None) -> list[Named]:
    """Features by label, each with the code that the source has for it, if any."""
    known = codes or {}
    return [Named(label, known.get(label, "")) for label in labels]


def places_of(features: Sequence[Named], labels: Sequence[str]) -> list[int]:
    """For each feature its place among the labels of a file, -1 if it is not there.

    The label itself goes first, then the same without case, dots in codes and doubled spaces,
    then the code in front of it, in brackets behind it or known from the source.
    """
    exact = {label: place for place, label in enumerate(labels)}
    loose: dict[str, int] = {}
    for place, label in enumerate(labels):
        loose.setdefault(name_key(label), place)
    return [
        exact[feature.label]
        if feature.label in exact
        else next((loose[key] for key in feature.keys if key in loose), -1)
        for feature in features
    ]

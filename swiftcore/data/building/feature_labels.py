"""Labels people can read for coded features, none of them twice."""

from __future__ import annotations

from collections import Counter

import numpy as np

from swiftcore.data.reading.coded import Coded


def labelled(
    feature: Coded,
    pairs: list[tuple[str, str]],
    system: tuple[str, ...],
    *,
    always_codes: bool = False,
) -> tuple[Coded, tuple[str, ...], tuple[str, ...]]:
    """Name when it is unique, name and code when two codes share a name, else the code.

    With ``always_codes`` every name is followed by its code.
    """
    versions = system or ("",) * len(pairs)
    bracketed = [f" [{code}]" if code and name else "" for code, name in pairs]
    labels = [name or code for code, name in pairs]
    if always_codes:
        labels = [label + end for label, end in zip(labels, bracketed, strict=True)]
    for ending in (
        [""] * len(pairs) if always_codes else bracketed,
        [f" ({version})" if version else "" for version in versions],
        [f" #{place + 1}" for place in range(len(pairs))],
    ):
        shared = Counter(labels)
        labels = [
            label + (end if shared[label] > 1 and label.strip() else "")
            for label, end in zip(labels, ending, strict=True)
        ]
    codes = tuple(code or name for code, name in pairs)
    return Coded(feature.name, feature.codes, tuple(labels)), codes, system


def by_usual_name(
    feature: Coded, pairs: list[tuple[str, str]]
) -> tuple[Coded, list[tuple[str, str]]]:
    """One feature per code under its most frequent name; rows without a code keep their name."""
    counts = np.bincount(feature.codes, minlength=len(pairs))
    usual: dict[str, tuple[int, str]] = {}
    for count, (code, name) in zip(counts.tolist(), pairs, strict=True):
        if name.strip():
            usual[code] = max(usual.get(code, (0, "")), (count, name))
    chosen = [(c, usual.get(c, (0, ""))[1]) if c.strip() else (c, name) for c, name in pairs]
    distinct = list(dict.fromkeys(chosen))
    place = {both: index for index, both in enumerate(distinct)}
    codes = np.array([place[both] for both in chosen], dtype=np.int64)[feature.codes]
    return Coded(feature.name, codes, tuple(map(str, range(len(distinct))))), distinct

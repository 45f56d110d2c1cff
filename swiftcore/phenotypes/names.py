"""Working names: what tells a phenotype from the others of its result, in a few words.

The most frequent features make poor names: they are frequent everywhere. A name is made of the
features that say most about this phenotype, ``weight x log(lift)``: their part of the divergence
of its profile from that of all phenotypes together. What a large part of all rows has says less,
and so does what would begin several names. No two phenotypes of a result share a name, and a name
hangs on nothing but the features of the phenotypes and the data, whatever their order.
"""

from __future__ import annotations

import math
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from swiftcore.phenotypes.item import Item
from swiftcore.phenotypes.labels import spoken
from swiftcore.tensor import SparseTensor

CANDIDATES = 12  # features of each mode, by weight, that a name may be made of: those one sees
UNNAMED = "(too rare to name)"
LESS = "less "  # before a feature with a weight below 0
SLIGHT, _AFTER = 0.2, 1e-3  # what has less of the strongest feature's weight comes after the rest
_RARE = 0.15  # features that no more of the rows have are not put back
_ROUNDS = 4  # in which features that begin several names are put back
_MORE = 3  # features added at most to tell two names apart
_DIGITS = 12  # what is beyond is rounding, which hangs on the order of sums

Words = dict[str, float]
Frequencies = Sequence[NDArray[np.float64]]


def row_frequencies(tensor: SparseTensor) -> Frequencies:
    """For each feature mode, the share of the rows that have each feature."""
    return frequencies_in_blocks([tensor])


def frequencies_in_blocks(blocks: Iterable[SparseTensor]) -> Frequencies:
    """The same of rows of which only some are at hand at a time: how many have it adds up."""
    counts: list[NDArray[np.int64]] = []
    total = 0
    for block in blocks:
        total += block.shape[0]
        rows, *modes = block.coordinates.T
        counts = counts or [np.zeros(size, np.int64) for size in block.shape[1:]]
        for having, places in zip(counts, modes, strict=True):
            pairs = np.unique(rows * len(having) + places)
            having += np.bincount(pairs % len(having), minlength=len(having))
    return [having / total for having in counts]


def working_names(
    phenotypes: Mapping[str, Sequence[Sequence[Item]]], frequencies: Frequencies | None = None
) -> dict[str, str]:
    """A name for each phenotype; no two are the same, none is empty.

    Parameters
    ----------
    phenotypes : mapping of str to sequence of sequence of Item
        By identifier the features of each mode that a name may use; some may have none.
    frequencies : sequence of ndarray, optional
        For each mode, the share of the rows that have each feature. Without it no feature is
        put back for being everywhere.
    """
    scores = {
        name: [
            _scores(items, None if frequencies is None else frequencies[mode])
            for mode, items in enumerate(modes)
        ]
        for name, modes in phenotypes.items()
    }
    ranked = _ranked(scores)
    parts = {name: _first_of_each(modes) for name, modes in ranked.items()}
    rest = {
        name: [word for word in _in_order(_together(scores[name])) if word not in parts[name]]
        for name in parts
    }
    _tell_apart(parts, rest)
    contents = {
        name: (
            [sorted(words.items()) for words in scores[name]],
            [sorted(map(_whole, items)) for items in modes],
        )
        for name, modes in phenotypes.items()
    }
    return _numbered(parts, contents)


def _scores(items: Iterable[Item], frequency: NDArray[np.float64] | None) -> Words:
    """What each feature says about the phenotype; features it has less of only if no other."""
    known = list(items)
    more = [item for item in known if item.weight > 0]
    least = SLIGHT * max((abs(item.weight) for item in more or known), default=0.0)
    found: Words = {}
    for item in more or known:
        word = spoken(item.label) if more else f"{LESS}{spoken(item.label)}"
        says = abs(item.weight) * (math.log(item.lift) + 1e-6)  # with one phenotype: its weight
        if frequency is not None and says > 0:
            says *= _rarity(float(frequency[item.index])) ** 2
        if abs(item.weight) < least and says > 0:
            says *= _AFTER
        found[word] = max(found.get(word, -math.inf), round(says, _DIGITS))
    return found


def _rarity(frequency: float) -> float:
    """0 for what every row has, 1 for what few have."""
    return min(1.0, math.log(max(frequency, 1e-12)) / math.log(_RARE))


def _in_order(words: Words) -> list[str]:
    """The word that says most first."""
    return sorted(words, key=lambda word: (-words[word], word))


def _together(modes: Iterable[Words]) -> Words:
    found: Words = {}
    for words in modes:
        for word, score in words.items():
            found[word] = max(found.get(word, -math.inf), score)
    return found


def _ranked(scores: Mapping[str, Sequence[Words]]) -> dict[str, list[list[str]]]:
    """The words of each phenotype and mode in order, those that would begin several put back."""
    n_modes = max((len(modes) for modes in scores.values()), default=0)
    shared: list[Counter[str]] = [Counter() for _ in range(n_modes)]
    ranked: dict[str, list[list[str]]] = {}
    for _ in range(_ROUNDS):
        ranked = {
            name: [
                _in_order(
                    {word: _put_back(score, shared[mode][word]) for word, score in words.items()}
                )
                for mode, words in enumerate(modes)
            ]
            for name, modes in scores.items()
        }
        for mode, counts in enumerate(shared):
            firsts = Counter(order[mode][0] for order in ranked.values() if order[mode])
            for word, times in firsts.items():
                counts[word] = max(counts[word], times - 1)
    return ranked


def _put_back(score: float, others: int) -> float:
    return round(score / (1 + others) if score > 0 else score, _DIGITS)


def _first_of_each(modes: Iterable[Sequence[str]]) -> list[str]:
    """The first word of each mode; each word once, as two modes of words share them."""
    parts: list[str] = []
    for words in modes:
        parts += [word for word in words if word not in parts][:1]
    return parts


def _tell_apart(parts: dict[str, list[str]], rest: Mapping[str, Sequence[str]]) -> None:
    """Add features to names that are the same, to all of them at once."""
    for _ in range(_MORE):
        times = Counter(map(_joined, parts.values()))
        for name, words in parts.items():
            if times[_joined(words)] > 1:
                parts[name] = [*words, *[one for one in rest[name] if one not in words][:1]]


def _whole(item: Item) -> tuple[str, float, float]:
    return item.label, round(item.weight, _DIGITS), round(item.lift, _DIGITS)


def _joined(words: Sequence[str]) -> str:
    return " + ".join(words) or UNNAMED


def _numbered(
    parts: Mapping[str, Sequence[str]], contents: Mapping[str, tuple[Any, ...]]
) -> dict[str, str]:
    """The names; what is still the same gets a number, in the order of what it holds.

    First by what it says, then by all of it: features that say nothing can tell two apart.
    """
    plain = Counter(map(_joined, parts.values()))
    taken = {name for name, times in plain.items() if times == 1}
    found: dict[str, str] = {}
    for identifier in sorted(parts, key=lambda one: (contents[one], one)):
        name = wanted = _joined(parts[identifier])
        number = 1
        while plain[wanted] > 1 and name in taken:
            number += 1
            name = f"{wanted} ({number})"
        taken.add(name)
        found[identifier] = name
    return {identifier: found[identifier] for identifier in parts}

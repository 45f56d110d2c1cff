"""A group name for a set of weighted diagnoses: the smallest CCS group that holds most of them.

Diagnoses are known by ICD-9 or ICD-10-CM codes in their labels ("I50.9", "428.0 Heart failure",
"Heart failure [428.0]") or by being CCS categories themselves. Categories of codes ("428") stand
for what all codes below them have in common.
"""

from __future__ import annotations

import functools
from collections.abc import Mapping

from swiftcore.data.building.ccs import (
    CcsCategory,
    ccs_categories,
    ccs_category,
    ccs_codes,
    ccs_codes_near,
    guess_systems,
    shared_beginning,
)
from swiftcore.phenotypes.labels import split_label

MOST = 0.5  # of the weight, which a group must hold more of
KNOWN = 0.5  # of the labels, from which on a mode is one of diagnoses

Path = tuple[str, ...]


def suggested_group(weights: Mapping[str, float], paths: Mapping[str, Path]) -> str:
    """The deepest group that holds more than half of the weight; "" if there is none.

    Parameters
    ----------
    weights : mapping of str to float
        Of the features of one phenotype, 0 or more.
    paths : mapping of str to tuple of str
        From :func:`diagnosis_paths`; features without a path belong to no group.
    """
    whole = sum(weights.values())
    held: dict[Path, float] = {}
    for label, weight in weights.items():
        path = paths.get(label, ())
        for depth in range(1, len(path) + 1):
            held[path[:depth]] = held.get(path[:depth], 0.0) + weight
    enough = [path for path, weight in held.items() if weight > MOST * whole]
    return max(enough, key=len)[-1] if enough else ""  # two of one depth cannot both hold most


@functools.lru_cache(maxsize=16)
def diagnosis_paths(labels: tuple[str, ...]) -> dict[str, Path]:
    """Every label with its chapter, part and category; nothing if few of them are diagnoses."""
    parts = [split_label(label) for label in labels]
    systems = guess_systems(tuple(code for code, _ in parts))
    by_name = _category_paths()
    found = {}
    for label, (code, name), system in zip(labels, parts, systems, strict=True):
        if path := by_name.get(name) or (_code_path(code, system) if system else ()):
            found[label] = path
    return found if len(found) >= KNOWN * len(labels) else {}


@functools.cache
def _category_paths() -> dict[str, Path]:
    return {one.name: _path(one) for one in ccs_categories().values()}


def _path(category: CcsCategory) -> Path:
    return (*(level.label for level in category.levels), category.name)


def _code_path(code: str, system: str) -> Path:
    """What is above a code; above a category of codes, what all codes below it share."""
    known = ccs_category(code, system)
    if known is not None:
        return _path(known)
    numbers = {ccs_codes(system)[one] for one in ccs_codes_near(code, system)}
    return shared_beginning(_path(ccs_categories()[number]) for number in numbers)

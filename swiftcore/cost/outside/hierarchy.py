"""How far apart two features of a hierarchy are: by how much of the way down they share.

Each feature has a path, from the most general place to its own. With d and e places on two
paths, the first s of them the same,

    distance = 1 - 2 s / (d + e),

which is 0 for the same place, 1 for two that share nothing, symmetric, and the smaller the
farther down two features part. A root above everything says nothing and is not counted.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from swiftcore.cost.memory import ROWS_AT_A_TIME
from swiftcore.cost.outside.icd import icd_path
from swiftcore.cost.outside.matching import Named, name_key
from swiftcore.cost.outside.parents_file import MAX_LEVELS
from swiftcore.data.building.ccs import (
    SYSTEMS,
    CcsCategory,
    ccs_categories,
    ccs_category,
    ccs_codes,
    ccs_codes_near,
    guess_systems,
    plain_code,
    shared_beginning,
)
from swiftcore.errors import InvalidCost, refuse

Path = tuple[str, ...]
_ATC = re.compile(r"[A-V](\d\d([A-Z]([A-Z](\d\d)?)?)?)?")
_ATC_LEVELS = (1, 3, 4, 5, 7)
_CATEGORY_NUMBER = re.compile(r"(?:CCS)?\s*(\d{1,3})\.?", re.IGNORECASE)


def path_cost(paths: Sequence[Path]) -> NDArray[np.float64]:
    """Distances between features by their paths; one without a path is at 1 from all others."""
    deepest = max(map(len, paths), default=0)
    numbers: dict[Path, int] = {}
    places = np.full((deepest, len(paths)), -1, dtype=np.int64)  # level x feature
    for feature, path in enumerate(paths):
        for depth in range(1, len(path) + 1):
            places[depth - 1, feature] = numbers.setdefault(path[:depth], len(numbers))
    lengths = np.array([len(path) for path in paths], dtype=np.float64)
    cost = np.empty((len(paths), len(paths)))
    for low in range(0, len(paths), ROWS_AT_A_TIME):
        strip = cost[low : low + ROWS_AT_A_TIME]
        strip[:] = 0.0
        for level in places:
            mine = level[low : low + ROWS_AT_A_TIME, None]
            strip += (mine == level) & (mine >= 0)
        total = np.maximum(lengths[low : low + ROWS_AT_A_TIME, None] + lengths, 1)
        np.subtract(1.0, 2.0 * strip / total, out=strip)
    np.fill_diagonal(cost, 0.0)
    return cost


def parents_paths(
    labels: Sequence[str], parents: NDArray[np.int64], places: Sequence[int]
) -> list[Path]:
    """The path of some places of one's own hierarchy; () for the place -1, which is none.

    Raises
    ------
    InvalidCost
        If a way up has no end within ``MAX_LEVELS``, as in a circle.
    """
    above = parents.tolist()
    children = np.bincount(parents[parents >= 0], minlength=len(labels))
    roots = [place for place, parent in enumerate(above) if parent < 0]
    hidden = roots[0] if len(roots) == 1 and children[roots[0]] and len(labels) > 2 else -1
    found = []
    for start in places:
        way: list[str] = []
        place = start
        while place not in (-1, hidden):
            way.append(labels[place])
            place = above[place]
            if len(way) > MAX_LEVELS:
                raise _refuse_deep(labels[start])
        found.append((*reversed(way),) or (() if start < 0 else (labels[start],)))
    return found


def _refuse_deep(label: str) -> InvalidCost:
    return refuse(
        "cost-deep",
        "The way up is too long",
        label[:60],
        f"more than {MAX_LEVELS} places above it",
        "Leave out what tells nothing apart.",
        kind=InvalidCost,
    )


def code_paths(features: Sequence[Named], hierarchy: str) -> list[Path]:
    """The path of each feature in "icd", "icd9", "icd10", "ccs" or "atc"; () if unknown.

    A feature that bears the name of a CCS category is that category: a number behind it is
    the category's and no code of the ICD.
    """
    if hierarchy == "atc":
        return [_first(feature, _atc_path) for feature in features]
    usual = _usual_system(features) if hierarchy in ("icd", "ccs") else hierarchy
    if hierarchy == "ccs":
        return [_ccs_path(feature, usual) for feature in features]
    systems = SYSTEMS if hierarchy == "icd" else (hierarchy,)
    return [
        () if _category(feature) else _icd_path(feature, usual, systems) for feature in features
    ]


def _first(feature: Named, read: Callable[[str], Path | None]) -> Path:
    return next((path for text in feature.texts if (path := read(text))), ())


def _usual_system(features: Sequence[Named]) -> str:
    """The edition most features are of; it decides for V and E codes, which both have."""
    texts = [text for feature in features for text in feature.texts if _looks_coded(text)]
    found = guess_systems(tuple(text for text in texts if text[:1] not in "VEve"))
    return "icd9" if found.count("icd9") > found.count("icd10") else "icd10"


def _looks_coded(text: str) -> bool:
    return any(icd_path(text, system) for system in SYSTEMS)


def _in_order(feature: Named, usual: str, systems: Sequence[str]) -> list[str]:
    """Editions to try: the one the source names, else the usual one first."""
    if feature.system in systems:
        return [feature.system]
    return sorted(systems, key=lambda system: system != usual)


def _icd_path(feature: Named, usual: str, systems: Sequence[str]) -> Path:
    for system in _in_order(feature, usual, systems):
        if found := _first(feature, lambda text, system=system: icd_path(text, system)):  # type: ignore[misc]
            return found
    return ()


def _ccs_path(feature: Named, usual: str) -> Path:
    """Below the category of a code; a category of the ICD below what all its codes share."""
    category = _category(feature)
    if category is not None:
        return _levels(category)
    coded = [(text, one) for one in _in_order(feature, usual, SYSTEMS) for text in feature.texts]
    for text, system in coded:
        category = ccs_category(text, system)
        if category is not None:
            return (*_levels(category), f"{system} {plain_code(text)}")
    for text, system in coded:
        near = ccs_codes_near(text, system) if icd_path(text, system) else ()
        numbers = {ccs_codes(system)[code] for code in near}
        if numbers:
            above = shared_beginning(_levels(ccs_categories()[number]) for number in numbers)
            return (*above, f"{system} {plain_code(text)}")
    return ()


def _category(feature: Named) -> CcsCategory | None:
    """The CCS category a feature is named after; "Asthma [128.]" by name, "CCS 128" by number."""
    if feature.system:  # the source says that it is a code of the ICD
        return None
    by_name = next((_by_name()[key] for key in feature.keys if key in _by_name()), None)
    if by_name is not None:
        return by_name
    for text in feature.texts:
        if text.upper().startswith("CCS") and (found := _CATEGORY_NUMBER.fullmatch(text)):
            return ccs_categories().get(found[1].lstrip("0"))
    return None


@cache
def _by_name() -> dict[str, CcsCategory]:
    return {name_key(category.name): category for category in ccs_categories().values()}


def _levels(category: CcsCategory) -> Path:
    above = tuple(level.number for level in category.levels)
    return (*above, f"category {category.number}")


def _atc_path(code: str) -> Path | None:
    plain = code.strip().upper()
    if len(plain) not in _ATC_LEVELS or not _ATC.fullmatch(plain):
        return None
    return tuple(plain[:length] for length in _ATC_LEVELS if length <= len(plain))

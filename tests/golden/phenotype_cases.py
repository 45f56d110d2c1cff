"""Phenotypes as they are described: ids, shares, features and rows."""

from __future__ import annotations

from collections.abc import Callable
from functools import partial

from golden.experiment_cases import MADE, fitted
from golden.plain import FLOAT64, Result, digest, result
from swiftcore.phenotypes.describe import Phenotype, describe_phenotypes


def described(data: str, top: int, frequency_weight: float, **more: float) -> Result:
    modes = MADE[data]().tensor.modes
    found = describe_phenotypes(fitted(data), modes, top, frequency_weight=frequency_weight, **more)
    return result(
        FLOAT64,
        bits={"all": digest([_everything(one) for one in found])},
        close=[
            {
                "id": one.identifier,
                "component": one.component,
                "share": one.share,
                "carriers": len(one.rows),
                "modes": list(one.items),
                "tops": [items[0].label for items in one.items.values()],
                "weights": [[item.weight for item in items] for items in one.items.values()],
                "lifts": [[item.lift for item in items] for items in one.items.values()],
            }
            for one in found
        ],
    )


def _everything(one: Phenotype) -> list[object]:
    items = {
        mode: [[item.label, item.index, item.weight, item.lift, item.relevance] for item in items]
        for mode, items in one.items.items()
    }
    return [one.identifier, one.component, one.share, one.name, items, list(one.rows)]


CASES: dict[str, Callable[[], Result]] = {
    "frequent": partial(described, "patients", 5, 1.0),
    "between": partial(described, "patients", 4, 0.5),
    "specific": partial(described, "patients", 9, 0.05),  # at 0 features tie
    "strong_carriers": partial(described, "patients", 2, 1.0, carried=0.6),
    "documents": partial(described, "corpus", 6, 0.6),
}

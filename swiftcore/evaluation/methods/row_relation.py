"""Between which rows mass moves in a fit of a spec, known from numbers alone."""

from __future__ import annotations

from swiftcore.evaluation.methods.catalogue import factorization
from swiftcore.spec import ModelSpec
from swiftcore.spec.row_relation import RowRelation, explained, resolved


def relation_of(spec: ModelSpec, rows: int, row_mode: str = "") -> RowRelation:
    """The row relation of a fit.

    Parameters
    ----------
    rows : int
        How many the fit has.
    row_mode : str
        What their mode is called. A cost of its own compares every two of them, unless
        neighbourhoods are asked for.
    """
    if factorization(spec.method).costs != "all":
        return explained("none", "none", rows)
    given = spec.mode_costs.get(row_mode)
    if given is None:
        return resolved(spec.row_relation, rows)
    within = spec.row_relation == "neighbourhoods"
    kind = "none" if given == "none" else "neighbourhoods" if within else "dense"
    return explained(kind, spec.row_relation, rows)

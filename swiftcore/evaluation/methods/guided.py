"""Whether the outcome took part in finding phenotypes, and the one sentence that says so."""

from __future__ import annotations

from swiftcore.evaluation.methods.catalogue import factorization
from swiftcore.spec import ModelSpec


def needs_labels(spec: ModelSpec) -> bool:
    """Whether a fit of this spec looks at the outcome."""
    weighed = "outcome" in spec.feature_weighting or spec.outcome_share > 0
    return weighed or factorization(spec.method).needs_labels


def made_to_predict(spec: ModelSpec, outcome: str, before: bool = False) -> str:
    """What every screen and file says of a result that was guided by the outcome; else nothing.

    Parameters
    ----------
    outcome : str
        Its name, user text; may be empty.
    before : bool
        Whether a result that it began as was guided by the outcome.
    """
    if not (before or needs_labels(spec)):
        return ""
    return (
        f"Made to predict {outcome or 'the outcome'}: it took part in finding these phenotypes, "
        "so that they go with it in the same rows proves nothing."
    )

"""A refit beside the fit it began as: what became of which phenotype, and of what was said of it.

A judgement goes along by itself only where the phenotype is the same as before; for the others a
page offers what was said, and a person decides.
"""

from __future__ import annotations

import logging
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace

from dashboard.store.cards import RunCard, RunState
from dashboard.store.request import Request
from dashboard.store.results import Files, FittedRun, read_fit
from dashboard.store.reviews import MAX_LENGTH, Review, Reviews
from dashboard.store.store import Store
from swiftcore.errors import SwiftError
from swiftcore.evaluation.methods.guided import made_to_predict
from swiftcore.phenotypes.guidance_checks import find_changes
from swiftcore.phenotypes.matching import similarity

UNCHANGED_FROM = 0.999  # from this similarity on a phenotype counts as the same as before
MADE = "made to predict"  # the column of saved tables that marks what was guided by the outcome
logger = logging.getLogger(__name__)


@dataclass(frozen=True)
class Descendant:
    """A phenotype of a refit and those it began as.

    Attributes
    ----------
    component : int
        Of the refit.
    origins : tuple of int
        Components of the fit before: two if they were merged, none if it was seeded.
    similarity : float
        To the origin that is most like it; 0 without one.
    unchanged : bool
        Whether it is its only origin, and the same as before.
    """

    component: int
    origins: tuple[int, ...]
    similarity: float
    unchanged: bool


def descendants(parent: FittedRun, child: FittedRun) -> list[Descendant]:
    """One for every component of the refit; raises InvalidSettings if the two do not belong."""
    origins = find_changes(child.guidance, parent.modes, parent.factors).origins()
    alike = similarity(child.factors[1:], parent.factors[1:])
    found = []
    for component, before in enumerate(origins):
        best = max((float(alike[component, part]) for part in before), default=0.0)
        alone = len(before) == 1 and origins.count(before) == 1
        found.append(Descendant(component, before, best, alone and best >= UNCHANGED_FROM))
    return found


def parent_of(card: RunCard, runs: Iterable[RunCard]) -> RunCard | None:
    """The finished fit that a refit began as, if it is here.

    An imported refit names it by the id that it had elsewhere.
    """
    if not card.request.guidance:
        return None
    done = [one for one in runs if one.state is RunState.DONE and not one.damaged]
    named = [one for one in done if one.id == card.request.run]
    if card.imported is not None:
        named += [one for one in done if one.imported and one.imported.run == card.request.run]
    return next(iter(named), None)


def made_for(card: RunCard, runs: Iterable[RunCard], outcome: str) -> str:
    """The mark of a fit that was guided by the outcome, or began as one that was; else nothing.

    Parameters
    ----------
    outcome : str
        The outcome's name.
    """
    known, parent = list(runs), card
    for _ in range(len(known) + 1):  # no further than there are fits
        if words := made_to_predict(parent.request.spec, outcome):
            return words
        before = parent_of(parent, known)
        if before is None:
            break
        parent = before
    return ""


def carried_reviews(
    run: str, parent: FittedRun, child: FittedRun, reviews: Sequence[Review]
) -> list[Review]:
    """Judgements of phenotypes that stayed the same, as judgements of the refit ``run``.

    They keep their time, and say where they come from. One that points to a duplicate goes along
    only if that is the same as before too.
    """
    now = {
        parent.identifiers[one.origins[0]]: child.identifiers[one.component]
        for one in descendants(parent, child)
        if one.unchanged
    }
    places = {name: place for place, name in enumerate(child.identifiers)}
    seen = dict(zip(parent.identifiers, range(parent.rank), strict=True))
    return [
        replace(
            one,
            run=run,
            phenotype=now[one.phenotype],
            phenotype_digest=child.phenotype_digest(places[now[one.phenotype]]),
            duplicate_of=now[one.duplicate_of] if one.duplicate_of else "",
            comment=_said_before(one),
        )
        for one in reviews
        if one.phenotype in now
        and (not one.duplicate_of or one.duplicate_of in now)
        and one.phenotype_digest == parent.phenotype_digest(seen[one.phenotype])
    ]


def carry_reviews(store: Store, request: Request, files: Files) -> None:
    """Keep what was said of unchanged phenotypes for a refit that is about to be shown.

    A person who already judged the phenotype of the refit is not spoken for. What cannot be
    carried stays where it is: the refit is good all the same.
    """
    reviews, run = Reviews(store.root), request.key()
    try:
        child = read_fit(files, request.settings, request.guidance)
        found = carried_reviews(run, store.fit(request.run), child, reviews.latest(request.run))
        spoken = {(one.phenotype, one.reviewer) for one in reviews.latest(run)}
        new = [one for one in found if (one.phenotype, one.reviewer) not in spoken]
        if new:
            reviews.add_missing(new)
    except SwiftError as error:
        logger.warning("no judgements were carried over: %s", error)


def _said_before(review: Review) -> str:
    """The comment with a note on where the judgement was made, if there is room for it."""
    note = f"(Said of {review.phenotype} in run {review.run[:8]}, before it was refitted.)"
    longer = f"{review.comment}\n{note}".strip()
    return longer if len(longer) <= MAX_LENGTH["comment"] else review.comment

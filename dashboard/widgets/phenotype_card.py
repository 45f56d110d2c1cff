"""One phenotype as a card: the same content and the same template as in the report."""

from __future__ import annotations

from dashboard.fit_view.phenotype_sheet import gather_sheet
from dashboard.fit_view.summary import FitSummary
from dashboard.session import cache
from dashboard.widgets.html import show_template


def show_card(
    summary: FitSummary, chosen: str, *, blind: bool = False, frequency_weight: float = 1.0
) -> None:
    """Draw the card of a phenotype.

    Parameters
    ----------
    chosen : str
        Its identifier.
    blind : bool
        Whether neither the outcome nor anything that reviewers said may be seen: no rates, no
        link, the working name instead of a given one.
    frequency_weight : float
        1 puts frequent features first, 0 special ones.
    """
    ranked = {each.identifier: each for each in cache.phenotypes(summary.run, frequency_weight)}
    show_template(
        "card_screen.html.j2",
        sheet=gather_sheet(summary, ranked[chosen], cache.dataset(summary.card.id), blind=blind),
        row_noun=summary.row_noun,
        outcome="" if blind else summary.card.outcome_name,
        signed=summary.fit.signed,
    )

"""A finished fit with its data, its cards, and who carries what by the factors themselves."""

from __future__ import annotations

import re
from dataclasses import dataclass
from html import unescape
from pathlib import Path

import numpy as np
import pandas as pd

from dashboard.charts.style import MODE_COLOURS
from dashboard.fit_view.phenotype_sheet import PhenotypeSheet, gather_sheet
from dashboard.fit_view.phenotype_tables import presence
from dashboard.fit_view.summary import FEATURES_READ, FitSummary, summarize_fit
from dashboard.jobs.samples import seed_samples
from dashboard.report.templates import render
from dashboard.store.cards import newest_sound
from dashboard.store.reviews import Review
from dashboard.store.rounds import Judged
from dashboard.store.store import Store
from dashboard.text.wording import WORDS
from swiftcore.data.dataset import Dataset
from swiftcore.phenotypes.describe import describe_phenotypes

REVIEWER, GIVEN_NAME = "Dr Canary", "Name by a canary"


@dataclass(frozen=True, eq=False)
class Sample:
    """A sample with its shipped result."""

    dataset: Dataset
    summary: FitSummary

    def sheets(self, *, blind: bool = False) -> list[PhenotypeSheet]:
        return [
            gather_sheet(self.summary, one, self.dataset, blind=blind)
            for one in self.summary.phenotypes.values()
        ]

    def carriers(self, sheet: PhenotypeSheet) -> pd.Index:
        """The ids of the rows whose largest tenth or more it is, from the factors themselves."""
        factors = self.summary.fit.factors
        mass = factors[0] * factors[1].sum(axis=0) * factors[2].sum(axis=0)
        share = mass / mass.sum(axis=1, keepdims=True)
        part = self.summary.fit.identifiers.index(sheet.identifier)
        labels = np.array(self.summary.fit.modes[0].labels)
        return pd.Index(labels[share[:, part] >= 0.1])

    def text(self, sheet: PhenotypeSheet, *, scientist: bool = False) -> str:
        """What the card says, without its markup."""
        wording = "scientist" if scientist else "clinician"
        card = render(
            "card_screen.html.j2",
            words=WORDS[wording],
            scientist=scientist,
            colours=MODE_COLOURS,
            sheet=sheet,
            row_noun=self.summary.row_noun,
            outcome=self.summary.card.outcome_name,
            signed=False,
        )
        return " ".join(unescape(re.sub(r"<[^>]+>", " ", card)).split())


def read_sample(store: Store, run: str, limit: int = 0) -> Sample:
    """A run of a store; the first phenotype has a review."""
    card, fit = store.card(store.run(run).dataset), store.fit(run)
    dataset = store.dataset(card.id)
    review = Review(run, "P01", fit.phenotype_digest(0), REVIEWER, GIVEN_NAME, "yes")
    summary = summarize_fit(
        run,
        card,
        fit,
        describe_phenotypes(fit.factors, fit.modes, FEATURES_READ, agreement=fit.agreement),
        [presence(dataset.tensor, axis) for axis in range(1, dataset.tensor.n_modes)],
        Judged((review,)),
        None,
        limit,
    )
    return Sample(dataset, summary)


def read_samples(root: Path) -> dict[str, Sample]:
    """Both samples with the results that ship with them."""
    store = Store(root)
    seed_samples(store)
    newest = {card.name: newest_sound(store.runs(card.id), "fit") for card in store.datasets()}
    return {name: read_sample(store, run.id) for name, run in newest.items() if run is not None}

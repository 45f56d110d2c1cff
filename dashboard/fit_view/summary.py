"""Everything known about a finished fit and its phenotypes, for pages and exports; no Streamlit."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray
from scipy import sparse

from dashboard.fit_view import phenotype_tables
from dashboard.fit_view.phenotype_tables import Link, Profile
from dashboard.store.cards import DatasetCard
from dashboard.store.results import FittedRun
from dashboard.store.reviews import Review
from dashboard.store.rounds import Judged, Settlement
from swiftcore.evaluation.experiments.result import Experiment
from swiftcore.phenotypes.describe import Phenotype
from swiftcore.phenotypes.names import CANDIDATES, working_names

FEATURES_READ = 60  # described per phenotype and mode; the strong ones are shown, the rest counted


@dataclass(frozen=True, eq=False)
class FitSummary:
    """A finished fit with what is known about each of its phenotypes.

    Attributes
    ----------
    phenotypes : dict of str to Phenotype
        By identifier, the largest share first.
    presence : tuple of sparse array, (rows x features)
        For each feature mode, which row has which feature.
    working_names : dict of str to str
        What tells each from the others, of features that enough rows have; user text.
    groups : dict of str to str
        The CCS group that holds most of the diagnoses of each; only of those that have one.
    names : dict of str to str
        The agreed name, else the one that most reviewers gave, else the working name; user text.
    links : dict of str to Link
        Empty when the data set has no outcome.
    stability : dict of str to float
        Empty until a stability study of this fit is there.
    reviews : list of Review
        The newest of each reviewer and phenotype, of these very phenotypes.
    settled : dict of str to Settlement
        What was agreed on, of these very phenotypes.
    blind_for : str
        The reader, while the reader's review round is open: then there are no links, and of the
        reviews only the reader's own. Else empty.
    limit : int
        Counts below it are hidden.
    """

    run: str
    card: DatasetCard
    fit: FittedRun
    phenotypes: dict[str, Phenotype]
    presence: tuple[sparse.csr_array, ...]
    working_names: dict[str, str]
    groups: dict[str, str]
    names: dict[str, str]
    links: dict[str, Link]
    stability: dict[str, float]
    reviews: list[Review]
    limit: int
    settled: dict[str, Settlement] = field(default_factory=dict)
    blind_for: str = ""

    @property
    def row_noun(self) -> str:
        """What a row is called: patient, document."""
        return self.card.mode_names[0]

    def title(self, identifier: str) -> str:
        """P03: its name; user text."""
        return f"{identifier}: {self.names.get(identifier, '')}"

    def feature_modes(self) -> list[tuple[int, str]]:
        """The modes to show, as axis and name: one that repeats another is left out."""
        named = enumerate(next(iter(self.phenotypes.values())).items, start=1)
        return [pair for pair in named if not phenotype_tables.repeats(self.fit, pair[0])]

    def common(self, axis: int) -> NDArray[np.bool_]:
        """Which features of a mode enough rows have to be shown."""
        return phenotype_tables.row_counts(self.presence[axis - 1]) >= self.limit

    def profile(self, phenotype: Phenotype, axis: int) -> Profile:
        """The features of one mode that are worth showing of a phenotype."""
        mode = list(phenotype.items)[axis - 1]
        factor, has = self.fit.factors[axis], self.presence[axis - 1]
        return phenotype_tables.profile(phenotype, mode, factor, has, self.limit)


def summarize_fit(
    run: str,
    card: DatasetCard,
    fit: FittedRun,
    phenotypes: Iterable[Phenotype],
    presence: Sequence[sparse.csr_array],
    judged: Judged,
    stability: Experiment | None,
    limit: int,
) -> FitSummary:
    """Gather what is known of a fit.

    Parameters
    ----------
    phenotypes : iterable of Phenotype
        The largest share first, with :data:`FEATURES_READ` features each.
    presence : sequence of sparse array
        One per feature mode, from :func:`dashboard.fit_view.phenotype_tables.presence`.
    judged : Judged
        Of this run; what was said of another content is left out, for a number alone proves
        nothing.
    stability : Experiment, optional
        A study of this very fit.
    """
    described = {each.identifier: each for each in phenotypes}
    counts = [phenotype_tables.row_counts(has) for has in presence]
    usable = {
        name: phenotype_tables.nameable(each, counts, limit) for name, each in described.items()
    }
    rows = max(1, card.shape[0])
    strongest = {name: [items[:CANDIDATES] for items in each] for name, each in usable.items()}
    working = working_names(strongest, [count / rows for count in counts])
    labels = [mode.labels for mode in fit.modes[1:]]
    groups = {name: phenotype_tables.group_name(each, labels) for name, each in usable.items()}
    digests = {name: fit.phenotype_digest(part) for part, name in enumerate(fit.identifiers)}
    own = [one for one in judged.reviews if digests.get(one.phenotype) == one.phenotype_digest]
    settled = {
        name: one
        for name, one in judged.settled.items()
        if digests.get(name) == one.phenotype_digest
    }
    return FitSummary(
        run,
        card,
        fit,
        described,
        tuple(presence),
        working,
        {name: group for name, group in groups.items() if group},
        working | phenotype_tables.clinical_names(own, settled),
        {} if judged.blind_for else phenotype_tables.links(fit.links),
        phenotype_tables.stability(stability),
        own,
        limit,
        settled,
        judged.blind_for,
    )

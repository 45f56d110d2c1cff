"""How far reviewers agree, where they differ, and what a vote decides; pure functions."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

from dashboard.store.review_file import VERDICTS
from dashboard.store.reviews import Review


@dataclass(frozen=True)
class Agreement:
    """How far reviewers agree on the verdicts of one run.

    Attributes
    ----------
    reviewers, phenotypes : int
        Reviewers in all; phenotypes that at least two of them judged.
    share : float or None
        Pairs of judgements of the same phenotype that agree; None without any pair.
    chance : float or None
        The share to expect of reviewers who judge at random, each with the habits seen.
    kappa : float or None
        Agreement beyond chance (Cohen's for two reviewers, Fleiss' for more); None if every
        judgement is the same, for then chance explains all.
    """

    reviewers: int
    phenotypes: int
    share: float | None
    chance: float | None
    kappa: float | None


@dataclass(frozen=True)
class Vote:
    """What the judgements of one phenotype decide.

    Attributes
    ----------
    verdicts, names : tuple of str
        What was said, the most frequent first; names that differ only in case are one.
    verdict, name : str
        What more reviewers said than anything else; empty if several tie.
    """

    phenotype: str
    verdicts: tuple[str, ...]
    names: tuple[str, ...]
    verdict: str
    name: str

    @property
    def differs(self) -> bool:
        """Whether the reviewers do not all say the same."""
        return len(self.verdicts) > 1 or len(self.names) > 1

    @property
    def is_decided(self) -> bool:
        """Whether the votes settle it: one verdict won and, if there are names, one of them."""
        return bool(self.verdict) and bool(self.name or not self.names)


def agreement_of(reviews: Sequence[Review]) -> Agreement:
    """How far verdicts agree, at most one per reviewer and phenotype."""
    people = {review.reviewer for review in reviews}
    shared = [group for group in by_phenotype(reviews).values() if len(group) > 1]
    if not shared:
        return Agreement(len(people), 0, None, None, None)
    counts = [Counter(review.verdict for review in group) for group in shared]
    shares = [
        sum(n * (n - 1) for n in count.values()) / (count.total() * (count.total() - 1))
        for count in counts
    ]
    observed = sum(shares) / len(shares)
    chance = _chance(shared)
    kappa = None if chance >= 1 else (observed - chance) / (1 - chance)
    return Agreement(len(people), len(shared), observed, chance, kappa)


def votes_on(reviews: Sequence[Review]) -> dict[str, Vote]:
    """What the judgements decide, by phenotype; at most one per reviewer and phenotype."""
    return {name: _vote(name, group) for name, group in sorted(by_phenotype(reviews).items())}


def disagreements(reviews: Sequence[Review]) -> list[Vote]:
    """The phenotypes on which reviewers differ: by verdict first, then only by name."""
    found = [vote for vote in votes_on(reviews).values() if vote.differs]
    return sorted(found, key=lambda vote: (len(vote.verdicts) < 2, vote.phenotype))


def by_phenotype(reviews: Iterable[Review]) -> dict[str, list[Review]]:
    """The judgements of each phenotype, in the order given."""
    groups: dict[str, list[Review]] = {}
    for review in reviews:
        groups.setdefault(review.phenotype, []).append(review)
    return groups


def _vote(phenotype: str, group: Sequence[Review]) -> Vote:
    verdicts = Counter(review.verdict for review in group)
    given = [review.name.strip() for review in group if review.name.strip()]
    written = {name.casefold(): name for name in reversed(given)}  # as it was first written
    names = Counter(name.casefold() for name in given)
    return Vote(
        phenotype,
        tuple(verdict for verdict, _ in verdicts.most_common()),
        tuple(written[name] for name, _ in names.most_common()),
        _winner(verdicts),
        written.get(_winner(names), ""),
    )


def _winner(counts: Counter[str]) -> str:
    """What was said more often than anything else; empty on a tie."""
    first = counts.most_common(2)
    if not first or (len(first) == 2 and first[0][1] == first[1][1]):
        return ""
    return first[0][0]


def _chance(shared: Sequence[Sequence[Review]]) -> float:
    people = sorted({review.reviewer for group in shared for review in group})
    if len(people) == 2:  # Cohen: two habits
        first, second = (
            Counter(
                review.verdict for group in shared for review in group if review.reviewer == person
            )
            for person in people
        )
        return sum(first[verdict] * second[verdict] for verdict in VERDICTS) / len(shared) ** 2
    every = Counter(review.verdict for group in shared for review in group)
    return sum((n / every.total()) ** 2 for n in every.values())

"""How far reviewers agree, in words that need no statistics."""

from __future__ import annotations

from dashboard.text.wording import count_of

# from which kappa on agreement is called so: Landis and Koch, 1977
STRENGTHS = ((0.81, "almost perfect"), (0.61, "substantial"), (0.41, "moderate"), (0.21, "fair"))


def agreement_sentences(
    share: float | None, chance: float | None, kappa: float | None, people: int, phenotypes: int
) -> str:
    """What the numbers of an agreement mean.

    Parameters
    ----------
    share, chance, kappa : float or None
        Pairs of judgements that agree, the same to expect by chance, agreement beyond chance.
    people, phenotypes : int
        Reviewers; phenotypes that at least two of them judged.
    """
    if share is None or chance is None:
        return "No phenotype was judged by two reviewers yet, so nothing can be said on agreement."
    whose = "Cohen's" if people == 2 else "Fleiss'"
    said = (
        f"On {count_of(phenotypes, 'phenotype')} {people} reviewers agree in {share:.0%} of the "
        f"pairs of judgements; by chance alone it would be {chance:.0%}."
    )
    if kappa is None:
        return f"{said} All judgements are the same, so there is nothing to measure beyond chance."
    scale = f"{whose} kappa is {kappa:.2f}: 0 is what chance gives, 1 is full agreement."
    if kappa <= 0:
        return f"{said} {scale} So they agree no better than by chance."
    word = next((word for least, word in STRENGTHS if kappa >= least), "slight")
    return f"{said} {scale} This is usually called {word} agreement."

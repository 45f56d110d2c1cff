"""Agreement in words: what is compared, the scale, and the usual word for it."""

from __future__ import annotations

import pytest

from dashboard.text.agreement_words import agreement_sentences


@pytest.mark.parametrize(
    ("kappa", "said"),
    [
        (-0.4, "no better than by chance"),
        (0.0, "no better than by chance"),
        (0.1, "slight agreement"),
        (0.21, "fair agreement"),
        (0.5, "moderate agreement"),
        (0.61, "substantial agreement"),
        (1.0, "almost perfect agreement"),
    ],
)
def test_every_kappa_has_its_word(kappa: float, said: str) -> None:
    words = agreement_sentences(0.75, 0.5, kappa, 2, 12)
    assert said in words and f"Cohen's kappa is {kappa:.2f}" in words
    assert "12 phenotypes" in words and "75%" in words and "50%" in words
    assert "Fleiss' kappa" in agreement_sentences(0.75, 0.5, kappa, 3, 12)


def test_nothing_is_measured_where_nothing_can_be() -> None:
    assert "nothing can be said" in agreement_sentences(None, None, None, 1, 0)
    assert "All judgements are the same" in agreement_sentences(1.0, 1.0, None, 2, 3)

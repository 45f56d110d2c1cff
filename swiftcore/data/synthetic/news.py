"""Synthetic news: short articles in five categories that share many of their words.

Every sentence is one or two clauses, filled with phrases of one topic, so that it can be read.
An article begins with what its title says. Most sentences are about its own topic, the first
two always; some about its category, about things that all categories share, or about anything.
Some articles turn to a second topic. So words tell much about the category of an article, but
not everything.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TypeVar

import numpy as np

from swiftcore.data.synthetic.news_vocabulary import QUALITIES, SHARED, TOPICS, Topic
from swiftcore.errors import InvalidSettings, refuse

Item = TypeVar("Item")

CATEGORIES: tuple[str, ...] = tuple(dict.fromkeys(topic.category for topic in TOPICS))
CLAUSES: tuple[str, ...] = (
    "{actor} {deed} {setting}",
    "{setting}, {actor} {deed}",
    "{actor} {deed}",
    "because of {thing}, {actor} {deed}",
    "as for {thing}, {actor} {deed}",
    "{actor} {deed} {setting}, not least for {thing}",
    "after that, {actor} {deed}",
    "{actor} said {thing} {seemed} {quality}",
)
SEEMED = ("remained", "looked", "seemed", "stayed", "became", "proved")
JOINTS = (", and ", ", but ", ", while ")
TITLE = "{actor} {deed}"
LATELY = ("this week", "last week", "on Tuesday", "on Friday", "last month", "in recent days")
SENTENCES = (5, 9)  # fewest and most per article, after the one that says the title
# Where a sentence takes its phrases from; what is left to 1 comes from any topic of all.
OWN_TOPIC, OWN_CATEGORY, SHARED_WORDS = 0.40, 0.10, 0.24
TWO_CLAUSES = 0.4  # share of sentences that join two clauses
SHARED_SETTING = 0.35  # share of clauses whose time or place could be in any article
TWO_SUBJECTS = 0.35  # share of articles that turn to a second topic in two of five sentences


@dataclass(frozen=True)
class Article:
    """One article; ``topic`` names the narrower subject within the category."""

    category: str
    topic: str
    title: str
    text: str


def generate_news(n_articles: int = 400, *, seed: int = 0) -> tuple[Article, ...]:
    """Write synthetic articles, equally many in each category (as far as it divides).

    The same arguments always give the same articles, ordered by category.

    Raises
    ------
    InvalidSettings
        If there is not at least one article per category.
    """
    if n_articles < len(CATEGORIES):
        raise refuse(
            "synthetic-range",
            "Synthetic news cannot be made so",
            "n_articles",
            str(n_articles),
            f"Choose {len(CATEGORIES)} or more.",
            kind=InvalidSettings,
        )
    rng = np.random.default_rng(seed)
    categories = sorted(CATEGORIES[number % len(CATEGORIES)] for number in range(n_articles))
    return tuple(_write_article(category, rng) for category in categories)


def _write_article(category: str, rng: np.random.Generator) -> Article:
    topic = _pick([topic for topic in TOPICS if topic.category == category], rng)
    second = _pick(TOPICS, rng) if rng.random() < TWO_SUBJECTS else topic
    news = _fill(TITLE, topic, rng)
    opening = f"{_capital(news)} {_pick(LATELY, rng)}."
    subjects = [
        _source(second if rng.random() < 0.4 else topic, rng)
        for _ in range(rng.integers(SENTENCES[0] - 1, SENTENCES[1]))
    ]
    sentences = [opening, *(_write_sentence(subject, rng) for subject in [topic, *subjects])]
    return Article(category, topic.name, _capital(news), " ".join(sentences))


def _write_sentence(topic: Topic, rng: np.random.Generator) -> str:
    written = _fill(_pick(CLAUSES, rng), topic, rng)
    if rng.random() < TWO_CLAUSES:
        written += _pick(JOINTS, rng) + _fill(_pick(CLAUSES, rng), topic, rng)
    return _capital(written) + "."


def _source(topic: Topic, rng: np.random.Generator) -> Topic:
    """The topic a sentence is written from: mostly the article's own."""
    chance = rng.random()
    if chance < OWN_TOPIC:
        return topic
    if chance < OWN_TOPIC + OWN_CATEGORY:
        return _pick([other for other in TOPICS if other.category == topic.category], rng)
    if chance < OWN_TOPIC + OWN_CATEGORY + SHARED_WORDS:
        return SHARED
    return _pick(TOPICS, rng)


def _fill(clause: str, topic: Topic, rng: np.random.Generator) -> str:
    settings = SHARED.settings if rng.random() < SHARED_SETTING else topic.settings
    return clause.format(
        actor=_pick(topic.actors, rng),
        deed=_pick(topic.deeds, rng),
        thing=_pick(topic.things, rng),
        setting=_pick(settings, rng),
        seemed=_pick(SEEMED, rng),
        quality=_pick(QUALITIES, rng),
    )


def _capital(sentence: str) -> str:
    return sentence[0].upper() + sentence[1:]


def _pick(items: Sequence[Item], rng: np.random.Generator) -> Item:
    return items[int(rng.integers(len(items)))]

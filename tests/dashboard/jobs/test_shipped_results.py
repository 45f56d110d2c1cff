"""The samples come with their finished results, once, into a store of their own."""

from __future__ import annotations

import pytest
from support.tiny_store import tiny_dataset

from dashboard.jobs.samples import main, seed_samples
from dashboard.store.cards import RunState, newest_sound
from dashboard.store.request import EXPERIMENTS
from dashboard.store.reviews import Reviews
from dashboard.store.store import Store
from swiftcore.data.samples import sample_folder, sample_names

RESULTS = [sample_folder(name) / "results" for name in sample_names()]


def test_an_empty_store_gets_the_samples_once(store: Store) -> None:
    seed_samples(store)
    cards = store.datasets()
    assert [card.name for card in cards] == list(sample_names())
    assert all(card.synthetic for card in cards)
    runs = store.runs()
    seed_samples(store)
    assert store.runs() == runs and store.datasets() == cards
    for card in cards:
        store.delete_dataset(card.id)
    seed_samples(store)
    assert store.datasets() == []  # what a person deleted stays deleted


def test_a_store_with_data_of_ones_own_is_left_alone(store: Store) -> None:
    store.add_dataset(tiny_dataset())
    seed_samples(store)
    assert [card.name for card in store.datasets()] == ["tiny 0"]


@pytest.mark.skipif(not all(path.is_dir() for path in RESULTS), reason="not computed yet")
def test_every_sample_has_every_result(store: Store) -> None:
    seed_samples(store)
    for dataset in store.datasets():
        fit = newest_sound(store.runs(dataset.id), "fit")
        assert fit is not None and fit.state is RunState.DONE
        found = store.fit(fit.id)
        assert found.links is not None
        for kind in EXPERIMENTS:
            card = newest_sound(store.runs(dataset.id), kind)
            assert card is not None, (dataset.name, kind)
            assert store.experiment(card.id).kind == kind
        reviews = Reviews(store.root).latest(fit.id)
        assert len(reviews) == 2
        for review in reviews:
            component = found.identifiers.index(review.phenotype)
            assert review.phenotype_digest == found.phenotype_digest(component)
    size = sum(path.stat().st_size for folder in RESULTS for path in folder.iterdir())
    assert size < 2_000_000


def test_other_words_on_the_command_line_are_refused() -> None:
    assert main([]) == main(["eat"]) == main(["make", "cake"]) == 2

"""Working names: unique, of specific features, the same whatever the order; laws by hypothesis."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from swiftcore import Mode, describe_phenotypes
from swiftcore.phenotypes.item import Item
from swiftcore.phenotypes.labels import split_label, spoken
from swiftcore.phenotypes.names import UNNAMED, row_frequencies, working_names
from swiftcore.tensor import SparseTensor

LABELS = st.sampled_from(
    ["new", "new (2)", "new + old", "old", "428.0 Heart failure", "I50.9 Heart failure", " ", "x"]
)
ITEMS = st.lists(
    st.builds(
        lambda label, weight, lift: Item(label, 0, weight / 8, lift / 4, 0.0),
        LABELS,
        st.integers(-8, 8).filter(bool),
        st.integers(1, 40),
    ),
    max_size=4,
)
PHENOTYPES = st.lists(st.lists(ITEMS, min_size=2, max_size=2), min_size=1, max_size=7)


def named(phenotypes: list) -> list[str]:
    found = working_names({f"P{number}": modes for number, modes in enumerate(phenotypes)})
    return list(found.values())


@settings(max_examples=200, deadline=None)
@given(PHENOTYPES, st.randoms())
def test_names_are_unique_never_empty_and_the_same_in_any_order(phenotypes: list, random) -> None:
    names = named(phenotypes)
    assert len(set(names)) == len(names) == len(phenotypes)
    assert all(name.strip() for name in names)
    assert named(phenotypes) == names
    order = list(range(len(phenotypes)))
    random.shuffle(order)
    again = named([phenotypes[place] for place in order])
    assert sorted(again) == sorted(names)
    contents = [_content(modes) for modes in phenotypes]
    for place, name in zip(order, again, strict=True):
        if contents.count(contents[place]) == 1:  # of two that are the same, either may be first
            assert name == names[place]


def _content(modes: list) -> list:
    """What a name may hang on: the spoken words, and what the strongest says of each."""
    return [sorted((spoken(item.label), item.weight, item.lift) for item in one) for one in modes]


def test_features_that_say_nothing_tell_two_phenotypes_apart() -> None:
    both = Item("new (2)", 0, 1 / 8, 1 / 4, 0.0)
    one, other = [[Item("new", 0, -1 / 8, 1 / 4, 0.0), both], []], [[both], []]
    assert named([one, other]) == named([other, one])[::-1]


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.integers(2, 6))
def test_described_phenotypes_keep_their_names_in_another_order(seed: int, rank: int) -> None:
    rng = np.random.default_rng(seed)
    modes = (Mode("row", tuple("abcd")), Mode("word", tuple("stuvwxyz")))
    factors = [rng.random((4, rank)) + 0.1, rng.random((8, rank))]
    names = [one.name for one in by_component(factors, modes)]
    order = rng.permutation(rank)
    turned = by_component([factor[:, order] for factor in factors], modes)
    assert [one.name for one in turned] == [names[place] for place in order]
    for top in (1, 3):  # whatever else is shown of them
        shown = describe_phenotypes(factors, modes, top, frequency_weight=0.3)
        assert {one.component: one.name for one in shown} == dict(enumerate(names))


def by_component(factors: list, modes: tuple) -> list:
    return sorted(describe_phenotypes(factors, modes), key=lambda one: one.component)


def item(label: str, weight: float, lift: float, index: int = 0) -> Item:
    return Item(label, index, weight, lift, 0.0)


def test_specific_features_come_before_frequent_ones() -> None:
    names = named([[[item("saline", 0.5, 1.1), item("nitrates", 0.3, 6.0)]]])
    assert names == ["nitrates"]


def test_what_begins_several_names_is_put_back() -> None:
    certificate = item("Received certificate of high school equivalency (finding)", 0.4, 3.0)
    own = [item(label, 0.25, 3.0) for label in ("gout", "asthma", "migraine")]
    assert named([[[certificate, each]] for each in own]) == ["gout", "asthma", "migraine"]


def test_one_phenotype_is_named_by_its_strongest_feature() -> None:
    assert named([[[item("flu", 0.7, 1.0), item("cough", 0.3, 1.0)]]]) == ["flu"]


def test_the_same_names_are_told_apart_by_a_further_feature() -> None:
    heads = [item("heart failure", 0.6, 3.0), item("furosemide", 0.5, 3.0)]
    first = [[heads[0], item("gout", 0.13, 3.0)], [heads[1]]]
    second = [[heads[0], item("asthma", 0.13, 3.0)], [heads[1]]]
    names = named([first, second, second])
    assert names[0] == "heart failure + furosemide + gout"
    assert names[1:] == [
        "heart failure + furosemide + asthma",
        "heart failure + furosemide + asthma (2)",
    ]


def test_what_nearly_every_row_has_is_put_back_and_slight_features_do_not_win() -> None:
    items = [item("new", 0.3, 8.0, 0), item("bbc", 0.1, 8.0, 1), item("odd", 0.01, 200.0, 2)]
    assert named([[items]]) == ["new"]
    frequent = [np.array([0.5, 0.1, 0.01])]
    assert working_names({"P01": [items]}, frequent) == {"P01": "bbc"}


def test_the_strongest_features_name_a_phenotype_though_a_weaker_one_is_rarer() -> None:
    moods = [
        item("anxiety", 0.19, 8.1, 0),
        item("mood", 0.17, 7.8, 1),
        item("migraine", 0.12, 8, 2),
    ]
    assert working_names({"P01": [moods]}, [np.array([0.18, 0.17, 0.11])]) == {"P01": "anxiety"}


def test_frequencies_count_every_row_once() -> None:
    places = np.array([[0, 0, 0], [0, 0, 1], [1, 0, 1], [2, 1, 1]])
    tensor = SparseTensor.from_coordinates(places, np.ones(4), shape=(4, 3, 2))
    diagnoses, drugs = row_frequencies(tensor)
    np.testing.assert_allclose(diagnoses, [2 / 4, 1 / 4, 0])
    np.testing.assert_allclose(drugs, [1 / 4, 3 / 4])


def test_features_a_phenotype_has_less_of_name_it_only_if_there_is_no_other() -> None:
    assert named([[[item("gout", -0.6, 5.0), item("flu", 0.1, 1.2)]]]) == ["flu"]
    assert named([[[item("gout", -0.6, 5.0)]]]) == ["less gout"]


def test_nothing_to_name_it_by() -> None:
    assert named([[[], []], [[], []]]) == [UNNAMED, f"{UNNAMED} (2)"]


@pytest.mark.parametrize(
    ("label", "code", "description"),
    [
        ("428.0 Congestive heart failure", "428.0", "Congestive heart failure"),
        ("I50.9 - Heart failure", "I50.9", "Heart failure"),
        ("250 Diabetes mellitus", "250", "Diabetes mellitus"),
        ("Heart failure [428.0]", "428.0", "Heart failure"),
        ("Thyroid disorders [48.]", "48.", "Thyroid disorders"),
        ("Acute bronchitis (disorder)", "", "Acute bronchitis"),
        ("I50.9", "I50.9", ""),
        ("4280", "4280", ""),
        ("250 mg metformin", "", "250 mg metformin"),
        ("0.9% Sodium Chloride", "", "0.9% Sodium Chloride"),
        ("Amoxicillin [Augmentin]", "", "Amoxicillin [Augmentin]"),
        ("new", "", "new"),
        ("  ", "", "(blank)"),
    ],
)
def test_a_label_is_split_into_code_and_description(
    label: str, code: str, description: str
) -> None:
    assert split_label(label) == (code, description)
    assert spoken(label) == (description or code)

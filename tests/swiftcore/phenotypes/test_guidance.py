"""Steps of a guided refit: read from words, kept as JSON, and refused with every reason at once."""

from __future__ import annotations

import json
from contextlib import suppress

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as some

from swiftcore import Drop, InvalidSettings, Merge, Mode, Pin, Seed, Split
from swiftcore.phenotypes.guidance import (
    KINDS,
    drop_from_text,
    plain_steps,
    seed_from_text,
    steps_from_plain,
)
from swiftcore.phenotypes.guidance_checks import Changes, find_changes

GOUT = "Gout; and other; crystal"
MODES = (
    Mode.numbered("patient", 6),
    Mode("diagnosis", (GOUT, "Hypertension", "a=b", "Vitamins")),
    Mode("medication", ("Allopurinol", "Vitamins", "Insulin")),
)
FACTORS = [
    np.ones((6, 5)),
    np.tile([[0.25], [0.25], [0.25], [0.25]], 5),
    np.tile([[1.0], [0.0], [0.0]], 5),
]


def found(*steps: object, factors: list[np.ndarray] = FACTORS) -> Changes:
    return find_changes(steps, MODES, factors)  # type: ignore[arg-type]


def codes(*steps: object, factors: list[np.ndarray] = FACTORS) -> list[str]:
    with pytest.raises(InvalidSettings) as caught:
        found(*steps, factors=factors)
    return sorted(problem.code for problem in caught.value.problems)


def test_words_are_found_in_the_result() -> None:
    changes = found(
        Pin("P1"),
        Merge("P05", "p02"),
        Split("P03"),
        Drop("P04", "medication=Vitamins"),
        Drop("P04", "a=b"),
        Seed((("", "Insulin"), ("diagnosis", GOUT))),
    )
    assert changes == Changes(
        5,
        merges=((1, 4),),
        splits=(2,),
        drops=((3, (1, 2)), (3, (2, 1))),
        pins=(0,),
        seeds=(((1, 0), (2, 2)),),
    )
    assert changes.origins() == [(0,), (1, 4), (2,), (3,), (2,), ()]
    assert (changes.new_rank, changes.pinned()) == (6, (0,))


def test_equal_changes_are_equal_steps_whatever_their_order_and_spelling() -> None:
    one = found(Merge("P05", "P02"), Drop("P4", "a=b"), Pin("P01"), Pin("P01"))
    other = found(Pin("p1"), Drop("P04", "a=b", "diagnosis"), Merge("P2", "P5"))
    steps = one.steps(MODES)
    assert one == other and steps == other.steps(MODES)
    assert steps == (Merge("P02", "P05"), Drop("P04", "a=b", "diagnosis"), Pin("P01"))
    assert found(*steps) == one


def test_a_semicolon_in_a_name_separates_nothing() -> None:
    text = f"diagnosis={GOUT};medication=Allopurinol; diagnosis=a=b"
    seed = seed_from_text(text, MODES)
    assert seed.features == (
        ("diagnosis", GOUT),
        ("medication", "Allopurinol"),
        ("diagnosis", "a=b"),
    )
    assert found(seed).seeds == (((1, 0), (1, 2), (2, 0)),)
    assert drop_from_text("P02: Type: 2") == Drop("P02", "Type: 2")


def test_two_modes_of_one_name_are_told_apart() -> None:
    words = ("goal", "bank")
    modes = (Mode.numbered("document", 3), Mode("word", words), Mode("word", words))
    factors = [np.ones((3, 2)), np.full((2, 2), 0.5), np.full((2, 2), 0.5)]
    with pytest.raises(InvalidSettings, match="word 1=goal or word 2=goal"):
        find_changes([Drop("P01", "goal")], modes, factors)
    changes = find_changes([Drop("P01", "word 2=goal")], modes, factors)
    assert changes.drops == ((0, (2, 0)),)


def test_every_problem_is_said_at_once() -> None:
    assert codes(
        Merge("P09", "P02"),
        Merge("P03", "P03"),
        Split("elephant"),
        Drop("P01", "Vitamins"),
        Drop("P01", "Gouty"),
        Drop("P01", "x", "procedure"),
        Seed(()),
    ) == sorted(
        ["phenotype-unknown"] * 2
        + ["merge-itself", "feature-ambiguous", "feature-unknown", "mode-unknown", "seed-empty"]
    )


@pytest.mark.parametrize(
    "steps",
    [
        [Merge("P01", "P02"), Pin("P02")],
        [Split("P01"), Pin("P01")],
        [Drop("P01", "a=b"), Pin("P01")],
        [Merge("P01", "P02"), Merge("P02", "P03")],
        [Merge("P01", "P02"), Split("P01")],
    ],
)
def test_steps_that_contradict_each_other(steps: list[object]) -> None:
    assert set(codes(*steps)) == {"guidance-conflict"}


def test_cures_name_what_to_write() -> None:
    with pytest.raises(InvalidSettings, match="medication=Vitamins"):
        found(Drop("P01", "Vitamins"))
    with pytest.raises(InvalidSettings, match="Did you mean 'Allopurinol'"):
        found(Drop("P01", "alopurinol"))
    with pytest.raises(InvalidSettings, match="Did you mean 'Gout; and"):
        found(Seed((("diagnosis", "gout"),)))
    with pytest.raises(InvalidSettings, match="P02:Vitamins"):
        drop_from_text("Vitamins")


def test_nothing_may_be_left_without_features_or_rows() -> None:
    assert codes(Drop("P01", "Allopurinol")) == ["drop-all"]
    assert codes(*(Drop("P02", f"diagnosis={name}") for name in MODES[1].labels)) == ["drop-all"]
    lonely = [np.array(FACTORS[0]), *FACTORS[1:]]
    lonely[0][1:, 2] = 0.0
    assert codes(Split("P03"), factors=lonely) == ["split-one"]
    dead = [np.array(FACTORS[0]), *FACTORS[1:]]
    dead[0][:, 3] = 0.0
    assert codes(Pin("P04"), factors=dead) == ["phenotype-dead"]
    both = [*FACTORS[:2], np.array(FACTORS[2])]
    both[2][:, 1] = [0.0, 0.0, 1.0]
    merged = found(Merge("P01", "P02"), Drop("P01", "Allopurinol"), factors=both)
    assert merged.new_rank == 4  # the other of the two brings a feature


def test_nothing_and_too_much_are_refused() -> None:
    assert codes() == ["guidance-empty"]
    many = [Seed((("diagnosis", "a=b"),))] * 2 + [Drop(f"P{k:03d}", "a=b") for k in range(300)]
    assert "guidance-long" in codes(*many)


words = some.text(max_size=12)
any_step = some.one_of(
    some.builds(Merge, words, words),
    some.builds(Split, words),
    some.builds(Drop, words, words, words),
    some.builds(Pin, words),
    some.builds(Seed, some.lists(some.tuples(words, words), max_size=3).map(tuple)),
)


@settings(max_examples=60, deadline=None, derandomize=True)
@given(some.lists(any_step, max_size=5).map(tuple))
def test_steps_survive_json_and_any_words_are_read_or_refused(steps: tuple[object, ...]) -> None:
    assert steps_from_plain(json.loads(json.dumps(plain_steps(steps)))) == steps  # type: ignore[arg-type]
    with suppress(InvalidSettings):
        changes = found(*steps)
        assert changes.new_rank == len(changes.origins())


@pytest.mark.parametrize(
    "plain",
    [
        "merge",
        {"do": "merge"},
        [{"do": "melt", "phenotype": "P01"}],
        [{"do": "pin"}],
        [{"do": "pin", "phenotype": 3}],
        [{"do": "pin", "phenotype": "P01", "more": "x"}],
        [{"do": "seed", "features": [["diagnosis"]]}],
        [{"do": "seed", "features": [["diagnosis", 4]]}],
        [{"do": ["pin"], "phenotype": "P01"}],
        [None],
        [{"do": "pin", "phenotype": "P01"}] * 300,
    ],
)
def test_foreign_json_is_refused_in_words(plain: object) -> None:
    with pytest.raises(InvalidSettings, match=", ".join(KINDS)):
        steps_from_plain(plain)

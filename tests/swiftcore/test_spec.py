"""The spec states every setting once: ranges, words, JSON, keys."""

from __future__ import annotations

import json
import subprocess
import sys
from dataclasses import FrozenInstanceError, replace
from inspect import signature

import pytest
from hypothesis import given
from hypothesis import strategies as st

from swiftcore.cost import CostRecipe
from swiftcore.errors import InvalidData, InvalidSettings
from swiftcore.evaluation.methods.catalogue import CATALOGUE
from swiftcore.evaluation.methods.factorizations import load_estimator
from swiftcore.evaluation.methods.method import AS_RECORDED
from swiftcore.spec import DEFAULTS, SETTINGS, ModelSpec, key_values
from swiftcore.spec.cost_text import BUILT_IN


def test_every_setting_has_a_range_and_all_its_words() -> None:
    for name, setting in SETTINGS.items():
        assert setting.name == name and setting.allows(setting.default)
        assert setting.help.endswith(".") and setting.clinician and setting.scientist
        assert setting.wanted and setting.option.startswith("--")
        if setting.in_form and isinstance(setting.default, int | float):
            assert isinstance(setting.default, bool) or setting.offered
            low, high = setting.offered or (0, 1)
            assert setting.allows(type(setting.default)(high)) and low <= setting.default <= high


def test_values_have_one_form_and_nothing_changes_them() -> None:
    spec = ModelSpec(rank=12.0, sharpness=5, options={"floor": 1})  # type: ignore[arg-type]
    assert (spec.rank, spec.sharpness, spec.options) == (12, 5.0, {"floor": 1.0})
    assert isinstance(spec.rank, int) and isinstance(spec.sharpness, float)
    assert spec == ModelSpec(rank=12, sharpness=5.0, options={"floor": 1.0})
    with pytest.raises(FrozenInstanceError):
        spec.rank = 3  # type: ignore[misc]


def test_everything_that_is_wrong_is_said_at_once() -> None:
    wrong = {"rank": 0, "sharpness": -1.0, "start": "warm", "entry_values": 1, "seed": 1.5}
    with pytest.raises(InvalidSettings) as caught:
        ModelSpec.of(wrong)
    assert {one.where for one in caught.value.problems} == set(wrong)
    assert "a whole number of at least 1" in str(caught.value)
    with pytest.raises(InvalidSettings, match="do not go together"):
        ModelSpec(sharpness=1e9)
    with pytest.raises(InvalidSettings, match="no such setting"):
        ModelSpec.of({"runk": 3})


@given(
    rank=st.integers(1, 500),
    sharpness=st.floats(0.1, 1e5),
    entry_values=st.sampled_from(SETTINGS["entry_values"].choices),
    mode_costs=st.dictionaries(st.text(max_size=8), st.sampled_from(BUILT_IN), max_size=3),
    costs=st.sampled_from(SETTINGS["costs"].choices),
    options=st.dictionaries(st.text(max_size=8), st.floats(-1e9, 1e9), max_size=3),
)
def test_a_spec_survives_its_file(**values: object) -> None:
    spec = ModelSpec.of(values)
    assert ModelSpec.from_json(json.loads(json.dumps(spec.to_json()))) == spec


@pytest.mark.parametrize("plain", [None, [], {}, {"version": 99}, {"version": 1, "rank": "x"}])
def test_what_is_no_spec_is_refused(plain: object) -> None:
    with pytest.raises((InvalidData, InvalidSettings)):
        ModelSpec.from_json(plain)


EARLIER = {"presence": True, "equal_rows": True, "rarity_weighting": True, "label_weighting": 2.0}


def test_specs_of_the_first_version_are_understood() -> None:
    assert ModelSpec.from_json({"version": 1, "rank": 7, **EARLIER}) == ModelSpec(
        rank=7,
        entry_values="presence",
        row_mass="equal",
        feature_weighting="rarity and outcome",
        outcome_power=2.0,
    )
    plain = {"presence": False, "equal_rows": False, "rarity_weighting": False}
    assert ModelSpec.of({**plain, "label_weighting": 0.0}) == ModelSpec(**AS_RECORDED)


@pytest.mark.parametrize("name", EARLIER)
@pytest.mark.parametrize("value", ["yes", None, -1.0])
def test_what_no_earlier_version_wrote_is_refused(name: str, value: object) -> None:
    with pytest.raises(InvalidSettings, match="no such setting"):
        ModelSpec.of({**EARLIER, name: value})


def test_a_setting_that_came_later_leaves_earlier_keys_alone() -> None:
    usual = ModelSpec()
    later = [name for name, one in SETTINGS.items() if not one.in_every_key]
    assert later == ["consensus_rows", "options"] and not set(later) & set(
        key_values(usual.plain())
    )
    assert key_values(replace(usual, options={"floor": 1.0}).plain())["options"] == {"floor": 1.0}


def test_the_title_names_what_differs() -> None:
    assert ModelSpec(rank=12, seed=3, sharpness=20).title() == "R = 12, sharpness 20, seed 3"


def test_estimators_have_the_defaults_of_their_specs() -> None:
    for key, method in CATALOGUE.items():
        if method.is_factorization:
            usual = method.spec()
            for name, parameter in signature(load_estimator(key)).parameters.items():
                if name in DEFAULTS:
                    assert parameter.default == getattr(usual, name), f"{key}: {name}"


def test_recipes_of_costs_are_those_of_the_spec() -> None:
    assert SETTINGS["costs"].choices == tuple(recipe.value for recipe in CostRecipe)


def test_spec_and_catalogue_load_no_compiler_and_no_estimator() -> None:
    code = (
        "import sys, swiftcore.spec, swiftcore.evaluation.methods.catalogue, swiftcore.model_file\n"
        "print(sorted({'numba', 'sklearn', 'streamlit', 'plotly'} & set(sys.modules)))"
    )
    answer = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert answer.stdout.strip() == "[]", answer.stdout + answer.stderr

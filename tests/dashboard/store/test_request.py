"""A request is known by its key: the same for the same, another for anything else."""

from __future__ import annotations

import json
import math

import pytest

from dashboard.store import request as module
from dashboard.store.request import EXPERIMENT_DEFAULTS, KINDS, Request, defaults
from swiftcore.errors import InvalidData, InvalidSettings
from swiftcore.evaluation.methods.catalogue import spec_for
from swiftcore.spec import DEFAULTS, SETTINGS

OTHER = {int: 7, float: 0.321, str: "other", dict: {"floor": 1.0}}
GIVEN = {
    "methods": ["swift"],
    "recipes": ["cosine"],
    "levels": [0.5],
    "ranks": [3],
    "mode_costs": {"diagnosis": "none"},
}


def changed(kind: str, name: str) -> Request:
    default = defaults(kind)[name]
    if kind == "fit" and (choices := SETTINGS[name].choices):
        other = next(choice for choice in choices if choice != default)
        return Request(kind, "a" * 32, {name: other})
    value = GIVEN.get(name) or OTHER.get(type(default), not default)
    subsets = {"subsets": 2, "subset_size": 50} if "subset" in name else {}
    return Request(kind, "a" * 32, {**subsets, name: value})


@pytest.mark.parametrize(
    ("kind", "name"),
    [("fit", name) for name in DEFAULTS] + [("noise", name) for name in EXPERIMENT_DEFAULTS],
)
def test_every_setting_changes_the_key(kind: str, name: str) -> None:
    assert changed(kind, name).key() != Request(kind, "a" * 32).key()


def test_data_kind_run_and_algorithm_change_the_key(monkeypatch: pytest.MonkeyPatch) -> None:
    base = Request("noise", "a" * 32)
    keys = {base.key(), Request("noise", "b" * 32).key(), Request("noise", "a" * 32, {}, "c").key()}
    keys |= {Request(kind, "a" * 32).key() for kind in KINDS}
    assert len(keys) == len(KINDS) + 2
    monkeypatch.setattr(module, "PROTOCOL", 99)
    assert Request("noise", "a" * 32).key() not in keys
    assert Request("fit", "a" * 32).key() in keys  # an evaluation's protocol leaves fits alone
    monkeypatch.setattr(module, "ALGORITHM_VERSION", "another")
    assert Request("fit", "a" * 32).key() not in keys


def test_the_same_request_in_other_words_has_the_same_key() -> None:
    short = Request("fit", "a" * 32, {"rank": 10, "sharpness": 2})
    spelled = Request("fit", "a" * 32, dict(reversed({**DEFAULTS, "rank": 10.0}.items())))
    assert short == spelled
    assert short.key() == spelled.key() and len(short.key()) == 32
    levels = Request("noise", "a" * 32, {"levels": (0.05, 0.1)})
    assert levels.key() == Request("noise", "a" * 32, {"levels": [0.05, 0.1]}).key()


@pytest.mark.parametrize(
    ("kind", "settings"),
    [
        ("cook", {}),
        ("noise", {"ranks": [-1]}),
        ("noise", {"folds": 10**400}),
        ("noise", {"levels": [1.5]}),
        ("noise", {"methods": ["<img src=x>"]}),
        ("evaluation", {"recipes": ["magic"]}),
        ("fit", {"seed": 10**400}),
        ("fit", {"runk": 3}),
        ("fit", {"rank": 2.5}),
        ("fit", {"rank": True}),
        ("fit", {"rank": "3"}),
        ("fit", {"sharpness": math.nan}),
        ("fit", {"costs": 3}),
        ("noise", {"ranks": 3}),
        ("noise", {"ranks": "33"}),
        ("noise", {"quick": 1}),
        ("projection", {"rank": 3}),
    ],
)
def test_what_means_nothing_is_refused(kind: str, settings: dict[str, object]) -> None:
    with pytest.raises(InvalidSettings):
        Request(kind, "a" * 32, settings)


@pytest.mark.parametrize("kind", KINDS)
def test_a_request_survives_its_file(kind: str) -> None:
    request = Request(kind, "a" * 32, {}, "b" * 32)
    assert Request.from_plain(json.loads(json.dumps(request.plain()))) == request


@pytest.mark.parametrize(
    "plain",
    [None, [], {}, {"kind": "fit"}, {"kind": "cook", "dataset": "", "settings": {}, "run": ""}],
)
def test_no_request_is_refused(plain: object) -> None:
    with pytest.raises(InvalidData):
        Request.from_plain(plain)


def test_the_title_names_what_differs() -> None:
    assert Request("fit", "", {"rank": 12}).title == "SWIFT, R = 12"
    changed = Request("fit", "", {"seed": 3, "sharpness": 20})
    assert changed.title == "SWIFT, R = 10, sharpness 20, seed 3"
    other = Request("fit", "", spec_for("cp_als", rank=4, seed=2).plain())
    assert other.title == "CP-ALS, R = 4, seed 2"
    assert Request("fit", "", {"method": "of old"}).title == "of old, R = 10, method of old"

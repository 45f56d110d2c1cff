"""Which settings of the spec change anything for a method: what its estimator or the fit reads."""

from __future__ import annotations

from inspect import signature

import pytest

from swiftcore.evaluation.methods.catalogue import CATALOGUE
from swiftcore.evaluation.methods.factorizations import load_estimator
from swiftcore.evaluation.methods.method import OF_TRANSPORT
from swiftcore.spec import SETTINGS

FACTORIZATIONS = [key for key, method in CATALOGUE.items() if method.is_factorization]
READ_BY_THE_FIT = ("outcome_share",)  # before or around the estimator


@pytest.mark.parametrize("key", FACTORIZATIONS)
def test_a_setting_is_used_where_the_estimator_takes_it(key: str) -> None:
    method, taken = CATALOGUE[key], set(signature(load_estimator(key)).parameters)
    for name in set(OF_TRANSPORT) - set(READ_BY_THE_FIT):
        assert method.uses(name) == (name in taken), name
    for name in taken & set(SETTINGS):
        assert method.uses(name), name
    assert method.uses("costs") == (method.costs != "none")
    assert method.uses("row_relation") == (method.costs == "all")
    assert method.uses("consensus") == (not method.signed)
    assert method.uses("feature_weighting") and method.uses("rank")

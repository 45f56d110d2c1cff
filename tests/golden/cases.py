"""All golden cases: group, name, and a function that computes the result anew."""

from __future__ import annotations

import json
from collections.abc import Callable

from golden import command_cases, experiment_cases, fit_cases, phenotype_cases, report_cases
from golden.plain import Result
from golden.stored_cases import DATA_CASES, REQUEST_CASES

GROUPS: dict[str, dict[str, Callable[[], Result]]] = {
    "fits": fit_cases.CASES,
    "experiments": experiment_cases.CASES,
    "phenotypes": phenotype_cases.CASES,
    "reports": report_cases.CASES,
    "commands": command_cases.CASES,
    "requests": REQUEST_CASES,
    "data": DATA_CASES,
}


def compute(group: str, name: str) -> Result:
    """The result of one case, as it would be read back from its file."""
    found: Result = json.loads(json.dumps(GROUPS[group][name]()))
    return found

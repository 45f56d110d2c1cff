"""Every golden result computed anew and compared with its recording.

On the kind of machine that recorded them, results are equal to the bit (tables to 12 digits).
Elsewhere digests are left aside: numbers agree to 1e-4 (float32), 1e-6 (float64) or 5 to 20 %
(tables of experiments, where a tie may fall the other way), names and counts in all digits.
"""

from __future__ import annotations

import json
from copy import deepcopy
from functools import cache
from pathlib import Path
from typing import Any

import pytest

from golden.cases import GROUPS, compute
from golden.compare import differences
from golden.fingerprint import fingerprint

FOLDER = Path(__file__).parent / "recordings"
RETIRED = {"swift_paper_schedule"}  # recordings stay as they are; this schedule left the engine
ALL = [(group, name) for group, cases in GROUPS.items() for name in cases]
LONG = {"commands", "experiments", "reports"}  # left to make test
PARAMETERS = [
    pytest.param(
        group, name, id=f"{group}-{name}", marks=[pytest.mark.slow] if group in LONG else []
    )
    for group, name in ALL
]


@cache
def recording(group: str) -> dict[str, Any]:
    found: dict[str, Any] = json.loads((FOLDER / f"{group}.json").read_text(encoding="utf-8"))
    return found


@cache
def same_machine(group: str) -> bool:
    return bool(recording(group)["fingerprint"] == fingerprint())


@pytest.mark.parametrize(("group", "name"), PARAMETERS)
def test_a_result_is_as_recorded(group: str, name: str) -> None:
    exact = same_machine(group)
    print("compared to the bit" if exact else "compared closely")  # shown by pytest -rP
    found, wanted = compute(group, name), recording(group)["cases"][name]
    told = differences(found, wanted, same_machine=exact)
    assert not told, "\n".join(told)


@pytest.mark.parametrize("group", GROUPS)
def test_all_cases_are_recorded_and_no_others(group: str) -> None:
    recorded = [name for name in recording(group)["cases"] if name not in RETIRED]
    assert recorded == list(GROUPS[group])


@pytest.mark.parametrize("exact", [True, False])
def test_a_changed_number_is_seen_in_both_comparisons(exact: bool) -> None:
    wanted = recording("fits")["cases"]["swift_cube_float64"]
    found = deepcopy(wanted)
    assert not differences(found, wanted, same_machine=exact)
    found["close"]["factors"][0]["sums"][0] *= 1 + 1e-5
    (told,) = differences(found, wanted, same_machine=exact)
    assert "sums" in told or "factors" in told


def test_a_changed_bit_is_seen_only_where_bits_must_agree() -> None:
    wanted = recording("fits")["cases"]["swift_cube_float64"]
    found = deepcopy(wanted)
    found["bits"]["factors"] = "0" * 64
    assert differences(found, wanted, same_machine=True)
    assert not differences(found, wanted, same_machine=False)


def test_another_key_is_seen_on_every_machine() -> None:
    wanted = recording("requests")["cases"]["fit"]
    found = deepcopy(wanted)
    found["always"]["key"] = "0" * 32
    assert all(differences(found, wanted, same_machine=exact) for exact in (True, False))

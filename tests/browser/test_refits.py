"""Merge, split, drop, pin and seed in the browser; the stored refit keeps every law."""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path

import numpy as np
import pytest
from playwright.sync_api import expect
from support.evaluation_data import planted_patients
from support.made_runs import fitted

from browser.conftest import Visit
from browser.server import Server
from browser.tables import newest_fit
from browser.visitor import PATIENCE
from dashboard.store.lineage import descendants
from dashboard.store.store import Store
from swiftcore import Drop, Merge, Pin, Seed, Split


@pytest.fixture
def small(tmp_path: Path) -> Iterator[Server]:
    """A server on a store with one small data set and its fit with four phenotypes."""
    fitted(Store(tmp_path / "store"), planted_patients(), synthetic=True, rank=4)
    server = Server(tmp_path / "store").start()
    yield server
    server.stop()


def test_a_result_is_changed_and_refitted(small: Server, visit: Visit) -> None:
    parent = newest_fit(small)
    visitor = visit(small)
    visitor.page.set_viewport_size({"width": 1400, "height": 3000})  # lists close when it scrolls
    visitor.open("/", run=parent, p="P01")
    visitor.page.get_by_text("Change and refit", exact=True).click()
    visitor.still().press("It is right: keep it as it is")
    visitor.pick("P02")
    visitor.choose("P02 is the same as", re.compile("P03: "))
    visitor.press("These two are one")
    visitor.choose("Does not belong to P02", re.compile(r"dx \d \(diagnosis\)"))
    dropped = visitor.page.get_by_role("combobox", name="Does not belong to P02").input_value()
    visitor.press("Leave it out")
    visitor.pick("P04").press("It is two: split it")
    visitor.choose("There is another phenotype, with", "dx 8 (diagnosis)")
    visitor.page.keyboard.press("Escape")
    visitor.still().press("Add it")
    visitor.page.get_by_role("button", name="Refit", exact=True).click()
    leads_back = visitor.page.get_by_role("button", name="Back to it", exact=True)
    expect(leads_back).to_be_visible(timeout=PATIENCE)  # only a refit has it
    visitor.still().sees(re.compile("P02 and P03 are one")).is_well()
    child = newest_fit(small)
    expect(visitor.page).to_have_url(re.compile(f"run={child}"), timeout=PATIENCE)

    store = small.store
    before, after = store.fit(parent), store.fit(child)
    feature = dropped.removesuffix(" (diagnosis)")
    assert after.guidance == (
        Merge("P02", "P03"),
        Split("P04"),
        Drop("P02", feature, "diagnosis"),
        Pin("P01"),
        Seed((("diagnosis", "dx 8"),)),
    )
    assert store.run(child).request.run == parent and after.rank == 5
    assert [one.origins for one in descendants(before, after)] == [(0,), (1, 2), (3,), (3,), ()]
    for old, new in zip(before.factors[1:], after.factors[1:], strict=True):
        np.testing.assert_array_equal(old[:, 0], new[:, 0])
    assert after.factors[1][after.modes[1].labels.index(feature), 1] == 0
    assert (after.history["objective"].diff().dropna() <= 0).all()

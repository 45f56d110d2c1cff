"""A definition on the page: nothing until it is opened, then a rule to change and take along."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st
from streamlit.testing.v1 import AppTest
from support.opened_page import drawn, open_page, words

from dashboard.privacy.small_counts import rounded
from dashboard.store.store import Store

SCRIPT = """
from dashboard.session.fit_summary import fit_summary
from dashboard.session import selection
from dashboard.widgets.definition import _show
selection.resolve()
_show(fit_summary(), "P01")
"""


def opened(store: Store, monkeypatch: pytest.MonkeyPatch) -> AppTest:
    monkeypatch.setenv("SWIFT_HOME", str(store.root))
    return drawn(AppTest.from_string(SCRIPT, default_timeout=60).run())


def test_the_page_offers_it_closed(fitted_store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    page = drawn(open_page("phenotypes", fitted_store, monkeypatch, p="P01").run())
    assert "Use it elsewhere: a definition" in [box.label for box in page.expander]
    assert "sensitivity" not in words(page)


def test_the_rule_on_the_screen_is_the_one_in_the_file(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = opened(fitted_store, monkeypatch)
    first = page.selectbox[0]
    most = len(first.options) - 1
    page = drawn(first.set_value(most).run())
    assert f"at least {most} of {most}" in words(page)
    button = next(one for one in page.get("download_button") if one.proto.label == "Rule (JSON)")
    assert button.proto.url
    drawn(page.selectbox[0].set_value(0).run())
    page = drawn(page.selectbox[1].set_value(0).run())
    assert "A rule must ask for something" in words(page)


@given(st.integers(0, 10**6), st.integers(0, 10**6), st.integers(0, 50))
def test_rounded_counts_keep_their_order_and_differ_by_whole_limits(
    one: int, other: int, limit: int
) -> None:
    low, high = (rounded(count, limit) for count in sorted((one, other)))
    assert low <= high
    if limit:
        assert (high - low) % limit == 0 and abs(low - min(one, other)) <= limit / 2
    else:
        assert low == min(one, other)

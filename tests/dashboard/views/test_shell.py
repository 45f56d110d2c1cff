"""The frame of every page: choices, links, wording, texts shown as typed, the closed server."""

from __future__ import annotations

import socket
from pathlib import Path

import pandas as pd
import pytest
from support.opened_page import LIST, card_words, damage, drawn, open_app, widget, words
from support.tiny_store import tiny_dataset

from dashboard import launch
from dashboard.store.store import Store
from dashboard.text.display import clipped, visible
from dashboard.text.wording import WORDS, count_of, plural
from dashboard.widgets.tables import csv_bytes, shown
from dashboard.widgets.text import plain


def test_an_empty_store_says_what_to_do(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    app = open_app(store, monkeypatch)
    assert "no finished result" in words(app)
    assert "A link is not a cause." in words(app)
    assert "Found by an algorithm; not a diagnosis." in words(app)


def test_the_first_open_shows_a_result_without_a_click(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app(fitted_store, monkeypatch)
    fit = fitted_store.runs(kind="fit")[0]
    assert widget(app, "selectbox", "w.dataset").value == fit.dataset
    assert widget(app, "selectbox", "w.run").value == fit.id
    assert len(widget(app, "radio", LIST).options) == 3 and "P01" in card_words(app)
    assert app.query_params["run"] == fit.id


@pytest.mark.parametrize("bad", ["0" * 32, "nonsense", "../../etc", "<b>x</b>"])
def test_dead_links_are_said_and_lead_on(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, bad: str
) -> None:
    fit = fitted_store.runs(kind="fit")[0]
    for link in ({"data": bad}, {"data": fit.dataset, "run": bad}, {"run": fit.id, "p": bad}):
        app = open_app(fitted_store, monkeypatch, **link)
        assert app.warning[0].value.startswith("The "), link
        assert bad not in words(app)
        assert widget(app, "selectbox", "w.run").value == fit.id
        assert app.query_params["p"].startswith("P")


def test_a_link_with_the_run_alone_finds_its_data(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    fitted_store.add_dataset(tiny_dataset(seed=9))
    fit = fitted_store.runs(kind="fit")[0]
    app = open_app(fitted_store, monkeypatch, run=fit.id, p="P02")
    assert not app.warning
    assert widget(app, "radio", LIST).value == "P02"


def test_a_damaged_result_is_said_in_words(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch, fit_id: str
) -> None:
    damage(fitted_store, fit_id)
    app = open_app(fitted_store, monkeypatch)
    assert "changed after it was written" in words(app)
    assert "Compute it again" in words(app)


def test_a_data_set_that_cannot_be_read_does_not_lock_the_app(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    other = fitted_store.add_dataset(tiny_dataset(seed=9))
    (fitted_store.root / "datasets" / other / "card.json").write_bytes(b"{")
    app = open_app(fitted_store, monkeypatch, data=other)
    assert widget(app, "selectbox", "w.dataset").value == other
    assert "were changed after they were written" in app.warning[0].value


def test_real_data_cannot_show_small_counts(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    app = open_app(fitted_store, monkeypatch)
    assert len(widget(app, "selectbox", "w.small_cells").options) == 3  # synthetic: off is there
    app.query_params["data"] = fitted_store.add_dataset(tiny_dataset(seed=4))
    del app.query_params["run"], app.query_params["p"]
    drawn(app.run())
    small = widget(app, "selectbox", "w.small_cells")
    assert small.value == 11 and len(small.options) == 2


def test_both_wordings_know_all_words_and_can_be_switched(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    assert set(WORDS["clinician"]) == set(WORDS["scientist"])
    app = open_app(fitted_store, monkeypatch)
    assert "Share of the data" in card_words(app)
    app.session_state["swift.wording"] = "scientist"
    drawn(app.run())
    assert "Share of mass" in card_words(app)


HOSTILE = [
    "![x](http://evil.example/a.png)",
    "<img src=x onerror=alert(1)>",
    ":material/home: :smile:",
    "$x^2$ :red[hi] **bold** `code`",
    "www.evil.example a@b.example",
    "# head | - list",
    "a -> b",
]


@pytest.mark.parametrize("text", HOSTILE)
def test_markdown_sees_no_live_character(text: str) -> None:
    safe = plain(text)
    assert safe.replace("\\", "").replace("\u2060", "") == text
    live = [
        at
        for at, each in enumerate(safe)
        if each in "!-/:@[]`{|}~*_#<>$()" and at and safe[at - 1] != "\\"
    ]
    assert live == []


def test_unseen_characters_are_made_visible_and_long_texts_are_cut() -> None:
    assert visible("a\u202eb\u200bc\nd\x00\ud800") == "a[U+202E]b[U+200B]c\u240ad\u2400[U+D800]"
    assert len(clipped("A" * 10_000)) == 60 and clipped("short") == "short"


def test_tables_go_out_without_formulas() -> None:
    table = pd.DataFrame({"=head": ["=1+1", "\t@x", "fine"], "n": [-1.5, 2, 3]})
    text = csv_bytes(table).decode()
    assert text.splitlines() == ["'=head,n", "'=1+1,-1.5", "'\t@x,2.0", "fine,3.0"]
    assert shown(pd.DataFrame({"a": ["x" * 999, "\u202e"]}))["a"].map(len).tolist() == [200, 8]


PLURALS = {"patient": "patients", "diagnosis": "diagnoses", "category": "categories", "day": "days"}


@pytest.mark.parametrize(("one", "many"), PLURALS.items())
def test_nouns_have_plurals(one: str, many: str) -> None:
    assert plural(one) == many
    assert count_of(1, one) == f"1 {one}" and count_of(1200, one) == f"1,200 {many}"


def test_the_icon_is_a_picture_of_our_own() -> None:
    icon = Path(launch.__file__).with_name("icon.png").read_bytes()
    assert icon.startswith(b"\x89PNG\r\n\x1a\n") and icon.endswith(b"IEND\xaeB`\x82")


def test_settings_keep_the_server_to_itself() -> None:
    settings = launch.settings(9999, 77)
    assert settings["server.address"] == "127.0.0.1" and settings["server.port"] == 9999
    assert settings["browser.gatherUsageStats"] is False
    assert settings["server.maxUploadSize"] == 77
    assert settings["client.showErrorDetails"] == "none"
    assert len(settings["theme.chartCategoricalColors"]) == 10


def test_a_busy_port_is_said_in_a_sentence(capsys: pytest.CaptureFixture[str]) -> None:
    with socket.socket() as taken:
        taken.bind(("127.0.0.1", 0))
        taken.listen()
        port = taken.getsockname()[1]
        assert launch.main(["--port", str(port), "--no-browser"]) == 2
    assert f"Port {port} is in use" in capsys.readouterr().err.replace("\n", " ")


def test_a_limit_that_is_no_size_is_refused_before_anything_starts(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    for name in ("SWIFT_STORE_LIMIT", "SWIFT_HOME"):
        monkeypatch.setenv(name, "")  # so that it is put back
    root = tmp_path / "new"
    with socket.socket() as probe:
        probe.bind(("127.0.0.1", 0))
        port = str(probe.getsockname()[1])
    words = ["--store-limit", "apples", "--data-dir", str(root), "--port", port]
    assert launch.main(words) == 2
    assert "20GB" in capsys.readouterr().err and not root.exists()

"""A reviewer in the middle of a round meets no outcome link and nobody else's words, anywhere.

Others' names, verdicts and comments are canaries; so are the words and numbers of every link. The
same search finds each of them once the round is closed: a search that finds nothing ever would
prove nothing.
"""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Iterator
from dataclasses import replace

import numpy as np
import pytest
from streamlit.testing.v1 import AppTest
from support import made_up
from support.opened_page import add_experiment, drawn, open_page, sent, widget, words

from dashboard.fit_view.blind import blind_data
from dashboard.report.from_store import report_of_run
from dashboard.report.html_report import render_report
from dashboard.report.tables import report_csv, report_json
from dashboard.report.workbook import make_workbook
from dashboard.store.reviews import Review, Reviews
from dashboard.store.rounds import Rounds, Settlement
from dashboard.store.store import Store
from dashboard.text.wording import PAGES
from dashboard.widgets.blind import HIDDEN
from swiftcore.data.side_tables import Covariate

ME = "Dr Blind"
SPEAKING = ("phenotypes", "review", "patients", "prediction")  # pages that speak of links
SAID = ("Zyx Canary", "Canary syndrome", "canary comment")
AGREED = ("Canary agreed", "Chair Canary")
KEPT = {"phenotypes": "tabs.phenotypes", "patients": "tabs.patients"}  # others: "<page>.tab"
ABOUT_LINKS = (b"tends to come with", b"towards outcome", b"Link to the outcome", b"Lasso")


@pytest.fixture
def judged(fitted_store: Store, fit_id: str) -> Store:
    """Everything judged by somebody else, one settled; experiments; two judged by me."""
    fit, reviews = fitted_store.fit(fit_id), Reviews(fitted_store.root)
    add_experiment(fitted_store, made_up.evaluation())
    add_experiment(fitted_store, made_up.noise())
    add_experiment(fitted_store, made_up.stability(), fit_id)
    for part, name in enumerate(fit.identifiers):
        digest, (who, called, comment) = fit.phenotype_digest(part), SAID
        reviews.save(Review(fit_id, name, digest, who, called, "no", comment=comment))
        if part < 2:
            reviews.save(Review(fit_id, name, digest, ME, "My own name", "yes"))
    settled = Settlement(fit_id, "P02", fit.phenotype_digest(1), "possibly", *AGREED)
    Rounds(reviews).agree_on([settled])
    return fitted_store


def weights(store: Store, run: str) -> list[bytes]:
    """The numbers of the links as tables and charts would hold them."""
    links = store.fit(run).links
    assert links is not None
    used = [float(weight) for weight in links.tables["links"]["weight"] if abs(weight) > 1e-3]
    assert used
    return [struct.pack("<d", weight) for weight in used] + [
        form.format(weight).encode() for weight in used for form in ("{:+.3f}", "{:.4f}")
    ]


def screens(
    store: Store, monkeypatch: pytest.MonkeyPatch, wording: str
) -> Iterator[tuple[str, AppTest]]:
    """Every page and tab, as I see it; in the second wording those that speak of links."""
    for view in PAGES if wording == "clinician" else SPEAKING:
        page = open_page(view, store, monkeypatch, p="P02")
        page.session_state["swift.reviewer"] = ME
        page.session_state["swift.wording"] = wording
        page.session_state["swift.table_seen"] = True
        for tab in [one.label for one in drawn(page.run()).tabs] or [""]:
            if tab:
                page.session_state[KEPT.get(view, f"{view}.tab")] = tab
            yield f"{view} {tab}".strip(), drawn(page.run())


def exports(store: Store, run: str, blind_for: str) -> dict[str, bytes]:
    """Every file that a person can ask for."""
    report = report_of_run(store, Reviews(store.root), run, 0, blind_for)
    packed = {"csv": report_csv(report), "workbook": make_workbook(report, ME)}
    return {
        "html": render_report(report).encode(),
        "json": report_json(report).encode(),
        **{name: unpacked(content) for name, content in packed.items()},
    }


def unpacked(content: bytes) -> bytes:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return b"".join(archive.read(name) for name in archive.namelist())


def found(where: dict[str, bytes], canaries: list[bytes]) -> dict[str, list[str]]:
    return {
        name: met
        for name, content in where.items()
        if (met := [repr(one) for one in canaries if one in content])
    }


def test_no_page_shows_a_link_or_anybody_elses_words(
    judged: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    canaries = [one.encode() for one in (*SAID, *AGREED)] + weights(judged, fit_id)
    seen, told = {}, []
    for wording in ("clinician", "scientist"):
        for name, page in screens(judged, monkeypatch, wording):
            seen[f"{wording} {name}"] = sent(page)
            told += [name] if HIDDEN in words(page) else []
    assert found(seen, canaries) == {}
    shown = {name: content for name, content in seen.items() if " help " not in name}
    assert found(shown, list(ABOUT_LINKS)) == {}  # the glossary says what a link is, of no result
    assert len(seen) - len(shown) == 3
    spoken = {"phenotypes Map", "patients All patients", "prediction"}
    assert spoken | {"runs History", "data This data set"} <= set(told)
    Rounds(Reviews(judged.root)).close(fit_id, ME)
    after = {name: sent(page) for name, page in screens(judged, monkeypatch, "scientist")}
    met = found(after, [*canaries, *ABOUT_LINKS])
    assert spoken | {"review"} <= set(met)
    every = " ".join(" ".join(one) for one in met.values())
    assert all(repr(one.encode()) in every for one in (*SAID, *AGREED))


def test_no_file_holds_a_link_or_anybody_elses_words(judged: Store, fit_id: str) -> None:
    canaries = [one.encode() for one in (*SAID, *AGREED[:1])] + weights(judged, fit_id)
    links = [b"towards", b"away from", b"Which phenotypes go with the outcome"]
    blind = exports(judged, fit_id, ME)
    assert found(blind, canaries + links) == {}
    assert all(b"My own name" in blind[name] for name in ("html", "json", "csv", "workbook"))
    assert b"reviewer whose round is open" in blind["html"]
    met = found(exports(judged, fit_id, ""), canaries + links)
    assert {"html", "json", "csv"} <= set(met)


def test_a_download_made_outside_of_the_session_is_blind_too(
    judged: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    from dashboard.fit_view.summary import FitSummary
    from dashboard.widgets import downloads

    page = open_page("phenotypes", judged, monkeypatch)
    kept: list[FitSummary] = []
    monkeypatch.setattr("dashboard.views.phenotypes.show_report", kept.append)
    page.session_state["swift.reviewer"] = ME
    page.session_state["swift.table_seen"] = True
    drawn(page.run())
    assert kept[0].blind_for == ME and kept[0].links == {} and kept[0].fit.links is None
    assert "Canary" not in downloads._html(kept[0])


def test_the_bundle_of_a_run_waits_for_the_end_of_the_round(
    judged: Store, fit_id: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("runs", judged, monkeypatch)
    page.session_state["swift.reviewer"] = ME
    page.session_state["runs.tab"] = "History"
    assert HIDDEN in words(drawn(page.run()))
    assert not [one for one in page.get("download_button") if one.key == "export"]
    Rounds(Reviews(judged.root)).close(fit_id, ME)
    assert widget(drawn(page.run()), "download_button", "export")


def test_covariates_that_tell_the_outcome_go_with_it(judged: Store) -> None:
    data = judged.dataset(judged.datasets()[0].id)
    assert data.outcome is not None
    age = Covariate("age", "number", np.arange(float(len(data.outcome))))
    date = Covariate("date of the event", "number", np.where(data.outcome, 1.0, np.nan))
    known = replace(data, side=replace(data.side, covariates=(age, date)))
    blind = blind_data(known)
    assert blind.outcome is None and [one.name for one in blind.side.covariates] == ["age"]

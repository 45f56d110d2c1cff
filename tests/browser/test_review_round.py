"""A whole review by keyboard: two blind reviewers, disagreements settled, the report printed."""

from __future__ import annotations

import io
import re
import zipfile
from collections.abc import Iterator
from pathlib import Path

import pytest
from playwright.sync_api import WebSocket, expect

from browser.conftest import Visit
from browser.server import Server
from browser.visitor import PATIENCE, Visitor
from dashboard.store.cards import newest_sound
from dashboard.store.reviews import Review, Reviews
from dashboard.store.rounds import Rounds, Settlement

HEIGHT = 900
MAX_PAGES = 8
CANARIES = ("Zyx Canary", "Canary syndrome", "canary comment", "Canary agreed", "Chair Canary")
SCROLLS = "addEventListener('scroll', () => { window.scrolls = (window.scrolls ?? 0) + 1 }, true)"
FOCUSED = "document.activeElement.getAttribute('aria-label')"


def run_of(server: Server) -> str:
    """The fit of the sample with patients, which opens first."""
    store = server.store
    (card,) = [one for one in store.datasets() if one.name == "heart_failure"]
    found = newest_sound(store.runs(card.id), "fit")
    assert found is not None
    return found.id


def come(visitor: Visitor, name: str) -> Visitor:
    """Open the page and sign in by keyboard."""
    visitor.page.add_init_script(SCROLLS)
    visitor.page.set_viewport_size({"width": 1400, "height": HEIGHT})
    visitor.open("/review")
    visitor.page.get_by_label("Your name (saved with each judgement)").focus()
    visitor.page.keyboard.type(name)
    visitor.page.keyboard.press("Enter")
    visitor.sees("judged by you")
    return visitor.still()


def judge_all(visitor: Visitor, keys: str) -> None:
    """Judge every phenotype in at most four presses, without a single scroll event."""
    for place, key in enumerate(keys):
        assert visitor.page.evaluate(FOCUSED) == "Clinical name"
        stays_in_sight(visitor)
        presses = ["Tab", key, "Control+Enter"]
        assert len(presses) <= 4
        for press in presses:
            visitor.page.keyboard.press(press)
        visitor.sees(f"{place + 1} of {len(keys)} judged by you").still()
    assert not visitor.page.evaluate("window.scrolls")


def stays_in_sight(visitor: Visitor) -> None:
    """The card and the form stand whole on the first screen."""
    for part in (".phenotype-card", ".st-key-judgement"):
        box = visitor.page.locator(part).bounding_box()
        assert box is not None and box["y"] >= 0 and box["y"] + box["height"] <= HEIGHT, part


def close_round(visitor: Visitor) -> None:
    button = visitor.page.get_by_role("button", name="Close round", exact=True)
    button.focus()
    visitor.page.keyboard.press("Enter")
    visitor.sees("You closed your round")
    visitor.still()


def test_twelve_phenotypes_by_keyboard_then_a_second_reviewer_then_what_was_agreed(
    server: Server, visit: Visit, tmp_path: Path
) -> None:
    run = run_of(server)
    ada = come(visit(server), "Ada Lovelace")
    judge_all(ada, "123123123111")
    ada.sees("All 12 are judged")
    assert ada.axe() == []
    close_round(ada)

    grace = come(visit(server), "Grace Hopper")
    assert "Ada Lovelace" not in grace.words()
    judge_all(grace, "223123123112")
    close_round(grace)
    grace.sees("2 of 2 still to settle").sees(
        re.compile(r"kappa is 0\.\d\d: 0 is what chance gives")
    )
    for verdict in ("Yes", "No"):
        group = grace.page.get_by_test_id("stButtonGroup").filter(has_text="Agreed verdict")
        group.get_by_text(verdict, exact=True).click()
        grace.still().type("Arbiter", "Dr Chair").press("Settle it")
    grace.sees("All settled: 2 disagreements")
    assert grace.axe() == []
    settled = Rounds(Reviews(server.root)).settled(run)
    assert sorted(one.verdict for one in settled.values()) == ["no", "yes"]
    assert {one.arbiter for one in settled.values()} == {"Dr Chair"}
    said = [one for one in Reviews(server.root).latest(run) if one.reviewer == "Ada Lovelace"]
    assert [one.verdict for one in said].count("yes") == 6 and len(said) == 12
    assert all(one.confidence is None for one in said)  # nobody said how sure

    report = grace.download("Report to print (HTML)", tmp_path / "report.html")
    page = grace.context.new_page()
    page.goto(report.as_uri())
    words = page.locator("body").inner_text()
    assert "Ada Lovelace" in words and "Dr Chair" in words
    printed = page.pdf(prefer_css_page_size=True)
    assert 0 < len(re.findall(rb"/Type\s*/Page\b", printed)) <= MAX_PAGES
    for visitor in (ada, grace):
        visitor.is_well()


def test_ctrl_enter_saves_from_every_field_and_drafts_and_name_survive_a_reload(
    server: Server, visit: Visit
) -> None:
    ada = come(visit(server), "Ada")
    reviews, run = Reviews(server.root), run_of(server)

    def mine() -> list[Review]:
        return [one for one in reviews.latest(run) if one.reviewer == "Ada"]

    keyboard = ada.page.keyboard
    keyboard.type("Typed and not left")  # the name, in the field that is focused
    keyboard.press("Tab")
    keyboard.press("1")
    keyboard.press("1")  # a second press takes nothing back
    ada.page.get_by_label("Clinical name", exact=True).focus()
    keyboard.press("Control+Enter")
    ada.sees("1 of 12 judged by you").still()
    assert [(one.name, one.verdict) for one in mine()] == [("Typed and not left", "yes")]

    ada.page.get_by_test_id("stButtonGroup").get_by_text("Possibly (2)").click()
    keyboard.press("Control+Enter")  # the button just pressed has the focus
    ada.sees("2 of 12 judged by you").still()
    assert mine()[-1].verdict == "possibly"
    assert ada.page.evaluate(FOCUSED) == "Clinical name"

    ada.page.get_by_label("Comment", exact=True).focus()
    keyboard.type("123 draft")  # digits are text here
    keyboard.press("Tab")
    ada.sees("Not saved yet").still().reload()
    comment = ada.page.get_by_label("Comment", exact=True)
    expect(comment).to_have_value("123 draft", timeout=PATIENCE)
    expect(ada.page.get_by_label("Your name", exact=True)).to_have_value("Ada", timeout=PATIENCE)
    comment.focus()
    keyboard.press("Control+Enter")
    ada.sees("Before saving, say whether it is meaningful")
    assert len(mine()) == 2
    ada.is_well()


@pytest.fixture
def canaries(server: Server) -> Server:
    """Everything judged by somebody else, one settled."""
    run = run_of(server)
    fit, reviews = server.store.fit(run), Reviews(server.root)
    who, called, comment, agreed, chair = CANARIES
    for part, name in enumerate(fit.identifiers):
        digest = fit.phenotype_digest(part)
        reviews.save(Review(run, name, digest, who, called, "no", comment=comment))
    digest = fit.phenotype_digest(0)
    Rounds(reviews).agree_on([Settlement(run, "P01", digest, "possibly", agreed, chair)])
    return server


def test_nothing_that_must_stay_hidden_reaches_the_browser(
    canaries: Server, visit: Visit, tmp_path: Path
) -> None:
    met: list[bytes] = []

    def listen(socket: WebSocket) -> None:
        socket.on("framereceived", lambda said: met.append(_bytes(said)))

    blind = visit(canaries)
    blind.page.on("websocket", listen)
    come(blind, "Dr Blind")
    files = dict(downloads(blind, tmp_path))
    sought = [one.encode() for one in CANARIES] + [b"towards heart failure", b"away from heart"]
    for name in ("Phenotypes", "Patients", "Prediction", "Robustness", "Data", "Runs", "Review"):
        blind.go_to(name)
        for tab in blind.page.get_by_role("tab").all_inner_texts():
            blind.open_tab(tab)
    assert len(met) > 20
    assert [one for one in sought if any(one in said for said in met)] == []
    assert {name: one for name, said in files.items() for one in sought if one in said} == {}
    blind.go_to("Review").page.get_by_role("button", name="Close round").click()
    blind.press("Close it now").sees("Zyx Canary")
    assert any(sought[0] in said for said in met)  # the search can find them
    blind.is_well()


def downloads(visitor: Visitor, folder: Path) -> Iterator[tuple[str, bytes]]:
    """Every file offered on the pages Review and Phenotypes, unpacked."""
    for page in ("Review", "Phenotypes"):
        visitor.go_to(page)
        buttons = visitor.page.get_by_test_id("stDownloadButton").all_inner_texts()
        for number, name in enumerate(buttons):
            content = visitor.download(name, folder / f"{page}{number}").read_bytes()
            if content[:2] == b"PK":
                with zipfile.ZipFile(io.BytesIO(content)) as archive:
                    content = b"".join(archive.read(one) for one in archive.namelist())
            yield f"{page}: {name}", content


def _bytes(said: str | bytes) -> bytes:
    return said if isinstance(said, bytes) else said.encode()

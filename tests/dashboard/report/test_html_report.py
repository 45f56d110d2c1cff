"""The HTML report: whole, silent, and every name shown as typed."""

from __future__ import annotations

import re
from html.parser import HTMLParser

import pytest
from support.finished_run import CANARIES, HOSTILE, hostile_report

from dashboard.report.html_report import render_report
from dashboard.text.display import clipped, visible

VOID = {"meta", "rect", "br"}
KNOWN_TAGS = {
    "html",
    "head",
    "meta",
    "title",
    "style",
    "body",
    "header",
    "main",
    "footer",
    "section",
    "article",
    "small",
    "h1",
    "h2",
    "h3",
    "p",
    "div",
    "ul",
    "li",
    "dl",
    "dt",
    "dd",
    "table",
    "caption",
    "thead",
    "tbody",
    "tr",
    "th",
    "td",
    "bdi",
    "span",
    "strong",
    "svg",
    "rect",
}
KNOWN_ATTRIBUTES = {
    "lang",
    "charset",
    "http-equiv",
    "content",
    "name",
    "class",
    "scope",
    "colspan",
    "title",
    "role",
    "viewbox",
    "preserveaspectratio",
    "width",
    "height",
    "fill",
    "x",
    "tabindex",
    "aria-label",
    "aria-hidden",
    "style",
}
BAR = re.compile(r"(left:-?[\d.]+%)?;?(width:[\d.]+%)?")


class Page(HTMLParser):
    """Tags, attributes and texts, as a browser would take them."""

    def __init__(self, html: str) -> None:
        super().__init__()
        self.tags: list[str] = []
        self.attributes: list[tuple[str, str, str]] = []
        self.texts: list[str] = []
        self.open: list[str] = []
        self.feed(html)
        self.close()

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        self.tags.append(tag)
        self.attributes += [(tag, name, value or "") for name, value in attrs]
        if tag not in VOID:
            self.open.append(tag)

    def handle_endtag(self, tag: str) -> None:
        if tag in VOID:
            return
        assert self.open and self.open[-1] == tag, f"</{tag}> closes {self.open[-1:]}"
        self.open.pop()

    def handle_data(self, data: str) -> None:
        self.texts.append(data)


@pytest.fixture(scope="module")
def html() -> str:
    return render_report(hostile_report(classes=("a", "<b>", "c")))


@pytest.fixture(scope="module")
def page(html: str) -> Page:
    return Page(html)


def test_only_known_tags_and_attributes_well_nested(page: Page) -> None:
    assert page.open == []
    assert set(page.tags) <= KNOWN_TAGS
    assert {name for _, name, _ in page.attributes} <= KNOWN_ATTRIBUTES


def test_nothing_is_loaded_and_nothing_runs(html: str, page: Page) -> None:
    assert "script" not in page.tags and not {"href", "src"} & {n for _, n, _ in page.attributes}
    style = html[html.index("<style>") : html.index("</style>")]
    assert "url(" not in style and "@import" not in style
    policy = next(v for tag, name, v in page.attributes if tag == "meta" and "default-src" in v)
    assert "default-src 'none'" in policy
    assert not [value for _, name, value in page.attributes if name.startswith("on")]
    drawn = [value for _, name, value in page.attributes if name == "style"]
    assert len(drawn) > 20 and all(BAR.fullmatch(value) for value in drawn)  # no text gets in


def test_hostile_names_are_there_as_text(page: Page) -> None:
    shown = "\n".join(page.texts)
    listed = [f for each in hostile_report().phenotypes for m in each.modes for f in m.features]
    names = {feature.name for feature in listed} & set(HOSTILE)
    assert len(names) > 12, "the case must list most of the hostile names"
    for name in names:
        assert clipped(name, 90) in shown
    assert clipped(HOSTILE[1], 90) in shown  # the clinical name


def test_long_names_are_clipped_and_controls_made_visible(html: str, page: Page) -> None:
    assert max(len(text) for text in page.texts if "x" * 50 in text) < 200
    assert not re.search("[\x00-\x08\x0b\x0c\x0e-\x1f\u202e\u200b]", html)
    assert "left[U+202E]right[U+200B]zero" in visible(HOSTILE[15])
    assert max(len(value) for _, name, value in page.attributes if name == "title") <= 4000


def test_no_patient_gets_out(html: str) -> None:
    assert not [canary for canary in CANARIES if canary in html]
    assert "CANARY" not in html and "RARE-CODE" not in html


def test_warnings_settings_reviews_and_sections_are_on_the_page(page: Page) -> None:
    shown = " ".join(" ".join(page.texts).split())
    for sentence in (
        "Found by an algorithm; not a diagnosis.",
        "A link is not a cause.",
        "marginal weight",
        "makes sense? Yes",
        "problem: duplicate of P02",
        "Link to the outcome",
        "Found again",
        "Prediction beside other methods",
        "With false entries",
        "What similarity adds",
        "<11",
        "Two patients without an outcome were left out.",
    ):
        assert sentence in shown, sentence


def test_it_is_small_and_the_same_each_time(html: str) -> None:
    assert len(html.encode()) < 6_000_000
    assert render_report(hostile_report(classes=("a", "<b>", "c"))) == html

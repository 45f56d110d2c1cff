"""What the screens say, read by a program: every page, both wordings, both samples.

No stilted phrase, no technical word in the wording for clinicians, no technical word without an
explanation on its page, and no medicine where the data are documents.
"""

from __future__ import annotations

import io
import re
from collections.abc import Iterator
from pathlib import Path

import pytest
from openpyxl import load_workbook
from support.opened_page import drawn, open_app, open_page, words
from support.screen_text import screen_texts

from dashboard.jobs.samples import seed_samples
from dashboard.report.from_store import report_of_run
from dashboard.report.html_report import render_report
from dashboard.report.workbook import make_workbook
from dashboard.store.reviews import Reviews
from dashboard.store.store import Store
from dashboard.text.glossary import EVERYBODY, TECHNICAL, TERMS, explain
from dashboard.text.wording import PAGES, PHENOTYPES, TOPICS, WORDINGS, vocabulary
from dashboard.widgets.explained import USED_ON, words_on

STILTED = re.compile(
    r"What it adds that|Of these \d+ links|keep their direction|Alikeness|Part of this row"
    r"|How special to it|It has not been tried yet|so many of|95 %|\b1 phenotypes\b|\b1 links\b",
    re.IGNORECASE,
)
MEDICINE = re.compile(
    r"\b(phenotyp|patient|clinic|diagnos|medicat|medicin|disease|illness)\w*", re.IGNORECASE
)
TABS = {  # by page, the tabs that are drawn when they are opened
    "robustness": (
        "False entries",
        "Phenotypes that survive",
        "Found again",
        "Number of phenotypes",
        "Similarity of features",
    ),
    "runs": ("Find phenotypes", "Choose for me", "Experiments", "History", "Compare two", "Import"),
    "data": ("This data set", "How similar features are", "Storage", "Delete"),
    "help": ("Glossary", "First steps"),
}
SAMPLES = ("heart_failure", "news")


@pytest.fixture(scope="module")
def samples(tmp_path_factory: pytest.TempPathFactory) -> Store:
    """A store with both samples and their results."""
    store = Store(tmp_path_factory.mktemp("words") / "store")
    seed_samples(store)
    return store


def screens(
    store: Store, sample: str, page: str, wording: str, monkeypatch: pytest.MonkeyPatch
) -> Iterator[tuple[str, list[str]]]:
    """Every tab of a page with its texts."""
    card = next(one for one in store.datasets() if one.name == sample)
    say = vocabulary(card.mode_names).phrase
    opened = open_page(page, store, monkeypatch, data=card.id)
    opened.session_state["swift.wording"] = wording
    opened.session_state["swift.table_seen"] = True
    if page == "review":  # without a name there is nothing to read
        opened.session_state["swift.reviewer"] = "Ada"
    for tab in TABS.get(page, ("",)):
        if tab:
            opened.session_state[f"{page}.tab"] = say(tab)
        yield tab, screen_texts(drawn(opened.run()))


@pytest.mark.parametrize("sample", SAMPLES)
@pytest.mark.parametrize("page", PAGES)
def test_every_page_speaks_plainly(
    samples: Store, page: str, sample: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    faults = []
    for wording in WORDINGS:
        for tab, texts in screens(samples, sample, page, wording, monkeypatch):
            assert len(texts) > 4, tab
            faults += [f"{wording}, {tab}: {one}" for one in faults_of(texts, page, wording)]
            if sample == "news":
                faults += [f"medicine, {tab}: {one}" for one in texts if MEDICINE.search(one)]
    assert not faults, "\n".join(sorted(set(faults)))


def faults_of(texts: list[str], page: str, wording: str) -> list[str]:
    """Stilted phrases, and technical words that must not stand there or are not explained."""
    found = [f"stilted: {text}" for text in texts if STILTED.search(text)]
    if page == "help":
        return found
    known = {term.name for term in words_on(page, wording)}
    for term in TERMS:
        uses = [text for text in texts if term.stands_in(text)]
        if uses and term.name not in known:
            word = "technical" if wording == "clinician" and term in TECHNICAL else "unexplained"
            found.append(f"{word} ({term.name}): {uses[0]}")
    return found


def test_the_check_sees_what_it_looks_for() -> None:
    said = ["PR-AUC 0.5 over folds", "Of these 1 links 1 keep their direction"]
    faults = faults_of(said, "prediction", "clinician")
    assert {one.split(":")[0] for one in faults} == {
        "stilted",
        "technical (PR-AUC)",
        "technical (Fold)",
    }
    assert faults_of(["PR-AUC 0.5 over folds"], "prediction", "scientist") == []
    assert MEDICINE.search("Clinical name") and not MEDICINE.search("topics of documents")


def test_every_term_is_explained_once_and_in_plain_words() -> None:
    names = [term.name for term in TERMS]
    assert len(names) == len(set(names))
    assert {name for page in USED_ON.values() for name in page} <= set(names)
    assert set(USED_ON) == set(PAGES) - {"help"}
    for term in TERMS:
        assert term.stands_in(term.name), term.name
        plain = [other.name for other in TECHNICAL if other.stands_in(term.means)]
        assert term.readers != EVERYBODY or not plain, f"{term.name} is explained by {plain}"
    assert explain("Alarm").startswith("**Alarm**: ")


def test_documents_have_words_of_their_own_and_user_text_stays() -> None:
    assert vocabulary(("document", "word")) == TOPICS
    assert vocabulary(("patient", "diagnosis")) == vocabulary(()) == PHENOTYPES
    assert (
        TOPICS.phrase("Phenotypes of 2 patients; no phenotype.")
        == "Topics of 2 documents; no topic."
    )
    said = TOPICS.phrase_around("1 phenotype speaks for phenotype news", "phenotype news")
    assert said == "1 topic speaks for phenotype news"
    assert PHENOTYPES.phrase("Clinical name of a phenotype") == "Clinical name of a phenotype"


def test_report_and_workbook_speak_of_topics_too(samples: Store) -> None:
    card = next(one for one in samples.datasets() if one.name == "news")
    run = next(one for one in samples.runs() if one.dataset == card.id and one.kind == "fit")
    report = report_of_run(samples, Reviews(samples.root), run.id, 0)
    no_text = r"class=\"[^\"]*\"|\.phenotype[\w-]*|SWIFT Phenotyping"  # the program's own name
    html = re.sub(no_text, "", render_report(report))
    assert "All topics" in html and f'content: "{TOPICS.caution}"' in html
    cells = load_workbook(io.BytesIO(make_workbook(report))).active.iter_rows(values_only=True)
    texts = [str(cell) for row in cells for cell in row if cell is not None]
    assert "Name" in texts
    assert [found[0] for text in (html, *texts) for found in MEDICINE.finditer(text)] == []


def test_sidebar_and_frame_speak_of_topics_too(
    samples: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    card = next(one for one in samples.datasets() if one.name == "news")
    app = open_app(samples, monkeypatch, data=card.id)
    side = [str(one.value) for one in app.sidebar.markdown] + [
        str(one.value) for one in app.sidebar.caption
    ]
    said = [text for text in side if text != "SWIFT Phenotyping"]  # the name of the program
    assert said and not [text for text in said if MEDICINE.search(text)]
    assert "it has understood no text" in words(app)


def test_the_page_for_clinicians_is_the_document(
    samples: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("help", samples, monkeypatch)
    page.session_state["help.tab"] = "For clinicians"
    shown = [one.value for one in drawn(page.run()).markdown]
    document = Path(__file__).parents[3] / "docs" / "for-clinicians.md"
    assert any("## What not to conclude" in text and text in document.read_text() for text in shown)

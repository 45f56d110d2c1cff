"""The workbook for clinicians: what it offers, and how it comes back."""

from __future__ import annotations

import io
import zipfile
from dataclasses import replace

import pytest
from openpyxl import load_workbook
from support.finished_run import CANARIES, HOSTILE, RUN_ID, hostile_report

from dashboard.report.workbook import HEADER_ROW, REVIEWER_ROW, TO_FILL, make_workbook
from dashboard.report.workbook_reading import changes, read_workbook
from dashboard.store.reviews import Review, Reviews
from dashboard.text.wording import PHENOTYPES, TOPICS, Vocabulary
from swiftcore.errors import InvalidData

REPORT = hostile_report()
DIGESTS = {each.identifier: each.digest for each in REPORT.phenotypes}
EMPTY = make_workbook(REPORT)


def filled(changes: dict[tuple[int, str], object], signed: object = "Dr. A") -> bytes:
    """The workbook with cells written by row (1 = first phenotype) and column title."""
    book = load_workbook(io.BytesIO(EMPTY))
    sheet = book.active
    titles = {cell.value: cell.column for cell in sheet[HEADER_ROW]}
    sheet.cell(REVIEWER_ROW, 2).value = signed
    for (row, title), value in changes.items():
        sheet.cell(HEADER_ROW + row, titles[title]).value = value
    out = io.BytesIO()
    book.save(out)
    return out.getvalue()


def read(content: bytes, reviewer: str = "") -> list[Review]:
    return read_workbook(content, run=RUN_ID, digests=DIGESTS, reviewer=reviewer)


def test_one_row_per_phenotype_with_cells_to_fill_and_lists_to_choose_from() -> None:
    sheet = load_workbook(io.BytesIO(EMPTY)).active
    header = [cell.value for cell in sheet[HEADER_ROW]]
    assert tuple(header[-len(TO_FILL) :]) == TO_FILL
    ids = [sheet.cell(HEADER_ROW + 1 + row, 1).value for row in range(len(REPORT.phenotypes))]
    assert ids == [each.identifier for each in REPORT.phenotypes]
    lists = {v.formula1 for v in sheet.data_validations.dataValidation}
    assert '"yes,possibly,no"' in lists and '"1,2,3,4,5"' in lists and len(lists) == 4
    for column in range(1, len(header) + 1):
        cell = sheet.cell(HEADER_ROW + 1, column)
        assert cell.protection.locked == (column <= len(header) - len(TO_FILL))
    assert sheet.column_dimensions["B"].hidden and sheet.protection.sheet


def test_it_goes_out_with_what_its_reviewer_said_and_nobody_else() -> None:
    (sheet,) = [each for each in REPORT.phenotypes if each.identifier == "P01"]
    others = [replace(one, reviewer="Dr. B", name="CANARY") for one in sheet.reviews]
    own = Review(
        RUN_ID, "P01", sheet.digest, "Dr. A", "=Heart", "possibly", comment="x" * 3000 + "\n"
    )
    report = replace(REPORT, phenotypes=(replace(sheet, reviews=(*others, own)),))
    content = make_workbook(report, "Dr. A")
    rows = load_workbook(io.BytesIO(content)).active
    assert rows.cell(REVIEWER_ROW, 2).value == "Dr. A"
    said = [cell.value for cell in rows[HEADER_ROW + 1]][-len(TO_FILL) :]
    assert said[1:5] == ["possibly", None, None, None] and "Heart" in said[0]
    back = read_workbook(content, run=RUN_ID, digests=DIGESTS)
    assert changes(back, [own]) == []  # also what had to be made safe or cut
    (moved,) = changes([replace(back[0], verdict="yes")], [replace(own, id=7, saved_at=1.0)])
    assert moved == replace(own, verdict="yes")
    assert changes(back, []) == back


def test_no_formula_no_link_no_control_character() -> None:
    sheet = load_workbook(io.BytesIO(EMPTY)).active
    cells = [cell for row in sheet.iter_rows() for cell in row if cell.value is not None]
    assert all(cell.data_type == "s" and cell.hyperlink is None for cell in cells)
    with zipfile.ZipFile(io.BytesIO(EMPTY)) as archive:
        parts = {name: archive.read(name) for name in archive.namelist()}
    assert b"<f>" not in parts["xl/worksheets/sheet1.xml"]
    assert not [name for name in parts if "externalLink" in name or "vba" in name.lower()]
    text = " ".join(str(cell.value) for cell in cells)
    assert HOSTILE[7][:20] in text and "\x07" not in text


def test_no_patient_gets_out() -> None:
    with zipfile.ZipFile(io.BytesIO(EMPTY)) as archive:
        everything = b"".join(archive.read(name) for name in archive.namelist()).decode()
    assert not [canary for canary in CANARIES if canary in everything]
    assert "CANARY" not in everything and "RARE-CODE" not in everything


def test_judgements_come_back_and_can_be_saved(tmp_path: object) -> None:
    ids = [each.identifier for each in REPORT.phenotypes]
    content = filled(
        {
            (1, "Makes sense"): "yes",
            (1, "Clinical name"): "=Heart & <b>",
            (1, "Confidence"): 5,
            (3, "Makes sense"): "No",
            (3, "Problem"): "duplicate",
            (3, "Duplicate of"): ids[0],
            (3, "Comment"): "the same\nagain",
        }
    )
    # "=..." typed into a cell is a formula without a stored value: it reads as empty
    first, second = read(content)
    assert (first.phenotype, first.verdict, first.confidence) == (ids[0], "yes", 5)
    assert (second.phenotype, second.verdict, second.duplicate_of) == (ids[2], "no", ids[0])
    assert second.comment == "the same\nagain" and second.confidence is None
    assert {first.reviewer, second.reviewer} == {"Dr. A"}
    saved = [Reviews(str(tmp_path)).save(review) for review in (first, second)]
    assert [review.phenotype_digest for review in saved] == [DIGESTS[ids[0]], DIGESTS[ids[2]]]
    assert {review.reviewer for review in read(content, "Dr. B")} == {"Dr. B"}


def test_an_untouched_workbook_holds_no_judgement() -> None:
    assert read(EMPTY, "Dr. A") == []


def test_all_problems_are_told_at_once_with_their_rows() -> None:
    content = filled(
        {
            (1, "Makes sense"): "perhaps",
            (1, "Confidence"): 9,
            (1, "Comment"): "x" * 20_000,
            (2, "Id"): "P99",
            (2, "Makes sense"): "yes",
            (3, "Content"): "0" * 32,
            (3, "Makes sense"): "yes",
            (4, "Makes sense"): "no",
            (4, "Problem"): "duplicate",
        },
        signed=None,
    )
    with pytest.raises(InvalidData) as caught:
        read(content)
    codes = [problem.code for problem in caught.value.problems]
    assert sorted(set(codes)) == [
        "workbook-choice",
        "workbook-content",
        "workbook-duplicate",
        "workbook-id",
        "workbook-long",
        "workbook-reviewer",
    ]
    assert codes.count("workbook-choice") == 2
    assert any(f"row {HEADER_ROW + 4}" in problem.where for problem in caught.value.problems)


def test_a_row_with_a_name_but_no_verdict_is_told() -> None:
    with pytest.raises(InvalidData, match="Makes sense"):
        read(filled({(1, "Clinical name"): "Heart failure"}))


def test_a_phenotype_judged_twice_is_told() -> None:
    ids = [each.identifier for each in REPORT.phenotypes]
    content = filled(
        {
            (1, "Makes sense"): "yes",
            (2, "Id"): ids[0],
            (2, "Content"): DIGESTS[ids[0]],
            (2, "Makes sense"): "no",
        }
    )
    with pytest.raises(InvalidData, match="twice"):
        read(content)


def bomb() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("xl/worksheets/sheet1.xml", b" " * 80_000_000)
    return out.getvalue()


def declared() -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(io.BytesIO(EMPTY)) as old, zipfile.ZipFile(out, "w") as new:
        for name in old.namelist():
            start = b'<!DOCTYPE x [<!ENTITY a "b">]>' if name.endswith("sheet1.xml") else b""
            new.writestr(name, start + old.read(name))
    return out.getvalue()


@pytest.mark.parametrize(
    "content",
    [b"", b"no zip", EMPTY[:500], EMPTY[: len(EMPTY) // 2], bomb(), declared()],
    ids=["empty", "text", "head", "half", "bomb", "entities"],
)
def test_what_is_no_workbook_is_refused_in_words(content: bytes) -> None:
    with pytest.raises(InvalidData):
        read(content, "Dr. A")


def test_flipped_bytes_are_refused_or_read_but_never_crash() -> None:
    whole, refused = filled({(1, "Makes sense"): "yes"}), 0
    for place in range(0, len(whole), max(1, len(whole) // 60)):
        broken = bytearray(whole)
        broken[place] ^= 0x55
        try:
            found = read(bytes(broken))
        except InvalidData:
            refused += 1
            continue
        assert all(isinstance(review, Review) for review in found)
    assert refused > 30


@pytest.mark.parametrize(("known", "title"), [(PHENOTYPES, "Clinical name"), (TOPICS, "Name")])
def test_it_speaks_the_words_of_the_data_and_comes_back_in_either(
    known: Vocabulary, title: str
) -> None:
    book = load_workbook(io.BytesIO(make_workbook(replace(REPORT, vocabulary=known))))
    sheet = book.active
    assert sheet.title == known.phrase("Phenotypes") and known.caution in sheet["A3"].value
    titles = {cell.value: cell.column for cell in sheet[HEADER_ROW]}
    sheet.cell(REVIEWER_ROW, 2).value = "Dr. A"
    sheet.cell(HEADER_ROW + 1, titles[title]).value = "By hand"
    sheet.cell(HEADER_ROW + 1, titles["Makes sense"]).value = "yes"
    out = io.BytesIO()
    book.save(out)
    (back,) = read(out.getvalue())
    assert (back.name, back.verdict, back.reviewer) == ("By hand", "yes", "Dr. A")
    with pytest.raises(InvalidData, match=f"no such {known.finding} in"):
        read_workbook(out.getvalue(), run=RUN_ID, digests={}, known=known)

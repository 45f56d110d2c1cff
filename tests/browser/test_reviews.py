"""What a person judged is still there after a reload and a killed server, for others too."""

from __future__ import annotations

from pathlib import Path

from openpyxl import load_workbook
from playwright.sync_api import expect

from browser.conftest import Visit
from browser.server import Server
from browser.visitor import PATIENCE, Visitor


def say_name(visitor: Visitor, name: str) -> Visitor:
    return visitor.type("Your name", name)


def open_form(visitor: Visitor, name: str, phenotype: str) -> Visitor:
    return say_name(visitor.open("/review", p=phenotype), name)


def test_a_review_survives_switch_reload_and_kill_and_is_seen_by_others_after_their_round(
    server: Server, visit: Visit
) -> None:
    ada = open_form(visit(server), "Ada", "P03")
    ada.type("Clinical name", "Kidneys and sugar")
    ada.press_choice("Possibly (2)").type("Comment", "seen on the ward")
    ada.page.get_by_role("button", name="Save and next").click()
    ada.sees("All saved")

    def field_holds(visitor: Visitor) -> None:
        name = visitor.page.get_by_label("Clinical name", exact=True)
        expect(name).to_have_value("Kidneys and sugar", timeout=PATIENCE)

    ada.still().go_to("Phenotypes").lists("Kidneys and sugar")
    ada.go_to("Review").choose("Phenotype", "P03: Kidneys and sugar")
    field_holds(ada)
    ada.reload()
    field_holds(ada)  # the name is known again, too

    server.kill()
    server.start()
    ada.enter(server.address)
    field_holds(open_form(ada, "Ada", "P03"))
    grace = open_form(visit(server), "Grace", "P03")
    expect(grace.page.get_by_label("Clinical name", exact=True)).to_have_value("")
    assert "Kidneys and sugar" not in grace.words()  # until she has closed her round
    grace.page.get_by_role("button", name="Close round").click()
    grace.press("Close it now")
    grace.shows_cells("Ada", "possibly", "Kidneys and sugar", "seen on the ward")
    grace.is_well()


def test_a_workbook_goes_out_and_comes_back(server: Server, visit: Visit, tmp_path: Path) -> None:
    visitor = visit(server).open("/review")
    book = load_workbook(visitor.download("Download the workbook (XLSX)", tmp_path / "empty.xlsx"))
    sheet = book["Phenotypes"]
    titles = {cell.value: cell.column for cell in sheet[4]}
    sheet.cell(2, 2).value = "Dr Paper"
    for title, value in (("Clinical name", "A name from paper"), ("Makes sense", "yes")):
        sheet.cell(5, titles[title]).value = value
    book.save(tmp_path / "filled.xlsx")
    visitor.page.get_by_text("Bring back a workbook", exact=True).click()
    visitor.still().upload(tmp_path / "filled.xlsx").press("Save these judgements")
    visitor.sees("judgement saved from the workbook")
    visitor.press("I do not review: show what was said")
    visitor.shows_cells("Dr Paper", "A name from paper")
    visitor.is_well()

"""The Data page shows what is there and takes in what people have."""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import openpyxl
import pytest
from streamlit.testing.v1 import AppTest
from support.opened_page import drawn, open_page, tab, widget, words
from support.tiny_store import tiny_dataset

from dashboard.privacy import uploads
from dashboard.session import state
from dashboard.store.store import Store
from dashboard.widgets.build_options import OWN, WORDS
from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path import sandbox
from swiftcore.data.from_path.sandbox import build_path
from swiftcore.data.options import GROUPINGS
from swiftcore.data.samples import sample_folder

TAB = "data.tab"
EVENTS = """who,diagnosis,medication,outcome
1,<b>flu</b>,aspirin,1
1,cough,=1+1,1
2,cough,aspirin,0
3,![x](http://x.test/y.png),aspirin,0
"""


def test_what_is_there_is_counted_and_small_counts_are_hidden(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tiny_dataset()
    store.add_dataset(replace(data, outcome=np.arange(30) < 4))
    page = open_page("data", store, monkeypatch)
    assert "30 patients x 8 diagnoses x 6 medications" in words(page)
    outcome = page.dataframe[0].value.set_index("Outcome")["Rows"]
    assert outcome["yes"] in ("<11", "hidden") and outcome["no"] != "26"  # 30 - 26 would tell


def test_rare_features_are_not_compared_in_real_data(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    data = tiny_dataset()
    pairs = np.unique(data.tensor.coordinates[:, :2], axis=0)
    counts = np.bincount(pairs[:, 1], minlength=8)
    frequent = int((counts >= 10).sum())
    assert 1 < frequent < 8  # else this test tests nothing
    store.add_dataset(data)
    monkeypatch.setattr(state, "small_cells", lambda: 10)
    page = tab(open_page("data", store, monkeypatch), TAB, "How similar features are")
    assert len(page.dataframe[0].value) == frequent - 1
    assert f"{8 - frequent} rare features" in words(page)
    monkeypatch.setattr(state, "small_cells", lambda: 0)
    page = tab(open_page("data", store, monkeypatch), TAB, "How similar features are")
    nearest = page.dataframe[0].value
    assert len(nearest) == 7 and nearest["Distance"].is_monotonic_increasing


def test_synthetic_data_show_every_count(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    dataset = tiny_dataset()
    store.add_dataset(dataset, synthetic=True)
    page = open_page("data", store, monkeypatch)
    assert dataset.outcome is not None
    assert str(int(dataset.outcome.sum())) in page.dataframe[0].value["Rows"].tolist()


@pytest.fixture
def server_files(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    root = tmp_path / "server"
    root.mkdir()
    (root / "events.csv").write_text(EVENTS)
    (root / "broken.csv").write_text("patient,diagnosis\n")
    monkeypatch.setenv(uploads.ROOT_SETTING, str(root))
    return root


def open_server_file(store: Store, monkeypatch: pytest.MonkeyPatch, name: str):
    page = open_page("data", store, monkeypatch)
    widget(page, "radio", "place").set_value("from the server").run()
    page.session_state["server_path"] = name
    return drawn(page.run())


@pytest.mark.usefixtures("server_files")
def test_a_file_on_the_server_becomes_a_data_set(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_server_file(store, monkeypatch, "events.csv")
    assert "one table of events" in words(page)
    widget(page, "text_input", "option.name").set_value("My events").run()
    widget(page, "selectbox", "option.values").select("binary").run()
    widget(page, "button", "build").click().run()
    drawn(page)
    (card,) = store.datasets()
    assert (card.name, card.shape, card.synthetic) == ("My events", (3, 3, 2), False)
    assert "is built and kept" in words(page)
    built: Dataset = store.dataset(card.id)
    assert "<b>flu</b>" in built.tensor.modes[1].labels  # kept as typed, shown as typed


def test_sheets_of_a_workbook_can_be_chosen(
    store: Store, server_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    book = openpyxl.Workbook()
    book.worksheets[0].title = "first"
    second = book.create_sheet("second")
    for sheet, count in ((book.worksheets[0], 4), (second, 6)):
        sheet.append(["patient", "code"])
        for k in range(2 * count):
            sheet.append([f"p{k % count}", f"c{k % 2 + k % count}"])
    book.save(server_files / "book.xlsx")
    page = open_server_file(store, monkeypatch, "book.xlsx")
    assert widget(page, "multiselect", "option.tables").options == ["first", "second"]
    widget(page, "multiselect", "option.tables").select("second").run()
    widget(page, "button", "build").click().run()
    drawn(page)
    (card,) = store.datasets()
    assert card.shape[0] == 6 and len(card.shape) == 2


@pytest.mark.usefixtures("server_files")
def test_columns_are_picked_from_those_of_the_table(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_server_file(store, monkeypatch, "events.csv")
    picked = widget(page, "selectbox", "option.columns.row")
    assert picked.options == ["who", "diagnosis", "medication", "outcome"]
    assert picked.placeholder == "guessed: who"
    widget(page, "multiselect", "option.columns.ignored").select("outcome").run()
    picked = widget(drawn(page), "selectbox", "option.columns.row").select("medication").run()
    widget(drawn(page), "button", "build").click().run()
    (card,) = store.datasets()
    assert card.mode_names == ("medication", "diagnosis") and card.outcome_name == ""


def test_a_wide_table_shows_its_first_rows_and_is_melted(
    store: Store, monkeypatch: pytest.MonkeyPatch, readings: list[str]
) -> None:
    rows = ["Nr;Dg_1;Dg_2;Mittel_1;Mittel_2;Ende"]
    for k in range(40):
        codes = f"E1{k % 7}.0;E1{(k + 2) % 7}.0"
        rows.append(f"{5001 + k};{codes};M{'abcde'[k % 5]};{'Ma' if k % 3 else ''};{k % 2}")
    page = open_page("data", store, monkeypatch)
    page.get("file_uploader")[0].upload("wide.csv", "\n".join(rows).encode()).run()
    shown = words(drawn(page))
    assert "numbered columns" in shown and "Ende: 0 50%, 1 50%" in shown
    assert page.dataframe[1].value["Nr"].tolist()[:2] == ["5001", "5002"]
    roles = page.dataframe[2].value.set_index("Column")["Taken for"]
    assert (roles["Nr"], roles["Dg_1"], roles["Ende"]) == ("id", "code", "covariate")
    (upload,) = (one for one in (store.root / "uploads").iterdir())
    (parsed,) = upload.glob("*.tables")
    assert list(parsed.glob("*.arrow"))
    widget(page, "selectbox", "option.values").select("binary").run()
    assert len(readings) == 2 and len(list(upload.glob("*.tables"))) == 1  # parsed once
    widget(drawn(page), "button", "build").click().run()
    (card,) = store.datasets()
    assert card.mode_names == ("Nr", "Dg", "Mittel") and card.shape == (40, 7, 5)


def test_a_doubtful_build_needs_a_tick(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = ["patient,code a,code b,code c,code d"]
    rows += [f"p{k},A1{k % 9},B1{k % 8},C1{k % 7},D1{k % 6}" for k in range(60)]
    page = open_page("data", store, monkeypatch)
    page.get("file_uploader")[0].upload("five.csv", "\n".join(rows).encode()).run()
    assert "more modes than" in words(drawn(page))
    assert not [button for button in page.button if button.key == "build"]
    widget(page, "checkbox", "option.yes").check().run()
    widget(drawn(page), "button", "build").click().run()
    (card,) = store.datasets()
    assert len(card.shape) == 5


def test_the_modes_of_a_tensor_file_are_named(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("data", store, monkeypatch)
    lines = "".join(f"{a} {b} {c} 1\n" for a in (1, 2) for b in (1, 2, 3) for c in (1, 2, 3, 4))
    page.get("file_uploader")[0].upload("t.tns", lines.encode()).run()
    widget(drawn(page), "text_input", "option.mode_names.1").set_value("Fall").run()
    widget(page, "selectbox", "option.row_mode").select_index(1).run()
    widget(drawn(page), "button", "build").click().run()
    (card,) = store.datasets()
    assert card.mode_names[0] == "Fall" and card.shape == (3, 2, 4)


def test_a_link_out_of_the_root_is_refused(
    store: Store, server_files: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_server_file(store, monkeypatch, "events.csv")
    (server_files / "events.csv").unlink()
    (server_files / "events.csv").symlink_to("/etc/passwd")
    page.run()
    assert "leads out of the data folder" in words(drawn(page)) and not page.text_input


@pytest.mark.usefixtures("server_files")
def test_every_problem_of_a_bad_file_is_told(store: Store, monkeypatch: pytest.MonkeyPatch) -> None:
    page = open_server_file(store, monkeypatch, "broken.csv")
    assert page.error and not [button for button in page.button if button.key == "build"]


def test_uploaded_tables_become_a_data_set_and_are_forgotten(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("data", store, monkeypatch)
    folder = sample_folder("heart_failure")
    files = [
        (f"../{name}.csv", (folder / f"{name}.csv").read_bytes(), "text/csv")
        for name in ("diagnoses", "medications", "patients")
    ]
    page.get("file_uploader")[0].set_value(files).run()
    assert "several tables of events" in words(drawn(page))
    assert [one.name for one in store.root.parent.iterdir()] == ["store"]
    widget(page, "selectbox", "option.join").select("visit").run()
    page.session_state["option.outcome_column"] = "heart_failure"
    page.run()
    assert "heart_failure" in words(drawn(page))
    widget(page, "button", "build").click().run()
    (card,) = store.datasets()
    assert card.shape == (1000, 100, 100) and card.outcome_name == "heart_failure"
    assert "is built and kept" in words(drawn(page))
    assert not list((store.root / "uploads").iterdir())


@pytest.fixture
def readings(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    """The path of every reading by the guarded process, in order."""
    paths: list[str] = []
    ask = sandbox._Server.ask

    def counted(server: sandbox._Server, request: dict[str, Any], seconds: float) -> str:
        paths.append(request["path"])
        return ask(server, request, seconds)

    monkeypatch.setattr(sandbox._Server, "ask", counted)
    return paths


def hand_over(store: Store, monkeypatch: pytest.MonkeyPatch, sample: str) -> AppTest:
    page = open_page("data", store, monkeypatch)
    folder = sample_folder(sample)
    files = [(path.name, path.read_bytes(), "") for path in sorted(folder.glob("*.csv"))]
    page.get("file_uploader")[0].set_value(files).run()
    return drawn(page)


@pytest.mark.parametrize("sample", ["heart_failure", "news"])
def test_an_upload_is_read_once_until_it_is_built(
    store: Store, monkeypatch: pytest.MonkeyPatch, readings: list[str], sample: str
) -> None:
    page = hand_over(store, monkeypatch, sample)
    assert len(readings) == 1
    (kept,) = (store.root / "uploads").glob("*/*.bundle")
    assert kept.stat().st_mode & 0o777 == 0o600 and kept.parent.stat().st_mode & 0o777 == 0o700
    widget(page, "text_input", "option.name").set_value("My own name").run()
    widget(page, "button", "build").click().run()
    assert "is built and kept" in words(drawn(page)) and len(readings) == 1
    (card,) = store.datasets()
    again = replace(build_path(sample_folder(sample)), name="My own name")
    built = store.dataset(card.id)
    assert card.name == "My own name" and built.tensor == again.tensor
    assert (built.outcome_name, built.summary) == (again.outcome_name, again.summary)
    assert not list((store.root / "uploads").iterdir())


def test_another_choice_reads_again_and_keeps_one_result(
    store: Store, monkeypatch: pytest.MonkeyPatch, readings: list[str]
) -> None:
    page = hand_over(store, monkeypatch, "heart_failure")
    widget(page, "selectbox", "option.join").select("visit").run()
    assert len(readings) == 2 and len(list((store.root / "uploads").glob("*/*.bundle"))) == 1
    widget(page, "selectbox", "option.join").select("patient").run()
    assert len(readings) == 2  # what it would be is still known, but no longer kept
    widget(page, "button", "build").click().run()
    assert "is built and kept" in words(drawn(page)) and len(readings) == 3
    (card,) = store.datasets()
    assert store.dataset(card.id).tensor == build_path(sample_folder("heart_failure")).tensor


def test_codes_of_one_table_are_grouped_and_named_on_the_page(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    lines = ("1,428,C09AA05", "1,401.9,A10BA02", "2,428.0,C09CA01", "2,401.9,A10BA02")
    table = "\n".join(["patient,diagnosis,medication", *lines])
    page = open_page("data", store, monkeypatch)
    page.get("file_uploader")[0].set_value([("events.csv", table.encode(), "")]).run()
    widget(page, "selectbox", "option.code_groups").select("icd3").run()
    widget(page, "selectbox", "option.medication_groups").select("atc3").run()
    widget(page, "selectbox", "option.code_names").select("ccs").run()
    widget(page, "button", "build").click().run()
    (card,) = store.datasets()
    modes = store.dataset(card.id).tensor.modes
    assert modes[1].labels == (
        "Congestive heart failure; nonhypertensive [428]",
        "Essential hypertension [401]",
    )
    assert modes[2].labels == ("A10", "C09")


def test_every_grouping_is_offered_on_the_page() -> None:
    offered = {*WORDS["code_groups"], *WORDS["medication_groups"]} - {"", OWN}
    assert offered == set(GROUPINGS)


def test_a_folder_on_the_server_that_changes_is_read_again(
    store: Store, server_files: Path, monkeypatch: pytest.MonkeyPatch, readings: list[str]
) -> None:
    (server_files / "folder").mkdir()
    (server_files / "folder" / "events.csv").write_text(EVENTS)
    page = open_server_file(store, monkeypatch, "folder")
    drawn(page.run())
    assert len(readings) == 1
    (server_files / "folder" / "events.csv").write_text(EVENTS + "4,cough,aspirin,1\n")
    drawn(page.run())
    widget(page, "button", "build").click().run()
    (card,) = store.datasets()
    assert card.shape[0] == 4 and len(readings) == 2
    assert not list((store.root / "uploads").iterdir())


def test_columns_offered_as_the_outcome_are_those_of_the_table(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    files = {
        "diagnoses.csv": "patient_id,code\n1,a\n2,b\n3,a\n4,b\n",
        "drugs.csv": "patient_id,drug\n1,x\n2,y\n3,x\n4,y\n",
        "patients.csv": (
            'patient_id,sex,signs and symptoms,"age, years",died\n'
            "1,f,none,70,0\n2,m,some,80,1\n3,f,none,70,0\n4,m,some,80,1\n"
        ),
    }
    page = open_page("data", store, monkeypatch)
    handed = [(name, text.encode(), "text/csv") for name, text in files.items()]
    page.get("file_uploader")[0].set_value(handed).run()
    offered = widget(drawn(page), "selectbox", "option.outcome_column").options
    assert offered == ["sex", "signs and symptoms", "age, years", "died"]


def test_a_file_that_runs_programs_is_never_opened(
    store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = open_page("data", store, monkeypatch)
    page.get("file_uploader")[0].upload("model.pkl", b"\x80\x04K\x01.").run()
    assert "never opened" in words(drawn(page)) and not page.get("text_input")


def test_deleting_needs_a_yes_and_removes_runs_too(
    fitted_store: Store, monkeypatch: pytest.MonkeyPatch
) -> None:
    page = tab(open_page("data", fitted_store, monkeypatch), TAB, "Delete")
    assert "1 run" in words(page) and widget(page, "button", "delete_dataset").disabled
    (card,) = fitted_store.datasets()
    widget(page, "checkbox", f"sure.{card.id}").check().run()
    widget(page, "button", "delete_dataset").click().run()
    drawn(page)
    assert not fitted_store.datasets() and not fitted_store.runs()

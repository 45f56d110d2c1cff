"""Real files go from the folder to phenotypes through the screens."""

from __future__ import annotations

import os
import re
import zipfile
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest

from browser.conftest import Visit
from browser.server import REPOSITORY, Server, copy_of
from browser.tables import from_files_to_phenotypes, write_events, write_german_export
from browser.visitor import Visitor
from dashboard.privacy.inbox import inbox_of

SHARED = Path(os.environ.get("SWIFT_SHARED_DATA", REPOSITORY.parent / "shared" / "data"))
Shared = Callable[..., list[Path]]


@pytest.fixture
def shared() -> Shared:
    """Files of a shared data set, or a skip that names it."""

    def find(folder: str, *patterns: str) -> list[Path]:
        found = sorted(path for one in patterns for path in (SHARED / folder).glob(one))
        if not found:
            pytest.skip(f"real data '{folder}' are not here (set SWIFT_SHARED_DATA)")
        return found

    return find


def looks_right(visitor: Visitor, charts: int) -> None:
    visitor.lists("P01", "P05").shows_charts(1)
    assert visitor.page.locator(".phenotype-card .strength").count() >= charts
    assert visitor.axe() == []
    visitor.is_well()


def test_eicu_tables(growing_server: Server, visit: Visit, shared: Shared) -> None:
    files = shared("eicu_demo", "tidy_*.csv.gz")
    looks_right(from_files_to_phenotypes(visit(growing_server), 5, *files), charts=2)


def test_a_german_sheet_with_a_title_is_built_once_its_outcome_is_chosen(
    growing_server: Server, visit: Visit, tmp_path: Path
) -> None:
    sheet = write_german_export(tmp_path / "auszug.csv")
    visitor = visit(growing_server)
    visitor.open("/data").open_tab("Add data").upload(sheet)
    visitor.sees(re.compile("1 line above the header skipped")).sees(re.compile("verlegt: ja"))
    visitor.shows_cells("Fallkennung", "it has several rows each")
    visitor.choose("Column of the outcome", "verlegt").sees(re.compile("Outcome 'verlegt': ja"))
    visitor.press("Build the data set").sees(re.compile("The data set is built and kept"))
    visitor.still().sees(re.compile("60 Fallkennung x 12 Befund x 7 Präparat"))
    assert visitor.axe() == []
    visitor.is_well()


@pytest.mark.nightly
def test_synthea_tables(growing_server: Server, visit: Visit, shared: Shared) -> None:
    files = shared("synthea_1k", "*.csv.gz")
    looks_right(from_files_to_phenotypes(visit(growing_server), 5, *files), charts=2)


@pytest.mark.nightly
def test_bbc_in_a_zip(growing_server: Server, visit: Visit, shared: Shared, tmp_path: Path) -> None:
    with zipfile.ZipFile(tmp_path / "bbc.zip", "w", zipfile.ZIP_DEFLATED) as archive:
        for text in shared("bbc", "bbc/*/*.txt"):
            archive.write(text, f"{text.parent.name}/{text.name}")
    visitor = from_files_to_phenotypes(visit(growing_server), 5, tmp_path / "bbc.zip")
    looks_right(visitor, charts=1)


@pytest.fixture
def small_caps(samples: Path, tmp_path: Path) -> Iterator[Server]:
    """A server that takes files of 2 MB, 3 MB in a tab and 4 MB in all."""
    caps = {"FILE": "2", "SESSION": "3", "SERVER": "4"}
    settings = {f"SWIFT_UPLOAD_{name}_MB": value for name, value in caps.items()}
    server = Server(copy_of(samples, tmp_path / "store"), **settings).start()
    yield server
    server.stop()


def test_a_cap_is_said_and_the_way_on(small_caps: Server, visit: Visit, tmp_path: Path) -> None:
    small, second, large = (tmp_path / f"{name}.csv" for name in ("small", "second", "large"))
    for path, megabytes in ((small, 1.8), (second, 1.8), (large, 2.5)):
        write_events(path)
        with path.open("ab") as file:
            file.write(b"\n" * (int(megabytes * 1024 * 1024) - path.stat().st_size))
    visitor = visit(small_caps).open("/data").open_tab("Add data")
    visitor.sees("At most 2 MB in one file, 3 MB in one browser tab and 4 MB on this server")
    visitor.upload(large).sees(re.compile("File must be 2.0MB or smaller"))
    assert visitor.axe() == []
    visitor.page.get_by_role("button", name="Remove large.csv").click()
    visitor.upload(small).sees("Build the data set")
    visitor.upload(second).sees("The files of this browser tab are too large together")
    visitor.sees(re.compile("Take back files that are not needed"))
    assert visitor.page.get_by_role("button", name="Build the data set").count() == 0
    visitor.page.get_by_role("button", name="Remove second.csv").click()
    visitor.still().press("Build the data set").sees(re.compile("is built and kept"))
    inbox = inbox_of(small_caps.root, small_caps.port)
    assert list(inbox.folder.iterdir()) == [] == list((small_caps.root / "uploads").iterdir())
    visitor.is_well()


def test_small_counts_of_real_data_are_hidden(
    growing_server: Server, visit: Visit, tmp_path: Path
) -> None:
    file = write_events(tmp_path / "rare.csv", rows=60, size=12)
    with file.open("a", encoding="utf-8") as handle:
        handle.writelines(f"p{row:04},rare disease,medication 1,1\n" for row in (1, 3, 5, 7))
    visitor = from_files_to_phenotypes(visit(growing_server), 2, file)
    visitor.shows_chosen("Hide small counts", "Fewer than 11")
    visitor.page.get_by_role("combobox", name="Hide small counts").click()
    assert visitor.page.get_by_role("option", name="Show every count").count() == 0
    visitor.page.keyboard.press("Escape")
    visitor.go_to("Data").open_tab("This data set")
    numbers = visitor.page.get_by_text("Numbers and download", exact=True)
    numbers.nth(1).click()
    visitor.shows_cells("rare disease")
    rows = dict(zip(cells := visitor.cells(), cells[1:], strict=False))
    assert rows["rare disease"] == "<11"
    visitor.is_well()

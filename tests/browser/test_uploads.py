"""Real files go from the folder to phenotypes through the screens."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import pytest

from browser.conftest import Visit
from browser.server import REPOSITORY, Server
from browser.tables import from_files_to_phenotypes, write_events
from browser.visitor import Visitor

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
    visitor.shows_cells("P01", "P05").shows_charts(charts)
    assert visitor.axe() == []
    visitor.is_well()


def test_eicu_tables(growing_server: Server, visit: Visit, shared: Shared) -> None:
    files = shared("eicu_demo", "tidy_*.csv.gz")
    looks_right(from_files_to_phenotypes(visit(growing_server), 5, *files), charts=2)


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

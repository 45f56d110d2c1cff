"""From what a hospital hands over to phenotypes through the screens, with at most five choices.

A choice is a press or a pick; to hand over files and to type into the form of a run are none. After
the files: *Build*, *Find its phenotypes*, the effort, *Find phenotypes*, *Look at the result*.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator
from pathlib import Path

import pytest
from playwright.sync_api import expect
from psycopg import conninfo
from support.postgresql import load_cdm, write_cdm

from browser.conftest import Visit
from browser.hospital_files import CODES, DRUGS, fhir_zip, german_workbook, three_tables, wide_table
from browser.server import Server, copy_of
from browser.tables import ask_for_fit, from_files_to_phenotypes, newest_fit, open_result
from browser.visitor import PATIENCE, Visitor
from swiftcore.data.databases.addresses import SETTINGS

FILES: dict[str, Callable[[Path], Path | list[Path]]] = {
    "german workbook": german_workbook,
    "wide table": wide_table,
    "three tables": three_tables,
    "fhir": fhir_zip,
}


@pytest.mark.parametrize("make", FILES.values(), ids=list(FILES))
def test_files(
    growing_server: Server,
    visit: Visit,
    tmp_path: Path,
    make: Callable[[Path], Path | list[Path]],
) -> None:
    made = make(tmp_path)
    visitor = visit(growing_server)
    from_files_to_phenotypes(visitor, 2, *(made if isinstance(made, list) else [made]))
    visitor.lists("P01", "P02")
    run = growing_server.store.run(newest_fit(growing_server))
    data = growing_server.store.dataset(run.dataset)
    features = [set(mode.labels) for mode in data.tensor.modes[1:]]
    assert len(features) == 2
    assert {part.split(" ")[0] for part in features[0]} == {code for some in CODES for code in some}
    assert features[1] == {drug for some in DRUGS for drug in some}
    visitor.is_well()


@pytest.fixture
def clinic_server(samples: Path, tmp_path: Path, postgresql_server: str) -> Iterator[Server]:
    """A dashboard that knows one database by name, with a small CDM in it."""
    load_cdm(postgresql_server, "clinic", write_cdm(tmp_path / "omop"))
    known = conninfo.conninfo_to_dict(postgresql_server)
    lines = [f'{name} = "{value}"' for name, value in known.items() if value]
    settings = tmp_path / "databases.toml"
    settings.write_text("\n".join(["[clinic]", *lines, 'schema = "clinic"']))
    settings.chmod(0o600)
    server = Server(copy_of(samples, tmp_path / "store"), **{SETTINGS: str(settings)}).start()
    yield server
    server.stop()


def test_omop_in_postgresql(clinic_server: Server, visit: Visit, postgresql_server: str) -> None:
    visitor = visit(clinic_server).open("/data").open_tab("Add data")
    visitor.page.get_by_text("in a database", exact=True).click()
    visitor.still().press("Count in the database").sees(re.compile("What would be built"))
    host = str(conninfo.conninfo_to_dict(postgresql_server)["host"])
    assert host not in visitor.page.content()
    assert visitor.axe() == []
    visitor.press("Keep the data set").sees(re.compile("is built and kept"))
    _find(visitor)
    visitor.lists("P01", "P02").is_well()


def _find(visitor: Visitor) -> None:
    visitor.page.get_by_role("button", name="Find its phenotypes", exact=True).click()
    heading = visitor.page.get_by_role("heading", level=1)
    expect(heading).to_have_text("Runs", timeout=PATIENCE)
    open_result(ask_for_fit(visitor.still(), 2, "Quick"))

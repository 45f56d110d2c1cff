"""Workbooks, JSON, databases and Parquet that unfold into far more than they are: refused at once.

Measured in the process that reads: at most 5 CPU seconds and 50 MB on top of what it had.
"""

from __future__ import annotations

import io
import json
import os
import sqlite3
import subprocess
import sys
import zipfile
from collections.abc import Callable
from pathlib import Path

import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as parquet  # type: ignore[import-untyped]
import pytest

from swiftcore.data.from_path.sandbox import build_path
from swiftcore.errors import InvalidData

duckdb = pytest.importorskip("duckdb")
SECONDS, MEGABYTES = 5.0, 50.0
MB = 1 << 20
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as on Linux")

TYPES = (
    '<Types xmlns="http://schemas.openxmlformats.org/package/2006/content-types"><Override '
    'PartName="/xl/workbook.xml" ContentType="application/vnd.openxmlformats-officedocument.'
    'spreadsheetml.sheet.main+xml"/></Types>'
)
RELATIONS = "http://schemas.openxmlformats.org/officeDocument/2006/relationships"
MAIN = "http://schemas.openxmlformats.org/spreadsheetml/2006/main"


def related(kind: str, targets: list[str]) -> str:
    links = "".join(
        f'<Relationship Id="r{k}" Type="{RELATIONS}/{kind}" Target="{target}"/>'
        for k, target in enumerate(targets)
    )
    package = "http://schemas.openxmlformats.org/package/2006/relationships"
    return f'<Relationships xmlns="{package}">{links}</Relationships>'


def xlsx(path: Path, cells: str | bytes, strings: str = "", sheets: int = 1) -> None:
    """The smallest workbook, with these cells in every sheet."""
    names = "".join(f'<sheet name="s{k}" sheetId="{k + 1}" r:id="r{k}"/>' for k in range(sheets))
    sheet = cells.encode() if isinstance(cells, str) else cells
    links = related("worksheet", [f"worksheets/sheet{k}.xml" for k in range(sheets)])
    shared = f'<Relationship Id="s" Type="{RELATIONS}/sharedStrings" Target="sharedStrings.xml"/>'
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("[Content_Types].xml", TYPES)
        archive.writestr("_rels/.rels", related("officeDocument", ["xl/workbook.xml"]))
        archive.writestr(
            "xl/workbook.xml",
            f'<workbook xmlns="{MAIN}" xmlns:r="{RELATIONS}"><sheets>{names}</sheets></workbook>',
        )
        archive.writestr(
            "xl/_rels/workbook.xml.rels",
            links.replace("</Relationships>", f"{shared}</Relationships>"),
        )
        archive.writestr("xl/sharedStrings.xml", f'<sst xmlns="{MAIN}">{strings}</sst>')
        for k in range(sheets):
            archive.writestr(
                f"xl/worksheets/sheet{k}.xml",
                f'<worksheet xmlns="{MAIN}"><sheetData>'.encode()
                + sheet
                + b"</sheetData></worksheet>",
            )


def corner(path: Path) -> None:
    """Two cells, seventeen thousand million apart."""
    first = '<row r="1"><c r="A1"><v>1</v></c></row>'
    xlsx(path, first + '<row r="1048576"><c r="XFD1048576"><v>1</v></c></row>')


def billion(path: Path) -> None:
    """A thousand million cells, truly written down: two hundred gigabytes would follow."""
    row = b"<row>" + b"<c><v>1</v></c>" * 1000 + b"</row>"
    xlsx(path, row * 7_000)


def copied_text(path: Path) -> None:
    """One text of a megabyte, named by a hundred thousand cells."""
    cells = "".join(f'<row r="{k}"><c r="A{k}" t="s"><v>0</v></c></row>' for k in range(1, 100_000))
    xlsx(path, cells, f"<si><t>{'x' * MB}</t></si>")


def lying(path: Path) -> None:
    """A sheet that says it is small."""
    xlsx(path, b"<row>" + b" " * (100 * MB) + b"</row>")
    content = bytearray(path.read_bytes())
    size = (100 * MB).to_bytes(4, "little")[2:]
    place = 0
    while (place := content.find(size, place)) >= 0:
        content[place - 2 : place + 2] = (900).to_bytes(4, "little")
        place += 2
    path.write_bytes(content)


def laughs(path: Path) -> None:
    """Entities that name each other ten times over, ten levels deep."""
    levels = "".join(f'<!ENTITY e{k} "{f"&e{k - 1};" * 10}">' for k in range(1, 10))
    text = f'<!DOCTYPE sst [<!ENTITY e0 "ha">{levels}]><si><t>&e9;</t></si>'
    xlsx(path, '<row r="1"><c r="A1" t="s"><v>0</v></c></row>', text)


def sqlite(path: Path, *statements: str) -> None:
    connection = sqlite3.connect(path, isolation_level=None)
    connection.execute("BEGIN")
    for statement in statements:
        connection.execute(statement)
    connection.execute("COMMIT")
    connection.close()


ENDLESS = "WITH RECURSIVE r(n) AS (SELECT 1 UNION ALL SELECT n + 1 FROM r) SELECT n AS patient"


def duck(path: Path, *statements: str) -> None:
    with duckdb.connect(str(path)) as connection:
        for statement in statements:
            connection.execute(statement)


def packed_parquet(path: Path) -> None:
    """Folders of parts, each one text of a megabyte two hundred times."""
    texts = pa.array(["x" * MB] * 200)
    out = io.BytesIO()
    parquet.write_table(
        pa.table({"patient": texts, "code": texts}), out, use_dictionary=False, compression="zstd"
    )
    with zipfile.ZipFile(path, "w") as archive:
        for part in range(30):
            archive.writestr(f"events/year={part}/part-0.parquet", out.getvalue())


def dictionary(path: Path) -> None:
    """Two hundred million rows that all name one entry of a dictionary."""
    rows = pa.table({"patient": pa.DictionaryArray.from_arrays(bytes(2 * MB), ["x" * 1000])})
    settings = {"compression": "zstd", "write_statistics": False}
    with parquet.ParquetWriter(path, rows.schema, **settings) as writer:
        for _ in range(100):
            writer.write_table(rows, row_group_size=len(rows))


def text(content: str) -> Callable[[Path], object]:
    return lambda path: path.write_text(content)


BOMBS: dict[str, Callable[[Path], object]] = {
    "corner.xlsx": corner,
    "billion.xlsx": billion,
    "copied-text.xlsx": copied_text,
    "lying.xlsx": lying,
    "laughs.xlsx": laughs,
    "columns.xlsx": lambda path: xlsx(
        path, "".join(f'<row r="{r}">{"<c><v>1</v></c>" * 16_384}</row>' for r in (1, 2))
    ),
    "sheets.xlsx": lambda path: xlsx(path, "", sheets=3_000),
    "deep.json": text('{"a":' * 200_000 + "1" + "}" * 200_000),
    "deep.jsonl": text('{"patient": "1", "code": ' + "[" * 10**6 + "\n{}\n"),
    "fields.jsonl": text("\n".join(json.dumps({f"f{k}": 1}) for k in range(10**5))),
    "cell.jsonl": text(json.dumps({"patient": "1", "code": "x" * (8 * MB)}) + "\n{}\n"),
    "arrays.json": text(json.dumps({f"t{k}": [{"a": 1}] for k in range(20_000)})),
    "deep-bundle.json": text('{"resourceType": "Bundle", "entry": ' + "[" * 10**6),
    "endless-view.sqlite": lambda path: sqlite(path, f"CREATE VIEW events AS {ENDLESS} FROM r"),
    "computed.sqlite": lambda path: sqlite(
        path,
        "CREATE TABLE events (patient, code AS (hex(zeroblob(400000000))) VIRTUAL)",
        "INSERT INTO events VALUES (1), (2)",
    ),
    "cell.sqlite": lambda path: sqlite(
        path,
        "CREATE TABLE events (patient, code)",
        f"INSERT INTO events VALUES (1, '{'x' * (8 * MB)}')",
    ),
    "tables.sqlite": lambda path: sqlite(path, *(f"CREATE TABLE t{k} (a)" for k in range(3_000))),
    "endless-view.duckdb": lambda path: duck(
        path, "CREATE VIEW events AS SELECT range AS patient FROM range(1000000000000)"
    ),
    "parts.zip": packed_parquet,
    "dictionary.parquet": dictionary,
}


@pytest.fixture(scope="module")
def readings(tmp_path_factory: pytest.TempPathFactory) -> dict[str, dict[str, object]]:
    """What reading each bomb took."""
    folder = tmp_path_factory.mktemp("bombs")
    for name, make in BOMBS.items():
        make(folder / name)
    program = Path(__file__).parents[4] / "tests" / "support" / "measured_reading.py"
    done = subprocess.run(
        [sys.executable, str(program), *(str(folder / name) for name in BOMBS)],
        capture_output=True,
        text=True,
        check=True,
        env={**os.environ, "PYTHONPATH": str(Path(__file__).parents[4])},
    )
    lines = [json.loads(line) for line in done.stdout.splitlines()]
    return dict(zip(BOMBS, lines, strict=True))


@pytest.mark.parametrize("name", BOMBS)
def test_bomb(name: str, readings: dict[str, dict[str, float]]) -> None:
    taken = readings[name]
    assert taken["codes"], "it must be refused"
    assert taken["seconds"] < SECONDS
    assert taken["mb"] < MEGABYTES


def test_a_bomb_is_refused_in_words_in_the_guarded_process(tmp_path: Path) -> None:
    for name in ("corner.xlsx", "endless-view.sqlite", "deep.json"):
        BOMBS[name](tmp_path / name)
        with pytest.raises(InvalidData) as caught:
            build_path(tmp_path / name)
        for problem in caught.value.problems:
            assert problem.code not in ("reader-fault", "reader-ended", "time-limit")
            assert problem.where and problem.found and problem.cure

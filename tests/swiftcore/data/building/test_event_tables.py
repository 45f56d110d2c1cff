"""Tables of one's own: encodings, separators, ids and codes verbatim, guesses, refusals."""

from __future__ import annotations

import gzip
import io
import random
from collections.abc import Callable, Sequence
from pathlib import Path

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as parquet  # type: ignore[import-untyped]
import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path.read_path import read_path
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import InvalidData

Write = Callable[[str, str | bytes], Path]
ROWS = [
    ("patient", "diagnosis", "drug", "n"),
    ("9007199254740993", "250.00", "NA", "2"),
    ("9007199254740992", "250.0", "null", "1"),
    ("007", "008.45", "é, comma; semicolon", "1"),
    ("7", "8.45", 'quoted "Größe"', "3"),
    ("7", "1E10", "nan", "1"),
]


def build(path: Path, **options: object) -> Dataset:
    return read_path(path, BuildOptions(**options), Findings())  # type: ignore[arg-type]


def codes_of(path: Path, **options: object) -> list[str]:
    with pytest.raises(InvalidData) as caught:
        build(path, **options)
    for problem in caught.value.problems:
        assert problem.code and problem.where and problem.found and problem.cure
    return [problem.code for problem in caught.value.problems]


def as_text(delimiter: str, rows: Sequence[tuple[str, ...]], ending: str = "\n") -> str:
    quoted = [['"' + cell.replace('"', '""') + '"' for cell in row] for row in rows]
    return ending.join(delimiter.join(row) for row in quoted) + ending


def test_eight_encodings_and_separators_give_one_digest(write: Write) -> None:
    text = as_text(",", ROWS)
    table = pa.table({name: [row[k] for row in ROWS[1:]] for k, name in enumerate(ROWS[0])})
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    files = {
        "plain.csv": text.encode("utf-8"),
        "mark.csv": b"\xef\xbb\xbf" + text.encode("utf-8"),
        "semicolon16le.csv": "\ufeff".encode("utf-16-le") + as_text(";", ROWS).encode("utf-16-le"),
        "tab16be.tsv": "\ufeff".encode("utf-16-be") + as_text("\t", ROWS).encode("utf-16-be"),
        "unmarked16.csv": text.encode("utf-16-le"),
        "windows.csv": as_text(";", ROWS, "\r\n").encode("cp1252"),
        "mac.csv": as_text("\t", ROWS, "\r").encode("utf-8"),
        "packed.csv.gz": gzip.compress(as_text("|", ROWS).encode("utf-8"), mtime=0),
        "table.parquet": buffer.getvalue(),
    }
    digests = {name: build(write(name, data)).tensor.digest() for name, data in files.items()}
    assert len(set(digests.values())) == 1, digests


def test_ids_and_codes_stay_verbatim_and_apart(write: Write) -> None:
    tensor = build(write("t.csv", as_text(",", ROWS))).tensor
    assert tensor.shape == (4, 5, 5)
    assert set(tensor.modes[0].labels) == {"9007199254740993", "9007199254740992", "007", "7"}
    assert set(tensor.modes[1].labels) == {"250.00", "250.0", "008.45", "8.45", "1E10"}
    assert {"NA", "null", "nan"} < set(tensor.modes[2].labels)
    assert tensor.values.sum() == 8


def test_row_order_never_changes_the_digest(write: Write) -> None:
    rng = random.Random(3)
    rows = [
        (
            f"p{rng.randrange(40)}",
            f"d{rng.randrange(9)}",
            f"m{rng.randrange(7)}",
            f"{rng.random():.5f}",
        )
        for _ in range(600)
    ]
    head = ("patient", "diagnosis", "drug", "value")
    digests = set()
    for turn in range(4):
        rng.shuffle(rows)
        path = write(f"t{turn}.csv", as_text(",", [head, *rows]))
        digests.add(build(path).tensor.digest())
    assert len(digests) == 1


text_ids = st.text(
    st.characters(codec="utf-8", exclude_characters="\0\r\n\x02"), min_size=1, max_size=12
).filter(lambda text: text.strip() != "")


@settings(
    max_examples=60,
    deadline=None,
    suppress_health_check=[HealthCheck.too_slow, HealthCheck.function_scoped_fixture],
)
@given(ids=st.lists(text_ids, min_size=1, max_size=8, unique=True))
def test_distinct_texts_in_are_distinct_rows_out(tmp_path: Path, ids: list[str]) -> None:
    path = tmp_path / "ids.csv"
    rows = [("patient", "code"), *((one, one) for one in ids)]
    path.write_bytes(as_text(",", rows).encode("utf-8"))
    tensor = build(path).tensor
    assert tensor.shape == (len(ids), len(ids))
    assert set(tensor.modes[0].labels) == set(ids) == set(tensor.modes[1].labels)


def test_the_guess_is_shown_and_can_be_set(write: Write) -> None:
    path = write("t.csv", "MRN,Visit date,dx_code,rx_name,comment\n1,2020-01-01,a,b,x\n2,,c,d,y\n")
    findings = Findings()
    read_path(path, BuildOptions(), findings)
    assert findings.mapping == {"row": "MRN", "features": "dx_code, rx_name"}
    assert any("comment" in note for note in findings.notes)
    chosen = build(path, columns={"row": "mrn", "features": "comment, dx_code"})
    assert [mode.name for mode in chosen.tensor.modes] == ["MRN", "comment", "dx_code"]


def test_columns_set_wrongly_are_all_named(write: Write) -> None:
    path = write("t.csv", "a,b\n1,2\n")
    codes = codes_of(path, columns={"row": "x", "features": "y, b", "colour": "a"})
    assert sorted(codes) == ["column-missing", "column-missing", "role-unknown"]


def test_dropped_rows_are_counted_by_reason(write: Write) -> None:
    path = write("t.csv", "patient,code,n\np,a,1\n,a,1\np,,1\np,b,\np,c,1,9\np,d\np,e,0\nq,a,2\n")
    data = build(path)
    assert data.tensor.n_entries == 2 and data.summary
    counted = {one.reason.split(" (")[0]: one.count for one in data.summary.left_out}
    assert counted == {
        "rows without exactly 3 cells": 2,
        "rows without a row id": 1,
        "rows without an entry in code": 1,
        "rows without a value in n": 1,
        "cells whose value is 0": 1,
    }
    read = data.summary.tables["t.csv"]
    assert read == 6  # eight rows in all, two of them uneven


@pytest.mark.parametrize(
    ("name", "content", "code"),
    [
        ("empty.csv", b"", "file-empty"),
        ("blank.csv", b"\r\n \n", "file-empty"),
        ("header.csv", b"patient,code\n", "table-empty"),
        ("page.csv", b"<!DOCTYPE html><html><body>Log in</body></html>", "not-a-table"),
        ("open.csv", b'patient,code\n1,a\n2,"b\n3,c\n4,d\n', "quote-open"),
        ("nul.csv", b"patient,code\n1,a\x00b\n", "nul-byte"),
        ("wide.csv", b"a," * 5000 + b"b\n1\n", "too-many-columns"),
        ("uneven.csv", b"patient,code\n1\n2\n3\n4,x\n", "rows-uneven"),
        ("broken.csv", "patient,code\n1,äöü\n2,é".encode() + b"\xff\n", "utf8-damaged"),
        ("negative.csv", b"patient,code,n\n1,a,-1\n", "value-negative"),
        ("text.csv", b"patient,code,n\n1,a,many\n", "value-not-a-number"),
        ("nan.csv", b"patient,code,n\n1,a,NaN\n", "value-not-a-number"),
        ("inf.csv", b"patient,code,n\n1,a,1e400\n", "value-infinite"),
        ("two.csv", b"patient,code,outcome\n1,a,0\n1,b,1\n2,a,0\n", "outcome-conflict"),
        ("same.csv", b"patient,code,outcome\n1,a,0\n2,b,0\n", "outcome-one-class"),
        ("sheet.xlsx", b"\xd0\xcf\x11\xe0 old office", "format-foreign"),
        ("data.csv", b"SQLite format 3\x00 rest", "database-damaged"),
        ("data.csv", b"\x80\x04\x95 pickle", "never-opened"),
        ("data.pkl", b"patient,code\n1,a\n", "never-opened"),
        ("data.rds", b"patient,code\n1,a\n", "never-opened"),
        ("cut.csv.gz", gzip.compress(b"patient,code\n1,a\n" * 99, mtime=0)[:-9], "gz-cut-off"),
        (
            "twice.csv.gz",
            gzip.compress(gzip.compress(b"a,b\n1,2\n", mtime=0), mtime=0),
            "archive-nested",
        ),
        ("cut.parquet", b"PAR1 and nothing else PAR1", "parquet-damaged"),
    ],
)
def test_what_cannot_be_read_is_refused_in_words(
    write: Write, name: str, content: bytes, code: str
) -> None:
    assert codes_of(write(name, content)) == [code]


def test_an_open_quote_is_located(write: Write) -> None:
    with pytest.raises(InvalidData) as caught:
        build(write("t.csv", 'patient,code\n1,a\n2,b\n3,"c\n4,d\n5,e\n'))
    assert "line 4" in caught.value.problems[0].where


def test_missing_path_pipe_and_folder(tmp_path: Path) -> None:
    import os

    assert codes_of(tmp_path / "nothing.csv") == ["path-missing"]
    os.mkfifo(tmp_path / "pipe.csv")
    assert codes_of(tmp_path / "pipe.csv") == ["not-a-file"]
    (tmp_path / "folder").mkdir()
    assert codes_of(tmp_path / "folder") == ["folder-empty"]


def test_unnamed_and_repeated_columns_are_named_and_noted(write: Write) -> None:
    data = build(write("t.csv", "patient,code,,code\n1,a,b,c\n2,d,e,f\n"))
    assert data.summary
    assert [mode.name for mode in data.tensor.modes] == ["patient", "code", "code (2)"]
    assert sum("is called" in note for note in data.summary.notes) == 2


def test_duplicates_by_choice(write: Write) -> None:
    path = write("t.csv", "patient,code,n\n1,a,2\n1,a,3\n2,b,1\n")
    assert build(path).tensor.values.tolist() == [5, 1]
    assert build(path, duplicates="max").tensor.values.tolist() == [3, 1]
    assert build(path, values="binary").tensor.values.tolist() == [1, 1]
    assert np.allclose(build(path, values="log-count").tensor.values, np.log1p([5, 1]))
    assert codes_of(path, duplicates="refuse") == ["rows-repeat"]
    summary = build(path).summary
    assert summary and any("amounts were added" in note for note in summary.notes)


def test_support_and_top(write: Write) -> None:
    rows = ["patient,dx,rx"]
    rows += [f"p{k},common,m" for k in range(6)] + [f"p{k},some,m" for k in range(3)]
    rows += ["p9,rare,m", "p9,rare,m"]  # twice in one patient is still one patient
    path = write("t.csv", "\n".join(rows))
    data = build(path, min_support=2)
    assert data.tensor.modes[1].labels == ("common", "some") and data.summary
    assert data.tensor.shape[0] == 6
    counted = {one.reason: one.count for one in data.summary.left_out}
    assert counted["features in fewer than 2 rows"] == 1
    assert counted["rows without any remaining feature"] == 1
    assert build(path, top=1).tensor.modes[1].labels == ("common",)


def test_look_alikes_are_reported_and_merged_only_on_request(write: Write) -> None:
    names = ["Aspirin", "aspirin ", "I10", "I10.", "caf\u00e9", "cafe\u0301", "\u0410spirin"]
    text = "patient,code\n" + "".join(f"{k},{name}\n" for k, name in enumerate(names))
    path = write("t.csv", text)
    apart = build(path)
    assert apart.tensor.shape[1] == 7 and apart.summary
    assert apart.summary.similar_name_count == 4
    merged = build(path, merge_similar_names=True)
    assert merged.tensor.shape == (7, 3)


def test_visits_as_rows_of_one_table_are_not_passed_over(write: Write) -> None:
    table = write(
        "visits.csv",
        "patient,visit,diagnosis,drug\n1,a,Asthma,ICS\n1,b,Gout,ICS\n2,a,Gout,ICS\n2,a,Asthma,ICS\n",
    )
    assert codes_of(table, rows="visit") == ["rows-visit"]
    named = build(table, columns={"row": "patient,visit"})
    assert named.tensor.shape[0] == 3


def test_decimal_comma_and_thousands(write: Write) -> None:
    data = build(write("t.csv", "patient;code;n\n1;a;1,5\n2;b;2\n"))
    assert data.tensor.values.tolist() == [1.5, 2]
    doubtful = write("u.csv", "patient;code;n\n1;a;1,000\n")
    assert codes_of(doubtful) == ["value-not-a-number"]


def test_outcome_column_of_a_long_table(write: Write) -> None:
    path = write("t.csv", "patient,code,outcome\n1,a,yes\n2,b,no\n3,a,\n1,b,yes\n")
    data = build(path)
    assert data.outcome is not None and data.outcome.tolist() == [True, False]
    assert data.summary
    assert any(one.reason == "rows without an outcome" for one in data.summary.left_out)
    words = build(write("u.csv", "patient,code,class\n1,a,red\n2,b,blue\n"))
    assert words.outcome is not None and words.outcome.tolist() == ["red", "blue"]


def test_parquet_types(write: Write) -> None:
    table = pa.table(
        {
            "patient": pa.array([2**53 + 1, 2**53], pa.int64()),
            "code": pa.array(["a", "b"]).dictionary_encode(),
            "visit": pa.array([1.0, None]),
            "nested": pa.array([[[1]], [[2]]]),
            "n": pa.array([1.5, 2.0]),
        }
    )
    buffer = io.BytesIO()
    parquet.write_table(table, buffer)
    data = build(write("t.csv", buffer.getvalue()))  # whatever its name says
    assert set(data.tensor.modes[0].labels) == {"9007199254740993", "9007199254740992"}
    assert data.summary and any("were not read" in note for note in data.summary.notes)
    floats = pa.table({"patient": pa.array([10.0, None, 12.0]), "code": ["x", "y", "z"]})
    buffer = io.BytesIO()
    parquet.write_table(floats, buffer)
    assert build(write("f.parquet", buffer.getvalue())).tensor.modes[0].labels == ("10", "12")

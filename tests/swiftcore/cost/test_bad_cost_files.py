"""Cost files that are wrong: refused with code, line and cure, or repaired by a stated rule."""

from __future__ import annotations

import io

import numpy as np
import pytest
from hypothesis import event, given, settings
from hypothesis import strategies as st

from swiftcore.cost import check_cost
from swiftcore.cost.outside.cost_table import CostTable
from swiftcore.cost.outside.matrix_file import MAX_LABELS
from swiftcore.cost.outside.read_file import MAX_LINES, read_cost_bytes
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import InvalidData


def npz(**arrays: object) -> bytes:
    out = io.BytesIO()
    np.savez(out, **{name: np.array(value) for name, value in arrays.items()})
    return out.getvalue()


SQUARE = ",a,b,c\na,0,1,2\nb,1,0,4\nc,2,4,0\n"
DEEP = "child,parent\n" + "".join(f"n{i},n{i + 1}\n" for i in range(3000)) + "n3000,n0\n"
REFUSED: dict[str, tuple[str | bytes, str, str]] = {  # content, code, where
    # square tables
    "not a number": (",a,b\na,0,nan\nb,1,0\n", "cost-nan", "line 2"),
    "infinite": (",a,b\na,0,inf\nb,inf,0\n", "cost-infinite", "lines 2, 3"),
    "overflow": (",a,b\na,0,1e999\nb,1,0\n", "cost-infinite", "line 2"),
    "negative": (",a,b\na,0,-1\nb,-1,0\n", "cost-negative", "lines 2, 3"),
    "asymmetric": (",a,b\na,0,1\nb,2,0\n", "cost-asymmetric", "line 3"),
    "asymmetric a little": (",a,b\na,0,1\nb,1.001,0\n", "cost-asymmetric", "line 3"),
    "text in a cell": (",a,b\na,0,far\nb,1,0\n", "cost-text-cell", "line 2"),
    "underscores": (",a,b\na,0,1_0\nb,1_0,0\n", "cost-text-cell", "lines 2, 3"),
    "hexadecimal": (",a,b\na,0,0x1\nb,0x1,0\n", "cost-text-cell", "lines 2, 3"),
    "percent": (",a,b\na,0,50%\nb,50%,0\n", "cost-text-cell", "lines 2, 3"),
    "line too long": (",a,b\na,0,1\nb,1,0,3\n", "cost-size", "line 3"),
    "a row too few": (",a,b,c\na,0,1,2\nb,1,0,4\n", "cost-sides", "line 1"),
    "a row too many": (",a,b\na,0,1\nb,1,0\nc,1,1\n", "cost-sides", "line 4"),
    "other labels at the side": (",a,b,c\na,0,1,2\nb,1,0,4\nd,2,4,0\n", "cost-sides", "lines 1, 4"),
    "row twice": (",a,b\na,0,1\nb,1,0\nb,1,0\n", "cost-twice", "line 4"),
    "column twice": (",a,b,b\na,0,1,1\nb,1,0,0\n", "cost-twice", "line 1"),
    "empty row label": (",a,b\na,0,1\n,1,0\nb,1,0\n", "cost-label", "line 3"),
    "empty column label": (",a,,b\na,0,1,1\nb,1,0,0\n", "cost-label", "line 1"),
    "pair empty both ways": (",a,b,c\na,0,1,\nb,1,0,4\nc,,4,0\n", "cost-nan", "line 2"),
    "diagonal": (",a,b\na,0.5,1\nb,1,0\n", "cost-diagonal", "line 2"),
    "similarities": (",a,b\na,1,0.2\nb,0.2,1\n", "cost-diagonal", "lines 2, 3"),
    "identity": (",a,b\na,1,0\nb,0,1\n", "cost-diagonal", "lines 2, 3"),
    "all zero": (",a,b\na,0,0\nb,0,0\n", "cost-zero", "line 2"),
    "no labels at all": ("0,1,2\n1,0,4\n2,4,0\n", "cost-labels", "line 1"),
    "header only": (",a,b,c\n", "cost-empty", "line 1"),
    "open quote": (',a,b\n"a,0,1\nb,1,0\n', "cost-quote", "line 2"),
    "too many features": (
        ","
        + ",".join(f"x{i}" for i in range(MAX_LABELS + 1))
        + "\n"
        + "".join(f"x{i},0\n" for i in range(MAX_LABELS + 1)),
        "cost-large",
        "line 1",
    ),
    # long form
    "long: not a number": ("a,b,distance\nx,y,nan\nx,z,1\n", "cost-nan", "line 2"),
    "long: empty distance": ("a,b,distance\nx,y,1\nx,z,\n", "cost-nan", "line 3"),
    "long: negative": ("a,b,distance\nx,y,-2\n", "cost-negative", "line 2"),
    "long: infinite": ("a,b,distance\nx,y,infinity\n", "cost-infinite", "line 2"),
    "long: two distances": ("a,b,distance\nx,y,1\nx,y,2\n", "cost-contrary", "line 3"),
    "long: there and back": ("a,b,distance\nx,y,1\ny,x,2\n", "cost-asymmetric", "line 3"),
    "long: far from itself": ("a,b,distance\nx,x,1\nx,y,2\n", "cost-diagonal", "line 2"),
    "long: ragged": ("a,b,distance\nx,y,1\nx,z\n", "cost-ragged", "line 3"),
    "long: empty label": ("a,b,distance\nx,,1\nx,y,1\n", "cost-label", "line 2"),
    "long: similarity": ("a,b,similarity\nx,y,0.3\n", "cost-header", "line 1"),
    "long: all zero": ("a,b,distance\nx,y,0\n", "cost-zero", "line 2"),
    # a hierarchy
    "cycle of two": ("child,parent\na,b\nb,a\n", "cost-cycle", "line 2"),
    "cycle below a root": ("child,parent\nr,\na,c\nb,a\nc,b\n", "cost-cycle", "line 3"),
    "cycle of thousands": (DEEP, "cost-cycle", "line 2"),
    "own parent": ("child,parent\na,b\nb,b\n", "cost-self-parent", "line 3"),
    "two parents": ("child,parent\na,b\na,c\n", "cost-two-parents", "line 3"),
    "no child": ("child,parent\na,b\n,b\n", "cost-label", "line 3"),
    "ragged hierarchy": ("child,parent\na,b\nc\n", "cost-ragged", "line 3"),
    "way up without end": (
        "child,parent\n" + "".join(f"n{i},n{i + 1}\n" for i in range(20_000)),
        "cost-deep",
        "line 2",
    ),
    "nobody has a parent": ("child,parent\na,\nb,\n", "cost-flat", "line 1"),
    "hierarchy without header": ("a,b\nc,b\n", "cost-unknown", "line 1"),
    # vectors
    "ragged vectors": ("a 1 2 3\nb 1 2\nc 1 2 3\n", "cost-ragged", "line 2"),
    "word2vec cut off": ("3 2\na 1 2\nb 1 2\n", "cost-cut-off", "line 1"),
    "word2vec other length": ("2 3\na 1 2\nb 1 2\n", "cost-ragged", "lines 2, 3"),
    "vector not a number": ("label,v1,v2\na,1,nan\nb,1,2\n", "cost-nan", "line 2"),
    "vector infinite": ("label,v1,v2\na,1,2\nb,-inf,2\n", "cost-infinite", "line 3"),
    "vector of text": ("label,v1,v2\na,1,2\nb,x,2\n", "cost-text-cell", "line 3"),
    "vector empty cell": ("label,v1,v2\na,1,2\nb,,2\n", "cost-nan", "line 3"),
    "two vectors of a label": ("label,v1,v2\na,1,2\na,2,2\n", "cost-twice", "line 3"),
    "vector without label": ("label,v1,v2\na,1,2\n,2,2\n", "cost-label", "line 3"),
    "all vectors zero": ("a 0 0\nb 0 0\n", "cost-zero", "line 1"),
    "vectors of one number": ("label,v1\na,1\nb,2\n", "cost-short", "line 2"),
    # any file
    "empty": (b"", "file-empty", "bad.csv"),
    "blank lines": ("\n \n\n", "file-empty", "bad.csv"),
    "one word": ("hello\n", "cost-empty", "line 1"),
    "prose": ("Dear all,\nhere are the costs.\nBest\n", "cost-unknown", "line 1"),
    "web page": ("<!DOCTYPE html><html>a,b,c</html>", "not-a-table", "bad.csv"),
    "JSON": ('{"a": {"b": 1}}\n', "not-a-table", "bad.csv"),
    "binary": (b"\x89PNG\r\n\x1a\n\0\0\0\rIHDR\0\1\2", "nul-byte", "line 3"),
    "cut UTF-16": ("\ufeff".encode("utf-16-le") + b"a\0,\0b\0\n\0c", "encoding-wrong", "bad.csv"),
    "damaged UTF-8": (
        ",ü,ö,ä\nü,0,1,1\n".encode() + b"\xf6,1,0,1\n" + "ä,1,1,0\n".encode(),
        "utf8-damaged",
        "line 3",
    ),
    "a million lines": (b"x,y,1\n" * (MAX_LINES + 1), "cost-large", "line 1,000,001"),
    # arrays
    "no costs in the npz": (npz(a=[1]), "cost-arrays", "bad.csv"),
    "npz without labels": (npz(matrix=np.zeros((2, 2))), "cost-arrays", "bad.csv"),
    "npz of wrong size": (npz(labels=["a"], matrix=np.zeros((2, 2))), "cost-size", "matrix"),
    "npz with NaN": (npz(labels=["a", "b"], matrix=[[0, np.nan], [1, 0]]), "cost-nan", "line 1"),
    "npz uneven": (npz(labels=["a", "b"], matrix=[[0, 1], [2, 0]]), "cost-asymmetric", "line 2"),
    "npz twice": (npz(labels=["a", "a"], matrix=[[0, 1], [1, 0]]), "cost-twice", "bad.csv"),
    "npz of texts": (npz(labels=["a", "b"], vectors=[["1", "2"]] * 2), "cost-shape", "bad.csv"),
    "npz parent between": (npz(labels=["a", "b"], parents=[1.5, -1]), "cost-parents", "bad.csv"),
    "npz parent unknown": (npz(labels=["a", "b"], parents=[np.nan, 0]), "cost-parents", "bad.csv"),
    "npz parent outside": (npz(labels=["a", "b"], parents=[5, -1]), "cost-parents", "bad.csv"),
    "npz cycle": (npz(labels=["a", "b"], parents=[1, 0]), "cost-cycle", "line 1"),
    "npz cut off": (npz(labels=["a"], matrix=[[0.0]])[:-30], "npz-damaged", "bad.csv"),
    "pickle in an npz": (npz(labels=np.array([{}], dtype=object)), "npz-objects", "labels"),
}


@pytest.mark.parametrize("case", REFUSED)
def test_a_bad_file_is_refused_with_its_place(case: str) -> None:
    content, code, where = REFUSED[case]
    with pytest.raises(InvalidData) as refused:
        read_cost_bytes(content.encode() if isinstance(content, str) else content, "bad.csv")
    problems = {problem.code: problem for problem in refused.value.problems}
    assert code in problems, problems
    assert where in problems[code].where
    assert problems[code].cure.endswith(".") and problems[code].found


def test_there_are_sixty_of_them() -> None:
    assert len(REFUSED) >= 60


def test_all_problems_of_a_file_are_said_at_once() -> None:
    with pytest.raises(InvalidData) as refused:
        read_cost_bytes(b",a,b,c\na,0,x,-1\nb,inf,0,1\nc,2,1,0\n", "bad.csv")
    codes = [problem.code for problem in refused.value.problems]
    assert codes == ["cost-text-cell", "cost-negative", "cost-infinite"]


HALVES = {
    "upper half": ",a,b,c\na,,1,2\nb,,,4\nc,,,\n",
    "lower half": ",a,b,c\na\nb,1\nc,2,4\n",
    "zeros below": ",a,b,c\na,0,1,2\nb,0,0,4\nc,0,0,0\n",
    "one cell of each pair": ",a,b,c\na,0,1,\nb,,0,4\nc,2,,0\n",
    "rows in another order": ",a,b,c\nc,2,4,0\na,0,1,2\nb,1,0,4\n",
    "decimal commas": ";a;b;c\na;0;1,0;2,0\nb;1,0;0;4,0\nc;2,0;4,0;0\n",
    "tabs": SQUARE.replace(",", "\t"),
    "quotes": SQUARE.replace("a", '"a"'),
    "rounding": SQUARE.replace("b,1,", "b,1.0000001,"),
    "Windows line ends": SQUARE.replace("\n", "\r\n"),
    "byte order mark": "\ufeff" + SQUARE,
    "blank lines": "\n" + SQUARE.replace("\n", "\n\n"),
    "long": "feature,feature,distance\na,b,1\na,c,2\nb,c,4\n",
    "long without header": "a,b,1\na,c,2\nb,c,4\n",
    "long, twice alike": "a,b,1\na,c,2\nb,c,4\nb,a,1\na,b,1\n",
    "long, not all listed": "a,b,1\na,c,2\nb,c,4\n",
}


@pytest.mark.parametrize("case", HALVES)
def test_a_repaired_file_gives_the_same_distances(case: str) -> None:
    table = read_cost_bytes(HALVES[case].encode(), "costs.csv")
    wanted = np.array([[0, 1, 2], [1, 0, 4], [2, 4, 0]]) / 4
    assert (table.kind, table.labels) == ("matrix", ("a", "b", "c"))
    np.testing.assert_allclose(table.values, wanted, atol=1e-7)
    np.testing.assert_array_equal(table.values, table.values.T)


@pytest.mark.parametrize("encoding", ["utf-8", "utf-16", "cp1252"])
def test_other_encodings_are_read(encoding: str) -> None:
    content = ",Übelkeit,Fieber\nÜbelkeit,0,0.5\nFieber,0.5,0\n".encode(encoding)
    assert read_cost_bytes(content, "costs.csv").labels == ("Übelkeit", "Fieber")


def said(content: str) -> tuple[CostTable, str]:
    findings = Findings()
    table = read_cost_bytes(content.encode(), "costs.csv", findings)
    return table, " ".join(findings.notes)


def test_repairs_are_said() -> None:
    assert "divided by the largest, 4" in said(SQUARE)[1]
    assert "from the other half" in said(HALVES["upper half"])[1]
    assert "filled from the other" in said(HALVES["zeros below"])[1]
    assert "decimal comma" in said(HALVES["decimal commas"])[1]
    assert "holds distances between features: 3 labels" in said(SQUARE)[1]
    table, notes = said("a,b,0.2\nc,d,0.6\n")
    assert "4 pairs are not listed" in notes and table.values[0, 2] == 0.6
    table, notes = said("a 0 0\nb 1 2\n")
    assert "1 vectors hold only zeros" in notes and table.labels == ("a", "b")


def test_a_line_twice_counts_once() -> None:
    assert said("child,parent\na,b\na,b\n")[0].labels == ("a", "b")
    assert said("label,v1,v2\na,1,2\na,1,2\nb,2,1\n")[0].labels == ("a", "b")


VECTORS = {
    "word2vec": "2 3\nheart failure 1 0 -2.5e-1\nasthma 0 1 0\n",
    "without first line": "heart failure 1 0 -.25\nasthma 0 1 0\n",
    "CSV": "label,v1,v2,v3\nheart failure,1,0,-0.25\nasthma,0,1,0\n",
    "CSV without header": "heart failure,1,0,-0.25\nasthma,0,1,0\n",
    "semicolons and decimal commas": "label;x;y;z\nheart failure;1;0;-0,25\nasthma;0;1;0\n",
}


@pytest.mark.parametrize("case", VECTORS)
def test_vectors_are_read_however_they_are_written(case: str) -> None:
    table = read_cost_bytes(VECTORS[case].encode(), "vectors.txt")
    assert (table.kind, table.labels) == ("vectors", ("heart failure", "asthma"))
    assert table.values.tolist() == [[1, 0, -0.25], [0, 1, 0]]


@pytest.mark.parametrize("content", [SQUARE, "child,parent\na,b\nc,b\n", VECTORS["CSV"]])
def test_a_table_written_and_read_is_the_same(content: str) -> None:
    table = read_cost_bytes(content.encode(), "mine.csv")
    again = read_cost_bytes(table.to_bytes(), "another name")
    assert again == table and again.source == "mine.csv" and again.digest == table.digest
    assert again.to_bytes() == table.to_bytes()


CELLS = st.sampled_from(["", "a", "b", "0", "1", "-1", "nan", "child", "parent", "distance", '"'])
TABLES = st.tuples(
    st.lists(st.lists(CELLS, max_size=4), max_size=5), st.sampled_from([",", ";", " ", "\t"])
).map(lambda made: "\n".join(made[1].join(row) for row in made[0]).encode())


@given(st.one_of(TABLES, st.binary(max_size=40)))
@settings(max_examples=150, deadline=None)
def test_any_bytes_are_costs_or_refused(content: bytes) -> None:
    try:
        table = read_cost_bytes(content, "any")
    except InvalidData as refused:
        event("refused")
        faults = [problem for problem in refused.problems if not (problem.cure and problem.where)]
        table, sound = None, not faults
    if table is not None:
        event(table.kind)
        sound = len(table.values) == len(table.labels) == len(set(table.labels)) > 0
        if table.kind == "matrix":
            check_cost(table.values, len(table.labels), "any")
    assert sound

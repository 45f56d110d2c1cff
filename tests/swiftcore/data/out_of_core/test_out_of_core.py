"""Tables counted out of core: the entries of the builder in memory, or a refusal with a cure."""

from __future__ import annotations

import csv
import gzip
import io
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as parquet  # type: ignore[import-untyped]
import pytest
from hypothesis import HealthCheck, Phase, given, settings
from hypothesis import strategies as st

from swiftcore.cli import main
from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path.read_path import read_path
from swiftcore.data.options import BuildOptions
from swiftcore.data.out_of_core.build import build_shards
from swiftcore.data.out_of_core.database import Sql, open_database, private_folder
from swiftcore.data.reading.findings import Findings
from swiftcore.data.samples import sample_folder
from swiftcore.data.shards.reader import open_shards
from swiftcore.data.synthetic.ehr_shards import Request, generate_file
from swiftcore.errors import InvalidData, InvalidSettings, SwiftError

MEMORY = 500 * 10**6


def in_memory(folder: Path, options: BuildOptions) -> Dataset:
    return read_path(folder, options, Findings())


def out_of_core(folder: Path, options: BuildOptions, out: Path, step: int = 300) -> Dataset:
    build_shards(folder, out, options, MEMORY, rows_per_shard=step)
    assert [one.name for one in out.parent.iterdir() if one.name.startswith(".")] == []
    return open_shards(out).to_dataset()


def assert_same(ours: Dataset, known: Dataset) -> None:
    assert ours.tensor == known.tensor
    assert (ours.outcome is None) == (known.outcome is None)
    if ours.outcome is not None and known.outcome is not None:
        assert ours.outcome.dtype.kind == known.outcome.dtype.kind
        assert (ours.outcome == known.outcome).all()
    assert (ours.name, ours.origin) == (known.name, known.origin)
    assert ours.outcome_name == known.outcome_name
    assert ours.outside.codes == known.outside.codes
    assert ours.summary is not None and known.summary is not None
    assert sorted(map(str, ours.summary.left_out)) == sorted(map(str, known.summary.left_out))
    assert ours.summary.tables == known.summary.tables
    assert ours.summary.mapping == known.summary.mapping


@pytest.mark.parametrize(
    "settings",
    [
        {},
        {"join": "visit", "values": "binary", "outcome_column": "heart_failure"},
        {"join": "visit", "top": 30, "min_support": 60},
        {"values": "log-count", "outcome_column": "clinic", "outcome_name": "where"},
    ],
)
def test_the_sample_is_counted_as_in_memory(tmp_path: Path, settings: dict[str, Any]) -> None:
    folder, options = sample_folder("heart_failure"), BuildOptions(**settings)
    ours = out_of_core(folder, options, tmp_path / "hf.swift")
    assert_same(ours, in_memory(folder, options))


def test_generated_tables_give_the_generated_data(tmp_path: Path) -> None:
    generate_file(Request(400, seed=2, block=150), tmp_path / "made.swift", tmp_path / "tables")
    options = BuildOptions(join="visit", values="binary", outcome_column="heart_failure")
    ours = out_of_core(tmp_path / "tables", options, tmp_path / "built.swift", 150)
    made = open_shards(tmp_path / "made.swift").to_dataset()
    assert ours.tensor == made.tensor and made.outcome is not None
    assert np.array_equal(ours.outcome, made.outcome)
    assert_same(ours, in_memory(tmp_path / "tables", options))


WORDS = st.sampled_from(
    (
        *("", " ", "a", "b", "A", "b ", "é", "e\u0301", "ß", "10", "9", "x,y", 'say "ah"'),
        *("two\nlines", "\u3000", "\u200b", "NULL", "nan", "'; DROP TABLE people; --", "\\", "#"),
    )
)
PEOPLE = st.sampled_from(["p1", "p2", "p10", "", "P1", "é"])
VISITS = st.sampled_from(["1", "2", "", "v"])
COUNTS = st.sampled_from(["1", "2", "0", "", "3.0", " 4"])
EVENTS = st.lists(st.tuples(PEOPLE, VISITS, WORDS, COUNTS), min_size=1, max_size=12)
OUTCOMES = st.lists(st.sampled_from(["1", "0", "yes", "", "maybe"]), min_size=4, max_size=4)


def write_csv(path: Path, header: list[str], rows: list[tuple[str, ...]], packed: bool) -> None:
    text = io.StringIO()
    writer = csv.writer(text, lineterminator="\n")
    writer.writerows([header, *rows])
    content = text.getvalue().encode()
    path.write_bytes(content)
    if packed:
        path.unlink()
        path.with_name(f"{path.name}.gz").write_bytes(gzip.compress(content))


def write_parquet(path: Path, header: list[str], rows: list[tuple[str, ...]]) -> None:
    columns = [[cell or None for cell in column] for column in zip(*rows, strict=True)]
    arrays = [pa.array(column, pa.string()) for column in columns]
    parquet.write_table(pa.table(arrays, names=header), path.with_suffix(".parquet"))


@settings(
    max_examples=25,
    deadline=None,
    phases=(Phase.explicit, Phase.reuse, Phase.generate),  # a build is too slow to shrink
    suppress_health_check=list(HealthCheck),
)
@given(EVENTS, EVENTS, OUTCOMES, st.data())
def test_any_tables_are_counted_as_in_memory_or_refused(
    tmp_path_factory: pytest.TempPathFactory,
    diagnoses: list[tuple[str, ...]],
    drugs: list[tuple[str, ...]],
    outcomes: list[str],
    data: st.DataObject,
) -> None:
    place = tmp_path_factory.mktemp("any")
    folder = place / "tables"
    folder.mkdir()
    kind = data.draw(st.sampled_from(["csv", "gz", "parquet"]))
    people = list(zip(["p1", "p2", "p10", "é"], outcomes, strict=True))
    for name, header, rows in (
        ("dx.csv", ["patient", "visit", "code", "count"], diagnoses),
        ("rx.csv", ["patient", "visit", "drug", "count"], drugs),
        ("patients.csv", ["patient", "outcome"], people),
    ):
        if kind == "parquet":
            write_parquet(folder / name, header, rows)
        else:
            write_csv(folder / name, header, rows, packed=kind == "gz")
    options = BuildOptions(
        join=data.draw(st.sampled_from(["patient", "visit"])),
        top=data.draw(st.sampled_from([0, 1, 2])),
        min_support=data.draw(st.sampled_from([1, 2])),
    )
    try:
        known = in_memory(folder, options)
    except InvalidData as error:
        refused = error.problems[0].code
    else:
        assert_same(out_of_core(folder, options, place / "ours.swift", 2), known)
        return
    with pytest.raises(InvalidData) as caught:
        out_of_core(folder, options, place / "ours.swift", 2)
    assert caught.value.problems[0].code == refused


def tables(folder: Path, **files: str) -> Path:
    """Two small tables of events and one of patients, some of them replaced."""
    folder.mkdir(exist_ok=True)
    usual = {
        "dx": "patient,visit,code,description\np1,1,4280,Heart failure\np2,1,250,Diabetes\n",
        "rx": "patient,visit,drug\np1,1,insulin\np2,1,statin\np3,2,statin\n",
        "patients": "patient,died\np1,yes\np2,no\n",
    }
    for name, text in {**usual, **files}.items():
        (folder / f"{name}.csv").write_text(text, encoding="utf-8")
    return folder


def test_names_stand_for_codes_and_the_codes_are_kept(tmp_path: Path) -> None:
    folder, options = tables(tmp_path / "t"), BuildOptions(outcome_column="died")
    ours = out_of_core(folder, options, tmp_path / "o.swift")
    assert ours.tensor.modes[1].labels == ("Diabetes", "Heart failure")
    assert ours.outside.codes == {"code": {"Diabetes": "250", "Heart failure": "4280"}}
    assert_same(ours, in_memory(folder, options))


@pytest.mark.parametrize(
    ("option", "value"),
    [
        ("join", "window"),
        ("rows", "visit"),
        ("code_groups", "ccs"),
        ("code_names", "ccs"),
        ("outcome", "death"),
        ("outcome_codes", ("428*",)),
        ("drop_codes", ("x",)),
        ("before_outcome", True),
        ("lookback_days", 30.0),
        ("duplicates", "max"),
        ("merge_similar_names", True),
        ("kind", "omop"),
    ],
)
def test_what_only_memory_can_do_is_refused_with_a_cure(
    tmp_path: Path, option: str, value: Any
) -> None:
    folder = tables(tmp_path / "t")
    with pytest.raises(InvalidSettings, match=r"option-large|build a \.npz") as caught:
        build_shards(folder, tmp_path / "o.swift", BuildOptions(**{option: value}), MEMORY)
    assert [problem.code for problem in caught.value.problems] == ["option-large"]
    assert sorted(one.name for one in tmp_path.iterdir()) == ["t"]


ALL_DIED = "patient,died\np1,1\np2,1\n"
DX, HUGE = "patient,visit,code", "p1,a,999999999999999\n"
REFUSED: dict[str, tuple[dict[str, str], dict[str, Any], str]] = {
    "fractions": ({"dx": "patient,code,count\np1,a,0.5\np1,b,1\n"}, {}, "value-not-whole"),
    "below 0": ({"dx": "patient,code,count\np1,a,-1\np1,b,1\n"}, {}, "value-not-whole"),
    "an open quote": ({"dx": f'{DX}\np1,1,"a\np2,1,b\n'}, {}, "quote-open"),
    "mostly uneven rows": ({"dx": f"{DX}\np1,1\np2\np3\np1,1,a\n"}, {}, "rows-uneven"),
    "a NUL byte": ({"dx": f"{DX}\np1,1,a\0\np1,2,b\n"}, {}, "encoding-large"),
    "no rows": ({"dx": f"{DX}\n"}, {}, "table-empty"),
    "nobody in common": ({"dx": f"{DX}\nq1,1,a\nq1,1,b\n"}, {}, "join-empty"),
    "no visits": ({"dx": "patient,code\np1,a\np1,b\n"}, {"join": "visit"}, "visit-missing"),
    "no such outcome": ({}, {"outcome_column": "dead"}, "outcome-column"),
    "one class": ({"patients": ALL_DIED}, {"outcome_column": "died"}, "outcome-one-class"),
    "support for nothing": ({}, {"min_support": 9}, "nothing-left"),
    "names by case": ({"dx": f"{DX},Code\np1,1,a,b\n"}, {}, "column-twice"),
    "other letters": ({}, {"encoding": "cp1252"}, "encoding-large"),
    "a huge sum": ({"dx": "patient,code,count\n" + HUGE * 11}, {}, "value-sum"),
}


@pytest.mark.parametrize("what", REFUSED)
def test_what_cannot_be_counted_is_refused_and_leaves_nothing(tmp_path: Path, what: str) -> None:
    files, options, code = REFUSED[what]
    folder = tables(tmp_path / "t", **files)
    with pytest.raises(SwiftError) as caught:
        build_shards(folder, tmp_path / "o.swift", BuildOptions(**options), MEMORY)
    assert {problem.code for problem in caught.value.problems} == {code}
    assert caught.value.problems[0].cure
    assert sorted(one.name for one in tmp_path.iterdir()) == ["t"]


def test_bytes_that_are_no_text_or_no_parquet_are_refused(tmp_path: Path) -> None:
    folder = tables(tmp_path / "t")
    (folder / "dx.csv").write_bytes(b"patient,visit,code\np1,1,\xe9\np2,1,b\n")
    with pytest.raises(InvalidData, match=r"UTF-?8"):
        build_shards(folder, tmp_path / "o.swift", BuildOptions(), MEMORY)
    (folder / "dx.csv").unlink()
    write_parquet(folder / "dx.csv", ["patient", "visit", "code"], [("p1", "1", "a")] * 50)
    content = bytearray((folder / "dx.parquet").read_bytes())
    content[10:40] = b"\xff" * 30
    (folder / "dx.parquet").write_bytes(content)
    with pytest.raises(InvalidData, match=r"cannot be (counted|read)"):
        build_shards(folder, tmp_path / "o.swift", BuildOptions(), MEMORY)
    fractions = pa.table({"patient": [1.5, 2.0], "code": ["a", "b"]})
    parquet.write_table(fractions, folder / "dx.parquet")
    with pytest.raises(InvalidData, match="cannot be counted as it is stored"):
        build_shards(folder, tmp_path / "o.swift", BuildOptions(), MEMORY)


FORBIDDEN = (
    "SELECT * FROM read_csv('{secret}')",
    "SELECT * FROM read_text('{secret}')",
    "SELECT * FROM '{secret}'",
    "SELECT * FROM glob('{folder}/*')",
    "COPY (SELECT 1) TO '{folder}/new.csv'",
    "COPY (SELECT 1) TO '{secret}'",
    "ATTACH '{folder}/new.duckdb'",
    "SET enable_external_access = true",
    "SET allowed_paths = ['{secret}']",
    "INSTALL httpfs",
    "LOAD httpfs",
    "SELECT * FROM leaked",
)


@pytest.mark.parametrize("statement", FORBIDDEN)
def test_the_database_reads_the_named_files_and_nothing_else(
    tmp_path: Path, statement: str
) -> None:
    secret = tmp_path / "secret.csv"
    secret.write_text("a\n1\n")
    named = tmp_path / "it's [named]*.parquet"
    parquet.write_table(pa.table({"a": [1, 2]}), named)
    leaked = pa.table({"a": [3]})  # a variable of this name must not be found either
    assert leaked.num_rows == 1
    with private_folder(tmp_path) as folder:
        assert folder.stat().st_mode & 0o077 == 0
        with open_database(folder, [named], MEMORY) as database:
            read = f"SELECT sum(a) FROM read_parquet('{database.links[0]}')"
            with pytest.raises(TypeError, match="no SQL"):
                database.run(read)  # type: ignore[arg-type]
            assert database.run(Sql(read)) == [(3,)]
            with pytest.raises(InvalidData, match="cannot be counted"):
                database.run(Sql(statement.format(secret=secret, folder=tmp_path)))
    assert sorted(one.name for one in tmp_path.iterdir()) == [named.name, "secret.csv"]
    assert secret.read_text() == "a\n1\n"


def test_a_build_says_what_it_does_and_leaves_nothing_when_it_is_stopped(tmp_path: Path) -> None:
    folder, out = sample_folder("heart_failure"), tmp_path / "o.swift"
    said: list[str] = []
    build_shards(folder, out, BuildOptions(), MEMORY, rows_per_shard=600, say=said.append)
    assert said[0] == "Reading the tables" and said[-1].startswith("Writing shard 2 of 2")
    assert "Counted the cells of 600 of " in " ".join(said)
    stopped_at = tmp_path / "stopped"
    for stage in (said[1], said[-2], said[-1]):
        stopped_at.mkdir()

        def stop(words: str, stage: str = stage) -> None:
            if words == stage:
                raise KeyboardInterrupt

        with pytest.raises(KeyboardInterrupt):
            build_shards(
                folder, stopped_at / "o.swift", BuildOptions(), MEMORY, rows_per_shard=600, say=stop
            )
        stopped_at.rmdir()  # it is empty


ENDLESS = """
import signal, sys
from pathlib import Path
from swiftcore.data.out_of_core.database import Sql, open_database
signal.signal(signal.SIGINT, signal.default_int_handler)  # off for what a shell runs behind itself
with open_database(Path(sys.argv[1]), [], int(sys.argv[2])) as database:
    print("up", flush=True)
    try:
        database.run(Sql(
            "SELECT sum(sqrt(a.range * 1.0 + b.range)) FROM range(200000) a, range(2000000) b"
        ))
    except KeyboardInterrupt:
        print("stopped")
"""


def test_ctrl_c_reaches_a_statement_that_runs(tmp_path: Path) -> None:
    command = [sys.executable, "-c", ENDLESS, str(tmp_path), str(MEMORY)]
    with subprocess.Popen(command, stdout=subprocess.PIPE, text=True) as running:
        assert running.stdout is not None and running.stdout.readline() == "up\n"
        time.sleep(0.5)
        running.send_signal(signal.SIGINT)
        try:
            assert running.communicate(timeout=60)[0] == "stopped\n"
        finally:
            running.kill()


HOSTILE = ('"; DROP TABLE people; --', "a'b", 'say "ah"', "a\\", "person", "select", "é\u202e", "*")


@pytest.mark.parametrize("name", HOSTILE)
def test_hostile_names_of_columns_and_files_run_nothing(tmp_path: Path, name: str) -> None:
    folder = tmp_path / "it's; DROP TABLE [people]*"
    folder.mkdir()
    rows = [("p1", "a"), ("p2", "b"), ("p1", name)]
    write_csv(folder / "dx.csv", ["patient", f"code {name}"], rows, packed=False)
    write_parquet(folder / "r'x", ["patient", f"drug {name}"], rows)
    ours = out_of_core(folder, BuildOptions(), tmp_path / "o.swift", 1)
    assert_same(ours, in_memory(folder, BuildOptions()))


def test_the_command_says_what_is_missing_and_what_is_wrong(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    folder, out = tables(tmp_path / "t"), tmp_path / "o.swift"
    build = ["data", "build", str(folder), "--out"]
    assert main([*build, str(out), "--memory", "500MB"]) == 0
    assert f"Saved to {out}, SHA-256 {open_shards(out).seal}" in capsys.readouterr().out
    for words, code in (
        ([str(out), "--memory", "1MB"], "memory-amount"),
        ([str(out), "--memory", "lots"], "memory-amount"),
        ([str(tmp_path / "o.npz"), "--memory", "2GB"], "memory-whole"),
    ):
        assert main([*build, *words]) == 2
        assert code in capsys.readouterr().err
    assert main(["data", "build", str(folder / "dx.csv"), "--out", str(out)]) == 2
    assert "layout-large" in capsys.readouterr().err
    made = tmp_path / "m.swift"
    generate = ["data", "generate", "--patients", "50", "--seed", "3", "--out", str(made)]
    assert main([*generate, "--tables", str(tmp_path / "made")]) == 0
    assert "50 patient x 100 diagnosis x 100 medication" in capsys.readouterr().out
    assert (tmp_path / "made" / "diagnoses.parquet").is_file()
    monkeypatch.setitem(sys.modules, "duckdb", None)
    assert main([*build, str(out)]) == 2
    said = " ".join(capsys.readouterr().err.split())
    assert 'pip install "swift-phenotyping[databases]"' in said


@pytest.mark.parametrize("strange", ["more.jsonl", "parts/year=2020/0.parquet"])
def test_tables_that_only_the_reader_in_memory_knows_are_not_overlooked(
    strange: str, tmp_path: Path
) -> None:
    folder = tmp_path / "tables"
    (folder / strange).parent.mkdir(parents=True)
    for name in ("diagnoses", "medications"):
        (folder / f"{name}.csv").write_text("patient,code\n1,a\n1,b\n2,a\n")
    if strange.endswith("jsonl"):
        (folder / strange).write_text('{"patient": "1", "procedure": "x"}\n' * 3)
    else:
        parquet.write_table(pa.table({"patient": ["1"], "procedure": ["x"]}), folder / strange)
        parquet.write_table(
            pa.table({"patient": ["1"], "procedure": ["x"]}), folder / "parts/year=2020/1.parquet"
        )
    with pytest.raises(InvalidData) as caught:
        build_shards(folder, tmp_path / "out.swift", BuildOptions(), MEMORY)
    assert caught.value.problems[0].code == "layout-large"

"""swift data inspect --json, --options, --yes: what programs and settings files rely on."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from swiftcore.cli import main
from swiftcore.data.bundle import read_bundle
from swiftcore.data.option_help import as_toml, settings_of_file
from swiftcore.data.options import BuildOptions, options_from_text


@pytest.fixture
def wide(tmp_path: Path) -> Path:
    rows = ["Nr;Dg_1;Dg_2;Mittel_1;Mittel_2;Ende"]
    for k in range(40):
        codes = f"E1{k % 7}.0;{f'E1{(k + 2) % 7}.0' if k % 2 else ''}"
        drugs = f"M{'abcde'[k % 5]};{'Ma' if k % 3 else ''}"
        rows.append(f"{5001 + k};{codes};{drugs};{k % 2}")
    path = tmp_path / "wide.csv"
    path.write_text("\n".join(rows) + "\n", encoding="utf-8")
    return path


def test_inspect_as_json_says_what_would_be_built(
    wide: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    assert main(["data", "inspect", str(wide), "--json"]) == 0
    report = json.loads(capsys.readouterr().out)
    assert (report["kind"], report["layout"], report["problems"]) == ("table", "wide", [])
    assert report["shape"] == [40, 7, 5] and report["modes"] == ["Nr", "Dg", "Mittel"]
    assert report["outcome_candidates"] == {"Ende": {"0": 20, "1": 20}}
    roles = {one["column"]: one["role"] for one in report["roles"]}
    assert roles["Nr"] == "id" and roles["Dg_2"] == "code" and all(roles.values())
    out = tmp_path / "b.swift.npz"
    assert main(["data", "build", str(wide), "--out", str(out)]) == 0
    assert read_bundle(out).tensor.digest() == report["digest"]


def test_a_bundle_keeps_its_options_and_they_build_the_same_again(
    wide: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    first, second = tmp_path / "one.swift.npz", tmp_path / "two.swift.npz"
    given = ["--set", "values=binary", "--set", "columns.row=Nr", "--set", "outcome_column=Ende"]
    assert main(["data", "build", str(wide), "--out", str(first), *given]) == 0
    capsys.readouterr()
    assert main(["data", "inspect", str(first)]) == 0
    shown = capsys.readouterr().out.split("Built with")[1].split("\n\nWould")[0]
    file = tmp_path / "build.toml"
    file.write_text("\n".join(line.strip() for line in shown.splitlines()[1:]), encoding="utf-8")
    assert main(["data", "build", str(wide), "--out", str(second), "--options", str(file)]) == 0
    assert first.read_bytes() == second.read_bytes()
    assert read_bundle(first).options["columns"] == {"row": "Nr"}


def test_options_survive_toml(tmp_path: Path) -> None:
    options = BuildOptions(
        columns={"row": 'a "b" \\ c', "features": "x, y"},
        drop_codes=("Z00", "1"),
        top=5,
        yes=True,
        lookback_days=2.5,
    )
    file = tmp_path / "o.toml"
    file.write_text(as_toml(options.changed()), encoding="utf-8")
    lines = settings_of_file(file)
    assert options_from_text([one for one in lines if "delimiter" not in one]) == BuildOptions(
        **{
            **options.to_json(),
            "delimiter": "",
            "limits": options.limits,
            "drop_codes": ("Z00", "1"),
        }
    )


@pytest.mark.parametrize("content", ["values = ", "[columns\nrow = 1", "\x00"])
def test_a_settings_file_that_is_none_is_refused(
    wide: Path, tmp_path: Path, content: str, capsys: pytest.CaptureFixture[str]
) -> None:
    file = tmp_path / "bad.toml"
    file.write_text(content, encoding="utf-8")
    assert main(["data", "inspect", str(wide), "--options", str(file)]) == 2
    assert "settings file cannot be read" in capsys.readouterr().err


def test_doubtful_builds_take_a_yes(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    rows = [f"p{k},A1{k % 9},B1{k % 8},C1{k % 7},D1{k % 6}" for k in range(60)]
    path = tmp_path / "five.csv"
    path.write_text("\n".join(["patient,code a,code b,code c,code d", *rows]), encoding="utf-8")
    assert main(["data", "inspect", str(path)]) == 2
    told = capsys.readouterr().out
    assert "modes-many" in told and "No problems." not in told
    assert main(["data", "inspect", str(path), "--yes"]) == 0


def test_the_options_are_listed(capsys: pytest.CaptureFixture[str]) -> None:
    assert main(["data", "options"]) == 0
    told = capsys.readouterr().out
    assert "--set layout=wide" in told and "count, binary, log-count; count unless set" in told

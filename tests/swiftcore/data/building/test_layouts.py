"""One content, many layouts: the same tensor, or a question that names what is unclear."""

from __future__ import annotations

import random
from collections.abc import Callable, Iterable
from pathlib import Path

import pytest
from hypothesis import HealthCheck, given, settings
from hypothesis import strategies as st

from swiftcore.data.building.layouts.profile import profile_of
from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path.read_path import read_path
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.coded import Coded
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import InvalidData

Write = Callable[[str, str | bytes], Path]
Entries = dict[str, tuple[list[str], list[str]]]  # by patient: diagnoses, medications


def build(path: Path, findings: Findings | None = None, **options: object) -> Dataset:
    return read_path(path, BuildOptions(**options), findings or Findings())  # type: ignore[arg-type]


def problems(path: Path, **options: object) -> list[str]:
    with pytest.raises(InvalidData) as caught:
        build(path, **options)
    return [problem.code for problem in caught.value.problems]


def text(rows: Iterable[Iterable[str]], separator: str = ";") -> str:
    return "".join(separator.join(row) + "\n" for row in rows)


def some_patients(count: int = 60, seed: int = 1) -> Entries:
    rng = random.Random(seed)
    codes = [
        f"{letter}{number}.{digit}" for letter in "EIJ" for number in (10, 25) for digit in "09"
    ]
    drugs = ["Metformin", "Ramipril", "Aspirin", "Insulin", "Bisoprolol", "Torasemid", "Digoxin"]
    return {
        f"{7001 + 3 * k}": (
            sorted(rng.sample(codes, rng.randint(1, 4))),
            sorted(rng.sample(drugs, rng.randint(1, 3))),
        )
        for k in range(count)
    }


def long_tables(entries: Entries, names: tuple[str, str], write: Write) -> Path:
    """The clean form: one table per kind of feature, one line per entry."""
    for place, name in enumerate(names):
        rows = [(who, one) for who, both in entries.items() for one in both[place]]
        path = write(f"clean/{place}_{name}.csv", text([("patient", name), *rows], "\t"))
    return path.parent


def layouts_of(entries: Entries, names: tuple[str, str]) -> dict[str, str]:
    """The same entries in every other layout, as the text of a file with tabs."""
    sizes = [max(len(both[place]) for both in entries.values()) for place in (0, 1)]
    numbered = [
        f"{name}_{k + 1}" for name, size in zip(names, sizes, strict=True) for k in range(size)
    ]
    every = [sorted({one for both in entries.values() for one in both[place]}) for place in (0, 1)]
    flags = [f"{name}:{one}" for name, some in zip(names, every, strict=True) for one in some]

    def padded(both: tuple[list[str], list[str]]) -> list[str]:
        return [
            cell
            for some, size in zip(both, sizes, strict=True)
            for cell in [*some, *[""] * (size - len(some))]
        ]

    wide = [("patient", *numbered), *((who, *padded(both)) for who, both in entries.items())]
    return {
        "wide": text(wide, "\t"),
        "titled": "Export of all wards 2024-02-01\n\n" + text(wide, "\t"),
        "lists": text(
            [
                ("patient", *names),
                *((who, *("|".join(some) for some in both)) for who, both in entries.items()),
            ],
            "\t",
        ),
        "onehot": text(
            [
                ("patient", *flags),
                *(
                    (who, *("1" if one in some else "0" for one, some in _each(every, both)))
                    for who, both in entries.items()
                ),
            ],
            "\t",
        ),
        "long": text(
            [
                ("patient", "kind", "entry"),
                *(
                    (who, name, one)
                    for who, both in entries.items()
                    for name, some in zip(names, both, strict=True)
                    for one in some
                ),
            ],
            "\t",
        ),
    }


def _each(
    every: list[list[str]], both: tuple[list[str], list[str]]
) -> Iterable[tuple[str, list[str]]]:
    return ((one, some) for group, some in zip(every, both, strict=True) for one in group)


@pytest.mark.parametrize("layout", ["wide", "titled", "lists", "onehot", "long"])
def test_every_layout_gives_the_tensor_of_the_clean_form(write: Write, layout: str) -> None:
    entries, names = some_patients(), ("diagnosis", "medication")
    clean = build(long_tables(entries, names, write)).tensor
    findings = Findings()
    built = build(write("t.tsv", layouts_of(entries, names)[layout]), findings)
    assert built.tensor.digest() == clean.digest()
    assert findings.layout == {"titled": "wide"}.get(layout, layout)
    assert any("melted" in note or "long table" in note for note in findings.notes)


@pytest.mark.parametrize("folder", ["synthea_1k", "gibleed_omop", "mimic3_demo", "eicu_demo"])
def test_real_data_in_every_layout(
    shared: Callable[[str], Path], write: Write, folder: str
) -> None:
    tensor = build(shared(folder)).tensor
    names = (tensor.modes[1].name, tensor.modes[2].name)
    entries: Entries = {}
    for who, label in enumerate(tensor.modes[0].labels[:200]):
        mine = tensor.coordinates[tensor.coordinates[:, 0] == who]
        both = [{tensor.modes[axis].labels[at].strip() for at in mine[:, axis]} for axis in (1, 2)]
        entries[label] = (sorted(both[0]), sorted(both[1]))
    clean = build(long_tables(entries, names, write)).tensor
    for layout, content in layouts_of(entries, names).items():
        path = write(f"{layout}.tsv", content)
        built = build(path).tensor
        assert built.digest() == clean.digest(), layout


def test_numbers_and_dates_are_never_features(write: Write) -> None:
    rows = [
        (
            who,
            dx[0],
            f"Mittel {chr(65 + k % 13)}",
            str(50 + k % 30),
            f"2020-03-{k % 27 + 1:02}",
            f"{k * 1.7:.1f}",
        )
        for k, (who, (dx, _)) in enumerate(some_patients().items())
    ]
    findings = Findings()
    data = build(write("t.csv", text([("nr", "a", "b", "c", "d", "e"), *rows])), findings)
    assert [mode.name for mode in data.tensor.modes] == ["nr", "a", "b"]
    roles = {one.column: one.role for one in findings.roles}
    assert roles == {
        "nr": "id",
        "a": "code",
        "b": "code",
        "c": "covariate",
        "d": "date",
        "e": "covariate",
    }


def test_a_matrix_of_counts_is_asked_about_and_read_when_told(write: Write) -> None:
    rng = random.Random(0)
    rows = [
        (f"{9001 + k}", *(str(rng.choice([0, 0, 0, 1, 2, 5])) for _ in range(8))) for k in range(40)
    ]
    path = write("t.csv", text([("nr", *"abcdefgh"), *rows]))
    assert "layout-unclear" in problems(path)
    told = build(path, layout="onehot").tensor
    assert told.shape[1] == 8 and told.values.max() == 5


def test_doubtful_builds_need_a_yes(write: Write) -> None:
    rng = random.Random(0)
    head = ("patient", "code a", "code b", "code c", "code d")
    five = [(f"p{k}", *(f"{letter}{rng.randint(10, 19)}" for letter in "ABCD")) for k in range(90)]
    path = write("five.csv", text([head, *five]))
    assert "modes-many" in problems(path)
    assert len(build(path, yes=True).tensor.modes) == 5
    alone = [(f"p{k % 30}", f"name {k}") for k in range(90)]
    unique = write("unique.csv", text([("patient", "code"), *alone]))
    assert problems(unique, columns={"features": "code"}) == ["mode-unique"]
    assert build(unique, columns={"features": "code"}, yes=True).tensor.shape == (30, 90)


def test_a_third_of_the_patients_lost_needs_a_yes(write: Write) -> None:
    write("two/a.csv", text([("patient", "dx"), *((f"p{k}", f"E{k % 7}") for k in range(60))]))
    path = write(
        "two/b.csv", text([("patient", "rx"), *((f"p{k}", f"m{k % 5}") for k in range(20))])
    )
    assert problems(path.parent) == ["rows-lost"]
    assert build(path.parent, yes=True).tensor.shape[0] == 20


def test_totals_below_and_merged_cells(write: Write) -> None:
    entries = some_patients()
    rows = [
        (who if place == 0 else "", one, other)
        for who, (dx, rx) in entries.items()
        for place, (one, other) in enumerate((a, b) for a in dx for b in rx)
    ]
    plain = [(who, a, b) for who, (dx, rx) in entries.items() for a in dx for b in rx]
    head = ("patient", "dx", "rx")
    merged, findings = (
        write("m.csv", text([head, *rows, ("Summe", str(len(rows)), "")])),
        Findings(),
    )
    assert build(merged, findings).tensor == build(write("p.csv", text([head, *plain]))).tensor
    assert [(one.count, "totals" in one.reason) for one in findings.left_out] == [(1, True)]
    assert any("merged cells" in note for note in findings.notes)


def test_an_unknown_id_column_of_several_tables_is_found_by_its_entries(write: Write) -> None:
    entries = some_patients()
    dx = [(who, one) for who, both in entries.items() for one in both[0]]
    rx = [
        (f"x{k}", who, one)
        for k, (who, one) in enumerate((w, o) for w, b in entries.items() for o in b[1])
    ]
    about = [(who, str(30 + k % 50), str(k % 2)) for k, who in enumerate(entries)]
    write("t/one.csv", text([("patient_nbr", "was"), *dx]))
    write("t/two.csv", text([("zeile", "patient_nbr", "womit"), *rx]))
    path = write("t/three.csv", text([("patient_nbr", "jahre", "ende"), *about]))
    findings = Findings()
    data = build(path.parent, findings)
    assert [mode.name for mode in data.tensor.modes] == ["patient", "was", "womit"]
    assert findings.candidate_counts["ende"] == {"0": 30, "1": 30}
    wrong = problems(path.parent, columns={"row": "patientnr"})
    assert wrong == ["column-missing"]


def test_a_layout_that_is_not_there_is_refused(write: Write) -> None:
    rows = [(f"p{k % 9}", f"d{k % 5}", f"m{k % 4}") for k in range(40)]
    path = write("t.csv", text([("patient", "dx", "rx"), *rows]))
    for layout in ("wide", "onehot", "lists"):
        assert problems(path, layout=layout) == ["layout-absent"]
    assert build(path, layout="long").tensor.shape == (9, 5, 4)


cell = st.text(st.characters(codec="utf-8", exclude_characters="\0\r\n"), max_size=8)


@settings(max_examples=60, deadline=None, suppress_health_check=[HealthCheck.too_slow])
@given(st.lists(cell, min_size=1, max_size=30))
def test_any_column_has_a_profile_that_counts_its_entries(texts: list[str]) -> None:
    profile = profile_of(Coded.from_texts("c", texts))
    assert profile.rows == len(texts)
    assert profile.filled == sum(profile.counts.values()) <= profile.rows
    assert (profile.kind == "empty") == (profile.filled == 0)
    assert 0 <= profile.codes <= 1 and 0 <= profile.unique <= 1


def test_covariates_on_the_list_are_those_that_are_kept(tmp_path: Path) -> None:
    """What is shown as describing the rows is found beside them, and nothing else is."""
    lines = ["who,dx,rx,alter,ward,note_no"]
    lines += [
        f"p{row // 3},{'IE'[row % 2]}{row % 7},drug {row % 5},{30 + row // 3},w{row // 3 % 4},{row}"
        for row in range(120)
    ]
    path = tmp_path / "events.csv"
    path.write_text("\n".join(lines))
    findings = Findings()
    built = read_path(path, BuildOptions(), findings)
    shown = {one.column for one in findings.roles if one.role == "covariate"}
    assert shown == {one.name for one in built.side.covariates} >= {"alter"}

"""Data sets in row shards: what was written comes back, whole, in blocks and by rows."""

from __future__ import annotations

import hashlib
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from hypothesis.extra.numpy import arrays
from numpy.typing import NDArray
from support.written_shards import write_shards

from swiftcore.data.bundle import read_bundle
from swiftcore.data.dataset import Dataset
from swiftcore.data.digest import data_digest
from swiftcore.data.from_path.sandbox import build_path, inspect_path
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.data.shards import reader
from swiftcore.data.shards.manifest import MANIFEST
from swiftcore.data.shards.reader import open_shards
from swiftcore.data.shards.writer import new_shards
from swiftcore.data.summary import summarize
from swiftcore.data.synthetic.ehr import generate_ehr
from swiftcore.data.synthetic.ehr_shards import Request, draw_block, generate_file
from swiftcore.errors import InvalidData, InvalidSettings, NotEnoughMemory
from swiftcore.tensor import Mode, SparseTensor

TEXT = st.text(max_size=8)


@st.composite
def datasets(draw: st.DrawFn) -> Dataset:
    sizes = draw(st.lists(st.integers(1, 6), min_size=2, max_size=4))
    dense = draw(
        arrays(
            np.float64,
            sizes,
            elements=st.sampled_from([0.0, 0.0, 1.0, 2.0, 255.0, 256.0, 70_000.0, 2.0**40, 0.1]),
        )
    )
    modes = [
        Mode(draw(TEXT), tuple(draw(st.lists(TEXT, min_size=n, max_size=n, unique=True))))
        for n in sizes
    ]
    places = np.argwhere(dense)
    tensor = SparseTensor.from_coordinates(
        places.reshape(-1, len(sizes)), dense[tuple(places.T)], modes=modes
    )
    one_each: st.SearchStrategy[NDArray[np.bool_]] = arrays(np.bool_, sizes[0])
    texts = st.lists(TEXT.filter(lambda one: "\0" not in one), min_size=sizes[0], max_size=sizes[0])
    outcome = draw(st.one_of(st.none(), one_each, texts.map(lambda them: np.array(them))))
    return Dataset(draw(TEXT), tensor, outcome, "" if outcome is None else "o", draw(TEXT))


def alike(one: Dataset, two: Dataset) -> bool:
    outcomes = (one.outcome is None) == (two.outcome is None)
    if outcomes and one.outcome is not None and two.outcome is not None:
        outcomes = one.outcome.dtype.kind == two.outcome.dtype.kind
        outcomes = outcomes and bool((one.outcome == two.outcome).all())
    return one.tensor == two.tensor and outcomes and one.name == two.name


@settings(max_examples=60, deadline=None)
@given(datasets(), st.integers(1, 7), st.data())
def test_what_is_written_comes_back(
    tmp_path_factory: pytest.TempPathFactory, dataset: Dataset, step: int, data: st.DataObject
) -> None:
    path = tmp_path_factory.mktemp("written") / "some.swift"
    write_shards(dataset, path, step)
    opened = open_shards(path)
    opened.check()
    assert alike(opened.to_dataset(), dataset)
    assert data_digest(opened) == data_digest(dataset)
    rows = data.draw(st.permutations(range(dataset.tensor.shape[0])))
    some = np.array(rows[: data.draw(st.integers(1, len(rows)))])
    assert alike(opened.with_rows(some), dataset.with_rows(some))
    seen = 0
    for block in opened.row_blocks():
        here = np.arange(seen, seen + block.tensor.shape[0])
        assert block.first_row == seen and block.tensor == dataset.tensor.select(0, here)
        seen += len(here)
    assert opened.shape == dataset.tensor.shape and seen == opened.shape[0]
    if dataset.tensor.n_entries:
        whole = summarize(dataset.tensor, dataset.outcome, dataset.outcome_name, Findings())
        assert opened.summary == whole


def digests(folder: Path) -> dict[str, str]:
    return {
        path.relative_to(folder).as_posix(): hashlib.sha256(path.read_bytes()).hexdigest()
        for path in sorted(folder.rglob("*"))
        if path.is_file()
    }


def test_generated_records_are_those_of_the_generator_up_to_one_block(tmp_path: Path) -> None:
    generate_file(Request(300, seed=7), tmp_path / "made.swift")
    generate_file(Request(300, seed=7), tmp_path / "made.npz")
    ehr = generate_ehr(300, seed=7)
    for dataset in (
        open_shards(tmp_path / "made.swift").to_dataset(),
        read_bundle(tmp_path / "made.npz"),
    ):
        assert dataset.tensor == ehr.tensor and (dataset.outcome == ehr.outcome).all()
        assert dataset.outcome_name == ehr.outcome_name


def test_the_same_request_gives_the_same_bytes_and_every_block_stands_alone(tmp_path: Path) -> None:
    request = Request(260, seed=3, n_diagnoses=110, n_medications=105, block=100)
    generate_file(request, tmp_path / "one.swift")
    generate_file(request, tmp_path / "two.swift")
    assert digests(tmp_path / "one.swift") == digests(tmp_path / "two.swift")
    generate_file(Request(260, seed=4, block=100), tmp_path / "two.swift")  # in its place
    assert digests(tmp_path / "one.swift") != digests(tmp_path / "two.swift")
    words = request.vocabulary()
    blocks = list(open_shards(tmp_path / "one.swift").row_blocks())
    assert [block.tensor.shape for block in blocks] == [
        (100, 110, 105),
        (100, 110, 105),
        (60, 110, 105),
    ]
    for number in (2, 0, 1):  # drawn again in another order
        visits = draw_block(request, number, words).visits
        met = {
            (visits.patient[visit], d, m)
            for visit, d in visits.diagnoses.tolist()
            for other, m in visits.medications[visits.medications[:, 0] == visit].tolist()
        }
        assert set(map(tuple, blocks[number].tensor.coordinates.tolist())) == met
    outcome = np.concatenate([block.outcome for block in blocks if block.outcome is not None])
    assert outcome.sum() == round(0.2 * 260)


def test_a_data_set_in_shards_is_read_like_any_other(tmp_path: Path) -> None:
    path = tmp_path / "made.swift"
    summary, _ = generate_file(Request(120, seed=1, block=50), path)
    inspection = inspect_path(path)
    assert inspection.kind == "shards" and not inspection.problems
    assert inspection.summary == summary
    dataset = build_path(path, BuildOptions(name="mine"))
    assert dataset.name == "mine" and dataset.tensor.shape == (120, 100, 100)
    assert dataset.summary == summary


def test_nothing_is_loaded_by_opening_and_too_much_is_refused(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "made.swift"
    generate_file(Request(120, seed=1, block=50), path)

    def read(*_: object, **__: object) -> None:
        raise AssertionError("an array was read")

    with monkeypatch.context() as patch:
        patch.setattr(reader.np, "load", read)
        opened = open_shards(path)
        assert opened.shape == (120, 100, 100) and opened.summary is not None
    with monkeypatch.context() as patch:
        patch.setattr(reader, "usable_memory", lambda: 1000.0)
        with pytest.raises(NotEnoughMemory, match="not enough memory"):
            opened.to_dataset()
    read_shards = set()
    monkeypatch.setattr(
        type(opened),
        "_array",
        _noting(type(opened)._array, read_shards),  # type: ignore[arg-type]
    )
    assert opened.with_rows([119, 101]).tensor.shape == (2, 100, 100)
    assert read_shards == {2}
    with pytest.raises(InvalidData, match="no such row"):
        opened.with_rows([120])


def _noting(method: object, seen: set[int]) -> object:
    def noting(self: object, number: int, name: str) -> object:
        seen.add(number)
        return method(self, number, name)  # type: ignore[operator]

    return noting


@pytest.mark.parametrize("taken", ["a folder", "a file"])
def test_nothing_else_is_replaced_and_nothing_half_is_left(tmp_path: Path, taken: str) -> None:
    path = tmp_path / "made.swift"
    if taken == "a folder":
        path.mkdir()
        (path / "letters.txt").write_text("dear")
    else:
        path.write_text("dear")
    with pytest.raises(InvalidSettings, match="Something else has this name"):
        generate_file(Request(20), path)
    assert [one.name for one in tmp_path.iterdir()] == ["made.swift"]
    with pytest.raises(KeyboardInterrupt), new_shards(tmp_path / "b.swift", [Mode("d", ("x",))]):
        raise KeyboardInterrupt
    assert [one.name for one in tmp_path.iterdir()] == ["made.swift"]


def test_requests_out_of_range_are_refused(tmp_path: Path) -> None:
    for wrong in (
        {"n_patients": 0},
        {"n_patients": 5, "seed": -1},
        {"n_patients": 5, "n_diagnoses": 3},
    ):
        with pytest.raises(InvalidSettings):
            Request(**wrong)
    for name in ("made", "made.csv"):
        with pytest.raises(InvalidSettings, match=r"End the name in \.swift"):
            generate_file(Request(20), tmp_path / name)
    with pytest.raises(InvalidSettings, match=r"at most 200,000"):
        generate_file(Request(200_001), tmp_path / "made.npz")
    assert list(tmp_path.iterdir()) == [] and MANIFEST == "manifest.json"

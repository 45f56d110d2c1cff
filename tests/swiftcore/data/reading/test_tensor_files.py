"""FROSTT files, coordinate arrays and our own bundle: read, refused, round trips."""

from __future__ import annotations

import io
import os
import pickle
import random
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest
import scipy.sparse as sparse

from swiftcore.data.bundle import bundle_bytes, read_bundle, write_bundle
from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path.read_path import read_path
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import InvalidData
from swiftcore.tensor import Mode, SparseTensor

Write = Callable[[str, str | bytes], Path]


def refused(path: Path, **options: Any) -> list[str]:
    with pytest.raises(InvalidData) as caught:
        read_path(path, BuildOptions(**options), Findings())
    assert all(problem.where and problem.cure for problem in caught.value.problems)
    return [problem.code for problem in caught.value.problems]


def read(path: Path, **options: Any) -> Dataset:
    return read_path(path, BuildOptions(**options), Findings())


def test_tns_bases(write: Write) -> None:
    one = read(write("one.tns", "# c\n1 1 1 2\n2 3 1 4 # rest\n\n")).tensor
    zero = read(write("zero.tns", "0 0 0 2\n1 2 0 4\n")).tensor
    assert one.shape == zero.shape == (2, 3, 1)
    assert np.array_equal(one.coordinates, zero.coordinates)
    assert one.modes[1].labels == ("1", "2", "3") and zero.modes[1].labels == ("0", "1", "2")
    mixed = write("mixed.tns", "0 1 1 2\n1 2 1 4\n")
    assert refused(mixed) == ["tns-base-unclear"]
    assert read(mixed, index_base="0").tensor.shape == (2, 3, 2)
    assert read(mixed, index_base="detect").tensor.shape == (2, 2, 1)
    assert refused(mixed, index_base="1") == ["tns-base"]


def test_tns_values_are_read_to_the_last_bit(write: Write) -> None:
    values = np.random.default_rng(0).random(500) * 10.0 ** np.arange(-250, 250)
    text = "".join(f"1 {k + 1} 1 {value!r}\n" for k, value in enumerate(values.tolist()))
    assert np.array_equal(read(write("t.tns", text)).tensor.values, values)


@pytest.mark.parametrize(
    ("text", "code"),
    [
        ("1 1 1 2\n1 2 3\n1 1 1 1 1\n", "tns-arity"),
        ("1 1\n", "tns-arity"),
        ("1 1 1 x\n", "tns-number"),
        ("1 1 1 1\n1 1.5 1 1\n", "tns-index"),
        ("1 1 1 1\n-1 1 1 1\n", "tns-index"),
        ("1 1000000000000000000 1 1\n", "tns-index"),
        ("1 2000000000 1 1\n", "tns-wide"),
        ("1 1 1 -2\n", "tns-value"),
        ("1 1 1 nan\n", "tns-value"),
        ("1 1 1 1e999\n", "tns-value"),
        ("3\n2 2 2\n1 1 3 1\n", "tns-outside"),
        ("2\n2 2\n1 1 1 1\n", "tns-header"),
        ("# only a comment\n", "tns-empty"),
    ],
)
def test_tns_faults_have_lines(write: Write, text: str, code: str) -> None:
    assert code in refused(write("t.tns", text))


def test_tns_fault_lines_are_right(write: Write) -> None:
    with pytest.raises(InvalidData) as caught:
        read(write("t.tns", "# x\n1 1 1 2\n1 2 3\n2 2 2 oops\n"))
    where = {problem.code: problem.where for problem in caught.value.problems}
    assert where == {"tns-arity": "t.tns, lines 3", "tns-number": "t.tns, lines 4"}


def test_tns_labels_from_map_files(write: Write) -> None:
    write("f/x.tns", "1 1 1 2\n2 3 1 4\n")
    write("f/mode-1-people.map", "ann\nbob\n")
    folder = write("f/mode-2-words.map", "the\ncat\nthe\n").parent
    tensor = read(folder).tensor
    assert tensor.modes[0].labels == ("ann", "bob")
    assert tensor.modes[1].labels == ("the", "cat", "the #2")
    write("g/x.tns", "1 1 1 2\n2 3 1 4\n")
    write("g/x.mode1.map", "ann\nbob\ncid\n")
    assert read(folder.parent / "g" / "x.tns").tensor.modes[0].labels == ("ann", "bob", "cid")
    write("f/mode-2-words.map", "the\n")
    assert refused(folder) == ["tns-outside"]


def npz(**arrays: Any) -> bytes:
    out = io.BytesIO()
    np.savez(out, **arrays)
    return out.getvalue()


def test_npz_spellings(write: Write) -> None:
    places = np.array([[0, 1, 2], [1, 0, 0], [1, 0, 0]])
    plain = read(write("a.npz", npz(coordinates=places, values=[1, 2, 3]))).tensor
    assert plain.shape == (2, 2, 3) and plain.values.tolist() == [1, 5]
    turned = write("b.npz", npz(coords=places.T, data=[1.0, 2, 3], shape=[2, 2, 3]))
    assert read(turned).tensor == plain
    named = npz(
        coordinates=places,
        values=[1, 2, 3],
        shape=[2, 2, 4],
        y=np.array([0, 1]),
        labels_1=np.array(["no", "yes"]),
    )
    data = read(write("c.npz", named))
    assert data.tensor.modes[1].labels == ("no", "yes")
    assert data.outcome is not None and data.outcome.tolist() == [False, True]


class Canary:
    def __init__(self, path: Path) -> None:
        self.path = path

    def __reduce__(self) -> tuple[Any, ...]:
        return os.mkdir, (str(self.path),)


def test_pickles_are_never_opened(write: Write, tmp_path: Path) -> None:
    alarm = tmp_path / "alarm"
    objects = np.array([Canary(alarm), 1], dtype=object)
    assert refused(write("o.npz", npz(coordinates=objects, values=[1, 2]))) == ["npz-objects"]
    for name in ("x.pkl", "x.csv", "x.parquet", "x.tns", "x.npz"):
        codes = refused(write(name, pickle.dumps(Canary(alarm))))
        assert codes in (["never-opened"], ["npz-damaged"])
    assert not alarm.exists()


def lying_npz(shape: str) -> bytes:
    header = f"{{'descr': '<i8', 'fortran_order': False, 'shape': {shape}, }}"
    header = header.ljust(118 - 1) + "\n"
    content = b"\x93NUMPY\x01\x00" + len(header).to_bytes(2, "little") + header.encode() + bytes(64)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("coordinates.npy", content)
    return out.getvalue()


@pytest.mark.parametrize(
    ("content", "code"),
    [
        (npz(a=[1], b=[2]), "npz-keys"),
        (lying_npz("(1000000000000, 3)"), "npz-lies"),
        (lying_npz("(2, 3)"), "npz-cut-off"),
        (lying_npz("(-1, 3)"), "npz-damaged"),
        (npz(coordinates=[[0, 0]], values=[1], shape=[1e9, 2]), "npz-shape"),
        (npz(coordinates=[[0, 2**30]], values=[1]), "npz-wide"),
        (npz(coordinates=[[0, -1]], values=[1]), "coordinate-range"),
        (npz(coordinates=[[0, 0]], values=[np.nan]), "value-nan"),
        (npz(coordinates=[[0, 0]], values=[0.0]), "nothing-left"),
        (npz(coordinates=[[0, 0]], values=[1 + 1j]), "npz-objects"),
        (npz(coordinates=[[0, 0], [1, 1]], values=[1]), "value-count"),
        (npz(coordinates=[[0, 0], [1, 1]], values=[1, 2], y=[1]), "npz-outcome"),
    ],
)
def test_npz_faults(write: Write, content: bytes, code: str) -> None:
    assert refused(write("t.npz", content)) == [code]


def sample() -> Dataset:
    modes = (Mode("who", ("a", "b\udcff", "")), Mode("was ä", ("x", "NA")))
    tensor = SparseTensor.from_coordinates([[0, 0], [1, 1], [2, 0]], [1.0, 0.1, 3e300], modes=modes)
    counts = sparse.csr_array(np.array([[1.0, 0], [0, 2], [0, 0]]))
    return Dataset(
        "n",
        tensor,
        np.array(["u", "v", "w"]),
        "class",
        "made up",
        None,
        counts,
        ("one", "two"),
        ("g", "g", "h"),
    )


def test_bundle_round_trip(tmp_path: Path) -> None:
    data = sample()
    seal = write_bundle(data, tmp_path / "d.swift.npz")
    back = read_bundle(tmp_path / "d.swift.npz")
    assert back.tensor == data.tensor
    assert (back.name, back.outcome_name, back.origin) == ("n", "class", "made up")
    assert back.outcome is not None and back.outcome.tolist() == ["u", "v", "w"]
    assert back.words == data.words and back.row_groups == data.row_groups
    assert back.word_counts is not None and data.word_counts is not None
    assert np.array_equal(back.word_counts.toarray(), data.word_counts.toarray())
    assert write_bundle(back, tmp_path / "e.swift.npz") == seal  # same data, same bytes
    assert sorted(path.name for path in tmp_path.iterdir()) == ["d.swift.npz", "e.swift.npz"]
    with np.load(tmp_path / "d.swift.npz", allow_pickle=False) as plain:
        assert "coordinates" in plain  # any numpy reads it


def test_any_changed_byte_of_a_bundle_is_found(tmp_path: Path) -> None:
    content = bundle_bytes(sample())
    rng = random.Random(5)
    path = tmp_path / "d.swift.npz"
    for turn in range(1000):
        broken = bytearray(content)
        place = rng.randrange(len(broken))
        if turn % 10 == 0:
            broken = broken[:place]
        else:
            broken[place] ^= 1 << rng.randrange(8)
        path.write_bytes(broken)
        with pytest.raises(InvalidData) as caught:
            read_bundle(path)
        assert caught.value.problems[0].code in ("bundle-changed", "bundle-foreign")


def test_bundle_is_recognised_whatever_its_name(write: Write) -> None:
    data = read(write("data.bin", bundle_bytes(sample())))
    assert data.tensor == sample().tensor

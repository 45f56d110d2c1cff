"""Files that unfold into far more than they are: refused fast, and the parent stays small."""

from __future__ import annotations

import gzip
import io
import struct
import sys
import time
import zipfile
import zlib
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa  # type: ignore[import-untyped]
import pyarrow.parquet as parquet  # type: ignore[import-untyped]
import pytest

from swiftcore.data.from_path.sandbox import build_path, inspect_path
from swiftcore.errors import InvalidData

MB = 1 << 20
# The goal is 5 s; a busy machine gets more, so that the test tells hangs and not the weather.
SECONDS, PARENT_MB = 20.0, 50
pytestmark = pytest.mark.skipif(sys.platform != "linux", reason="memory is measured as on Linux")


def deflated(megabytes: int, wrap: int = -15) -> tuple[bytes, int, int]:
    """Zeros, deflated; their length and checksum."""
    press = zlib.compressobj(9, zlib.DEFLATED, wrap)
    crc, out = 0, []
    for _ in range(megabytes):
        out.append(press.compress(bytes(MB)))
        crc = zlib.crc32(bytes(MB), crc)
    return b"".join([*out, press.flush()]), megabytes * MB, crc


def entry(name: bytes, data: bytes, size: int, crc: int, method: int = 8) -> bytes:
    return (
        struct.pack("<4s5H3L2H", b"PK\3\4", 20, 0, method, 0, 0, crc, len(data), size, len(name), 0)
        + name
        + data
    )


def listing(name: bytes, place: int, packed: int, size: int, crc: int, method: int = 8) -> bytes:
    return (
        struct.pack(
            "<4s6H3L5H2L",
            b"PK\1\2",
            20,
            20,
            0,
            method,
            0,
            0,
            crc,
            packed,
            size,
            len(name),
            0,
            0,
            0,
            0,
            0,
            place,
        )
        + name
    )


def end(count: int, length: int, place: int) -> bytes:
    return struct.pack(
        "<4s4H2LH", b"PK\5\6", 0, 0, min(count, 65535), min(count, 65535), length, place, 0
    )


def one_entry(name: bytes, megabytes: int, claimed: int | None = None) -> bytes:
    data, size, crc = deflated(megabytes)
    size = size if claimed is None else claimed
    body = entry(name, data, size, crc)
    catalogue = listing(name, 0, len(data), size, crc)
    return body + catalogue + end(1, len(catalogue), len(body))


def many_entries(count: int, megabytes: int, *, same_place: bool) -> bytes:
    """Many names for one body (overlapping), or many small bombs side by side."""
    data, size, crc = deflated(megabytes)
    bodies: list[bytes] = []
    catalogue: list[bytes] = []
    place = 0
    for number in range(count):
        name = b"sport/%05d.txt" % number
        if not same_place or not bodies:
            bodies.append(entry(name, data, size, crc))
        catalogue.append(listing(name, place, len(data), size, crc))
        place += 0 if same_place else len(bodies[-1])
    body, names = b"".join(bodies), b"".join(catalogue)
    return body + names + end(count, len(names), len(body))


def zip64_listing(count: int) -> bytes:
    """A catalogue of very many empty entries."""
    body = entry(b"x/1.txt", b"", 0, 0, 0)
    names = b"".join(listing(b"x/%d.txt" % k, 0, 0, 0, 0, 0) for k in range(count))
    big = struct.pack(
        "<4sQ2H2L4Q", b"PK\6\6", 44, 45, 45, 0, 0, count, count, len(names), len(body)
    )
    locator = struct.pack("<4sLQL", b"PK\6\7", 0, len(body) + len(names), 1)
    return body + names + big + locator + end(count, 0xFFFFFFFF, 0xFFFFFFFF)


def other_method(method: int) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", method) as archive, archive.open("a.csv", "w") as file:
        for _ in range(80):
            file.write(bytes(MB))
    return out.getvalue()


def nested_zip() -> bytes:
    inner = one_entry(b"a.csv", 80)
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w") as archive:
        archive.writestr("a.csv", inner)
        archive.writestr("b.csv", inner)
    return out.getvalue()


def npz(**arrays: Any) -> bytes:
    out = io.BytesIO()
    np.savez_compressed(out, **arrays)
    return out.getvalue()


def npy_claim(shape: str, kind: str = "<i8") -> bytes:
    header = f"{{'descr': '{kind}', 'fortran_order': False, 'shape': {shape}, }}".ljust(117) + "\n"
    content = b"\x93NUMPY\x01\x00" + struct.pack("<H", len(header)) + header.encode()
    body = entry(b"coordinates.npy", content, len(content), zlib.crc32(content), 0)
    names = listing(b"coordinates.npy", 0, len(content), len(content), zlib.crc32(content), 0)
    return body + names + end(1, len(names), len(body))


def as_parquet(table: pa.Table, **settings: object) -> bytes:
    out = io.BytesIO()
    parquet.write_table(table, out, **settings)
    return out.getvalue()


def many_rows() -> bytes:
    """A hundred and forty million equal numbers: a few kilobytes of run lengths."""
    part = pa.table({"patient": np.zeros(10_000_000, dtype=np.int64)})
    out = io.BytesIO()
    with parquet.ParquetWriter(out, part.schema, compression="zstd") as writer:
        for _ in range(14):
            writer.write_table(part, row_group_size=10_000_000)
    return out.getvalue()


def long_text(dictionary: bool) -> bytes:
    texts = pa.array(["x" * MB] * 200)
    table = pa.table({"patient": texts, "code": texts})
    return as_parquet(table, use_dictionary=dictionary, compression="zstd")


def join_of_everything() -> bytes:
    rows = "".join(f"1,{k}\n" for k in range(20_000))
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        archive.writestr("diagnoses.csv", "patient,code\n" + rows)
        archive.writestr("medications.csv", "patient,drug\n" + rows)
    return out.getvalue()


BOMBS: dict[str, Callable[[], bytes]] = {
    "ratio.zip": lambda: one_entry(b"a.csv", 100),
    "lying-small.zip": lambda: one_entry(b"a.csv", 100, claimed=1000),
    "lying-large.zip": lambda: one_entry(b"a.csv", 1, claimed=2**32 - 2),
    "overlap.zip": lambda: many_entries(200, 30, same_place=True),
    "side-by-side.zip": lambda: many_entries(60, 30, same_place=False),
    "catalogue.zip": lambda: zip64_listing(150_000),
    "bzip2.zip": lambda: other_method(zipfile.ZIP_BZIP2),
    "lzma.zip": lambda: other_method(zipfile.ZIP_LZMA),
    "nested.zip": nested_zip,
    "join.zip": join_of_everything,
    "zeros.npz": lambda: npz(coordinates=np.zeros((10**7, 3), np.int64), values=np.zeros(10**7)),
    "claim.npz": lambda: npy_claim("(1000000000000, 3)"),
    "claim-overflow.npz": lambda: npy_claim("(4611686018427387904, 4611686018427387904)"),
    "claim-text.npz": lambda: npy_claim("(1, 2)", "<U536870000"),
    "arrays.npz": lambda: npz(**{f"a{k}": np.zeros(1) for k in range(1500)}),
    "wide.npz": lambda: npz(coordinates=np.array([[0, 2**31 - 2]]), values=np.ones(1)),
    "wide-shape.npz": lambda: npz(
        coordinates=np.zeros((1, 2), int), values=np.ones(1), shape=np.array([2**31 - 2] * 2)
    ),
    "rows.parquet": many_rows,
    "dictionary.parquet": lambda: long_text(True),
    "plain.parquet": lambda: long_text(False),
    "columns.parquet": lambda: as_parquet(pa.table({f"c{k}": [1] for k in range(10_000)})),
    "zeros.csv.gz": lambda: deflated(100, 31)[0],
    "members.csv.gz": lambda: gzip.compress(bytes(MB)) * 3000,
    "nested.csv.gz": lambda: gzip.compress(deflated(100, 31)[0]),
    "zeros.tns.gz": lambda: deflated(100, 31)[0],
    "wide.tns": lambda: b"1 2000000000 1 1\n2 1 1 1\n",
    "wide-header.tns": lambda: b"3\n2000000000 2000000000 2000000000\n1 1 1 1\n",
    "line.csv": lambda: b"patient,code\n1," + b"x" * (40 * MB),
    "columns.csv": lambda: b"a," * 10**6 + b"a\n",
    "quote.csv": lambda: b'patient,code\n1,"' + b"2,b\n" * (4 * MB),
}


def resident_mb(peak: bool) -> float:
    field = "VmHWM" if peak else "VmRSS"
    lines = Path("/proc/self/status").read_text().splitlines()
    return int(next(line for line in lines if line.startswith(field)).split()[1]) / 1024


@pytest.mark.parametrize("name", BOMBS)
def test_bomb(name: str, tmp_path: Path) -> None:
    path = tmp_path / name
    path.write_bytes(BOMBS[name]())
    (tmp_path / "warm.csv").write_text("patient,code\n1,a\n")
    inspect_path(tmp_path / "warm.csv")  # starting the server is not the bomb's doing
    before_files = sorted(tmp_path.rglob("*"))
    Path("/proc/self/clear_refs").write_text("5")  # forget the peak so far
    before = resident_mb(peak=False)
    start = time.monotonic()
    with pytest.raises(InvalidData) as caught:
        build_path(path)
    assert time.monotonic() - start < SECONDS
    assert resident_mb(peak=True) - before < PARENT_MB
    for problem in caught.value.problems:
        assert problem.code not in ("reader-fault", "reader-ended", "time-limit")
        assert problem.where and problem.found and problem.cure
    assert sorted(tmp_path.rglob("*")) == before_files

"""Damaged data sets in shards: every change is refused in words, and nothing is read as sound."""

from __future__ import annotations

import hashlib
import io
import json
import random
import shutil
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from swiftcore.data.shards.manifest import (
    MANIFEST,
    Manifest,
    Shard,
    StoredFile,
    array_path,
    manifest_bytes,
    read_manifest,
)
from swiftcore.data.shards.reader import open_shards
from swiftcore.data.shards.writer import About, new_shards
from swiftcore.errors import InvalidData
from swiftcore.tensor import Mode

CODES = {"shards-foreign", "shards-changed", "shards-version"}
Change = Callable[[Any], Any]


@pytest.fixture(scope="module")
def sound(tmp_path_factory: pytest.TempPathFactory) -> Path:
    path = tmp_path_factory.mktemp("sound") / "some.swift"
    rng = np.random.default_rng(0)
    features = [Mode("d", ("a", "b", "c", "d")), Mode("m", ("x", "y", "z"))]
    with new_shards(path, features) as shards:
        for first in (0, 5, 10):
            cells = np.sort(rng.choice(5 * 12, 20, replace=False))
            places = np.column_stack(np.unravel_index(cells, (5, 4, 3)))
            ids = [f"p{first + row}" for row in range(5)]
            shards.add(ids, places, rng.integers(1, 4, 20).astype(float))
        outcome = np.array(["ill", "well", "unknown"] * 5)
        shards.finish(About("some", "made up", "p", "state"), outcome)
    open_shards(path).check()
    return path


@pytest.fixture
def copy(sound: Path, tmp_path: Path) -> Path:
    path = tmp_path / "some.swift"
    shutil.copytree(sound, path)
    return path


def refusal(path: Path) -> str:
    """The code of the one problem for which a data set is refused."""
    with pytest.raises(InvalidData) as caught:
        open_shards(path).check()
    (problem,) = caught.value.problems
    assert problem.code in CODES and problem.cure and problem.found
    return problem.code


def damaged(content: bytes, rng: random.Random) -> bytes:
    """Flipped, cut off, lengthened, blanked, or with bytes moved; never the same."""
    data = bytearray(content)
    place = rng.randrange(len(data))
    kind = rng.randrange(6)
    if kind == 0:
        data[place] ^= 1 << rng.randrange(8)
    elif kind == 1:
        del data[place:]
    elif kind == 2:
        data += rng.randbytes(rng.randrange(1, 9))
    elif kind == 3:
        data[place : place + 8] = bytes(len(data[place : place + 8]))
    elif kind == 4:
        data[place:place] = data[: rng.randrange(1, 20)]
    else:
        del data[place : place + rng.randrange(1, 20)]
    return bytes(data) if data != content else damaged(content, rng)


def damage_all(sound: Path, folder: Path, seed: int, count: int) -> None:
    """One file at a time, put back afterwards."""
    rng = random.Random(seed)
    path = folder / "some.swift"
    shutil.copytree(sound, path)
    files = sorted(one for one in path.rglob("*") if one.is_file())
    for _ in range(count):
        file = rng.choice(files)
        content = file.read_bytes()
        file.write_bytes(damaged(content, rng))
        assert refusal(path)
        file.write_bytes(content)
    open_shards(path).check()


def test_every_damage_is_refused(sound: Path, tmp_path: Path) -> None:
    damage_all(sound, tmp_path, seed=1, count=300)


@pytest.mark.nightly
@pytest.mark.parametrize("seed", range(2, 12))
def test_every_damage_is_refused_much_more(sound: Path, tmp_path: Path, seed: int) -> None:
    damage_all(sound, tmp_path, seed, count=2_000)


def sealed_again(path: Path, change: Callable[[Manifest], dict[str, Any]]) -> None:
    """Change the manifest and seal it as if nothing had happened."""
    manifest, _ = read_manifest(path)
    changed = Manifest(**{**vars(manifest), **change(manifest)})
    (path / MANIFEST).write_bytes(manifest_bytes(changed))


def stored(content: bytes) -> StoredFile:
    return StoredFile(len(content), hashlib.sha256(content).hexdigest())


def replace_array(
    path: Path, name: str, array: np.ndarray[Any, Any], *, pickled: bool = False
) -> None:
    """Another array in the second shard, with digest and seal to fit."""
    content = io.BytesIO()
    np.save(content, array, allow_pickle=pickled)
    (path / array_path(1, name)).write_bytes(content.getvalue())

    def change(manifest: Manifest) -> dict[str, Any]:
        shards = list(manifest.shards)
        arrays = {**shards[1].arrays, name: stored(content.getvalue())}
        shards[1] = Shard(shards[1].rows, shards[1].entries, arrays)
        return {"shards": tuple(shards)}

    sealed_again(path, change)


def _set(array: np.ndarray[Any, Any], place: int, value: Any) -> np.ndarray[Any, Any]:
    changed = array.copy()
    changed[place] = value
    return changed


NONSENSE: dict[str, tuple[str, Change]] = {
    "a feature that does not exist": ("feature_1", lambda a: _set(a, 3, 4)),
    "entries out of order": ("feature_2", lambda a: a[::-1].copy()),
    "a value of 0": ("values", lambda a: _set(a, 0, 0)),
    "a value that is none": ("values", lambda a: _set(a.astype("<f8"), 0, np.nan)),
    "an infinite value": ("values", lambda a: _set(a.astype("<f8"), 0, np.inf)),
    "signed values": ("values", lambda a: a.astype("<i8")),
    "too few values": ("values", lambda a: a[:-1]),
    "a table of values": ("values", lambda a: a.reshape(2, -1)),
    "starts that fall": ("starts", lambda a: _set(a, 2, a[1] - 1)),
    "starts beyond the end": ("starts", lambda a: _set(a, -1, a[-1] + 1)),
    "starts below 0": ("starts", lambda a: _set(a, 0, -1)),
    "ends beyond the text": ("row_ids_ends", lambda a: _set(a, -1, a[-1] + 9)),
    "ends that fall": ("row_ids_ends", lambda a: _set(a, 1, 0)),
    "letters that are none": ("row_ids", lambda a: _set(a, 0, 0xFF)),
    "an outcome of no class": ("outcome", lambda a: _set(a, 0, 3)),
    "an outcome of other rows": ("outcome", lambda a: a[:-1]),
    "an array of nothing": ("starts", lambda a: a[:0]),
}


@pytest.mark.parametrize("what", NONSENSE)
def test_nonsense_that_was_sealed_again_is_refused(copy: Path, what: str) -> None:
    name, change = NONSENSE[what]
    replace_array(copy, name, change(np.load(copy / array_path(1, name))))
    assert refusal(copy) == "shards-foreign"


def test_pickled_objects_are_never_opened(copy: Path) -> None:
    hostile = np.array([{"run": "me"}] * 20, dtype=object)
    replace_array(copy, "values", hostile, pickled=True)
    assert refusal(copy) == "shards-foreign"


def test_two_rows_of_one_id_are_refused(copy: Path) -> None:
    ids = np.load(copy / array_path(0, "row_ids"))
    ends = np.load(copy / array_path(0, "row_ids_ends"))
    replace_array(copy, "row_ids_ends", ends)
    replace_array(copy, "row_ids", ids)
    assert refusal(copy) == "shards-foreign"
    with pytest.raises(InvalidData, match="two rows of one id"):
        open_shards(copy).to_dataset()


MANIFESTS: dict[str, Callable[[Manifest], dict[str, Any]]] = {
    "no shards": lambda m: {"shards": ()},
    "a shard less": lambda m: {"shards": m.shards[:-1]},
    "a shard twice": lambda m: {"shards": (*m.shards, m.shards[0])},
    "no features": lambda m: {"features": (), "codes": ()},
    "two features of one name": lambda m: {"features": (Mode("d", ("a",) * 4), m.features[1])},
    "fewer features": lambda m: {"features": (Mode("d", ("a",)), m.features[1])},
    "codes for other features": lambda m: {"codes": (("1",), ())},
    "no classes": lambda m: {"outcome_classes": ()},
    "another kind of outcome": lambda m: {"outcome_kind": "bool"},
    "an unknown kind of outcome": lambda m: {"outcome_kind": "number"},
    "an unknown side table": lambda m: {
        "side_tables": {"../../etc/passwd": StoredFile(1, "0" * 64)}
    },
    "a side table that is not there": lambda m: {"side_tables": {"texts": StoredFile(1, "0" * 64)}},
    "a summary of other data": lambda m: {"summary": {**(m.summary or {}), "entries": 59}},
    "a summary of nothing": lambda m: {"summary": {"x": 1}},
    "a name that is none": lambda m: {"name": 5},
}


@pytest.mark.parametrize("what", MANIFESTS)
def test_a_manifest_that_says_what_cannot_be_is_refused(copy: Path, what: str) -> None:
    sealed_again(copy, MANIFESTS[what])
    assert refusal(copy) == "shards-foreign"


def test_a_newer_version_is_told_from_damage(copy: Path) -> None:
    plain = json.loads((copy / MANIFEST).read_bytes())
    plain["manifest"]["version"] = 2
    body = json.dumps(plain["manifest"], sort_keys=True).encode()
    plain["seal"] = hashlib.sha256(body).hexdigest()
    (copy / MANIFEST).write_text(json.dumps(plain))
    assert refusal(copy) == "shards-version"


def test_missing_and_foreign_files_are_named(copy: Path) -> None:
    shutil.move(copy / "shard-00001", copy.parent / "away")
    with pytest.raises(InvalidData, match=r"no shard-00001/"):
        open_shards(copy)
    shutil.move(copy.parent / "away", copy / "shard-00001")
    (copy / "notes.txt").write_text("mine")
    with pytest.raises(InvalidData, match=r"does not belong to it, notes\.txt"):
        open_shards(copy)
    (copy / "notes.txt").unlink()
    (copy / MANIFEST).unlink()
    with pytest.raises(InvalidData, match=r"no manifest\.json"):
        open_shards(copy)


def test_a_reserved_side_table_is_sealed_with_the_rest(copy: Path) -> None:
    content = b"PAR1 some day"
    (copy / "covariates.parquet").write_bytes(content)
    sealed_again(copy, lambda manifest: {"side_tables": {"covariates": stored(content)}})
    open_shards(copy).check()
    (copy / "covariates.parquet").write_bytes(content[::-1])
    assert refusal(copy) == "shards-changed"

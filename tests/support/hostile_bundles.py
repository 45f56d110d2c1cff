"""Run bundles that somebody changed and sealed anew: one change each, of every kind there is."""

from __future__ import annotations

import hashlib
import io
import json
import math
import os
import zipfile
from collections.abc import Callable, Iterator, Mapping
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import NDArray

from dashboard.store.dataset_files import dataset_id
from dashboard.store.verified_folder import SEAL, seal, write_private
from swiftcore.data import bundle
from swiftcore.data.options import Limits
from swiftcore.data.reading.source import Budget
from swiftcore.errors import SwiftError
from swiftcore.runtime.repeatable_zip import zip_bytes

Members = dict[str, bytes]
Path_ = tuple[Any, ...]
SHAPE_CHANGES = (None, [], {}, "", [[]], {"x": 1})
HOSTILE: dict[type, tuple[Any, ...]] = {
    bool: ("yes", 2, None, -1, math.nan),
    int: (-1, -(10**6), 2**70, 10**400, 1.5, True, None, "12", math.nan, math.inf),
    float: (math.nan, math.inf, -math.inf, -1.0, -1e308, 1e308, 10**400, None, "0.5", True),
    str: ("", "<img src=x onerror=alert(1)>", "x" * 100_000, "../../etc/passwd", "\x00\u202e", 5),
    type(None): (-1, "x", math.nan, [], {"x": 1}),
}
ARRAYS: dict[str, Callable[[NDArray[Any]], NDArray[Any]]] = {
    "nan": lambda old: _with_first(old.astype(float), math.nan),
    "infinite": lambda old: _with_first(old.astype(float), math.inf),
    "negative": lambda old: _with_first(old.astype(float), -1.0),
    "huge": lambda old: _with_first(old.astype(float), 1e308),
    "all huge": lambda old: np.full(old.shape, 1e308),
    "all zero": lambda old: np.zeros_like(old),
    "complex": lambda old: old.astype(complex),
    "text": lambda old: old.astype(str),
    "half": lambda old: old[: len(old) // 2],
    "one more": lambda old: np.concatenate([old, old[-1:]]),
    "flat": lambda old: old.ravel() if old.ndim > 1 else old[:, None],
    "turned": lambda old: old.T if old.ndim > 1 else old[::-1],
    "empty": lambda old: old[:0],
}


def members(content: bytes) -> Members:
    """The files of a bundle by name."""
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {entry.filename: archive.read(entry) for entry in archive.infolist()}


def zipped(files: Mapping[str, bytes]) -> bytes:
    """A bundle of files."""
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def resealed(files: Members, folder: Path, part: str = "run") -> Members:
    """The files as somebody would seal them who knows how."""
    draft = folder / os.urandom(4).hex()
    draft.mkdir()
    for name, data in files.items():
        if name.startswith(f"{part}/") and not name.endswith(SEAL):
            write_private(draft / name.removeprefix(f"{part}/"), data)
    seal(draft)
    return {**files, f"{part}/{SEAL}": (draft / SEAL).read_bytes()}


def with_json(files: Members, name: str, change: Callable[[Any], Any]) -> Members:
    """One JSON file changed."""
    plain = json.loads(files[name])
    return {**files, name: json.dumps(change(plain)).encode()}


def with_arrays(
    files: Members, name: str, change: Callable[[dict[str, Any]], dict[str, Any]]
) -> Members:
    """One array file changed; what it says in JSON is handed over as plain values."""
    with np.load(io.BytesIO(files[name])) as archive:
        arrays: dict[str, Any] = dict(archive)
    arrays["about"] = json.loads(bytes(arrays["about"]))
    changed = change(arrays)
    if "about" in changed:
        changed["about"] = np.frombuffer(json.dumps(changed["about"]).encode(), np.uint8)
    out = io.BytesIO()
    np.savez(out, **changed)
    return {**files, name: out.getvalue()}


def mutations(
    files: Members, other: Members, rng: np.random.Generator
) -> Iterator[tuple[str, Members]]:
    """An endless stream of changed bundles, each with what was changed.

    Parameters
    ----------
    files : dict of bytes
        A sound bundle.
    other : dict of bytes
        Another sound bundle, whose files may take the place of this one's.
    """
    while True:
        name = str(rng.choice(sorted(key for key in files if not key.endswith(SEAL))))
        way = rng.random()
        if way < 0.05:
            yield f"{name} of another bundle", {**files, name: other.get(name, b"")}
        elif name.endswith(".npz") and way < 0.5:
            yield _changed_array(files, name, rng)
        else:
            yield _changed_json(files, name, rng)


def data_mutations(files: Members, rng: np.random.Generator) -> Iterator[tuple[str, Members]]:
    """The same for the data set in a bundle; a run that can name the changed data does so."""
    content = files["dataset/data.swift.npz"]
    while True:
        with np.load(io.BytesIO(content)) as archive:
            arrays: dict[str, Any] = dict(archive)
        manifest = json.loads(bytes(arrays["manifest"]))
        if rng.random() < 0.5:
            places = list(_places(manifest))
            place = places[int(rng.integers(len(places)))]
            how, manifest = _hostile(manifest, place, rng)
            what = f"manifest, {'.'.join(map(str, place))}: {how}"
        else:
            name = str(rng.choice(sorted(set(arrays) - {"manifest"})))
            how = str(rng.choice(sorted(set(ARRAYS) - {"complex"})))
            arrays[name], what = ARRAYS[how](arrays[name]), f"{name}: {how}"
        arrays["manifest"] = np.frombuffer(json.dumps(manifest).encode(), np.uint8)
        changed = _sealed_data(arrays)
        yield what, _of_these_data({**files, "dataset/data.swift.npz": changed}, changed)


def _sealed_data(arrays: Mapping[str, NDArray[Any]]) -> bytes:
    members = []
    for name, array in arrays.items():
        out = io.BytesIO()
        np.lib.format.write_array(out, array, allow_pickle=False)
        members.append((f"{name}.npy", out.getvalue()))
    body = zip_bytes(members, comment=bundle.SEAL + b"0" * 64)[:-64]
    return body + hashlib.sha256(body).hexdigest().encode()


def _of_these_data(files: Members, content: bytes) -> Members:
    try:
        identifier = dataset_id(bundle.bundle_from_bytes(content, "data", Budget(Limits())))
    except SwiftError:
        return files

    def change(plain: Any) -> Any:
        plain["request"]["dataset"] = identifier
        return plain

    return with_json(files, "run/run.json", change)


def _changed_array(files: Members, name: str, rng: np.random.Generator) -> tuple[str, Members]:
    how = str(rng.choice([*ARRAYS, "missing", "unknown"]))
    said: list[str] = []

    def change(arrays: dict[str, Any]) -> dict[str, Any]:
        chosen = str(rng.choice(sorted(set(arrays) - {"about"})))
        said.append(chosen)
        if how == "missing":
            return {key: value for key, value in arrays.items() if key != chosen}
        if how == "unknown":
            return {**arrays, "surprise": arrays[chosen]}
        return {**arrays, chosen: ARRAYS[how](arrays[chosen])}

    changed = with_arrays(files, name, change)
    return f"{name}, {said[0]}: {how}", changed


def _changed_json(files: Members, name: str, rng: np.random.Generator) -> tuple[str, Members]:
    said: list[str] = []

    def change(plain: Any) -> Any:
        places = list(_places(plain))
        place = places[int(rng.integers(len(places)))]
        how, new = _hostile(plain, place, rng)
        said.append(f"{'.'.join(map(str, place))}: {how}")
        return new

    if name.endswith(".npz"):
        changed = with_arrays(
            files, name, lambda arrays: {**arrays, "about": change(arrays["about"])}
        )
    else:
        changed = with_json(files, name, change)
    return f"{name}, {said[0]}", changed


def _places(plain: Any, place: Path_ = ()) -> Iterator[Path_]:
    """Where something stands in a JSON value; of long lists only the ends."""
    if place:
        yield place
    if isinstance(plain, dict):
        for key in plain:
            yield from _places(plain[key], (*place, key))
    elif isinstance(plain, list):
        for index in sorted({0, 1, len(plain) - 1} & set(range(len(plain)))):
            yield from _places(plain[index], (*place, index))


def _hostile(plain: Any, place: Path_, rng: np.random.Generator) -> tuple[str, Any]:
    *above, last = place
    holder = plain
    for step in above:
        holder = holder[step]
    old = holder[last]
    way = rng.random()
    if way < 0.1 and isinstance(holder, dict):
        del holder[last]
        return "missing", plain
    if way < 0.2 and isinstance(old, dict):
        old["surprise"] = 1
        return "one more key", plain
    if isinstance(old, list) and len(old) > 1 and way < 0.5:
        holder[last] = [*old[1:], old[0]]
        return "turned round", plain
    choices = HOSTILE.get(type(old), SHAPE_CHANGES)
    holder[last] = choices[int(rng.integers(len(choices)))]
    return f"{_short(old)} became {_short(holder[last])}", plain


def _with_first(array: NDArray[Any], value: float) -> NDArray[Any]:
    array = array.copy()
    array.flat[0] = value
    return array


def _short(value: Any) -> str:
    return (
        f"{type(value).__name__} of {value.bit_length()} bits"
        if _is_long(value)
        else (repr(value)[:40])
    )


def _is_long(value: Any) -> bool:
    return isinstance(value, int) and value.bit_length() > 100

"""A run goes out as one file and comes back the same; hostile files do not come in."""

from __future__ import annotations

import io
import json
import os
import zipfile
from collections.abc import Callable
from pathlib import Path

import numpy as np
import pytest
from support import made_up
from support.tiny_store import tiny_dataset

from dashboard.store import bundle_zip
from dashboard.store.cards import DamagedRun, UnknownDataset
from dashboard.store.store import Store
from dashboard.store.verified_folder import SEAL, seal, write_private
from swiftcore.errors import SwiftError

Members = dict[str, bytes]


def members(content: bytes) -> Members:
    with zipfile.ZipFile(io.BytesIO(content)) as archive:
        return {entry.filename: archive.read(entry) for entry in archive.infolist()}


def zipped(files: Members) -> bytes:
    out = io.BytesIO()
    with zipfile.ZipFile(out, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, data in files.items():
            archive.writestr(name, data)
    return out.getvalue()


def resealed(files: Members, tmp_path: Path) -> Members:
    """The files as somebody would seal them who knows how."""
    folder = tmp_path / os.urandom(4).hex()
    folder.mkdir()
    for name, data in files.items():
        if name.startswith("run/") and not name.endswith(SEAL):
            write_private(folder / name.removeprefix("run/"), data)
    seal(folder)
    return {**files, f"run/{SEAL}": (folder / SEAL).read_bytes()}


@pytest.fixture
def bundle(fitted_store: Store, fit_id: str) -> bytes:
    return fitted_store.export_run(fit_id, with_data=True)


def listing(store: Store) -> list[str]:
    return sorted(str(path) for path in store.root.rglob("*") if path.name != "changes.lock")


def test_a_run_comes_back_the_same_elsewhere(
    fitted_store: Store, fit_id: str, store: Store, bundle: bytes
) -> None:
    assert store.import_run(bundle) == fit_id == store.import_run(bundle)
    old, new = fitted_store.fit(fit_id), store.fit(fit_id)
    for one, other in zip(old.factors, new.factors, strict=True):
        np.testing.assert_array_equal(one, other)
    assert store.run(fit_id) == fitted_store.run(fit_id)
    assert store.datasets()[0].synthetic and len(store.datasets()) == 1
    assert fitted_store.export_run(fit_id, with_data=True) == bundle
    assert store.export_run(fit_id) == fitted_store.export_run(fit_id)


def test_without_data_the_data_must_be_there(
    fitted_store: Store, fit_id: str, store: Store
) -> None:
    bare = fitted_store.export_run(fit_id)
    with pytest.raises(UnknownDataset):
        store.import_run(bare)
    card = fitted_store.run(fit_id)
    store.add_dataset(fitted_store.dataset(card.dataset))
    assert store.import_run(bare) == fit_id


def test_a_damaged_run_is_not_handed_on(fitted_store: Store, fit_id: str) -> None:
    path = fitted_store.root / "runs" / fit_id / "model.npz"
    path.write_bytes(path.read_bytes() + b"x")
    with pytest.raises(DamagedRun):
        fitted_store.export_run(fit_id)


def changed_request(files: Members, **change: object) -> Members:
    plain = json.loads(files["run/run.json"])
    return {**files, "run/run.json": json.dumps({**plain, **change}).encode()}


def other_model(files: Members, **arrays: np.ndarray) -> Members:
    with np.load(io.BytesIO(files["run/model.npz"])) as archive:
        kept = dict(archive)
    out = io.BytesIO()
    np.savez(out, **{**kept, **arrays})
    return {**files, "run/model.npz": out.getvalue()}


def other_links(files: Members, column: str) -> Members:
    plain = json.loads(files["run/links.json"])
    del plain["tables"]["links"][column]
    return {**files, "run/links.json": json.dumps(plain).encode()}


HOSTILE: dict[str, Callable[[Members], Members]] = {
    "another version": lambda files: changed_request(files, algorithm="0"),
    "no request": lambda files: changed_request(files, request={"kind": "fit"}),
    "a request with a path": lambda files: changed_request(
        files, request={"kind": "fit", "dataset": "../../x", "settings": {}, "run": ""}
    ),
    "another kind": lambda files: changed_request(
        files,
        request={
            **json.loads(files["run/run.json"])["request"],
            "kind": "projection",
            "settings": {},
        },
    ),
    "times that are none": lambda files: changed_request(files, created="soon"),
    "no model": lambda files: {k: v for k, v in files.items() if not k.endswith("model.npz")},
    "a model that is none": lambda files: {**files, "run/model.npz": b"PK\x03\x04nonsense"},
    "factors that do not fit": lambda files: other_model(files, factor_1=np.ones((9, 3))),
    "factors below zero": lambda files: other_model(files, factor_1=-np.ones((8, 3))),
    "factors that are no numbers": lambda files: other_model(files, factor_1=np.full((8, 3), "x")),
    "Python objects": lambda files: other_model(files, factor_1=np.array([{}] * 3)),
    "a cost that does not fit": lambda files: other_model(files, cost_1=np.ones((2, 2))),
    "links without a table": lambda files: {
        **files,
        "run/links.json": b'{"schema": 1, "kind": "links", "about": {}, "tables": {}}',
    },
    "links without a column": lambda files: other_links(files, "same_sign"),
    "links that are another experiment": lambda files: {
        **files,
        "run/links.json": made_up.stability().to_json().encode(),
    },
    "links that are none": lambda files: {**files, "run/links.json": b"[]"},
}


def test_a_run_that_somebody_else_sealed_is_taken(
    store: Store, fit_id: str, bundle: bytes, tmp_path: Path
) -> None:
    assert store.import_run(zipped(resealed(members(bundle), tmp_path))) == fit_id


@pytest.mark.parametrize("name", HOSTILE)
def test_well_sealed_nonsense_is_refused(
    store: Store, bundle: bytes, tmp_path: Path, name: str
) -> None:
    store.add_dataset(tiny_dataset(), synthetic=True)
    before = listing(store)
    files = {
        key: data
        for key, data in HOSTILE[name](members(bundle)).items()
        if not key.startswith("dataset/")
    }
    content = zipped(resealed(files, tmp_path))
    with pytest.raises(SwiftError):
        store.import_run(content)
    assert listing(store) == before


@pytest.mark.parametrize(
    "name",
    [
        "../evil",
        "/etc/evil",
        "run/../../evil",
        "run\\evil",
        "C:evil",
        "run/evil.json",
        "run/",
        "dataset/evil",
        "run/model.npz/x",
        "x" * 300,
    ],
)
def test_members_of_other_names_are_refused(store: Store, bundle: bytes, name: str) -> None:
    before = listing(store)
    with pytest.raises(SwiftError):
        store.import_run(zipped({**members(bundle), name: b"x"}))
    assert listing(store) == before


def test_other_data_than_those_of_the_run_are_refused(
    fitted_store: Store, store: Store, bundle: bytes
) -> None:
    other = Store(store.root / "other")
    folder = other.root / "datasets" / other.add_dataset(tiny_dataset(seed=5))
    swapped = {f"dataset/{path.name}": path.read_bytes() for path in folder.iterdir()}
    with pytest.raises(SwiftError, match="not those of the run"):
        store.import_run(zipped({**members(bundle), **swapped}))
    assert store.datasets() == []


def test_bombs_and_giants_are_refused(
    store: Store, bundle: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    with pytest.raises(SwiftError, match="unpacks to far more"):
        store.import_run(zipped({**members(bundle), "run/links.json": bytes(80_000_000)}))
    monkeypatch.setattr(bundle_zip, "MAX_MEMBER", 1_000)
    with pytest.raises(SwiftError, match="too large"):
        store.import_run(bundle)
    monkeypatch.setattr(bundle_zip, "MAX_BUNDLE", 1_000)
    with pytest.raises(SwiftError, match="too large"):
        store.import_run(bundle)


@pytest.mark.filterwarnings("ignore:Duplicate name")
def test_a_member_twice_is_refused(store: Store, bundle: bytes) -> None:
    out = io.BytesIO(bundle)
    with zipfile.ZipFile(out, "a") as archive:
        archive.writestr("run/run.json", b"{}")
    with pytest.raises(SwiftError, match="twice"):
        store.import_run(out.getvalue())


def check_mutations(store: Store, bundle: bytes, count: int) -> None:
    rng = np.random.default_rng(4)
    before = listing(store)
    taken = 0
    for _ in range(count):
        content = bytearray(bundle)
        for _ in range(int(rng.integers(1, 4))):
            content[int(rng.integers(len(content)))] ^= 1 << int(rng.integers(8))
        if rng.random() < 0.2:
            content = content[: int(rng.integers(len(content)))]
        try:
            run_id = store.import_run(bytes(content))
        except SwiftError:
            assert listing(store) == before
        else:  # a bit nobody reads, such as a date in the zip's directory
            taken += 1
            assert store.export_run(run_id, with_data=False)
            store.delete_dataset(store.run(run_id).dataset)
            before = listing(store)
    assert taken < count / 5


def test_changed_bundles_are_refused_in_words(store: Store, bundle: bytes) -> None:
    check_mutations(store, bundle, 150)


@pytest.mark.nightly
def test_many_changed_bundles_are_refused_in_words(store: Store, bundle: bytes) -> None:
    check_mutations(store, bundle, 10_000)


@pytest.mark.parametrize("content", [b"", b"x", b"PK\x03\x04", b"PK\x05\x06" + bytes(18)])
def test_what_is_no_zip_is_refused(store: Store, content: bytes) -> None:
    with pytest.raises(SwiftError):
        store.import_run(content)

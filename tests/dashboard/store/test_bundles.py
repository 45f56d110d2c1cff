"""A run goes out as one file and comes back the same; hostile files do not come in."""

from __future__ import annotations

import io
import json
import zipfile
from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np
import pytest
from support import made_up
from support.hostile_bundles import Members, members, resealed, zipped
from support.made_runs import computed
from support.opened_page import add_experiment
from support.tiny_store import tiny_dataset

from dashboard.store import bundle_zip
from dashboard.store.cards import DamagedRun, UnknownDataset, newest_sound
from dashboard.store.store import Store
from swiftcore import __version__
from swiftcore.errors import SwiftError
from swiftcore.evaluation.experiments.result import Experiment


@pytest.fixture
def bundle(fitted_store: Store, fit_id: str) -> bytes:
    return fitted_store.export_run(fit_id, with_data=True)


def listing(store: Store) -> list[str]:
    return sorted(str(path) for path in store.root.rglob("*") if path.name != "changes.lock")


def test_a_run_comes_back_the_same_elsewhere(
    fitted_store: Store, fit_id: str, store: Store, bundle: bytes
) -> None:
    run_id = store.import_run(bundle, "C:\\files\\from <b>A.zip")
    assert run_id == store.import_run(bundle, "again.zip") != fit_id
    assert [card.id for card in store.runs()] == [run_id]
    old, new = fitted_store.fit(fit_id), store.fit(run_id)
    for one, other in zip(old.factors, new.factors, strict=True):
        np.testing.assert_array_equal(one, other)
    theirs, ours = fitted_store.run(fit_id), store.run(run_id)
    assert ours == replace(theirs, id=run_id, imported=ours.imported)
    assert ours.imported == new.imported
    assert (ours.imported.file, ours.imported.run) == ("from <b>A.zip", fit_id)
    assert ours.imported.with_data and ours.imported.version == __version__
    assert fitted_store.export_run(fit_id, with_data=True) == bundle


def test_data_of_a_bundle_count_as_real_unless_the_person_says_otherwise(
    fitted_store: Store, fit_id: str, store: Store, bundle: bytes, tmp_path: Path
) -> None:
    assert fitted_store.datasets()[0].synthetic
    store.import_run(bundle)
    assert [(card.synthetic, card.imported) for card in store.datasets()] == [(False, True)]
    told = Store(tmp_path / "told")
    told.import_run(bundle, synthetic=True)
    assert [(card.synthetic, card.imported) for card in told.datasets()] == [(True, True)]
    fitted_store.import_run(bundle)  # the data are here, and nothing new is known of them
    assert [(card.synthetic, card.imported) for card in fitted_store.datasets()] == [(True, False)]


def test_the_way_of_a_result_goes_with_it(
    fitted_store: Store, fit_id: str, store: Store, bundle: bytes, tmp_path: Path
) -> None:
    first = store.import_run(bundle, "first.zip")
    handed_on = store.export_run(first, with_data=True)
    third = Store(tmp_path / "third")
    run_id = third.import_run(handed_on, "second.zip")
    origin = third.run(run_id).imported
    assert run_id == first == store.import_run(handed_on, "second.zip")
    assert origin.file == "second.zip" and origin.run == fit_id
    assert [one.file for one in origin.earlier] == ["first.zip"]
    assert "first.zip" in origin.sentence() and "second.zip" in origin.sentence()
    assert store.run(first).imported.file == "first.zip"


def test_ones_own_run_comes_back_as_an_imported_one(fitted_store: Store, fit_id: str) -> None:
    run_id = fitted_store.import_run(fitted_store.export_run(fit_id), "mine.zip")
    assert fitted_store.run(run_id).imported is not None
    assert fitted_store.run(fit_id).imported is None
    assert newest_sound(fitted_store.runs(), "fit").id == fit_id


def test_experiments_are_found_with_the_fit_they_came_with(
    fitted_store: Store, fit_id: str, store: Store, bundle: bytes
) -> None:
    study = add_experiment(fitted_store, of_tiny_data(made_up.stability()), fit_id)
    fit = store.import_run(bundle)
    taken = store.import_run(fitted_store.export_run(study))
    dataset = store.run(fit).dataset
    assert newest_sound(store.runs(dataset), "stability", fit).id == taken
    own = computed(store, store.run(fit).request)
    assert own == fit_id
    assert newest_sound(store.runs(dataset), "stability", own) is None
    mine = add_experiment(store, of_tiny_data(made_up.stability()), own)
    assert newest_sound(store.runs(dataset), "stability", own).id == mine
    assert newest_sound(store.runs(dataset), "stability", fit).id == taken


def of_tiny_data(experiment: Experiment) -> Experiment:
    about = {**experiment.about, "data": {**made_up.ABOUT["data"], "shape": [30, 8, 6]}}
    return replace(experiment, about=about)


def test_without_data_the_data_must_be_there(
    fitted_store: Store, fit_id: str, store: Store
) -> None:
    bare = fitted_store.export_run(fit_id)
    with pytest.raises(UnknownDataset):
        store.import_run(bare)
    card = fitted_store.run(fit_id)
    store.add_dataset(fitted_store.dataset(card.dataset))
    assert not store.run(store.import_run(bare)).imported.with_data


def test_a_shipped_result_is_ones_own(
    fitted_store: Store, fit_id: str, store: Store, tmp_path: Path
) -> None:
    bare = fitted_store.export_run(fit_id)
    store.add_dataset(tiny_dataset(), synthetic=True)
    assert store.add_shipped(bare) == fit_id and store.run(fit_id).imported is None
    wrong = other_model(members(bare), factor_1=np.ones((8, 3)))
    with pytest.raises(SwiftError):
        store.add_shipped(zipped(resealed(wrong, tmp_path)))


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
    store: Store, bundle: bytes, tmp_path: Path
) -> None:
    run_id = store.import_run(zipped(resealed(members(bundle), tmp_path)))
    assert store.run(run_id).imported is not None


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

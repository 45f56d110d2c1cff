"""The store keeps what it is given, privately, and notices every changed byte."""

from __future__ import annotations

import os
import pickle
import stat
import subprocess
import sys
from pathlib import Path

import numpy as np
import pytest
from support.tiny_store import ROOT, tiny_dataset

from dashboard.jobs import jobs
from dashboard.store.cards import (
    DamagedRun,
    RunState,
    StoreBusy,
    UnknownDataset,
    UnknownRun,
    newest_sound,
)
from dashboard.store.request import Request
from dashboard.store.reviews import Review, Reviews
from dashboard.store.store import Store, default_root
from swiftcore.data.samples import load_sample
from swiftcore.errors import InvalidData, InvalidSettings


def test_a_data_set_comes_back_as_it_was(store: Store) -> None:
    for dataset in (tiny_dataset(), tiny_dataset(outcome=False), load_sample("news")):
        identifier = store.add_dataset(dataset)
        back = store.dataset(identifier)
        assert back.tensor == dataset.tensor
        assert back.name == dataset.name and back.words == dataset.words
        assert (back.outcome is None) == (dataset.outcome is None)
        assert back.outcome is None or (back.outcome == dataset.outcome).all()
        assert store.add_dataset(dataset) == identifier
    assert [card.name for card in store.datasets()] == ["news", "tiny 0", "tiny 0"]


def test_the_card_says_what_is_in_the_data(store: Store) -> None:
    card = store.card(store.add_dataset(tiny_dataset(), synthetic=True))
    assert card.shape == (30, 8, 6) and card.mode_names == ("patient", "diagnosis", "medication")
    assert card.classes == ("no", "yes") and card.synthetic and card.outcome_name == "fever"
    places = tiny_dataset().tensor.coordinates
    assert card.columns == tuple(
        len(np.unique(np.delete(places, axis, 1), axis=0)) for axis in range(3)
    )


def test_what_a_page_imports_is_light() -> None:
    code = (
        "import sys, dashboard.jobs.jobs, dashboard.jobs.samples\n"
        "print([name for name in ('sklearn', 'numba', 'streamlit') if name in sys.modules])"
    )
    out = subprocess.run([sys.executable, "-c", code], cwd=ROOT, capture_output=True, text=True)
    assert out.stdout.strip() == "[]", out.stderr


def test_only_the_owner_may_look(fitted_store: Store, fit_id: str, tmp_path: Path) -> None:
    mask = os.umask(0)
    try:
        Reviews(fitted_store.root).save(Review(fit_id, "P01", "d", "anna"))
        open_store = Store(tmp_path / "open")
        open_store.import_run(fitted_store.export_run(fit_id, with_data=True))
    finally:
        os.umask(mask)
    for root in (fitted_store.root, tmp_path / "open"):
        paths = [root, *root.rglob("*")]
        assert len(paths) > 10
        for path in paths:
            mode = stat.S_IMODE(path.stat().st_mode)
            assert mode & 0o077 == 0, f"{path.name} {mode:o}"


@pytest.mark.parametrize(
    "bad", ["", "x", "../runs", "A" * 32, "0" * 31, "0" * 33, "0" * 32, 3, None]
)
def test_ids_that_lead_nowhere_are_refused(store: Store, bad: str) -> None:
    for ask in (store.run, store.fit, store.experiment, store.projection, store.delete_run):
        with pytest.raises(UnknownRun):
            ask(bad)
    for ask in (store.card, store.dataset, store.delete_dataset):
        with pytest.raises(UnknownDataset):
            ask(bad)


def test_a_fit_is_read_whole(fitted_store: Store, fit_id: str) -> None:
    fit, card = fitted_store.fit(fit_id), fitted_store.run(fit_id)
    assert card.state is RunState.DONE and card.seconds > 0 and card.ended > card.created
    assert [factor.shape for factor in fit.factors] == [(30, 3), (8, 3), (6, 3)]
    np.testing.assert_allclose(fit.factors[1].sum(axis=0), 1)
    assert fit.settings["rank"] == 3 and fit.identifiers == ("P01", "P02", "P03")
    assert fit.history["objective"].iloc[-1] == fit.objective and fit.outcome.endswith(".")
    assert fit.links is not None and len(fit.links.tables["links"]) == 3
    digests = {fit.phenotype_digest(component) for component in range(3)}
    assert len(digests) == 3 and all(len(digest) == 32 for digest in digests)
    assert newest_sound(fitted_store.runs(card.dataset), "fit").id == fit_id
    assert newest_sound(fitted_store.runs(card.dataset), "noise") is None
    assert pickle.loads(pickle.dumps(card)) == card  # Streamlit's cache hands out copies


def test_a_fit_is_no_experiment(fitted_store: Store, fit_id: str) -> None:
    with pytest.raises(UnknownRun):
        fitted_store.experiment(fit_id)


def flip(path: Path, place: int, bit: int) -> None:
    content = bytearray(path.read_bytes())
    content[place % len(content)] ^= 1 << bit
    path.write_bytes(content)


def check_flips(store: Store, folder: Path, count: int, ask) -> None:
    rng = np.random.default_rng(1)
    files = sorted(folder.iterdir())
    for turn in range(count):
        path = files[turn % len(files)]
        before = path.read_bytes()
        flip(path, int(rng.integers(1 << 40)), int(rng.integers(8)))
        with pytest.raises((DamagedRun, InvalidData)):
            ask()
        path.write_bytes(before)
    ask()


def test_every_flipped_bit_of_a_run_is_noticed(fitted_store: Store, fit_id: str) -> None:
    folder = fitted_store.root / "runs" / fit_id
    check_flips(fitted_store, folder, 200, lambda: fitted_store.fit(fit_id))


def test_every_flipped_bit_of_a_data_set_is_noticed(store: Store) -> None:
    identifier = store.add_dataset(tiny_dataset())
    folder = store.root / "datasets" / identifier
    check_flips(store, folder, 60, lambda: store.dataset(identifier))


def test_files_missing_or_added_are_noticed(fitted_store: Store, fit_id: str) -> None:
    folder = fitted_store.root / "runs" / fit_id
    (folder / "more").write_bytes(b"x")
    with pytest.raises(DamagedRun):
        fitted_store.fit(fit_id)
    (folder / "more").unlink()
    fitted_store.fit(fit_id)
    (folder / "links.json").unlink()
    with pytest.raises(DamagedRun):
        fitted_store.fit(fit_id)


@pytest.mark.parametrize("name", ["model.npz", "run.json", "SHA256SUMS"])
def test_a_damaged_run_is_listed_as_such(fitted_store: Store, fit_id: str, name: str) -> None:
    (fitted_store.root / "runs" / fit_id / name).write_bytes(b"nonsense")
    card = fitted_store.run(fit_id)
    assert card.damaged and "changed" in card.message
    assert [one.damaged for one in fitted_store.runs()] == [True]
    assert newest_sound(fitted_store.runs(card.dataset), "fit") is None
    fitted_store.delete_run(fit_id)
    assert fitted_store.runs() == []


def test_a_damaged_data_set_is_listed_and_mended_by_loading_it_again(store: Store) -> None:
    identifier = store.add_dataset(tiny_dataset())
    flip(store.root / "datasets" / identifier / "data.swift.npz", 500, 3)
    assert [card.damaged for card in store.datasets()] == [True]
    for ask in (jobs.start, jobs.estimate):
        with pytest.raises(InvalidData, match="changed"):
            ask(store, Request("fit", identifier))
    assert store.add_dataset(tiny_dataset()) == identifier
    assert [card.damaged for card in store.datasets()] == [False]


def test_deleting_data_deletes_all_that_came_of_them(fitted_store: Store, fit_id: str) -> None:
    card = fitted_store.run(fit_id)
    reviews = Reviews(fitted_store.root)
    secret = "Mrs. Canary 4711"  # pragma: allowlist secret (made up)
    reviews.save(Review(fit_id, "P01", "d", "anna", comment=secret))
    fitted_store.delete_dataset(card.dataset)
    assert fitted_store.datasets() == [] and fitted_store.runs() == []
    assert reviews.latest(fit_id) == []
    for path in fitted_store.root.rglob("*"):
        content = path.read_bytes() if path.is_file() else b""
        assert secret.encode() not in content and b"diagnosis 1" not in content, path


def test_what_is_being_computed_cannot_be_deleted(store: Store) -> None:
    request = Request("fit", store.add_dataset(tiny_dataset()))
    store.job(request.key()).create(request, 1.0, 1)  # this process stands for the worker
    with pytest.raises(StoreBusy):
        store.delete_run(request.key())
    with pytest.raises(StoreBusy):
        store.delete_dataset(request.dataset)


@pytest.mark.parametrize("mode", [0o755, 0o770])
def test_a_data_folder_with_open_doors_is_closed(tmp_path: Path, mode: int) -> None:
    root = Store(tmp_path / "store").root
    for folder in (root, root / "datasets"):
        folder.chmod(mode)
    Store(root)
    assert {stat.S_IMODE(path.stat().st_mode) for path in (root, root / "datasets")} == {0o700}
    (tmp_path / "empty").mkdir(mode=mode)
    assert stat.S_IMODE(Store(tmp_path / "empty").root.stat().st_mode) == 0o700


def test_a_folder_of_others_is_left_as_it_is(tmp_path: Path) -> None:
    shared, used = tmp_path / "shared", tmp_path / "used"
    shared.mkdir()
    shared.chmod(0o1777)
    used.mkdir()
    used.chmod(0o755)
    (used / "thesis.doc").touch()
    for folder, found in ((shared, "everybody"), (used, "other things")):
        before = folder.stat().st_mode
        with pytest.raises(InvalidSettings, match=found):
            Store(folder)
        assert folder.stat().st_mode == before and not (folder / "runs").exists()


@pytest.mark.skipif(os.geteuid() != 0, reason="only root can give a folder to somebody else")
def test_a_folder_of_somebody_else_is_refused(tmp_path: Path) -> None:
    folder = tmp_path / "theirs"
    folder.mkdir()
    folder.chmod(0o755)
    os.chown(folder, 12_345, 12_345)
    with pytest.raises(InvalidSettings, match="somebody else"):
        Store(folder)


def test_stray_files_with_the_name_of_an_id_do_no_harm(fitted_store: Store, fit_id: str) -> None:
    strays = [fitted_store.root / place / ("a" * 32) for place in ("datasets", "runs", "jobs")]
    for stray in strays:
        stray.write_bytes(b"stray")
    again = Store(fitted_store.root)
    assert [card.id for card in again.runs()] == [fit_id] and len(again.datasets()) == 1
    assert jobs.start(again, again.run(fit_id).request) == fit_id
    request = Request("fit", again.datasets()[0].id, {"seed": 9})
    (again.root / "runs" / request.key()).write_bytes(b"stray")
    again.publish_run(request, {"model.npz": b"x"}, 1.0, 1.0)
    assert not again.run(request.key()).damaged


def test_the_root_is_where_the_environment_says(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("SWIFT_HOME", str(tmp_path / "there"))
    assert Store().root == default_root() == tmp_path / "there"

"""The store: data sets, finished runs and jobs under one private folder."""

from __future__ import annotations

import json
import os
import shutil
import time
from collections.abc import Callable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import Any, TypeVar

from filelock import FileLock

from dashboard.privacy import uploads
from dashboard.store import bundle_zip, results
from dashboard.store.cards import (
    DamagedRun,
    DatasetCard,
    RunCard,
    RunState,
    StoreBusy,
    damaged_dataset,
    damaged_run,
    is_id,
    select_runs,
    unknown_dataset,
    unknown_run,
)
from dashboard.store.dataset_files import CARD, DATA, dataset_card, dataset_id, read_card, read_data
from dashboard.store.job_state import Job, sweep_jobs
from dashboard.store.request import EXPERIMENTS, Request
from dashboard.store.results import Files, FittedRun, Projection
from dashboard.store.reviews import Reviews
from dashboard.store.run_record import RUN, check_bundle, done_card, facts, job_card
from dashboard.store.verified_folder import (
    SEAL,
    ChecksumMismatch,
    make_private,
    publish,
    read_sealed,
    remove,
    sweep,
    temporary_path,
    write_private,
)
from swiftcore.data.bundle import bundle_bytes
from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidData, refuse
from swiftcore.evaluation.experiments.result import Experiment

Result = TypeVar("Result")


def default_root() -> Path:
    """SWIFT_HOME, or a folder in the home of the user."""
    named = os.environ.get("SWIFT_HOME", "")
    return Path(named) if named else Path.home() / ".swift-phenotyping"


class Store:
    """Data sets and runs by id; every read checks the seal of what it reads.

    Parameters
    ----------
    root : Path, optional
        Made if it is missing, for its owner only; by default :func:`default_root`.
    """

    def __init__(self, root: Path | str | None = None) -> None:
        self.root = make_private(Path(root) if root is not None else default_root())
        self.temporary = make_private(self.root / "temporary")
        for name in ("datasets", "runs", "jobs", "parts", "locks"):
            make_private(self.root / name)
        self._sound: dict[Path, tuple[Any, ...]] = {}  # folders checked, and how they looked
        sweep(self.temporary)
        uploads.sweep(self.root / "uploads")
        sweep_jobs(self.root, self.temporary, self.lock())

    def lock(self, name: str = "changes") -> FileLock:
        """A kernel lock over all processes; a holder that dies lets go."""
        return FileLock(self.root / "locks" / f"{name}.lock", mode=0o600)

    # ---- data sets

    def add_dataset(self, dataset: Dataset, *, synthetic: bool = False) -> str:
        """Keep a data set; the same data under the same name are kept once."""
        identifier = dataset_id(dataset)
        if not self._is_sound(self.root / "datasets" / identifier):
            card = dataset_card(identifier, dataset, synthetic, time.time())
            files = {DATA: bundle_bytes(dataset), CARD: json.dumps(asdict(card)).encode()}
            self._publish(files, self.root / "datasets" / identifier)
        return identifier

    def datasets(self) -> list[DatasetCard]:
        """All data sets, newest first."""
        cards = [self.card(name) for name in _ids(self.root / "datasets")]
        return sorted(cards, key=lambda card: (-card.added, card.id))

    def card(self, dataset: str) -> DatasetCard:
        """What a list shows of a data set; raises UnknownDataset."""
        folder = self._dataset_folder(dataset)
        try:
            card = read_card((folder / CARD).read_bytes())
        except (OSError, InvalidData):
            return DatasetCard(dataset, "damaged", (), (), 0, "", (), False, "", 0.0, damaged=True)
        return replace(card, id=dataset, damaged=not self._is_sound(folder))

    def dataset(self, dataset: str) -> Dataset:
        """The data; raises UnknownDataset, or InvalidData when the files were changed."""
        folder = self._dataset_folder(dataset)
        try:
            return read_data(read_sealed(folder))
        except ChecksumMismatch as error:
            raise damaged_dataset(dataset, str(error)) from error

    def usable_card(self, dataset: str) -> DatasetCard:
        """The card of data that can be computed with; raises like :meth:`dataset`."""
        card = self.card(dataset)
        if card.damaged:
            raise damaged_dataset(dataset, "a changed file")
        return card

    def delete_dataset(self, dataset: str) -> None:
        """Delete a data set, everything computed from it and every word said about that."""
        folder = self._dataset_folder(dataset)
        mine = self.runs(dataset)
        _refuse_active(mine)
        for card in mine:
            self.delete_run(card.id)
            Reviews(self.root).forget(card.id)
        remove(folder, self.temporary)

    # ---- runs

    def runs(self, dataset: str | None = None, kind: str | None = None) -> list[RunCard]:
        """Runs and jobs, newest first, perhaps of one data set or one kind."""
        ids = {name for place in ("runs", "jobs") for name in _ids(self.root / place)}
        cards = [card for run_id in ids if (card := self._run_card(run_id)) is not None]
        newest_first = sorted(cards, key=lambda card: (-card.created, card.id))
        return select_runs(newest_first, dataset, kind)

    def run(self, run_id: str) -> RunCard:
        """How a run stands; raises UnknownRun."""
        card = self._run_card(run_id) if is_id(run_id) else None
        if card is None:
            raise unknown_run(run_id)
        return card

    def delete_run(self, run_id: str) -> None:
        """Delete a result, its job and its finished parts; reviews stay."""
        with self.lock():
            _refuse_active([self.run(run_id)])
            for place in ("parts", "jobs", "runs"):  # whole to the last if this is interrupted
                remove(self.root / place / run_id, self.temporary)

    def fit(self, run_id: str) -> FittedRun:
        """A finished fit; raises UnknownRun or DamagedRun."""
        settings = self.run(run_id).request.settings
        return self._read(run_id, ("fit",), lambda files: results.read_fit(files, settings))

    def experiment(self, run_id: str) -> Experiment:
        """A finished experiment; raises UnknownRun or DamagedRun."""
        return self._read(run_id, EXPERIMENTS, results.read_experiment)

    def projection(self, run_id: str) -> Projection:
        """Finished memberships of new rows; raises UnknownRun or DamagedRun."""
        return self._read(run_id, ("projection",), results.read_projection)

    def job(self, run_id: str) -> Job:
        """The job folder of a run, whether or not there is one."""
        return Job(self.root / "jobs" / run_id, self.temporary)

    def checkpoints(self, run_id: str) -> Path:
        """Where a job keeps what it has done so far, for the case that it is interrupted."""
        return make_private(self.job(run_id).parts)

    def is_finished(self, run_id: str) -> bool:
        """Whether a sound result is there."""
        return self._is_sound(self.root / "runs" / run_id)

    def publish_run(self, request: Request, files: Files, created: float, seconds: float) -> str:
        """Show a finished result by one rename; a sound one that is already there stays."""
        run_id = request.key()
        about = json.dumps(facts(request, created, time.time(), seconds)).encode()
        self._publish({**files, RUN: about}, self.root / "runs" / run_id)
        remove(self.root / "parts" / run_id, self.temporary)
        return run_id

    # ---- runs shared

    def export_run(self, run_id: str, *, with_data: bool = False) -> bytes:
        """A run as a zip file for :meth:`import_run`, perhaps with its data set."""
        self._read(run_id, None, lambda files: files)
        folders = {"run": self.root / "runs" / run_id}
        if with_data:
            folders["dataset"] = self._dataset_folder(self.run(run_id).dataset)
        return bundle_zip.pack({name: _with_seal(path) for name, path in folders.items()})

    def import_run(self, content: bytes) -> str:
        """Take in a run; returns its id.

        Raises
        ------
        InvalidData
            If the file is no run bundle, was changed, or holds what cannot be read.
        UnknownDataset
            If its data set is neither in it nor in the store.
        """
        folders = bundle_zip.unpack(content)
        request = check_bundle(folders["run"])
        if "dataset" in folders:
            self._import_dataset(folders["dataset"], request.dataset)
        self._dataset_folder(request.dataset)
        self._publish(folders["run"], self.root / "runs" / request.key())
        return request.key()

    def _import_dataset(self, files: Mapping[str, bytes], expected: str) -> None:
        dataset = read_data(files, bundle_zip.FOREIGN)
        if dataset_id(dataset) != expected:
            raise refuse(
                "bundle-data",
                "The data in the bundle are not those of the run",
                "the run bundle",
                "another data set",
                "Export the run again.",
            )
        self.add_dataset(dataset, synthetic=read_card(files.get(CARD, b"")).synthetic)

    # ---- inside

    def _dataset_folder(self, dataset: str) -> Path:
        folder = self.root / "datasets" / dataset if is_id(dataset) else None
        if folder is None or not folder.is_dir():
            raise unknown_dataset(dataset)
        return folder

    def _read(
        self, run_id: str, kinds: Sequence[str] | None, reader: Callable[[Files], Result]
    ) -> Result:
        card = self.run(run_id)
        if card.state is not RunState.DONE or (kinds and card.kind not in kinds):
            raise unknown_run(run_id, f"a {card.kind} that is {card.state.name.lower()}")
        try:
            return reader(read_sealed(self.root / "runs" / run_id))
        except ChecksumMismatch as error:
            raise damaged_run(run_id, str(error)) from error
        except InvalidData as error:  # unchanged since it was written, and still of no use
            raise DamagedRun(error.problems) from error

    def _publish(self, files: Mapping[str, bytes], target: Path) -> None:
        draft = temporary_path(self.temporary)
        draft.mkdir(mode=0o700)
        try:
            for name, content in files.items():
                if name != SEAL:
                    write_private(draft / name, content)
            if target.is_dir() and not self._is_sound(target):
                remove(target, self.temporary)
            publish(draft, target)
        finally:  # gone by now, unless the disk is full or broken
            shutil.rmtree(draft, ignore_errors=True)

    def _run_card(self, run_id: str) -> RunCard | None:
        folder = self.root / "runs" / run_id
        if not folder.is_dir():
            card = job_card(run_id, self.job(run_id))
            ended = card is None or not card.state.active
            if not ended or not folder.is_dir():  # it may have been published while we looked
                return card
        return done_card(folder, damaged=not self._is_sound(folder))

    def _is_sound(self, folder: Path) -> bool:
        """Whether the seal holds; files that look as they did when checked are not read again."""
        try:
            stats = [(entry.name, entry.stat()) for entry in os.scandir(folder)]
        except OSError:
            return False
        looks = tuple(
            sorted((name, stat.st_size, stat.st_mtime_ns, stat.st_ino) for name, stat in stats)
        )
        if self._sound.get(folder) != looks:
            try:
                read_sealed(folder)
            except ChecksumMismatch:
                self._sound.pop(folder, None)
                return False
            self._sound[folder] = looks
        return True


def _refuse_active(cards: Sequence[RunCard]) -> None:
    for card in cards:
        if card.state.active:
            raise refuse(
                "run-active",
                "It is being computed",
                f"run {card.id[:8]}",
                card.state.value,
                "Stop it first.",
                kind=StoreBusy,
            )


def _ids(folder: Path) -> list[str]:
    return [entry.name for entry in os.scandir(folder) if is_id(entry.name)]


def _with_seal(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}

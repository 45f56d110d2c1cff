"""The store: data sets, finished runs and jobs under one private folder."""

from __future__ import annotations

import json
import os
import time
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, replace
from pathlib import Path
from typing import TypeVar

from filelock import FileLock

from dashboard.privacy import uploads
from dashboard.store import bundle_zip, results
from dashboard.store.budget import make_room
from dashboard.store.cards import (
    NEW_ROWS,
    DamagedRun,
    DatasetCard,
    RunCard,
    RunState,
    StoreBusy,
    UnknownDataset,
    belongs,
    damaged_dataset,
    damaged_run,
    is_id,
    said_synthetic,
    select_runs,
    unknown_dataset,
    unknown_run,
)
from dashboard.store.cost_tables import (
    COSTS,
    AttachedCost,
    attached_costs,
    attached_tables,
    cost_files,
    cost_folder,
)
from dashboard.store.dataset_files import CARD, DATA, dataset_card, dataset_id, read_card, read_data
from dashboard.store.import_checks import read_bundle
from dashboard.store.imported import ORIGIN, imported_id, origin_bytes
from dashboard.store.index import CardIndex, folder_ids, run_marks
from dashboard.store.job_state import Job, sweep_jobs
from dashboard.store.keeping import KEPT, USED
from dashboard.store.private_folder import PARTS, make_private, make_store_folder
from dashboard.store.request import WITH_TABLES, Request
from dashboard.store.results import Files, FittedRun, Projection
from dashboard.store.reviews import Reviews
from dashboard.store.run_record import RUN, done_card, facts, job_card
from dashboard.store.temporary import remove, sweep, temporary_place
from dashboard.store.verified_folder import (
    SEAL,
    ChecksumMismatch,
    SoundFolders,
    publish,
    read_sealed,
    write_private,
)
from swiftcore.cost.outside.cost_table import CostTable
from swiftcore.data.bundle import bundle_bytes
from swiftcore.data.dataset import Dataset
from swiftcore.errors import InvalidData, refuse
from swiftcore.evaluation.experiments.result import Experiment

SEEDED = "samples-seeded"  # says that the samples were put here once
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
        self.root = make_store_folder(Path(root) if root is not None else default_root())
        self.temporary = self.root / "temporary"
        for name in PARTS:
            make_private(self.root / name)
        self._is_sound = SoundFolders().holds
        self._datasets = CardIndex(
            lambda: dict.fromkeys(folder_ids(self.root / "datasets"), "data"),
            self._dataset_card,
            lambda card: card.damaged != self._is_sound(self.root / "datasets" / card.id),
            lambda card: (-card.added, card.id),
        )
        self._runs = CardIndex(
            lambda: run_marks(self.root / "runs", self.root / "jobs"),
            self._run_card,
            self._looks_as_said,
            lambda card: (-card.created, card.id),
        )
        sweep(self.temporary)
        uploads.sweep_drafts(self.root / uploads.UPLOADS)
        sweep_jobs(self.root, self.temporary, self.lock())

    def lock(self, name: str = "changes") -> FileLock:
        """A kernel lock over all processes; a holder that dies lets go."""
        return FileLock(self.root / "locks" / f"{name}.lock", mode=0o600)

    # ---- data sets

    def add_dataset(
        self, dataset: Dataset, *, synthetic: bool = False, imported: bool = False, role: str = ""
    ) -> str:
        """Keep a data set; the same data under the same name are kept once.

        Raises
        ------
        InvalidData
            If they are here already and were said to be synthetic, which they now are not.
        """
        identifier = dataset_id(dataset)
        if self._is_sound(self.root / "datasets" / identifier):
            if self.card(identifier).synthetic and not (synthetic or imported):
                raise said_synthetic(dataset.name)
        else:
            card = dataset_card(
                identifier,
                dataset,
                time.time(),
                synthetic=synthetic,
                imported=imported,
                role=role,
            )
            files = {DATA: bundle_bytes(dataset), CARD: json.dumps(asdict(card)).encode()}
            self._publish(files, self.root / "datasets" / identifier)
        return identifier

    def datasets(self) -> list[DatasetCard]:
        """All data sets, newest first."""
        return self._datasets.cards()

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
            found = read_data(read_sealed(folder))
        except ChecksumMismatch as error:
            raise damaged_dataset(dataset, str(error)) from error
        tables = attached_tables(self.costs(dataset))
        return replace(found, outside=found.outside.with_tables(tables))

    def costs(self, dataset: str) -> list[AttachedCost]:
        """The similarities of features that were brought for a data set."""
        return attached_costs(self.root, dataset)

    def attach_cost(self, dataset: str, mode: str, table: CostTable) -> None:
        """Offer a table for a mode of a data set, whose results stay what they are."""
        self._dataset_folder(dataset)
        target = self.root / COSTS / cost_folder(dataset, mode, table)
        self._publish(cost_files(dataset, mode, table), target)

    def detach_cost(self, cost: AttachedCost) -> None:
        """Take a table away; fits made with it keep their costs."""
        remove(cost.folder, self.temporary)

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
        Reviews(self.root).forget(card.id for card in mine)  # first: it can be refused
        for card in mine:
            self.delete_run(card.id)
        for cost in self.costs(dataset):
            self.detach_cost(cost)
        remove(folder, self.temporary)

    # ---- runs

    def runs(self, dataset: str | None = None, kind: str | None = None) -> list[RunCard]:
        """Runs and jobs, newest first, perhaps of one data set or one kind."""
        return select_runs(self._runs.cards(), dataset, kind)

    def run(self, run_id: str) -> RunCard:
        """How a run stands; raises UnknownRun."""
        card = self._run_card(run_id) if is_id(run_id) else None
        if card is None:
            raise unknown_run(run_id)
        return card

    def delete_run(self, run_id: str) -> None:
        """Delete a result, its job and its finished parts; reviews stay.

        New rows that a fit described go with it, and rows that nothing describes any more go
        too: they are seen nowhere else.
        """
        with self.lock():
            card, others = self.run(run_id), self.runs()
            rows = [one for one in others if one.kind == "projection"]
            gone = {one.id: one for one in rows if belongs(one, run_id, card.imported)}
            gone[run_id] = card
            _refuse_active(list(gone.values()))
            for each in gone:
                for place in (KEPT, USED, "parts", "jobs", "runs"):  # whole to the last
                    remove(self.root / place / each, self.temporary)
        used = {one.dataset for one in others if one.id not in gone}
        self.drop_rows({one.dataset for one in gone.values() if one.kind == "projection"} - used)

    def drop_rows(self, datasets: Iterable[str]) -> None:
        """Delete those of the data sets that are new rows; nothing describes them any more."""
        for each in datasets:
            folder = self.root / "datasets" / each
            if folder.is_dir() and self.card(each).role == NEW_ROWS:
                remove(folder, self.temporary)

    def fit(self, run_id: str) -> FittedRun:
        """A finished fit; raises UnknownRun or DamagedRun."""
        asked = self.run(run_id).request

        def read(files: Files) -> FittedRun:
            return results.read_fit(files, asked.settings, asked.guidance)

        return self._read(run_id, ("fit",), read)

    def experiment(self, run_id: str) -> Experiment:
        """A finished experiment; raises UnknownRun or DamagedRun."""
        return self._read(run_id, WITH_TABLES, results.read_experiment)

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

    def import_run(self, content: bytes, file: str = "", *, synthetic: bool = False) -> str:
        """Take in a run from elsewhere; it answers no request and says where it came from.

        Parameters
        ----------
        content : bytes
            A bundle made by :meth:`export_run`.
        file : str
            Its name, as the person gave it.
        synthetic : bool
            Whether the person says that data in it are of no real persons; what the bundle
            says about that does not count.

        Returns
        -------
        str
            The run's id, which is no request's key; of the same file always the same.

        Raises
        ------
        InvalidData
            If the file is no run bundle, was changed, or holds what cannot be.
        UnknownDataset
            If its data set is neither in it nor in the store.
        """
        found = read_bundle(content, self.dataset)
        if found.data is not None:
            role = NEW_ROWS if found.request.kind == "projection" else ""
            self.add_dataset(found.data, synthetic=synthetic, imported=True, role=role)
        run_id, noted = imported_id(found.files), origin_bytes(found.origin(file))
        self._publish({**found.files, ORIGIN: noted}, self.root / "runs" / run_id)
        return run_id

    def add_shipped(self, content: bytes) -> str:
        """Take in a result that comes with the program: checked in full, but one's own."""
        found = read_bundle(content, self.dataset, shipped=True)
        self._publish(found.files, self.root / "runs" / found.request.key())
        return found.request.key()

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
            return reader(read_sealed(self.root / "runs" / run_id, unread=(results.LAST_STATE,)))
        except ChecksumMismatch as error:
            raise damaged_run(run_id, str(error)) from error
        except InvalidData as error:  # unchanged since it was written, and still of no use
            raise DamagedRun(error.problems) from error

    def _publish(self, files: Mapping[str, bytes], target: Path) -> None:
        make_room(self, sum(map(len, files.values())))
        with temporary_place(self.temporary) as draft:
            draft.mkdir(mode=0o700)
            for name, content in files.items():
                if name != SEAL:
                    write_private(draft / name, content)
            if os.path.lexists(target) and not self._is_sound(target):
                remove(target, self.temporary)
            publish(draft, target)

    def _dataset_card(self, dataset: str) -> DatasetCard | None:
        try:
            return self.card(dataset)
        except UnknownDataset:  # deleted while we looked
            return None

    def _looks_as_said(self, card: RunCard) -> bool:
        done = card.state is RunState.DONE
        return not done or card.damaged != self._is_sound(self.root / "runs" / card.id)

    def _run_card(self, run_id: str) -> RunCard | None:
        folder = self.root / "runs" / run_id
        if not folder.is_dir():
            card = job_card(run_id, self.job(run_id))
            ended = card is None or not card.state.active
            if not ended or not folder.is_dir():  # it may have been published while we looked
                return card
        return done_card(folder, damaged=not self._is_sound(folder))


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


def _with_seal(folder: Path) -> dict[str, bytes]:
    return {path.name: path.read_bytes() for path in folder.iterdir()}

"""Build a data set in shards from tables of any size, within a memory limit."""

from __future__ import annotations

import dataclasses
from collections.abc import Callable, Sequence
from itertools import groupby
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.building.build_tensor import cell_values, nothing_left
from swiftcore.data.building.multi_table import is_of_patients, note_unused
from swiftcore.data.from_path.read_path import origin_of
from swiftcore.data.from_path.sniff import KINDS, sniff
from swiftcore.data.from_path.table_sources import table_files, tables_in
from swiftcore.data.options import BuildOptions
from swiftcore.data.out_of_core.choose_features import Kept, choose_features, kept_cells
from swiftcore.data.out_of_core.count import (
    Feature,
    count_features,
    has_distinct,
    n_rows,
    number_people,
    people_ids,
    store_events,
)
from swiftcore.data.out_of_core.csv_to_parquet import write_as_parquet
from swiftcore.data.out_of_core.database import Database, open_database, private_folder
from swiftcore.data.out_of_core.drafts import Draft, count_cells
from swiftcore.data.out_of_core.outcome import find_outcome
from swiftcore.data.out_of_core.plan import (
    EventColumns,
    TablePlan,
    check_options,
    distinct_modes,
    plan_tables,
)
from swiftcore.data.out_of_core.table_head import read_head
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.source import Budget, Source
from swiftcore.data.shards.one_shard import Part
from swiftcore.data.shards.writer import SHARD_ROWS, About, check_free, new_shards
from swiftcore.data.summary import DatasetSummary
from swiftcore.errors import InvalidData, refuse, where_list
from swiftcore.tensor import Mode

Say = Callable[[str], None]
NO_LIMIT = 2**40  # megabytes: only heads are read in Python


def build_shards(
    path: Path,
    out: Path,
    options: BuildOptions,
    memory: int,
    rows_per_shard: int = SHARD_ROWS,
    say: Say = lambda words: None,
) -> tuple[DatasetSummary, str]:
    """Count the tables of a folder into a data set in shards.

    The entries are those that :func:`~swiftcore.data.from_path.sandbox.build_path` finds in the
    same tables.

    Parameters
    ----------
    memory : int
        Bytes that this process should keep to.
    say : callable
        Told in words what begins now. Whatever it raises ends the build, and nothing is left of it.

    Returns
    -------
    DatasetSummary, str
        What was written, and its seal.

    Raises
    ------
    InvalidSettings
        With every option that only tables in memory can have.
    InvalidData
        When the tables are not of this layout, or damaged; nothing is written then.
    """
    check_options(options)
    check_free(out)
    findings = Findings()
    plans = _plans(path, options, findings)
    with private_folder(out.parent) as folder:
        say("Reading the tables")
        files = [_parquet(plan, folder, findings) for plan in plans]
        with open_database(folder, files, memory) as database:
            plans = [dataclasses.replace(plan, number=k) for k, plan in enumerate(plans)]
            build = _Build(database, options, findings, folder, (rows_per_shard, memory), say)
            events, patients = build.told_apart(plans)
            return build.write(events, patients, path, out)


def _plans(path: Path, options: BuildOptions, findings: Findings) -> list[TablePlan]:
    """The tables of a folder and their roles."""
    limits = dataclasses.replace(options.limits, decoded_mb=NO_LIMIT)
    source = Source(path, Budget(limits))
    kind = sniff(source, options, findings)
    files = table_files(source)
    plain = kind == "tables" and len(files) == len(tables_in(source, options, findings).entries)
    if not plain or len(files) < 2 or source.is_archive or not path.is_dir():
        raise refuse(
            "layout-large",
            "Only a folder of one's own tables can be counted into shards",
            path.name,
            KINDS[kind],
            "Give a folder with one CSV or Parquet file per table, or build a .npz.",
        )
    findings.kind = kind
    heads = []
    for file in files:
        try:
            heads.append(read_head(path / file, file, options, findings))
        except InvalidData as error:
            findings.problems.extend(error.problems)
    findings.stop_if_problems()
    return plan_tables(heads, options, findings)


def _parquet(plan: TablePlan, folder: Path, findings: Findings) -> Path:
    """The table as Parquet: as it is, or written from its CSV."""
    if not plan.head.delimiter:
        return plan.head.path
    out = folder / f"from_csv_{plan.number}.parquet"
    write_as_parquet(plan.head, plan.columns, out, findings)
    return out


class _Build:
    """One build; the steps share the database and what was found."""

    def __init__(
        self,
        database: Database,
        options: BuildOptions,
        findings: Findings,
        folder: Path,
        sizes: tuple[int, int],
        say: Say,
    ) -> None:
        self.database, self.options, self.findings = database, options, findings
        self.folder, self.say = folder, say
        self.step, self.memory = sizes
        self.by_visit = options.join == "visit"

    def told_apart(self, plans: Sequence[TablePlan]) -> tuple[list[EventColumns], list[TablePlan]]:
        """Tables of events, and those of patients."""
        events, patients = [], []
        for plan in plans:
            rows = n_rows(self.database, plan.number)
            if not rows:
                self.findings.problem(
                    "table-empty",
                    "The table has a header but no rows",
                    plan.head.name,
                    "0 rows",
                    "Export the table again with its rows.",
                )
                continue
            self.findings.tables[plan.head.name] = rows
            row = plan.head.text_of(plan.roles.row)
            distinct = plan.may_be_patients and has_distinct(self.database, plan.number, row)
            if is_of_patients(plan.title, distinct, bool(plan.roles.features)):
                patients.append(plan)
                self.findings.mapping[plan.title] = f"patients by {plan.roles.row}"
            elif plan.events:
                events.append(dataclasses.replace(plan.events, number=plan.number))
                note_unused(plan.head.name, plan.roles, self.findings)
                found = f"{plan.roles.row} has {plan.events.feature}"
                self.findings.mapping[plan.title] = found
        self._check_roles(plans, events, patients)
        return distinct_modes(events), patients

    def _check_roles(
        self,
        plans: Sequence[TablePlan],
        events: Sequence[EventColumns],
        patients: Sequence[TablePlan],
    ) -> None:
        named = where_list([plan.head.name for plan in plans])
        if not events or len(patients) > 1:
            self.findings.problem(
                "tables-unclear",
                "The tables cannot be told apart",
                "the folder",
                f"{len(events)} of events and {len(patients)} of patients among {named}",
                "Give at least one table of events and at most one with a row per patient.",
            )
        for one in events:
            if self.by_visit and not one.visit:
                self.findings.problem(
                    "visit-missing",
                    "The table has no visits",
                    one.mode,
                    "no visit column",
                    "Name the visit column, or join per patient.",
                )
        self.findings.stop_if_problems()

    def write(
        self, events: Sequence[EventColumns], patients: Sequence[TablePlan], path: Path, out: Path
    ) -> tuple[DatasetSummary, str]:
        """Count, choose features, write the shards."""
        features = []
        for one in events:
            self.say(f"Counting the features of {one.mode}")
            features.append(count_features(self.database, one, self.by_visit, self.findings))
        self.say("Numbering the patients")
        n_people = number_people(self.database, events, self.by_visit)
        outcome = find_outcome(self.database, patients, self.options, self.findings, n_people)
        drafts, joined = self._drafts(events, features, n_people)
        people = joined if outcome is None else joined & (outcome.of >= 0)
        lost = int(joined.sum() - people.sum())
        self.findings.leave_out("rows without an outcome", lost, "patient")
        modes = [one.mode for one in features]
        kept = choose_features(drafts, people, modes, self.options, self.findings)
        chosen = [_of_mode(one, stays) for one, stays in zip(features, kept, strict=True)]
        about = About(
            self.options.name or path.name.split(".")[0] or path.name,
            origin_of(path, "tables", self.options),
            "patient",
            outcome.name if outcome else "",
            {mode.name: codes for mode, codes in chosen if codes},
            self.findings,
        )
        with new_shards(out, [mode for mode, _ in chosen]) as shards:
            stays = np.zeros(n_people, dtype=bool)
            for number, own in enumerate(by_shard := _by_shard(drafts), start=1):
                self.say(f"Writing shard {number} of {len(by_shard)}")
                shards.add_parts(self._part(draft, people, kept, stays) for draft in own)
            left = np.flatnonzero(stays)
            self.findings.leave_out(
                "rows without any remaining feature", int(people.sum()) - len(left), "patient"
            )
            if not len(left):
                raise nothing_left()
            return shards.finish(about, None if outcome is None else outcome.of_rows(left))

    def _drafts(
        self, events: Sequence[EventColumns], features: Sequence[Feature], n_people: int
    ) -> tuple[list[Draft], NDArray[np.bool_]]:
        """The counted cells on the disk, and who has any."""
        self.say("Sorting the events by patient")
        present = [
            store_events(self.database, one, feature, axis, self.by_visit)
            for axis, (one, feature) in enumerate(zip(events, features, strict=True), start=1)
        ]
        sizes = [len(feature.mode) for feature in features]
        joined = np.zeros(n_people, dtype=bool)
        drafts: list[Draft] = []
        for draft in count_cells(
            self.database, sizes, n_people, self.step, self.memory, self.folder
        ):
            drafts.append(draft)
            joined[draft.read()[0][:, 0]] = True
            self.say(f"Counted the cells of {draft.until:,} of {n_people:,} patients")
        if not joined.any():
            raise refuse(
                "join-empty",
                "No events belong together",
                " and ".join(one.mode for one in events),
                f"no {'visit' if self.by_visit else 'patient'} with all of them",
                "Check that both tables use the same ids, or join per patient.",
            )
        for one, count in zip(events, present, strict=True):
            alone = count - int(joined.sum())
            self.findings.leave_out(
                "patients without a partner in the other tables", alone, one.mode
            )
        return drafts, joined

    def _part(
        self, draft: Draft, people: NDArray[np.bool_], kept: Kept, stays: NDArray[np.bool_]
    ) -> Part:
        """What of a draft goes into its shard; marks who is in it."""
        places, amounts = kept_cells(draft, people, kept)
        begins = np.diff(places[:, 0], prepend=-1) > 0
        rows = places[begins, 0]
        stays[rows] = True
        places[:, 0] = np.cumsum(begins) - 1
        for axis, features in enumerate(kept, start=1):
            places[:, axis] = (np.cumsum(features) - 1)[places[:, axis]]
        ids = people_ids(self.database, draft.first, draft.until)
        names = [ids[row - draft.first] for row in rows]
        return names, places, cell_values(amounts, self.options.values)


def _by_shard(drafts: Sequence[Draft]) -> list[list[Draft]]:
    return [list(own) for _, own in groupby(drafts, key=lambda draft: draft.shard)]


def _of_mode(feature: Feature, stays: NDArray[np.bool_]) -> tuple[Mode, dict[str, str]]:
    """The features that stay, and the code behind every label that does not show it."""
    places = np.flatnonzero(stays).tolist()
    labels = tuple(feature.mode.labels[place] for place in places)
    codes = {
        feature.mode.labels[place]: feature.codes[place]
        for place in places
        if feature.codes[place] != feature.mode.labels[place]
    }
    return Mode(feature.mode.name, labels), codes

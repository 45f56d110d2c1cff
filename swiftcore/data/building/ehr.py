"""Read an EHR export by its layout; say which table is missing and count what dangles."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.building.ehr_layouts import Deaths, EventTable, Layout, Names
from swiftcore.data.building.ehr_tables import export_tables
from swiftcore.data.building.events import MINUTES_PER_DAY, Events, Records
from swiftcore.data.building.feature_labels import by_usual_name, labelled
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.coded import Coded, days, numbers, pair
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.table_set import TableSet
from swiftcore.data.reading.text_table import TextTable, preview
from swiftcore.errors import refuse

_SYSTEMS = {"9": "icd9", "10": "icd10", "icd9": "icd9", "icd10": "icd10"}


class ExportReader:
    """Reads the tables of one export, each once."""

    def __init__(
        self, tables: TableSet, layout: Layout, options: BuildOptions, findings: Findings
    ) -> None:
        self.where, self.layout = tables.where, layout
        self.options, self.findings = options, findings
        self.files = export_tables(tables)
        self._read: dict[str, TextTable] = {}

    def records(self) -> Records:
        """Everything the export holds that a tensor or an outcome can be made of.

        Raises
        ------
        InvalidData
            With every missing table and column.
        """
        events = [self._events(one) for one in self.layout.events]
        self.findings.stop_if_problems()
        known = tuple(one for one in events if one is not None)
        self._count_orphans(known)
        traits = self._traits()
        died = self._died(self.layout.deaths) if self.layout.deaths else None
        self.findings.stop_if_problems()
        name = self.layout.deaths.name if self.layout.deaths else "death"
        within = self.layout.times_within_visit
        return Records(known, traits, died, name, within, self._concepts(traits))

    def table(self, name: str) -> TextTable:
        if name not in self._read:
            self._read[name] = self.files[name].read()
            self.findings.previews.append(preview(self._read[name]))
        return self._read[name]

    def column(self, table: TextTable, wanted: str) -> Coded | None:
        """A column by name whatever its case; the first present of "a|b"."""
        places = {name.lower(): name for name in table.columns}
        for one in wanted.split("|"):
            if one and one in places:
                return table.coded(places[one])
        return None

    def needed(self, table: TextTable, wanted: str) -> Coded:
        column = self.column(table, wanted)
        if column is None:
            self.findings.problem(
                "column-missing",
                "A column is missing",
                table.name,
                f"no column {wanted}, but {', '.join(table.columns[:8])}",
                f"Export {table.name} with that column.",
            )
            return Coded(wanted, np.zeros(table.n_rows, dtype=np.int64), ("",))
        return column

    def _events(self, spec: EventTable) -> Events | None:
        name = next((one for one in spec.tables if one in self.files), None)
        if name is None:
            wanted = " or ".join(one.upper() for one in spec.tables)
            self.findings.problem(
                "table-missing",
                "A table of the export is missing",
                self.where,
                f"no {wanted}",
                f"Add {wanted} to the folder.",
            )
            return None
        table = self.table(name)
        subject, code = self.needed(table, spec.subject), self.needed(table, spec.code)
        if self.findings.problems:
            return None
        visit = self.column(table, spec.visit)
        time = self._times(table, spec, visit)
        amount_column = self.column(table, spec.amount)
        amount = amount_column and numbers(amount_column, table.name, self.findings)
        feature, codes, system = self._features(table, spec, code)
        self.findings.mapping[spec.mode] = f"{table.name}: {feature.name}"
        if self.layout.owner:
            subject = self._owned(subject)
        subject = Coded("patient", subject.codes, subject.labels)
        events = Events(spec.mode, subject, feature, codes, system, visit, time, amount)  # type: ignore[arg-type]
        if spec.drop:
            events = self._without_dropped(events, table, spec.drop)
        return events.usable(self.findings, table.name)

    def _features(
        self, table: TextTable, spec: EventTable, code: Coded
    ) -> tuple[Coded, tuple[str, ...], tuple[str, ...]]:
        """Labels people can read, the code behind each, and its code system."""
        system: tuple[str, ...] = ()
        if spec.system.startswith("="):
            system = (spec.system[1:],) * len(code.labels)
        elif spec.system:
            versions = self.needed(table, spec.system)
            code, pairs = pair(code, versions, code.name)
            system = tuple(_SYSTEMS.get(version.strip().lower(), "") for _, version in pairs)
            code = Coded(code.name, code.codes, tuple(one for one, _ in pairs))
        if spec.name and (names := self.column(table, spec.name)) is not None:
            code, pairs = pair(code, names, names.name)
            if spec.usual_name:
                code, pairs = by_usual_name(code, pairs)
            return labelled(code, pairs, ())
        if spec.names and spec.names.table in self.files:
            texts = self._looked_up(code, spec.names, system)
            pairs = [(c, t) for c, t in zip(code.labels, texts, strict=True)]
            return labelled(code, pairs, system)
        if spec.names:
            self.findings.note(
                f"There is no table {spec.names.table.upper()}, so each {spec.mode} "
                "shows its code instead of a name."
            )
        return labelled(code, [(one, "") for one in code.labels], system)

    def _looked_up(self, code: Coded, names: Names, system: tuple[str, ...]) -> list[str]:
        table = self.table(names.table)
        keys, texts = self.needed(table, names.code), self.needed(table, names.name)
        key_texts = [keys.labels[k] for k in keys.codes]
        if names.system and (version := self.column(table, names.system)) is not None and system:
            marks = [_SYSTEMS.get(version.labels[v].strip().lower(), "") for v in version.codes]
            known = dict(
                zip(
                    zip(key_texts, marks, strict=True),
                    (texts.labels[t] for t in texts.codes),
                    strict=True,
                )
            )
            found = [known.get(both, "") for both in zip(code.labels, system, strict=True)]
        else:
            plain = dict(zip(key_texts, (texts.labels[t] for t in texts.codes), strict=True))
            found = [plain.get(one, "") for one in code.labels]
        orphans = sum(
            not name and bool(one.strip()) for name, one in zip(found, code.labels, strict=True)
        )
        if orphans:
            self.findings.note(
                f"{orphans:,} codes of {code.name} are not in "
                f"{names.table.upper()}; they show as codes."
            )
        return found

    def _owned(self, stay: Coded) -> Coded:
        """Patients in place of stays."""
        table_name, key, owner = self.layout.owner or ("", "", "")
        if table_name not in self.files:
            self.findings.problem(
                "table-missing",
                "A table of the export is missing",
                self.where,
                f"no {table_name.upper()}",
                f"Add {table_name.upper()}: it says whose stay it is.",
            )
            return stay
        table = self.table(table_name)
        stays, owners = self.needed(table, key), self.needed(table, owner)
        known = {
            stays.labels[s]: owners.labels[o]
            for s, o in zip(stays.codes, owners.codes, strict=True)
        }
        return stay.relabel([known.get(label, "") for label in stay.labels], owner)

    def _times(
        self, table: TextTable, spec: EventTable, visit: Coded | None
    ) -> NDArray[np.float64] | None:
        column = self.column(table, spec.time)
        if column is not None and self.layout.times_within_visit:
            minutes = np.array([_signed(label) for label in column.labels], dtype=np.float64)
            return np.asarray(minutes[column.codes] / MINUTES_PER_DAY)
        if column is not None:
            return days(column, table.name, self.options.date_order, self.findings)
        if self.layout.visit_times and visit is not None:
            name, key, when = self.layout.visit_times
            if name in self.files:
                visits = self.table(name)
                known = self._by_key(visits, key, lambda t: self._days_of(t, when))
                day = np.array([known.get(label, np.nan) for label in visit.labels])
                return np.asarray(day[visit.codes])
        return None

    def _days_of(self, table: TextTable, column: str) -> NDArray[np.float64]:
        return days(self.needed(table, column), table.name, self.options.date_order, self.findings)

    def _by_key(
        self, table: TextTable, key: str, values: Callable[[TextTable], NDArray[np.float64]]
    ) -> dict[str, float]:
        keys = self.needed(table, key)
        return {keys.labels[k]: float(v) for k, v in zip(keys.codes, values(table), strict=True)}

    def _without_dropped(
        self, events: Events, table: TextTable, drop: tuple[str, tuple[str, ...], str]
    ) -> Events:
        column_name, values, reason = drop
        column = self.column(table, column_name)
        if column is None:
            return events
        out = column.marked([label.strip().lower() in values for label in column.labels])
        self.findings.leave_out(reason, int(out.sum()), table.name)
        return events.take(~out)

    def _traits(self) -> dict[str, dict[str, str]]:
        """Columns of the patients' table, first row per patient."""
        if self.layout.patients not in self.files:
            self.findings.note(
                f"There is no table {self.layout.patients.upper()}; an outcome "
                "cannot be taken from its columns."
            )
            return {}
        table = self.table(self.layout.patients)
        ids = self.needed(table, self.layout.patient_id)
        order = np.arange(len(ids))[::-1]  # so that the first row of a patient wins
        traits = {}
        for name in table.columns:
            column = table.coded(name)
            traits[name] = {
                ids.labels[i]: column.labels[c]
                for i, c in zip(ids.codes[order], column.codes[order], strict=True)
            }
        return traits

    def _concepts(self, traits: dict[str, dict[str, str]]) -> dict[str, str]:
        """What the concepts in columns of patients are called, where there is a table of them."""
        if "concept" not in self.files:
            return {}
        used = {
            text
            for column, texts in traits.items()
            if column.lower().endswith("_concept_id")
            for text in texts.values()
        }
        table = self.table("concept")
        ids, names = self.needed(table, "concept_id"), self.needed(table, "concept_name")
        return {
            ids.labels[i]: names.labels[n]
            for i, n in zip(ids.codes, names.codes, strict=True)
            if ids.labels[i] in used and ids.labels[i] != "0"
        }

    def _died(self, spec: Deaths) -> dict[str, float] | None:
        if spec.table not in self.files:
            return None
        table = self.table(spec.table)
        ids = self.needed(table, spec.subject)
        gone = np.ones(table.n_rows, dtype=bool)
        if spec.column:
            column = self.needed(table, spec.column)
            gone = column.marked(
                [
                    label.strip().lower() in spec.values if spec.values else bool(label.strip())
                    for label in column.labels
                ]
            )
        day = self._days_of(table, spec.day) if spec.day else np.full(table.n_rows, np.nan)
        return {ids.labels[i]: float(d) for i, d in zip(ids.codes[gone], day[gone], strict=True)}

    def _count_orphans(self, events: tuple[Events, ...]) -> None:
        """Events of patients whom the patients' table does not know are kept and counted."""
        if self.layout.patients not in self.files or self.layout.owner:
            return
        ids = set(self.needed(self.table(self.layout.patients), self.layout.patient_id).labels)
        for one in events:
            strange = one.subject.marked([label not in ids for label in one.subject.labels])
            if strange.any():
                self.findings.note(
                    f"{int(strange.sum()):,} events in {one.name} belong to "
                    f"patients not in {self.layout.patients.upper()}."
                )


def read_export(
    tables: TableSet, layout: Layout, options: BuildOptions, findings: Findings
) -> Records:
    """Read all tables of an export that its layout names."""
    if not any(name in export_tables(tables) for one in layout.events for name in one.tables):
        raise refuse(
            "table-missing",
            "The folder holds none of the layout's tables",
            tables.where,
            f"no table of {layout.title}",
            "Choose the folder with the tables.",
        )
    return ExportReader(tables, layout, options, findings).records()


def _signed(label: str) -> float:
    try:
        return float(label)
    except ValueError:
        return float("nan")

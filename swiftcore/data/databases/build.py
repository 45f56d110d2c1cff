"""Build a data set from an OMOP CDM in PostgreSQL; the same tensor as from its exported tables."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace

import numpy as np

from swiftcore.cost.outside.knowledge import OutsideKnowledge
from swiftcore.data.building.assemble import Built, from_cells
from swiftcore.data.building.ehr_layouts import OMOP, EventTable
from swiftcore.data.building.events import Cells, Events, Records
from swiftcore.data.building.feature_labels import labelled
from swiftcore.data.building.outcome import OUTCOME, take_outcome
from swiftcore.data.building.people_and_time import with_concept_names
from swiftcore.data.building.row_covariates import covariates_from, wanted_covariates
from swiftcore.data.databases import catalogue, count
from swiftcore.data.databases.addresses import find_address
from swiftcore.data.databases.catalogue import Table
from swiftcore.data.databases.connection import Progress, Reading, open_reading
from swiftcore.data.databases.count import Kind
from swiftcore.data.dataset import Dataset
from swiftcore.data.options import BuildOptions, allow_only
from swiftcore.data.reading.coded import MAX_NAME, Coded
from swiftcore.data.reading.findings import Findings
from swiftcore.data.side_tables import SideTables
from swiftcore.data.summary import summarize
from swiftcore.errors import InvalidSettings, refuse

_NO_CONCEPT = "events without a concept (0)"
# What the server can count; everything else needs the exported tables.
_ALLOWED: dict[str, tuple[object, ...]] = {
    "kind": ("", "omop"),
    "join": ("patient", "visit"),
    "rows": ("patient",),
    "code_groups": ("",),
    "medication_groups": ("",),
    "code_names": ("",),
    "outcome": ("", "none", "death", "column"),
    "outcome_codes": ((),),
    "drop_codes": ((),),
    "before_outcome": (False,),
    "lookback_days": (0.0,),
    "duplicates": ("sum",),
    "merge_similar_names": (False,),
}


def build_from_database(
    source: str, schema: str, options: BuildOptions, findings: Findings, progress: Progress
) -> Dataset:
    """Count the events of an OMOP CDM on its server.

    Parameters
    ----------
    source : str
        ``postgresql:`` or ``postgresql:NAME``; never an address.
    schema : str
        Where the tables are; that of the connection when empty.
    progress : callable
        See :func:`~swiftcore.data.databases.connection.open_reading`.

    Raises
    ------
    InvalidSettings
        When the connection is not configured, or an option needs the exported tables.
    InvalidData
        When the database cannot be read, or nothing can be built from it.
    """
    address = find_address(source)
    check_options(options)
    schema = schema or address.schema
    if not schema:
        raise refuse(
            "schema-unnamed",
            "A database has many schemas; one must be named",
            address.name,
            "no schema",
            "Add --schema cdm, or schema = ... to the connection's settings.",
            kind=InvalidSettings,
        )
    findings.kind = OMOP.kind
    with open_reading(address, options.limits.seconds, progress) as reading:
        built = _Counting(reading, schema, options, findings).built()
    summary = summarize(built.tensor, built.outcome, built.outcome_name, findings)
    origin = (
        f"Built from an OMOP CDM in PostgreSQL, schema '{schema}', joined per {options.join}, "
        f"{options.values} values."
    )
    return Dataset(
        options.name or schema,
        built.tensor,
        built.outcome,
        built.outcome_name,
        origin,
        summary,
        outside=OutsideKnowledge(built.codes),
        side=built.side,
    )


def check_options(options: BuildOptions) -> None:
    """Raise :class:`InvalidSettings` with every option that needs the exported tables."""
    what = "A database cannot be counted so"
    cure = "Leave the option out, or export the tables and build from their folder."
    allow_only(options, _ALLOWED, "option-database", what, cure)


class _Counting:
    """One build; the steps share the connection and what was found."""

    def __init__(
        self, reading: Reading, schema: str, options: BuildOptions, findings: Findings
    ) -> None:
        self.reading, self.options, self.findings = reading, options, findings
        self.by_visit = options.join == "visit"
        self.tables = catalogue.tables_of(reading, schema)

    def built(self) -> Built:
        """Features, cells, outcome, tensor, and what is known of the people."""
        found = catalogue.event_tables(self.tables, self.by_visit, self.findings)
        kinds = [self._kind(spec, table) for spec, table in found]
        people_of = [count.count_people(self.reading, kind) for kind in kinds]
        traits, concepts = self._people()
        events = [_no_events(kind) for kind in kinds]
        records = Records(tuple(events), traits, self._deaths(), concepts=concepts)
        # an outcome may take people away, and with them support: then the features wait
        outcome_waits = self.options.outcome == "column" or self.options.outcome_column
        named = any(name.strip().lower() == OUTCOME for name in traits)
        if self.options.top and not outcome_waits and not named:
            joined = count.count_joined(self.reading, kinds, self.by_visit)
            kinds = self._most_frequent(kinds)
            cells = self._cells(kinds)
            lost = joined - len(cells.row.labels)
            self.findings.leave_out("rows without any remaining feature", lost, "patient")
        else:
            cells = self._cells(kinds)
            joined = len(cells.row.labels)
        for kind, number in zip(kinds, people_of, strict=True):
            reason = "patients without a partner in the other tables"
            self.findings.leave_out(reason, number - joined, kind.spec.mode)
        people = replace(events[0], subject=cells.row, feature=cells.features[0])
        records = replace(records, events=(people, *events[1:]))
        records, outcome = take_outcome(records, self.options, self.findings)
        self.findings.stop_if_problems()
        built = from_cells(cells, outcome, self.options, self.findings)
        taken = (*self.options.outcome_column.split(","), self.findings.mapping.get("outcome", ""))
        known = covariates_from(
            with_concept_names(traits, concepts),
            built.tensor.modes[0].labels,
            self.options.date_order,
            without=taken,
            wanted=wanted_covariates(self.options),
        )
        codes = _hidden_codes(kinds, built)
        return replace(built, codes=codes, side=SideTables(known, None))

    def _kind(self, spec: EventTable, table: Table) -> Kind:
        """The concepts that can be features, under names people can read."""
        found = count.count_concepts(self.reading, spec, table)
        self.findings.tables[table.name] = sum(one.events for one in found)
        self.findings.mapping[spec.mode] = f"{table.name}: {spec.code}"
        ids = [one.concept for one in found if one.concept is not None]
        names = self._names(ids, spec.mode)
        plain = Coded(spec.code, np.zeros(0, dtype=np.int64), tuple(map(str, ids)))
        pairs = [(str(one), names.get(one, "")) for one in ids]
        labels = dict(zip(ids, labelled(plain, pairs, ())[0].labels, strict=True))
        left = self.findings.leave_out
        left(_NO_CONCEPT, sum(one.events for one in found if one.concept == 0), table.name)
        some = [one for one in found if one.concept != 0]
        left("rows without a patient or row id", sum(one.nobody for one in some), table.name)
        counts = {one.concept: one.events - one.nobody for one in some}
        blank = [one for one in counts if one is None or not labels[one].strip()]
        left(f"rows without an entry in {spec.mode}", sum(counts.pop(k) for k in blank), table.name)
        odd = [one for one in counts if one is not None and _is_odd(labels[one])]
        left(
            "rows whose name holds a line break (a stray quote?)",
            sum(counts.pop(one) for one in odd),
            table.name,
        )
        kind = count.Kind(spec, table, {k: labels[k] for k in counts if k is not None})
        if self.by_visit:
            lost = count.count_without_visit(self.reading, kind)
            left("events without a visit", lost, spec.mode)
        return kind

    def _names(self, concepts: Sequence[int], mode: str) -> dict[int, str]:
        table = catalogue.optional(self.tables, "concept", ("concept_id", "concept_name"))
        if table is None:
            self.findings.note(
                f"There is no table CONCEPT, so each {mode} shows its code instead of a name."
            )
            return {}
        return count.concept_names(self.reading, table, concepts)

    def _most_frequent(self, kinds: Sequence[Kind]) -> list[Kind]:
        """Each kind with the concepts that most people have; among equals, by name."""
        top, chosen = self.options.top, []
        ranked = count.rank_concepts(self.reading, kinds, self.by_visit)
        for kind, people in zip(kinds, ranked, strict=True):
            order = sorted(people, key=lambda one: (-people[one], kind.labels[one]))
            reason = f"features beyond the {top} most frequent"
            self.findings.leave_out(reason, max(0, len(order) - top), kind.spec.mode)
            chosen.append(replace(kind, labels={one: kind.labels[one] for one in order[:top]}))
        return chosen

    def _cells(self, kinds: Sequence[Kind]) -> Cells:
        places, amounts = count.count_cells(self.reading, kinds, self.by_visit)
        if not len(amounts):
            raise refuse(
                "join-empty",
                "No events belong together",
                " and ".join(kind.spec.mode for kind in kinds),
                f"no {self.options.join} with all of them",
                "Check the tables, or join per patient.",
            )
        who, rows = np.unique(places[:, 0], return_inverse=True)
        row = Coded("patient", rows.astype(np.int64), tuple(map(str, who.tolist())))
        features = []
        for axis, kind in enumerate(kinds, start=1):
            ids, codes = np.unique(places[:, axis], return_inverse=True)
            labels = tuple(kind.labels[one] for one in ids.tolist())
            features.append(Coded(kind.spec.mode, codes.astype(np.int64), labels))
        return Cells(row, tuple(features), amounts)

    def _people(self) -> tuple[dict[str, dict[str, str]], dict[str, str]]:
        """Columns of PERSON, and what the concepts in them are called."""
        table = catalogue.optional(self.tables, OMOP.patients, (OMOP.patient_id,))
        if table is None:
            self.findings.note(
                "There is no table PERSON; no outcome can be taken from its columns."
            )
            return {}, {}
        rows = count.rows_of(self.reading, table, OMOP.patient_id)
        self.findings.tables[table.name] = len(rows)
        traits: dict[str, dict[str, str]] = {}
        for place, (name, _) in enumerate(table.columns.values(), start=1):
            traits[name] = {row[0]: row[place] or "" for row in reversed(rows)}
        used = {
            int(text)
            for name, texts in traits.items()
            if name.lower().endswith("_concept_id")
            for text in texts.values()
            if text.isdecimal() and text != "0"
        }
        known = self._names(sorted(used), "person")
        return traits, {str(concept): name for concept, name in known.items()}

    def _deaths(self) -> dict[str, float] | None:
        deaths = OMOP.deaths
        if deaths is None or not (
            table := catalogue.optional(self.tables, deaths.table, (deaths.subject, deaths.day))
        ):
            return None
        rows = count.days_of(self.reading, table, deaths.subject, deaths.day)
        return {who: float("nan") if day is None else float(day) for who, day in rows}


def _is_odd(label: str) -> bool:
    return len(label) > MAX_NAME or "\n" in label or "\r" in label


def _no_events(kind: Kind) -> Events:
    nothing = Coded(kind.spec.mode, np.zeros(0, dtype=np.int64), ())
    return Events(kind.spec.mode, nothing, nothing, ())


def _hidden_codes(kinds: Sequence[Kind], built: Built) -> dict[str, Mapping[str, str]]:
    """By mode, the concept behind every label that is a name."""
    codes: dict[str, Mapping[str, str]] = {}
    for kind, mode in zip(kinds, built.tensor.modes[1:], strict=True):
        code_of = {label: str(concept) for concept, label in kind.labels.items()}
        found = {label: code_of[label] for label in mode.labels if code_of[label] != label}
        if found:
            codes[mode.name] = found
    return codes

"""From tables of any format to what is built of them: one door for CSV, sheets and databases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from swiftcore.data.building.assemble import Built, from_long_table, from_records
from swiftcore.data.building.build_tensor import cell_values
from swiftcore.data.building.column_roles import ID_NAMES, ColumnRoles, document_columns, plain_name
from swiftcore.data.building.documents import choose_words, cooccurrence_tensor, read_corpus
from swiftcore.data.building.doubts import check_doubts
from swiftcore.data.building.event_table import read_cells
from swiftcore.data.building.layouts.table_reading import TableReading
from swiftcore.data.building.layouts.understand import understood
from swiftcore.data.building.multi_table import read_tables
from swiftcore.data.building.outcome import Outcome, as_classes, offer_outcomes
from swiftcore.data.building.people_and_time import (
    covariates_of_documents,
    facts_of_rows,
    table_side,
)
from swiftcore.data.from_path.parsed_tables import keep_tables
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import ColumnRole, Findings
from swiftcore.data.reading.text_table import TextTable, preview
from swiftcore.data.side_tables import SideTables
from swiftcore.tensor.sparse_tensor import SparseTensor


def built_of_tables(
    tables: Sequence[TextTable], options: BuildOptions, findings: Findings
) -> Built:
    """One table: of documents if it has a column of running text, else of events; or several.

    Parameters
    ----------
    tables : sequence of TextTable
        All tables of a path, whatever format they came from.

    Raises
    ------
    InvalidData
        With all problems found.
    """
    findings.kind = "tables" if len(tables) > 1 else "table"
    if findings.parsed is not None:
        keep_tables(findings.parsed, tables, findings)
    findings.previews += [preview(table) for table in tables]
    if len(tables) == 1:
        columns = document_columns(tables[0], options, findings)
        if columns:
            return _built_of_documents(tables[0], columns, options, findings)
    tables, readings = understood(tables, options, findings)
    findings.stop_if_problems()
    if len(tables) > 1 or readings[0].melts:
        options = _with_outcome(options, readings) if len(tables) == 1 else options
        records = read_tables(tables, readings, options, findings)
        built = from_records(records, options, findings)
    else:
        roles = readings[0].roles
        built = _built_of_long_table(tables[0], roles, options, findings)
        ids = {tables[0].name: tables[0].coded(roles.row).labels}
        check_doubts(built.tensor, ids, built.tensor.modes[0].labels, options, findings)
    findings.roles = _as_kept(findings.roles, built)
    return built


def _as_kept(roles: Sequence[ColumnRole], built: Built) -> list[ColumnRole]:
    """The roles, with covariates only where the rows really keep them."""
    kept = {one.name for one in built.side.covariates}

    def true(one: ColumnRole) -> ColumnRole:
        if one.role == "ignored" and one.column in kept:
            return replace(one, role="covariate", reason="it describes the rows")
        if one.role == "covariate" and one.column not in kept:
            return replace(one, role="ignored", reason=f"{one.reason}; not kept beside the rows")
        return one

    return [true(one) for one in roles]


def _with_outcome(options: BuildOptions, readings: Sequence[TableReading]) -> BuildOptions:
    """The outcome column of a single table by its name, unless another outcome is asked for."""
    if options.outcome or options.outcome_column or options.outcome_codes:
        return options
    return replace(options, outcome_column=readings[0].roles.outcome)


def _built_of_documents(
    table: TextTable, columns: tuple[str, str], options: BuildOptions, findings: Findings
) -> Built:
    text, label = columns
    findings.kind = "document-table"
    labels = table.texts(label) if label else []
    names = _document_names(table)
    built = built_of_texts(names, table.texts(text), labels, options, findings)
    about = covariates_of_documents(table, columns, options)
    return replace(built, side=replace(built.side, covariates=about))


def _built_of_long_table(
    table: TextTable, roles: ColumnRoles, options: BuildOptions, findings: Findings
) -> Built:
    cells, outcome, name = read_cells(table, roles, options, findings)
    column = Outcome(options.outcome_name or name, as_classes(outcome), {}) if name else None
    built, cells = from_long_table(cells, column, options, findings)
    if built.outcome is None:
        used = {roles.row, roles.value, roles.date, roles.visit, *roles.features}
        offer_outcomes(facts_of_rows(table, table.coded(roles.row), used), findings)
    return replace(built, side=table_side(table, roles, cells, built.tensor, options))


def _document_names(table: TextTable) -> list[str]:
    """The ids of a table of documents where every one has its own, else row numbers."""
    for column in table.columns:
        if plain_name(column) in ID_NAMES:
            names = table.texts(column)
            if len({name for name in names if name.strip()}) == len(names):
                return names
    return [f"row {number + 1}" for number in range(table.n_rows)]


def built_of_texts(
    names: list[str],
    texts: list[str],
    labels: list[str],
    options: BuildOptions,
    findings: Findings,
) -> Built:
    """Documents: how often their words stand near each other."""
    corpus = read_corpus(names, texts, options.stop_words, findings)
    counts = corpus.word_counts()
    size = options.vocabulary_size or len(corpus.words)
    words = choose_words(counts, corpus.words, size, options.vocabulary_by)
    if len(words) < len(corpus.words):
        findings.note(
            f"The {len(words):,} words were chosen over all documents; when results are "
            "evaluated, choose fewer from the training documents (--features)."
        )
    tensor = cooccurrence_tensor(corpus, words)
    if options.values != "count":
        tensor = SparseTensor(
            tensor.modes, tensor.coordinates, cell_values(tensor.values, options.values)
        )
    empty = tensor.shape[0] - len(np.unique(tensor.coordinates[:, 0]))
    if empty:
        findings.note(f"{empty:,} documents use none of these words; they stay as empty rows.")
    built = Built(
        tensor, word_counts=counts, words=corpus.words, side=SideTables(texts=tuple(texts))
    )
    if len(set(labels)) < 2:
        return built
    return replace(built, outcome=np.array(labels), outcome_name=options.outcome_name or "category")

"""From tables of any format to what is built of them: one door for CSV, sheets and databases."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace

import numpy as np

from swiftcore.data.building.assemble import Built, from_long_table, from_records
from swiftcore.data.building.build_tensor import cell_values
from swiftcore.data.building.column_roles import ID_NAMES, document_columns, plain_name
from swiftcore.data.building.documents import choose_words, cooccurrence_tensor, read_corpus
from swiftcore.data.building.event_table import read_cells, table_roles
from swiftcore.data.building.multi_table import read_tables
from swiftcore.data.building.outcome import Outcome, as_classes
from swiftcore.data.building.people_and_time import covariates_of_documents, table_side
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.text_table import TextTable
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
    if len(tables) > 1:
        findings.kind = "tables"
        return from_records(read_tables(list(tables), options, findings), options, findings)
    table = tables[0]
    columns = document_columns(table, options, findings)
    if columns:
        text, label = columns
        findings.kind = "document-table"
        labels = table.texts(label) if label else []
        names = _document_names(table)
        built = built_of_texts(names, table.texts(text), labels, options, findings)
        about = covariates_of_documents(table, columns, options)
        return replace(built, side=replace(built.side, covariates=about))
    findings.kind = "table"
    cells, outcome, name = read_cells(table, options, findings)
    column = Outcome(options.outcome_name or name, as_classes(outcome), {}) if name else None
    built = from_long_table(cells, column, options, findings)
    roles = table_roles(table, options, Findings())
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

"""From a path to a data set, inside this process; `sandbox` runs it in a guarded one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

import numpy as np

from swiftcore.cost.outside.knowledge import OutsideKnowledge
from swiftcore.data.building.assemble import Built, from_long_table, from_records
from swiftcore.data.building.build_tensor import cell_values
from swiftcore.data.building.column_roles import ID_NAMES, document_columns, plain_name
from swiftcore.data.building.documents import choose_words, cooccurrence_tensor, read_corpus
from swiftcore.data.building.ehr import read_export
from swiftcore.data.building.ehr_layouts import LAYOUTS
from swiftcore.data.building.event_table import read_cells
from swiftcore.data.building.multi_table import read_tables
from swiftcore.data.building.outcome import Outcome, as_classes
from swiftcore.data.bundle import bundle_from_bytes
from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path.sniff import KINDS, category_files, sniff, table_files, tensor_file
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.array_file import read_arrays
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.npz import tensor_from_arrays
from swiftcore.data.reading.source import Budget, Source
from swiftcore.data.reading.text import TextTable, read_text_table
from swiftcore.data.reading.text_encoding import to_utf8
from swiftcore.data.reading.tns import map_axis, read_map, read_tns
from swiftcore.data.shards.reader import is_sharded, open_shards
from swiftcore.data.summary import DatasetSummary, summarize
from swiftcore.errors import InvalidData, refuse
from swiftcore.tensor.sparse_tensor import SparseTensor


def read_path(path: Path, options: BuildOptions, findings: Findings) -> Dataset:
    """Read whatever lies at a path and build its data set.

    Raises
    ------
    InvalidData
        With all problems found; `findings` keeps what was learnt until then.
    """
    if is_sharded(path):
        return read_shards(path, options, findings)
    source = Source(path, Budget(options.limits))
    kind = findings.kind = sniff(source, options, findings)
    if kind == "bundle":
        name = source.names[0]
        dataset = bundle_from_bytes(source.read(name), name, source.budget)
        findings.tables[name] = dataset.tensor.n_entries
        summary = dataset.summary or summarize(
            dataset.tensor, dataset.outcome, dataset.outcome_name, findings
        )
        return replace(dataset, name=options.name or dataset.name, summary=summary)
    built = READERS[kind](source, options, findings)
    findings.stop_if_problems()
    if not built.tensor.n_entries:
        raise refuse(
            "nothing-left",
            "The tensor has no entries above 0",
            path.name,
            "0 entries",
            "Give at least one value above 0.",
        )
    summary = summarize(built.tensor, built.outcome, built.outcome_name, findings)
    name = options.name or _stem(path)
    origin = origin_of(path, findings.kind, options)
    return Dataset(
        name,
        built.tensor,
        built.outcome,
        built.outcome_name,
        origin,
        summary,
        built.word_counts,
        built.words,
        built.row_groups,
        OutsideKnowledge(built.codes),
    )


def read_shards(path: Path, options: BuildOptions, findings: Findings) -> Dataset:
    """A data set in shards, whole."""
    findings.kind = "shards"
    dataset = open_shards(path).to_dataset()
    findings.tables[path.name] = dataset.tensor.n_entries
    summary = dataset.summary or summarize(
        dataset.tensor, dataset.outcome, dataset.outcome_name, findings
    )
    return replace(dataset, name=options.name or dataset.name, summary=summary)


def check_shards(path: Path, findings: Findings) -> DatasetSummary | None:
    """Read every shard of a data set, one at a time, and say what is in it."""
    findings.kind = "shards"
    opened = open_shards(path)
    findings.tables[path.name] = opened.manifest.n_entries
    opened.check()
    return opened.summary


def _stem(path: Path) -> str:
    return path.name.split(".")[0] or path.name


def origin_of(path: Path, kind: str, options: BuildOptions) -> str:
    """Where a data set comes from and how it was built, in a sentence."""
    steps = [f"{KINDS[kind]} '{path.name}'"]
    if kind not in ("table", "document-table", "documents", "tns", "npz"):
        near = f"within {options.window_days:g} days"
        steps.append(f"joined {near if options.join == 'window' else f'per {options.join}'}")
    if options.code_groups:
        steps.append("diagnoses grouped by " + ("CCS" if options.code_groups == "ccs" else "a map"))
    if kind not in ("tns", "npz"):
        steps.append(f"{options.values} values")
    return f"Built from {', '.join(steps)}."


def _read_table(source: Source, options: BuildOptions, findings: Findings) -> Built:
    """One table: of documents if it has a column of running text, else of events."""
    files = table_files(source.names) or list(source.names)
    table = _table(source, files[0], options, findings)
    columns = document_columns(table, options, findings)
    if columns:
        text, label = columns
        findings.kind = "document-table"
        texts = table.texts(text)
        labels = table.texts(label) if label else []
        return _from_texts(_document_names(table), texts, labels, options, findings)
    cells, outcome, name = read_cells(table, options, findings)
    column = Outcome(options.outcome_name or name, as_classes(outcome), {}) if name else None
    return from_long_table(cells, column, options, findings)


def _document_names(table: TextTable) -> list[str]:
    """The ids of a table of documents where every one has its own, else row numbers."""
    for column in table.columns:
        if plain_name(column) in ID_NAMES:
            names = table.texts(column)
            if len({name for name in names if name.strip()}) == len(names):
                return names
    return [f"row {number + 1}" for number in range(table.n_rows)]


def _read_code_map(source: Source, options: BuildOptions, findings: Findings) -> Built:
    """A map is read and described, but it is no data set."""
    for file in table_files(source.names) or list(source.names):
        table = _table(source, file, options, findings)
        first, second = (len(table.coded(column).labels) for column in table.columns[:2])
        findings.note(f"{file} maps {first:,} codes to {second:,} groups.")
    raise refuse(
        "code-map",
        "This is a map from codes to groups, not a data set",
        source.path.name,
        "codes and groups, no patients",
        "Give it as the code groups of a data set.",
    )


def _read_tables(source: Source, options: BuildOptions, findings: Findings) -> Built:
    tables = []
    for file in table_files(source.names):
        try:
            tables.append(_table(source, file, options, findings))
        except InvalidData as error:
            findings.problems.extend(error.problems)
    findings.stop_if_problems()
    return from_records(read_tables(tables, options, findings), options, findings)


def _read_export(source: Source, options: BuildOptions, findings: Findings) -> Built:
    layout = next(one for one in LAYOUTS if one.kind == findings.kind)
    return from_records(read_export(source, layout, options, findings), options, findings)


def _table(source: Source, file: str, options: BuildOptions, findings: Findings) -> TextTable:
    return read_text_table(source.read(file), file, options, source.budget, findings)


def _read_documents(source: Source, options: BuildOptions, findings: Findings) -> Built:
    categories = category_files(source.names)
    outside = [name for name in source.names if name not in categories]
    if outside:
        findings.note(
            f"{len(outside)} files outside the category folders were not read, "
            f"for example {outside[0]}."
        )
    if not categories:
        raise refuse(
            "documents-missing",
            "There are no texts in category folders",
            source.path.name,
            f"{len(source.names)} files, none as category/name.txt",
            "Put every text into a folder named after its category.",
        )
    texts, labels, names = [], [], []
    for file, category in sorted(categories.items()):
        try:
            text = to_utf8(source.read(file), file, options.encoding, findings).decode("utf-8")
        except InvalidData as error:
            findings.problems.extend(error.problems)
            continue
        texts.append(text)
        labels.append(category)
        names.append("/".join(file.removesuffix(".txt").split("/")[-2:]))
    findings.stop_if_problems()
    findings.tables[source.path.name] = len(texts)
    findings.mapping["label"] = "the folder of each text"
    return _from_texts(names, texts, labels, options, findings)


def _from_texts(
    names: list[str],
    texts: list[str],
    labels: list[str],
    options: BuildOptions,
    findings: Findings,
) -> Built:
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
    if len(set(labels)) < 2:
        return Built(tensor, word_counts=counts, words=corpus.words)
    return Built(
        tensor, np.array(labels), options.outcome_name or "category", (), counts, corpus.words
    )


def _read_tns(source: Source, options: BuildOptions, findings: Findings) -> Built:
    file = tensor_file(source.names)
    siblings = source
    if source.names == (source.path.name,):
        maps_beside = any(source.path.parent.glob(f"{_stem(source.path)}*.map*"))
        siblings = Source(source.path.parent, source.budget) if maps_beside else source
    maps = {}
    for name in siblings.names:
        axis = map_axis(name, file)
        if axis is not None and (siblings is source or name.startswith(_stem(source.path))):
            maps[axis] = read_map(to_utf8(siblings.read(name), name, "", findings), name)
            findings.mapping[f"labels of mode {axis + 1}"] = name
    text = to_utf8(source.read(file), file, options.encoding, findings)
    return Built(read_tns(text, file, options.index_base, maps, findings))


def _read_npz(source: Source, options: BuildOptions, findings: Findings) -> Built:
    name = source.names[0]
    arrays = read_arrays(source.read(name), name, source.budget)
    tensor, outcome = tensor_from_arrays(arrays, name, findings)
    return Built(tensor, outcome, options.outcome_name or "outcome" if outcome is not None else "")


Reader = Callable[[Source, BuildOptions, Findings], Built]
READERS: dict[str, Reader] = {
    "table": _read_table,
    "tables": _read_tables,
    "document-table": _read_table,
    "documents": _read_documents,
    "tns": _read_tns,
    "npz": _read_npz,
    "code-map": _read_code_map,
    **{layout.kind: _read_export for layout in LAYOUTS},
}

"""From a path to a data set, inside this process; `sandbox` runs it in a guarded one."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path

from swiftcore.cost.outside.knowledge import OutsideKnowledge
from swiftcore.data.building.assemble import Built, from_records
from swiftcore.data.building.ehr import read_export
from swiftcore.data.building.ehr_layouts import LAYOUTS
from swiftcore.data.building.fhir import FHIR, read_fhir
from swiftcore.data.building.tensor_modes import with_modes
from swiftcore.data.bundle import bundle_from_bytes
from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path.parsed_tables import kept_tables
from swiftcore.data.from_path.sniff import KINDS, category_files, sniff, tensor_file
from swiftcore.data.from_path.table_sources import table_files, tables_in, usable_tables
from swiftcore.data.from_path.tables import built_of_tables, built_of_texts
from swiftcore.data.options import GROUPINGS, BuildOptions
from swiftcore.data.reading.array_file import read_arrays
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.npz import tensor_from_arrays
from swiftcore.data.reading.source import Budget, Source
from swiftcore.data.reading.text import read_text_table
from swiftcore.data.reading.text_encoding import to_utf8
from swiftcore.data.reading.text_table import TextTable
from swiftcore.data.reading.tns import map_axis, read_map, read_tns
from swiftcore.data.shards.reader import is_sharded, open_shards
from swiftcore.data.summary import DatasetSummary, summarize
from swiftcore.errors import InvalidData, refuse


def read_path(path: Path, options: BuildOptions, findings: Findings) -> Dataset:
    """Read whatever lies at a path and build its data set.

    Raises
    ------
    InvalidData
        With all problems found; `findings` keeps what was learnt until then.
    """
    if is_sharded(path):
        return read_shards(path, options, findings)
    if tables := kept_tables(findings.parsed, findings):
        return _dataset(built_of_tables(tables, options, findings), path, options, findings)
    source = Source(path, Budget(options.limits))
    kind = findings.kind = sniff(source, options, findings)
    if kind == "bundle":
        name = source.names[0]
        dataset = bundle_from_bytes(source.read(name), name, source.budget)
        findings.tables[name] = dataset.tensor.n_entries
        findings.options = dataset.options
        summary = dataset.summary or summarize(
            dataset.tensor, dataset.outcome, dataset.outcome_name, findings
        )
        return replace(dataset, name=options.name or dataset.name, summary=summary)
    return _dataset(READERS[kind](source, options, findings), path, options, findings)


def _dataset(built: Built, path: Path, options: BuildOptions, findings: Findings) -> Dataset:
    """What was built as a data set; raises InvalidData when nothing is left in it."""
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
        built.side,
        replace(options, name="").changed(),
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
    for what, setting in (
        ("diagnoses", options.code_groups),
        ("medications", options.medication_groups),
    ):
        if setting:
            steps.append(f"{what} grouped by {GROUPINGS.get(setting, 'a map')}")
    if kind not in ("tns", "npz"):
        steps.append(f"{options.values} values")
    return f"Built from {', '.join(steps)}."


def _read_table(source: Source, options: BuildOptions, findings: Findings) -> Built:
    first = [entry.read() for entry in tables_in(source, options, findings).entries[:1]]
    return built_of_tables(usable_tables(first, findings), options, findings)


def _read_code_map(source: Source, options: BuildOptions, findings: Findings) -> Built:
    """A map is read and described, but it is no data set."""
    for file in table_files(source) or list(source.names):
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
    for entry in tables_in(source, options, findings).entries:
        try:
            tables.append(entry.read())
        except InvalidData as error:
            findings.problems.extend(error.problems)
    findings.stop_if_problems()
    return built_of_tables(usable_tables(tables, findings), options, findings)


def _read_export(source: Source, options: BuildOptions, findings: Findings) -> Built:
    layout = next(one for one in LAYOUTS if one.kind == findings.kind)
    tables = tables_in(source, options, findings)
    return from_records(read_export(tables, layout, options, findings), options, findings)


def _read_fhir(source: Source, options: BuildOptions, findings: Findings) -> Built:
    return from_records(read_fhir(source, options, findings), options, findings)


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
    return built_of_texts(names, texts, labels, options, findings)


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
    tensor = read_tns(text, file, options.index_base, maps, findings)
    return Built(with_modes(tensor, options))


def _read_npz(source: Source, options: BuildOptions, findings: Findings) -> Built:
    name = source.names[0]
    arrays = read_arrays(source.read(name), name, source.budget)
    tensor, outcome = tensor_from_arrays(arrays, name, findings)
    tensor = with_modes(tensor, options, has_outcome=outcome is not None)
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
    FHIR: _read_fhir,
    **{layout.kind: _read_export for layout in LAYOUTS},
}

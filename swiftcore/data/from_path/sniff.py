"""What a path is, judged by its bytes and its layout, whatever it is called."""

from __future__ import annotations

import re
from collections import Counter
from pathlib import PurePosixPath

from swiftcore.data.building.ehr_layouts import LAYOUTS
from swiftcore.data.building.ehr_tables import layouts_present
from swiftcore.data.building.fhir import FHIR
from swiftcore.data.bundle import is_bundle
from swiftcore.data.from_path.table_sources import (
    ZIP_MAGIC,
    files_with_tables,
    holder_of,
    table_files,
    tables_in,
)
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.fhir_resources import first_type
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.parquet import PARQUET_MAGIC
from swiftcore.data.reading.source import Source
from swiftcore.errors import InvalidData, refuse, where_list

KINDS: dict[str, str] = {
    "table": "one table of events",
    "tables": "several tables of events",
    "document-table": "a table of documents",
    "documents": "documents in folders by category",
    "tns": "a FROSTT tensor",
    "npz": "a coordinate tensor",
    "bundle": "a SWIFT data bundle",
    "shards": "a SWIFT data set in shards",
    "code-map": "a map from codes to groups",
    FHIR: "a FHIR R4 export",
    **{layout.kind: layout.title for layout in LAYOUTS},
}

_CSV = "Export the data as CSV or Parquet."
_REFUSED: tuple[tuple[bytes, str], ...] = (
    (b"\x89HDF", "an HDF5 file"),
    (b"ARROW1", "an Arrow file"),
    (b"FEA1", "a Feather file"),
    (b"\xd0\xcf\x11\xe0", "an old or locked Office file (save it as .xlsx without a password)"),
    (b"MATLAB", "a MATLAB file"),
    (b"$FL2", "an SPSS file"),
    (b"<stata_dta>", "a Stata file"),
    (b"RDX", "an R data file"),
    (b"RDA", "an R data file"),
    (b"X\n\x00\x00", "an R data file"),
    (b"\x28\xb5\x2f\xfd", "a zstd archive"),
    (b"BZh", "a bzip2 archive"),
    (b"\xfd7zXZ", "an xz archive"),
    (b"7z\xbc\xaf", "a 7z archive"),
    (b"Rar!", "a RAR archive"),
    (b"\x7fELF", "a program"),
    (b"MZ", "a program"),
    (b"%PDF", "a PDF"),
    (b"\x89PNG", "a picture"),
    (b"\xff\xd8\xff", "a picture"),
)
_PICKLES = (".pkl", ".pickle", ".joblib", ".rds", ".rda", ".rdata", ".mat", ".npy", ".pt", ".dill")
_TNS = re.compile(r"\.tns(\.gz)?$", re.IGNORECASE)
_TEXT = re.compile(r"\.txt$", re.IGNORECASE)
_CODE = re.compile(r"(icd\w*|code|ndc|atc|rxcui|medication|drug)$")
_GROUP = re.compile(r"(group|ccs\w*|class|category|generic)$")
_NUMBER = re.compile(rb"[+-]?(\d+\.?\d*([eE][+-]?\d+)?|\.\d+|nan|inf)$", re.IGNORECASE)


def sniff(source: Source, options: BuildOptions, findings: Findings) -> str:
    """The kind of data (a key of `KINDS`); guesses with rivals are noted.

    Raises
    ------
    InvalidData
        For what is never opened (pickles, databases) or not recognised.
    """
    if options.kind:
        if options.kind not in KINDS:
            raise refuse(
                "kind-unknown",
                "There is no such kind of data",
                "option kind",
                f"'{options.kind}'",
                f"Choose one of {', '.join(KINDS)}.",
            )
        return options.kind
    if source.path.is_dir() or source.is_archive:
        return _folder_kind(source, options, findings)
    return _file_kind(source, source.names[0], options, findings)


def _file_kind(source: Source, name: str, options: BuildOptions, findings: Findings) -> str:
    head = source.head(name)
    if head.startswith(ZIP_MAGIC) and not source.is_document:
        with source.path.open("rb") as handle:
            handle.seek(max(0, source.size(name) - 200))
            return "bundle" if is_bundle(handle.read()) else "npz"
    inner = source.unpacked_head(name)
    if not inner.strip(b"\0 \t\r\n"):
        raise refuse(
            "file-empty",
            "The file is empty",
            name,
            f"{source.size(name)} bytes",
            "Export the data again.",
        )
    if source.is_document or (holder_of(inner) and not inner.startswith(ZIP_MAGIC)):
        return _tables_kind(source, options, findings)
    refuse_foreign(inner, name)
    if inner.startswith(PARQUET_MAGIC):
        return "table"
    if _TNS.search(name) or _looks_like_tns(inner):
        return "tns"
    return "code-map" if is_code_map(source, name) else "table"


def refuse_foreign(head: bytes, name: str) -> None:
    """Refuse pickles and other formats that are not read, with a way out."""
    low = name.lower().removesuffix(".gz")
    pickled = head[:1] == b"\x80" and head[1:2] in (b"\x02", b"\x03", b"\x04", b"\x05")
    if pickled or low.endswith(_PICKLES) or head.startswith(b"\x93NUMPY"):
        raise refuse(
            "never-opened",
            "Files of this kind can run programs and are never opened",
            name,
            "a pickle or a file like it",
            _CSV,
        )
    for magic, what in _REFUSED:
        if head.startswith(magic):
            raise refuse("format-foreign", "This format is not read", name, what, _CSV)
    if head.startswith((b"PK\x03\x04", b"\x1f\x8b")):
        raise refuse(
            "archive-nested",
            "An archive lies inside an archive",
            name,
            "a second layer",
            "Unpack one layer.",
        )
    if head[257:262] == b"ustar":
        raise refuse(
            "format-foreign",
            "This format is not read",
            name,
            "a tar archive",
            "Give a folder or a zip.",
        )


def _looks_like_tns(head: bytes) -> bool:
    """Lines of three or more numbers with blanks between them, and nothing else."""
    lines = [line.split() for line in head.splitlines()[:50] if not line.startswith(b"#")]
    lines = [line for line in lines[:-1] or lines if line]
    wide = [line for line in lines if len(line) >= 3]
    numeric = all(_NUMBER.match(part) for line in wide for part in line)
    return bool(wide) and numeric and len(wide) >= 0.8 * len(lines)


def _folder_kind(source: Source, options: BuildOptions, findings: Findings) -> str:
    names = source.names
    for name in names:
        low = name.lower()
        if low.endswith(_PICKLES):
            what = "a pickle or a file like it"
            if source.is_archive or len(names) == 1:
                raise refuse(
                    "never-opened", "Files of this kind are never opened", name, what, _CSV
                )
            findings.note(f"{name} was not opened: {what}.")
    tensors = [name for name in names if _TNS.search(name)]
    if len(tensors) == 1:
        return "tns"
    if tensors:
        raise refuse(
            "tns-several",
            "The folder holds several tensors",
            source.path.name,
            where_list(tensors),
            "Choose one of these files.",
        )
    if files_with_tables(source) and (kind := _tables_kind(source, options, findings)) != "tables":
        return kind
    tables = table_files(source)
    texts = category_files(tuple(name for name in names if name not in tables))
    if texts and len(texts) >= len(tables):
        return "documents"
    if tables and all(is_code_map(source, name) for name in tables):
        return "code-map"
    if len(tables_in(source, options, findings).entries):
        return "tables"
    raise _nothing_known(source)


def _tables_kind(source: Source, options: BuildOptions, findings: Findings) -> str:
    """FHIR, the export whose tables these are, or just "tables"."""
    alone = len(source.names) == 1
    if any(first_type(source, name) for name in source.names if alone or not _TEXT.search(name)):
        return FHIR
    layouts = layouts_present(tables_in(source, options, findings))
    if not layouts:
        return "tables"
    wanted = [
        one
        for one in layouts
        if options.tables and options.tables in (one.kind, "tidy" if "tidy" in one.kind else "raw")
    ]
    chosen = (wanted or layouts)[0]
    for other in layouts:
        if other is not chosen:
            findings.note(
                f"The folder also holds {KINDS[other.kind]}; set 'kind' to {other.kind} "
                "to read that."
            )
    return chosen.kind


def _nothing_known(source: Source) -> InvalidData:
    endings = Counter(PurePosixPath(name).suffix.lower() or "no ending" for name in source.names)
    found = ", ".join(f"{count} x {ending}" for ending, count in endings.most_common(5))
    return refuse(
        "folder-unknown",
        "The folder holds no data of a known kind",
        source.path.name,
        found,
        "Give tables (.csv, .xlsx, .parquet, .jsonl, a database), FHIR, texts "
        "(category/name.txt), a .tns or an .npz file.",
    )


def category_files(names: tuple[str, ...]) -> dict[str, str]:
    """Text file to category: its folder, if no deeper folder holds texts."""
    texts = [PurePosixPath(name) for name in names if _TEXT.search(name)]
    folders = {text.parent for text in texts}
    inner = {parent for folder in folders for parent in folder.parents}
    categories = [text for text in texts if text.parent not in inner and text.parent.name]
    return {str(text): text.parent.name for text in categories}


def is_code_map(source: Source, name: str) -> bool:
    """Whether the header of a table reads like code, group[, name]."""
    head = source.unpacked_head(name)
    header = head.splitlines()[0].decode("utf-8", "replace").lower() if head else ""
    columns = [column.strip(' "\ufeff') for column in re.split("[,;\t]", header)]
    return bool(
        _CODE.match(columns[0])
        and 2 <= len(columns) <= 3
        and any(_GROUP.match(column) for column in columns[1:])
    )


def tensor_file(names: tuple[str, ...]) -> str:
    """The one .tns file of a folder, or the file itself."""
    return next((name for name in names if _TNS.search(name)), names[0])

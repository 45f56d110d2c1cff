"""From files to a stored data set: hand over, look, choose, build."""

from __future__ import annotations

import hashlib
import json
from dataclasses import dataclass, replace
from pathlib import Path

import pandas as pd
import streamlit as st

from dashboard.privacy import uploads
from dashboard.session import cache, state
from dashboard.session.state import Key
from dashboard.text.display import clipped
from dashboard.widgets.build_options import choose_options
from dashboard.widgets.column_choice import show_first_rows, show_previews
from dashboard.widgets.handed_over import HandedFile, ask_for_files
from dashboard.widgets.problems import show_problems
from dashboard.widgets.tables import download_csv, show_table
from dashboard.widgets.text import plain
from swiftcore.data.building.doubts import DOUBTS
from swiftcore.data.dataset import Dataset
from swiftcore.data.from_path.parsed_tables import reading_options
from swiftcore.data.from_path.sandbox import (
    Inspection,
    build_path,
    first_rows,
    inspect_path,
    read_kept,
)
from swiftcore.data.from_path.sniff import KINDS
from swiftcore.data.options import BuildOptions
from swiftcore.errors import InvalidData, SwiftError

YES = "option.yes"
LARGE = 0.05  # of the rows read, from which on what is left out is shown large
PARSED = ".tables"
KEPT = ".bundle"  # what an inspection built, until another one or until it is stored
TEMPLATE = """patient,diagnosis,medication,date,value,outcome
0001,Essential hypertension,ACE inhibitors,2020-01-31,1,0
0001,Type 2 diabetes,Metformin,2020-01-31,2,0
0002,Heart failure,Loop diuretics,2020-03-02,1,1
0002,Atrial fibrillation,Anticoagulants,2020-03-02,1,1
"""
CAN_BE_READ = """What can be read:
- one table of events, one line each (CSV, Excel, JSON lines, Parquet), such as the template below;
- several tables together: diagnoses, medications, patients; also as sheets of one workbook, or
  in a SQLite or DuckDB file;
- the tables of an OMOP, MIMIC, Synthea or eICU export, together or as a zip;
- a FHIR R4 export (ndjson or bundles), together or as a zip;
- texts as a zip with one folder per category, or a table with a column of text;
- a tensor: .tns, .npz, or a SWIFT data bundle.

Ids and codes are kept as they are written. Nothing leaves this computer."""


def add_data() -> None:
    """Ask for files, show what they are and every problem, and build the data set."""
    handed = _ask_for_files()
    if handed is None:
        st.markdown(CAN_BE_READ)
        st.download_button(
            "Download a template table",
            TEMPLATE,
            "swift_template.csv",
            "text/csv",
            key="template",
            on_click="ignore",
        )
        return
    path = handed.path
    early = st.empty()
    with st.spinner("Reading the files ..."):
        if not _parsed(path, BuildOptions()).exists():
            with early.container():
                show_previews(first_rows(path))
        guess = inspect(path, BuildOptions())
    early.empty()
    if not guess.kind:
        show_problems(InvalidData(guess.problems))
        return
    show_kind(guess)
    look = st.container()  # the roles shown are those of the choices below
    above = st.container()  # problems stand above the choices that may fix them
    try:
        options = choose_options(guess, handed.name or guess.kind.replace("-", " "))
        options = replace(options, yes=bool(state.widget_value(YES)))
    except SwiftError as error:
        with look:
            show_first_rows(guess)
        show_problems(error)
        return
    with st.spinner("Reading the files ..."):
        inspection = inspect(path, replace(options, name=""))
    with look:
        show_first_rows(inspection if inspection.previews else guess)
    if inspection.problems:
        with above:
            show_problems(InvalidData(inspection.problems))
    if options.yes or _only_doubts(inspection):
        st.checkbox("It is meant so: build it all the same", key=YES)
    if inspection.problems:
        return
    show_inspection(inspection)
    synthetic = ask_synthetic()
    if st.button("Build the data set", type="primary", key="build"):
        _build(handed, options, synthetic)


def ask_synthetic() -> bool:
    """Whether the data describe nobody, so that small counts need not be hidden."""
    return st.checkbox(
        "These data are synthetic: they describe no real persons",
        help="Only then may small counts be shown.",
        key="option.synthetic",
    )


def _only_doubts(inspection: Inspection) -> bool:
    """Whether nothing but doubts stands against a build."""
    return bool(inspection.problems) and all(one.code in DOUBTS for one in inspection.problems)


@dataclass(frozen=True)
class Handed:
    """The path to read, a name for it if it has one, and the uploads it came from."""

    path: Path
    name: str
    files: tuple[HandedFile, ...] = ()


def _ask_for_files() -> Handed | None:
    """What to read, once something was handed over."""
    root = uploads.server_root()
    places = ["from this computer"] + (["from the server"] if root else [])
    place = (
        st.radio("Where are the files?", places, horizontal=True, key="place")
        if root
        else places[0]
    )
    if root and place == places[1]:
        return _ask_on_server(root)
    files = ask_for_files("Files", key=f"files.{state.get(Key.UPLOADS, 0)}")
    if not files:
        return None
    kept = uploads.save([(file.name, file.content) for file in files], _root())
    return Handed(kept, _stem(files[0].name) if len(files) == 1 else "", tuple(files))


def _ask_on_server(root: Path) -> Handed | None:
    typed = st.selectbox(
        "File or folder on the server",
        uploads.on_server(root),
        index=None,
        format_func=lambda each: clipped(each, 100),
        accept_new_options=True,
        placeholder="choose or type one",
        key="server_path",
    )
    if not typed:
        return None
    try:
        path = uploads.inside(root, typed)
    except SwiftError as error:
        show_problems(error)
        return None
    return Handed(path, _stem(path.name))


def _stem(name: str) -> str:
    return clipped(uploads.safe_name(name).split(".")[0].replace("_", " "))


def _root() -> Path:
    return cache.store().root / uploads.UPLOADS


def inspect(path: Path, options: BuildOptions) -> Inspection:
    """What lies at a path and what would be built of it, read in the guarded process."""
    plain = json.dumps(options.to_json(), sort_keys=True)
    return _inspect(str(path), str(_kept(path, options)), str(_parsed(path, options)), plain)


@st.cache_resource(max_entries=16, show_spinner=False)
def _inspect(path: str, kept: str, parsed: str, options: str) -> Inspection:
    for earlier in Path(kept).parent.glob(f"*{KEPT}"):  # one choice at a time fills the disk
        earlier.unlink(missing_ok=True)
    chosen = BuildOptions.from_json(json.loads(options))
    return inspect_path(path, chosen, keep=Path(kept), parsed=Path(parsed))


def _kept(path: Path, options: BuildOptions) -> Path:
    """Where the inspection leaves what it built of these very files with these very choices."""
    plain = json.dumps([uploads.looks(path), options.to_json()], sort_keys=True)
    name = hashlib.sha256(plain.encode()).hexdigest()
    return uploads.private_folder(path, _root()) / f"{name}{KEPT}"


def _parsed(path: Path, options: BuildOptions) -> Path:
    """Where the parsed tables of these files stay, until they are built or forgotten."""
    plain = json.dumps([uploads.looks(path), reading_options(options)], sort_keys=True)
    name = hashlib.sha256(plain.encode()).hexdigest()
    return uploads.private_folder(path, _root()) / f"{name}{PARSED}"


def show_kind(inspection: Inspection) -> None:
    """What the files were taken for, and the tables found in them."""
    st.markdown(f"This is **{plain(KINDS.get(inspection.kind, inspection.kind))}**.")
    if inspection.tables:
        table = pd.DataFrame(
            {"File": list(inspection.tables), "Rows": list(inspection.tables.values())}
        )
        show_table(table, "Files that were read, and how many rows each has")


def show_inspection(inspection: Inspection) -> None:
    """What would be built: columns taken, sizes, what is left out, what to know."""
    if inspection.mapping and not inspection.roles:
        st.markdown("**Columns taken**")
        show_table(
            pd.DataFrame(
                {"For": list(inspection.mapping), "Taken": list(inspection.mapping.values())}
            ),
            "Which column is taken for what",
        )
    if inspection.summary is not None:
        st.markdown("**What would be built**")
        known = {*inspection.notes, *(f"{one}." for one in inspection.left_out)}
        telling = [str(one) for one in inspection.summary.leaky]
        for sentence in inspection.summary.sentences():
            if sentence not in known and sentence not in telling:
                st.markdown(f"- {plain(sentence, 500)}")
        if telling:
            lines = "".join(f"\n- {plain(sentence, 300)}" for sentence in telling[:4])
            st.warning(
                f"These features may give the outcome away; leave out what is the outcome "
                f"itself:\n{lines}"
            )
    show_left_out(inspection)


def show_left_out(inspection: Inspection) -> None:
    """Everything that does not enter the tensor, counted, and the guesses made."""
    if inspection.left_out:
        st.markdown("**Left out**")
        _show_large(inspection)
        table = pd.DataFrame(
            [(one.where, one.count, one.reason) for one in inspection.left_out],
            columns=["Where", "How many", "Why"],
        )
        show_table(table, "What was left out, and why")
        download_csv(table, "left_out")
    for note in inspection.notes:
        st.caption(f"Note: {plain(note, 500)}")


def _show_large(inspection: Inspection) -> None:
    """What is a large part of all rows read, in large figures."""
    whole = max(inspection.tables.values(), default=0)
    large = [one for one in inspection.left_out if one.count >= LARGE * whole]
    large = sorted(large, key=lambda one: -one.count)[:3]
    for column, one in zip(st.columns(max(len(large), 1)), large, strict=False):
        column.metric(plain(f"{one.where}: {one.reason}", 90), f"{one.count:,}")


def _dataset(path: Path, options: BuildOptions) -> Dataset:
    """As the inspection left it, under the chosen name; read again only if that is gone."""
    unnamed = replace(options, name="")
    try:
        built = read_kept(_kept(path, unnamed), options.limits)
    except InvalidData:
        return build_path(path, options)
    return replace(built, name=options.name or built.name)


def _build(handed: Handed, options: BuildOptions, synthetic: bool) -> None:
    try:
        with st.spinner("Building ..."):
            dataset = _dataset(handed.path, options)
            identifier = cache.store().add_dataset(dataset, synthetic=synthetic)
    except SwiftError as error:
        show_problems(error)
        return
    uploads.forget(handed.path, _root())
    for file in handed.files:
        file.forget()
    _inspect.clear()
    state.set(Key.UPLOADS, state.get(Key.UPLOADS, 0) + 1)  # an empty uploader next time
    greet(identifier)


def greet(identifier: str) -> None:
    """Draw the page anew for a data set just built, with the next step."""
    state.set(Key.BUILT, identifier)
    state.choose_for_next(dataset=identifier)
    st.rerun()

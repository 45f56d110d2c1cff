"""The sample data that ships with the product, ready to use without any file of one's own."""

from __future__ import annotations

import csv
from collections.abc import Callable, Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.building.documents import choose_words, cooccurrence_tensor, read_corpus
from swiftcore.data.building.events import Events, Records
from swiftcore.data.building.people_and_time import side_of_records
from swiftcore.data.dataset import Dataset
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.coded import Coded
from swiftcore.data.reading.findings import Findings
from swiftcore.data.side_tables import SideTables
from swiftcore.errors import InvalidSettings, refuse
from swiftcore.tensor import Mode, SparseTensor

NEWS_WORDS = 100
# An installed package carries the samples inside itself; a source checkout beside itself.
SAMPLE_FOLDERS = (
    Path(__file__).parent / "_samples",
    Path(__file__).parents[2] / "sample_data",
)


def load_sample(name: str) -> Dataset:
    """Load one of the samples named by :func:`sample_names`.

    ``heart_failure`` is a binary tensor of patient x diagnosis x medication: 1 where the two
    stand together in one visit of the patient. ``news`` is document x word x word: in how many
    sentences of the article the two words meet; its word counts come along for the row cost.

    Raises
    ------
    InvalidSettings
        If there is no sample of that name.
    InvalidData
        If its files are not where they were installed.
    """
    if name not in _LOADERS:
        raise refuse(
            "sample-unknown",
            "There is no such sample",
            "the sample's name",
            repr(name),
            f"Choose one of {', '.join(sample_names())}.",
            kind=InvalidSettings,
        )
    return _LOADERS[name](sample_folder(name))


def sample_names() -> tuple[str, ...]:
    """The samples there are."""
    return tuple(_LOADERS)


def sample_folder(name: str) -> Path:
    """The folder that holds a sample's plain files."""
    for folder in SAMPLE_FOLDERS:
        if (folder / name).is_dir():
            return folder / name
    raise refuse(
        "sample-missing",
        "The files of a sample are missing",
        name,
        "no such folder in the package or beside it",
        "Install the product again, or run sample_data/generate.py in a checkout.",
    )


def _load_heart_failure(folder: Path) -> Dataset:
    patients = _read_columns(folder / "patients.csv", "patient_id", "heart_failure")
    seen = ("patient_id", "visit_id")
    diagnoses = _read_columns(folder / "diagnoses.csv", *seen, "diagnosis")
    medications = _read_columns(folder / "medications.csv", *seen, "medication")
    prescribed: dict[tuple[str, str], list[str]] = {}
    for patient, visit, medication in medications:
        prescribed.setdefault((patient, visit), []).append(medication)
    met = {
        (patient, diagnosis, medication)
        for patient, visit, diagnosis in diagnoses
        for medication in prescribed.get((patient, visit), [])
    }
    modes = (
        Mode("patient", tuple(patient for patient, _ in patients)),
        Mode("diagnosis", tuple(sorted({diagnosis for _, _, diagnosis in diagnoses}))),
        Mode("medication", tuple(sorted({medication for _, _, medication in medications}))),
    )
    coordinates = np.column_stack(
        [_indices(column, mode) for column, mode in zip(zip(*met, strict=True), modes, strict=True)]
    )
    tensor = SparseTensor.from_coordinates(coordinates, np.ones(len(met)), modes=modes)
    return Dataset(
        name="heart_failure",
        tensor=tensor,
        outcome=np.array([answer == "1" for _, answer in patients]),
        outcome_name="heart failure",
        origin="Synthetic health records of the sample data, joined per patient and visit.",
        side=_heart_failure_side(folder, tensor),
    )


def _heart_failure_side(folder: Path, tensor: SparseTensor) -> SideTables:
    """Age, sex, clinic and visits of the patients, and when what was recorded."""
    about = ("sex", "age", "clinic", "heart_failure_date")
    people = _read_columns(folder / "patients.csv", "patient_id", *about)
    traits = {
        name: {patient: values[place] for patient, *values in people}
        for place, name in enumerate(about)
    }
    events = tuple(
        _dated(folder / f"{table}.csv", mode)
        for table, mode in (("diagnoses", "diagnosis"), ("medications", "medication"))
    )
    records = Records(events, traits, None)
    return side_of_records(records, events, tensor, BuildOptions(), {}, ())


def _dated(path: Path, mode: str) -> Events:
    who, visit, day, what = zip(
        *_read_columns(path, "patient_id", "visit_id", "date", mode), strict=True
    )
    feature = Coded.from_texts(mode, what)
    return Events(
        mode,
        Coded.from_texts("patient", who),
        feature,
        feature.labels,
        visit=Coded.from_texts("visit", visit),
        time=np.array(day, dtype="datetime64[D]").astype(np.float64),
    )


def _load_news(folder: Path) -> Dataset:
    articles = _read_columns(folder / "articles.csv", "id", "category", "title", "text")
    names = [article for article, _, _, _ in articles]
    texts = [f"{title}. {text}" for _, _, title, text in articles]
    corpus = read_corpus(names, texts, "english", Findings())
    counts = corpus.word_counts()
    return Dataset(
        name="news",
        tensor=cooccurrence_tensor(
            corpus, choose_words(counts, corpus.words, NEWS_WORDS, by="tfidf")
        ),
        outcome=np.array([category for _, category, _, _ in articles]),
        outcome_name="category",
        origin="Synthetic articles of the sample data; words that meet in a sentence, counted.",
        word_counts=counts,
        words=corpus.words,
        side=SideTables(texts=tuple(f"{title}\n\n{text}" for _, _, title, text in articles)),
    )


def _read_columns(path: Path, *columns: str) -> list[tuple[str, ...]]:
    """The named columns of one of our own CSV files, row by row."""
    if not path.is_file():
        raise refuse(
            "sample-missing",
            "A file of a sample is missing",
            path.parent.name,
            f"no file {path.name}",
            "Install the product again.",
        )
    with path.open(encoding="utf-8", newline="") as file:
        return [tuple(row[column] for column in columns) for row in csv.DictReader(file)]


def _indices(labels: Iterable[str], mode: Mode) -> NDArray[np.int64]:
    place = {label: index for index, label in enumerate(mode.labels)}
    return np.array([place[label] for label in labels], dtype=np.int64)


_LOADERS: dict[str, Callable[[Path], Dataset]] = {
    "heart_failure": _load_heart_failure,
    "news": _load_news,
}

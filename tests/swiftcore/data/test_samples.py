"""The sample data: complete, reproducible, and neither trivial nor hopeless."""

from __future__ import annotations

import csv
import hashlib
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import numpy as np
import pytest
from sklearn.feature_extraction.text import CountVectorizer
from sklearn.linear_model import LogisticRegression
from sklearn.model_selection import cross_val_score

from swiftcore.data import samples
from swiftcore.data.dataset import Dataset
from swiftcore.data.samples import load_sample, sample_folder, sample_names
from swiftcore.data.synthetic.ehr import generate_ehr
from swiftcore.data.synthetic.news import CATEGORIES, generate_news
from swiftcore.errors import InvalidData, InvalidSettings

CHECKOUT = Path(__file__).parents[3]
SAMPLE_DATA = CHECKOUT / "sample_data"


def test_files_are_the_ones_listed_and_small() -> None:
    listed = dict(
        reversed(line.split("  ")) for line in (SAMPLE_DATA / "SHA256SUMS").read_text().splitlines()
    )
    found = {
        path.relative_to(SAMPLE_DATA).as_posix(): path
        for path in SAMPLE_DATA.glob("*/*")
        if path.is_file()  # the folders hold finished results, which carry seals of their own
    }
    assert set(listed) == set(found)
    for name, path in found.items():
        assert hashlib.sha256(path.read_bytes()).hexdigest() == listed[name], name
    assert sum(path.stat().st_size for path in found.values()) < 3_000_000


def test_one_command_makes_the_same_bytes(tmp_path: Path) -> None:
    command = [sys.executable, str(SAMPLE_DATA / "generate.py"), "--out", str(tmp_path)]
    subprocess.run(command, check=True, cwd=CHECKOUT, env={"PYTHONPATH": str(CHECKOUT)})
    assert (tmp_path / "SHA256SUMS").read_text() == (SAMPLE_DATA / "SHA256SUMS").read_text()


def test_heart_failure_is_the_generated_tensor() -> None:
    dataset, ehr = load_sample("heart_failure"), generate_ehr(seed=2021)
    assert dataset.tensor.digest() == ehr.tensor.digest()
    assert dataset.outcome is not None
    np.testing.assert_array_equal(dataset.outcome, ehr.outcome)
    assert dataset.outcome.dtype == bool and dataset.outcome.sum() == 200
    assert dataset.outcome_name == "heart failure"


def test_heart_failure_follows_every_record() -> None:
    folder = sample_folder("heart_failure")
    with (folder / "patients.csv").open(encoding="utf-8", newline="") as file:
        onset = {row["patient_id"]: row["heart_failure_date"] for row in csv.DictReader(file)}
    for table in ("diagnoses.csv", "medications.csv"):
        with (folder / table).open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                assert re.fullmatch(r"\d{4}-\d\d-\d\d", row["date"])
                assert not onset[row["patient_id"]] or row["date"] < onset[row["patient_id"]]


def test_news_has_the_paper_s_shape() -> None:
    dataset = load_sample("news")
    assert dataset.tensor.shape == (400, 100, 100)
    assert dataset.outcome is not None
    assert Counter(dataset.outcome.tolist()) == dict.fromkeys(CATEGORIES, 80)
    assert len(CATEGORIES) == 5
    dense = dataset.tensor.to_dense()
    np.testing.assert_array_equal(dense, dense.transpose(0, 2, 1))
    assert dense.any(axis=(1, 2)).all()
    assert dataset.word_counts is not None
    assert dataset.word_counts.shape == (400, len(dataset.words))


def test_news_is_neither_trivial_nor_hopeless() -> None:
    articles = generate_news(seed=2021)
    words = load_sample("news").tensor.modes[1].labels
    texts = [f"{article.title}. {article.text}" for article in articles]
    counts = CountVectorizer(vocabulary=words).fit_transform(texts)
    lasso = LogisticRegression(solver="saga", l1_ratio=1.0, C=0.1, max_iter=2000, random_state=0)
    accuracy = cross_val_score(lasso, counts, [article.category for article in articles], cv=5)
    assert 0.75 <= accuracy.mean() <= 0.9


def test_news_is_made_the_same_by_the_same_seed() -> None:
    assert generate_news(25, seed=3) == generate_news(25, seed=3)
    assert generate_news(25, seed=3) != generate_news(25, seed=4)
    topics = {article.topic for article in generate_news(seed=0)}
    assert len(topics) == 20
    with pytest.raises(InvalidSettings):
        generate_news(4)


def test_news_reads_like_sentences() -> None:
    for article in generate_news(50, seed=1):
        for sentence in article.text.split(". "):
            assert re.fullmatch(r"[A-Z][A-Za-z ,-]+\.?", sentence), sentence
        assert "{" not in article.title + article.text


def test_unknown_and_missing_samples(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    assert sample_names() == ("heart_failure", "news")
    with pytest.raises(InvalidSettings, match="heart_failure, news"):
        load_sample("../news")
    monkeypatch.setattr(samples, "SAMPLE_FOLDERS", (tmp_path,))
    with pytest.raises(InvalidData, match="missing"):
        load_sample("news")
    (tmp_path / "news").mkdir()
    with pytest.raises(InvalidData, match=r"articles\.csv"):
        load_sample("news")


def test_an_installed_copy_comes_first(monkeypatch: pytest.MonkeyPatch, tmp_path: Path) -> None:
    (tmp_path / "news").mkdir()
    monkeypatch.setattr(samples, "SAMPLE_FOLDERS", (tmp_path, SAMPLE_DATA))
    assert sample_folder("news") == tmp_path / "news"
    assert sample_folder("heart_failure") == SAMPLE_DATA / "heart_failure"


def test_outcome_must_fit_the_rows() -> None:
    tensor = load_sample("heart_failure").tensor
    with pytest.raises(InvalidData, match="one outcome per row"):
        Dataset("short", tensor, np.zeros(3, dtype=bool), "nothing", "a test")
    assert repr(Dataset("none", tensor, None, "", "a test")).endswith("no outcome)")

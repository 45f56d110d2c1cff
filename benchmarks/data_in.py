"""How fast data come in, side by side with the plainest code that does the same counting.

    python -m benchmarks.data_in [--rows 1500000] [--bbc FOLDER] [--out data_in.json]

Event table: a CSV with one event per row. Plain: `pandas.read_csv(dtype=str)` and a groupby
count. Ours: sniffing, strict parsing, checks, tensor and summary; once in this process and once
through the guarded child process, hand-back included.

Documents: the BBC News folder (not shipped; give its path). Plain: scikit-learn's CountVectorizer
over the texts, then the sentence counting of the same 100 words with it. Ours: sentences, words,
TF-IDF vocabulary, co-occurrence tensor and counts for the row cost. Both start from texts in
memory; reading the folder end to end is timed as well.

First rows: seconds until the beginning of a table of 50 MB is seen, on the page and by a command.
"""

from __future__ import annotations

import argparse
import json
import re
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from sklearn.feature_extraction.text import CountVectorizer

from benchmarks import RESULTS
from swiftcore.data.building.documents import choose_words, cooccurrence_tensor, read_corpus
from swiftcore.data.from_path.read_path import read_path
from swiftcore.data.from_path.sandbox import build_path, first_rows, inspect_path
from swiftcore.data.options import BuildOptions, Limits
from swiftcore.data.reading.findings import Findings

EVENT_GOAL, TEXT_GOAL, FIRST_GOAL = 1.5, 2.0, 2.0  # times the plain code; seconds for first rows
SENTENCE_END = re.compile(r"(?<=[.!?])\s+|\n\s*\n")


def best_of(times: int, work: Callable[[], Any]) -> float:
    """The shortest of several runs: the one least disturbed by others."""
    spans = []
    for _ in range(times):
        start = time.perf_counter()
        work()
        spans.append(time.perf_counter() - start)
    return min(spans)


def write_events(path: Path, rows: int) -> None:
    """Patients, diagnoses and drugs, drawn so that a few are frequent and most are rare."""
    rng = np.random.default_rng(0)
    patients = rng.integers(0, max(rows // 100, 10), rows)
    diagnoses = np.minimum(rng.zipf(1.4, rows), 800)
    drugs = np.minimum(rng.zipf(1.3, rows), 600)
    pd.DataFrame(
        {
            "patient_id": np.char.add("P", np.char.zfill(patients.astype(str), 7)),
            "diagnosis": np.char.add("D", diagnoses.astype(str)),
            "drug": np.char.add("drug ", drugs.astype(str)),
        }
    ).to_csv(path, index=False)


def measure_events(rows: int, times: int) -> dict[str, Any]:
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.csv"
        write_events(path, rows)
        options = BuildOptions(limits=Limits(memory_mb=8192))
        keys = ["patient_id", "diagnosis", "drug"]

        def plain() -> Any:
            return pd.read_csv(path, dtype=str).groupby(keys, sort=False).size()

        inspect_path(Path(folder) / "nothing.csv", options)  # start the warm process
        spans = {
            "plain": best_of(times, plain),
            "ours": best_of(times, lambda: read_path(path, options, Findings())),
            "ours, guarded": best_of(times, lambda: build_path(path, options)),
        }
        tensor = read_path(path, options, Findings()).tensor
        assert tensor.n_entries == len(plain()) and tensor.values.sum() == rows
        return {
            "what": f"event CSV, {rows:,} rows ({path.stat().st_size / 1e6:.0f} MB)",
            "goal": EVENT_GOAL,
            "seconds": spans,
        }


def measure_first_rows(rows: int) -> dict[str, Any]:
    """How long until the first rows are there: from the warm process of the page, as a command."""
    with tempfile.TemporaryDirectory() as folder:
        path = Path(folder) / "events.csv"
        write_events(path, rows)
        inspect_path(Path(folder) / "nothing.csv")  # start the warm process

        def command() -> None:
            inspecting = [sys.executable, "-m", "swiftcore.cli", "data", "inspect", str(path)]
            with subprocess.Popen(inspecting, stdout=subprocess.PIPE, text=True) as process:
                assert process.stdout is not None
                assert any("First rows" in line for line in process.stdout)
                process.kill()

        spans = {
            "page": best_of(3, lambda: first_rows(path)),
            "command": best_of(3, command),
        }
        size = path.stat().st_size / 1e6
        return {"what": f"first rows of {size:.0f} MB", "goal": FIRST_GOAL, "seconds": spans}


def measure_documents(folder: Path, times: int) -> dict[str, Any]:
    files = sorted(folder.rglob("*/*.txt"))
    texts = [file.read_bytes().decode("utf-8", "replace") for file in files]
    names = [str(file) for file in files]
    corpus = read_corpus(names, texts, "english", Findings())
    words = choose_words(corpus.word_counts(), corpus.words, 100, "tfidf")

    def plain() -> Any:
        CountVectorizer(stop_words="english").fit_transform(texts)
        counter = CountVectorizer(vocabulary=words, binary=True)
        sentences = [part for text in texts for part in SENTENCE_END.split(text)]
        marks = counter.transform(sentences)
        start = 0
        total = []
        for text in texts:
            length = len(SENTENCE_END.split(text))
            part = marks[start : start + length]
            total.append(part.T @ part)
            start += length
        return total

    def ours() -> Any:
        own = read_corpus(names, texts, "english", Findings())
        counts = own.word_counts()
        return cooccurrence_tensor(own, choose_words(counts, own.words, 100, "tfidf"))

    options = BuildOptions()
    spans = {
        "plain": best_of(times, plain),
        "ours": best_of(times, ours),
        "ours, guarded, from files": best_of(times, lambda: build_path(folder, options)),
    }
    return {
        "what": f"{len(texts):,} articles to 100 x 100 words",
        "goal": TEXT_GOAL,
        "seconds": spans,
    }


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0])
    parser.add_argument("--rows", type=int, default=1_500_000)
    parser.add_argument("--bbc", type=Path, help="folder of the BBC News articles")
    parser.add_argument("--times", type=int, default=3)
    parser.add_argument("--out", type=Path, default=RESULTS / "data_in.json")
    asked = parser.parse_args()
    results = [measure_events(asked.rows, asked.times)]
    if asked.bbc:
        results.append(measure_documents(asked.bbc, asked.times))
    for result in results:
        print(f"\n{result['what']} (goal: ours at most {result['goal']:g} x plain)")
        for name, span in result["seconds"].items():
            print(f"  {name:28} {span:7.2f} s   {span / result['seconds']['plain']:5.2f} x")
    first = measure_first_rows(asked.rows * 5 // 3)
    print(f"\n{first['what']} (goal: {first['goal']:g} s)")
    for name, span in first["seconds"].items():
        print(f"  {name:28} {span:7.2f} s")
    results.append(first)
    asked.out.write_text(json.dumps(results, indent=1))


if __name__ == "__main__":
    main()

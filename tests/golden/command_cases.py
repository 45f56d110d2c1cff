"""The swift command: files it writes, numbers it prints, codes of what it refuses."""

from __future__ import annotations

import contextlib
import csv
import io
import json
import re
import tempfile
from collections.abc import Callable
from functools import partial
from pathlib import Path

import numpy as np
import pandas as pd

from golden.made_data import write_documents, write_events
from golden.plain import FLOAT32, Result, bits_of, column_less, digest, numbers_in, result
from swiftcore.cli import main

CODE = re.compile(r"^  ([a-z]+(?:-[a-z]+)*) ", re.MULTILINE)
FEW_SCORES = 0.2  # rtol on other machines of means of a few scores, where ties weigh much
FITS = {
    "heart_failure": "fit heart_failure --rank 4 --iterations 6 --jobs 1",
    "heart_failure_still": (
        "fit heart_failure --rank 3 --iterations 5 --jobs 2 --row-relation none --sharpness 2"
    ),
    "news": "fit news --rank 3 --iterations 3 --jobs 2 --seed 1 --top 3",
    "events": "fit {events} --rank 3 --iterations 9 --jobs 1 --dtype float64 --restarts 1",
    "events_binary": "fit {events} --rank 2 --iterations 5 --costs random --set values=binary",
    "documents": "fit {documents} --rank 3 --iterations 5 --jobs 1",
}
LATER = (  # fields of the result that came after the recording, or that tell about the machine
    *("settings", "run", "from_store", "row_relation", "row_relation_why", "model_digest"),
    *("seconds", "cpu_seconds", "peak_memory_bytes", "workers"),
)
STUDIES = {
    "evaluate": "evaluate {events} --ranks 3 --folds 3 --quick --methods swift lasso_indicators",
    "noise": ("noise {events} --ranks 2 --folds 3 --quick --methods cp_apr --levels 0.2 --draws 1"),
    "ablate": "ablate {events} --ranks 2 --folds 3 --quick --methods swift --recipes random",
    "stability": "stability {events} --ranks 2 --folds 2 --quick --methods swift cp_nmu",
}
MISTAKES = {
    "rank": "fit {events} --rank 0 --out {out}",
    "two_settings": "fit {events} --rank 0 --sharpness -1 --out {out}",
    "missing_file": "fit {folder}/none.csv --rank 2 --out {out}",
    "sample_settings": "fit heart_failure --rank 2 --set values=binary --out {out}",
    "unknown_set": "fit {events} --rank 2 --set nothing=3 --out {out}",
    "no_outcome": "evaluate {bare} --quick --out {out}",
    "unknown_method": "evaluate {events} --methods magic --ranks 0 --out {out}",
    "unfit_method": "stability {events} --methods lasso_indicators --out {out}",
    "costless_method": "ablate {events} --methods cp_als --out {out}",
    "few_folds": "evaluate {events} --folds 1 --out {out}",
    "unknown_option": "fit {events} --rank 2 --magic --out {out}",
    "unknown_command": "cook",
    "inspect_missing": "data inspect {folder}/none.csv",
}


def said(words: str, folder: Path) -> tuple[int, str, str]:
    """Run one command in this process: its exit code and what it wrote to both streams."""
    places = {
        "folder": folder,
        "out": folder / "out",
        "events": write_events(folder / "events.csv"),
        "bare": write_events(folder / "bare.csv", outcome=False),
        "documents": write_documents(folder / "documents.csv"),
    }
    out, err = io.StringIO(), io.StringIO()
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(err):
        try:
            code = main([word.format(**places) for word in words.split()])
        except SystemExit as ended:
            code = int(ended.code or 0)
    return code, out.getvalue(), err.getvalue()


def fit(name: str) -> Result:
    """What a fit prints and writes, without its settings and timings."""
    with tempfile.TemporaryDirectory() as folder:
        code, printed, _ = said(FITS[name] + " --json --out {out}", Path(folder))
        files = {path.name: path for path in sorted((Path(folder) / "out").iterdir())}
        stored = json.loads(files["phenotypes.json"].read_text())
        memberships = files["memberships.csv"].read_text(encoding="utf-8")
        history = list(csv.reader(files["history.csv"].open(encoding="utf-8")))
    found = json.loads(printed)
    same = found == found | stored  # and what it took, which is only printed
    for later in LATER:
        del found[later]
    for phenotype in found["phenotypes"]:
        del phenotype["name"], phenotype["found_in"]
    rows = list(csv.reader(io.StringIO(memberships)))
    values = np.array([line[1:] for line in rows[1:]], dtype=np.float64)
    bits = {
        "memberships": digest(memberships),
        "values": bits_of([values]),
        "printed": digest(found),
        "history": digest(column_less(history, ["seconds"])),
    }
    close = {name: found[name] for name in ("objective", "outcome", "iterations")} | {
        "sums": values.sum(axis=0),
        "shares": [[one["id"], one["share"]] for one in found["phenotypes"]],
    }
    always = {"code": code, "files": list(files), "same": same, "header": rows[0]}
    return result(FLOAT32, always=always, bits=bits, close=close)


def study(name: str) -> Result:
    """The CSV files of an experiment, without timings."""
    with tempfile.TemporaryDirectory() as folder:
        root = Path(folder)
        code, _, _ = said(STUDIES[name] + " --out {out}", root)
        files = {path.name: path for path in sorted((root / "out").glob("*.csv"))}
        lines = {file: list(csv.reader(path.open(newline=""))) for file, path in files.items()}
        names = sorted(path.name for path in (root / "out").iterdir())
    kept = {file: column_less(rows, ["seconds"]) for file, rows in lines.items()}
    return result(
        FEW_SCORES,
        always={
            "code": code,
            "files": names,
            "tables": {file: [rows[0], len(rows)] for file, rows in kept.items()},
        },
        bits={file: {"all": digest(rows), "first": [*rows, []][1]} for file, rows in kept.items()},
        close={file: means(rows) for file, rows in kept.items()},
    )


def means(rows: list[list[str]]) -> dict[str, float]:
    """The mean of every column that holds numbers only."""
    frame = pd.DataFrame(rows[1:], columns=rows[0]).apply(pd.to_numeric, errors="coerce")
    return {str(name): float(mean) for name, mean in frame.dropna(axis=1).mean().items()}


def refused(name: str) -> Result:
    """Exit code and the codes of all problems; the words may be edited."""
    with tempfile.TemporaryDirectory() as folder:
        code, printed, err = said(MISTAKES[name], Path(folder))
    told = CODE.findall(err) if "usage:" not in err else ["usage"]
    listed = re.findall(r"^  \[([a-z-]+)\]", printed, re.MULTILINE)
    return result(0.0, always={"code": code, "problems": told, "listed": listed})


def inspected(what: str) -> Result:
    """Numbers that an inspection prints of what it read and would build, the first rows aside."""
    with tempfile.TemporaryDirectory() as folder:
        code, printed, _ = said(f"data inspect {what}", Path(folder))
    shown = ("First rows of", "Columns:", "Could be the outcome")
    counted = "\n\n".join(part for part in printed.split("\n\n") if not part.startswith(shown))
    return result(0.0, always={"code": code, "numbers": numbers_in(counted)})


def built() -> Result:
    """A bundle and the seal it is printed with; the seal covers packed bytes."""
    with tempfile.TemporaryDirectory() as folder:
        code, printed, _ = said("data build {events} --out {out}", Path(folder))
    seal = printed.split()[-1]
    return result(0.0, always={"code": code, "letters": len(seal)}, bits=seal)


CASES: dict[str, Callable[[], Result]] = {
    **{f"fit_{name}": partial(fit, name) for name in FITS},
    **{name: partial(study, name) for name in STUDIES},
    **{f"refused_{name}": partial(refused, name) for name in MISTAKES},
    "inspect_heart_failure": partial(inspected, "heart_failure"),
    "inspect_news": partial(inspected, "news"),
    "inspect_events": partial(inspected, "{events}"),
    "build_events": built,
}

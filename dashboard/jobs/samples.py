"""The samples with their finished results, so that the first page shows something true.

``python -m dashboard.jobs.samples make`` computes them again into ``sample_data``.
"""

from __future__ import annotations

import json
import logging
import sys
import tempfile
import time
from collections.abc import Iterator, Mapping
from dataclasses import fields
from pathlib import Path
from typing import Any

from dashboard.jobs import jobs
from dashboard.jobs.effort import EFFORTS
from dashboard.store.cards import RunState
from dashboard.store.keeping import set_kept
from dashboard.store.request import Request
from dashboard.store.reviews import Review, Reviews
from dashboard.store.store import SEEDED, Store
from swiftcore.data.samples import load_sample, sample_folder, sample_names
from swiftcore.errors import refuse
from swiftcore.evaluation.methods.catalogue import CATALOGUE
from swiftcore.phenotypes.labels import spoken
from swiftcore.runtime.atomic_file import write_atomic

logger = logging.getLogger(__name__)
RANKS = {"heart_failure": 12, "news": 10}
COMPARED = [key for key, method in CATALOGUE.items() if not method.every_cell]
NOISE_METHODS = ["swift", "cp_als", "cp_apr", "similarity_cp", "lasso_indicators"]
EXAMPLES = (  # verdict, problem, confidence, comment; on the two phenotypes of the largest share
    ("yes", "", 4, "Example review: these belong together."),
    ("possibly", "mixed", 3, "Example review: two things may be mixed here."),
)


def seed_samples(store: Store) -> None:
    """Put the samples and their results into a store that holds no other data; only once."""
    seeded = store.root / SEEDED
    if seeded.exists():  # before the lock: a read-only store can be opened too
        return
    with store.lock("samples"):
        own = any(card.name not in sample_names() for card in store.datasets())
        if own or seeded.exists():
            return
        for name in reversed(sample_names()):  # the first sample is the newest in the list
            store.add_dataset(load_sample(name), synthetic=True)
            folder = sample_folder(name) / "results"
            for path in sorted(folder.glob("*.zip")):
                set_kept(store.root, store.add_shipped(path.read_bytes()), True)
            _seed_reviews(Reviews(store.root), folder / "reviews.json")
        write_atomic(seeded, b"", private=True)


def requests(dataset: str, rank: int) -> Iterator[tuple[str, Request]]:
    """What is computed for each sample, by file name; the fit comes first."""
    fit = Request("fit", dataset, {"rank": rank, **EFFORTS["Standard"]})
    yield "fit", fit
    ranks = [5, rank]
    compared = {"ranks": ranks, "methods": COMPARED}
    yield "evaluation", Request("evaluation", dataset, compared, fit.key())
    yield (
        "noise",
        Request(
            "noise",
            dataset,
            {"ranks": [rank], "levels": [0.05, 0.15, 0.3], "draws": 1, "methods": NOISE_METHODS},
            fit.key(),
        ),
    )
    yield "ablation", Request("ablation", dataset, {"ranks": [rank]}, fit.key())
    yield "stability", Request("stability", dataset, {"ranks": [rank]}, fit.key())
    yield "ranks", Request("ranks", dataset, {"ranks": [rank // 2, rank, 3 * rank // 2]})


def make_samples(names: list[str]) -> None:
    """Compute all results of the samples and write them beside the data."""
    with tempfile.TemporaryDirectory() as root:
        store = Store(root)
        for name in names:
            folder = sample_folder(name) / "results"
            folder.mkdir(exist_ok=True)
            dataset = store.add_dataset(load_sample(name), synthetic=True)
            for file, request in requests(dataset, RANKS[name]):
                run_id = _computed(store, request, f"{name} {file}")
                write_atomic(folder / f"{file}.zip", store.export_run(run_id))
                if request.kind == "fit":
                    write_atomic(folder / "reviews.json", _example_reviews(store, run_id))


def _computed(store: Store, request: Request, words: str) -> str:
    run_id = jobs.start(store, request)
    while (card := store.run(run_id)).state.active:
        progress = card.progress or {}
        logger.info(
            "%s: %s %s/%s",
            words,
            progress.get("what", "waiting"),
            progress.get("done", 0),
            progress.get("total", 0),
        )
        time.sleep(5)
    if card.state is not RunState.DONE:
        raise refuse(
            "sample-result",
            "A result of the samples was not computed",
            words,
            card.message,
            "Fix that and run it again.",
        )
    logger.info("%s: done after %.0f s", words, card.seconds)
    return run_id


def _example_reviews(store: Store, run_id: str) -> bytes:
    fit = store.fit(run_id)
    weights = fit.factors[0].sum(axis=0)
    largest = sorted(range(fit.rank), key=lambda component: -weights[component])
    plain = [
        {
            "run": run_id,
            "phenotype": fit.identifiers[component],
            "phenotype_digest": fit.phenotype_digest(component),
            "reviewer": "Example reviewer",
            "name": spoken(fit.modes[1].labels[int(fit.factors[1][:, component].argmax())]),
            "verdict": verdict,
            "problem": problem,
            "confidence": confidence,
            "comment": comment,
        }
        for component, (verdict, problem, confidence, comment) in zip(
            largest, EXAMPLES, strict=False
        )
    ]
    return (json.dumps(plain, indent=2) + "\n").encode()


def _seed_reviews(reviews: Reviews, path: Path) -> None:
    if not path.is_file():
        return
    known = {field.name for field in fields(Review)}
    plain: list[Mapping[str, Any]] = json.loads(path.read_bytes())
    for each in plain:
        review = Review(**{key: each[key] for key in known & set(each)})
        if not reviews.history(review.run, review.phenotype):
            reviews.save(review)


def main(arguments: list[str]) -> int:
    """``make`` and perhaps names of samples."""
    if not arguments or arguments[0] != "make" or set(arguments[1:]) - set(sample_names()):
        sys.stderr.write("usage: python -m dashboard.jobs.samples make [heart_failure] [news]\n")
        return 2
    logging.basicConfig(level=logging.INFO, format="%(message)s")
    make_samples(arguments[1:] or list(sample_names()))
    return 0


if __name__ == "__main__":
    sys.exit(main(sys.argv[1:]))

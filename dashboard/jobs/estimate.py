"""How long a computation will take and how much memory, said before it starts.

The time of a fit is that of its iterations, and an iteration works through every cell of
every column that holds anything, in every unfolding. Other methods than SWIFT go over the
entries, or over every cell, on one core. The coefficients were measured on two ordinary cores;
machines differ, and so do data, hence the wide range in the sentence.
"""

from __future__ import annotations

import math
import os
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

from dashboard.jobs.need import need_of
from dashboard.store.cards import DatasetCard
from dashboard.store.request import Request
from dashboard.store.store import Store
from swiftcore.evaluation.experiments.settings import ExperimentSettings
from swiftcore.evaluation.experiments.tuning.settings import UNLIMITED
from swiftcore.evaluation.methods.catalogue import CATALOGUE, factorization
from swiftcore.evaluation.methods.row_relation import relation_of
from swiftcore.progress import USUAL_ITERATIONS, duration
from swiftcore.runtime.memory import in_units
from swiftcore.spec import ModelSpec
from swiftcore.spec.row_relation import neighbourhoods_of

START, TEAM = 4.0, 8.0  # seconds: a process, its packages, the data; several of them
PER_CELL, PER_RANK = 9e-9, 1e-10  # core seconds: a cell of a column, plus this times the rank
PER_PAIR = 1.5e-7  # core seconds: the cost of a pair of rows
START_ITERATIONS = 8.0  # what finding a start costs, in iterations
COMPARED = 0.6  # of the usual iterations: what fits take that are only compared
SLOW = {"float32": 1.0, "float64": 2.0}
RANGE = (0.5, 2.5)  # of the estimate, within which the true time is to be expected
UNLIMITED_FITS = 100.0  # about, of a search for settings that has all the time
SWEEPS_TAKEN = 0.4  # of the limit, by other methods than SWIFT: the range then ends at the limit
CLASSIFIER = 0.3  # time of a classifier, in fits


@dataclass(frozen=True)
class Estimate:
    """What a computation will take.

    Attributes
    ----------
    seconds, bytes : float
        The middle of what is to be expected.
    sentence : str
        The same for a person, as loose as it is.
    """

    seconds: float
    bytes: float
    sentence: str


def estimate(store: Store, request: Request) -> Estimate:
    """What the request will take on this machine when nothing else runs."""
    if store.is_finished(request.key()):
        return Estimate(0.0, 0.0, "Already computed: the stored result is shown at once.")
    if request.kind == "tune" and request.settings["minutes"] != UNLIMITED:
        seconds, memory = 60 * request.settings["minutes"], need_of(store, request).bytes
        sentence = f"At most about {in_words(seconds)}, and {in_units(memory)} of memory."
        return Estimate(seconds, memory, sentence)
    card, cores = store.usable_card(request.dataset), os.cpu_count() or 1
    fit = _fit_settings(store, request)
    one_fit, memory = fit_seconds(card, fit), need_of(store, request).bytes
    if request.kind in ("fit", "projection"):
        seconds = START + one_fit / (cores if _moves_mass(fit) else 1)
    else:  # fits side by side, each on one core
        seconds = START + TEAM + n_fits(request) * one_fit / cores
    return Estimate(seconds, memory, _sentence(seconds, memory))


def fit_seconds(card: DatasetCard, settings: Mapping[str, Any]) -> float:
    """Core seconds of one fit, or of a consensus of them, that ends where fits usually do."""
    fits = settings.get("consensus", 1)
    if not _moves_mass(settings):
        return _sweeps_seconds(card, settings) * (fits + 3 if fits > 1 else 1)
    kind = relation_of(ModelSpec.of(settings), card.shape[0], card.mode_names[0]).kind
    blocks = neighbourhoods_of(card.shape[0]) if kind == "neighbourhoods" else 1
    columns = card.size.in_blocks(blocks).columns
    moving = [card.shape[0] / blocks, *card.shape[1:]]
    cells = sum(number * size for number, size in zip(columns, moving, strict=True))
    step = cells * (PER_CELL + PER_RANK * settings["rank"]) * SLOW.get(settings["dtype"], 2.0)
    costs = 0.0 if kind == "none" else PER_PAIR * card.shape[0] ** 2 / blocks
    usual = min(settings["max_iterations"], USUAL_ITERATIONS)
    compared = (fits + 2) * (START_ITERATIONS + COMPARED * usual) if fits > 1 else 0.0
    return float(costs + (compared + START_ITERATIONS + usual) * step)


def _moves_mass(settings: Mapping[str, Any]) -> bool:
    return factorization(settings["method"]).costs == "all"


def _sweeps_seconds(card: DatasetCard, settings: Mapping[str, Any]) -> float:
    """Core seconds of a fit of another method than SWIFT."""
    method = factorization(settings["method"])
    units = math.prod(card.shape) if method.every_cell else card.entries
    base, per_component = method.sweep_seconds
    sweeps = max(1.0, SWEEPS_TAKEN * settings["max_iterations"])
    costs = 0.0 if method.costs == "none" else PER_PAIR * sum(n**2 for n in card.shape[1:])
    return float(costs + sweeps * units * (base + per_component * settings["rank"]))


def n_fits(request: Request) -> float:
    """How many fits an experiment takes."""
    chosen = request.settings
    if request.kind == "tune":
        return UNLIMITED_FITS
    if request.kind == "stability":
        return float(1 + ExperimentSettings().seeds + chosen["folds"])
    if request.kind == "ranks":
        return float(len(chosen["ranks"]) * (2 + ExperimentSettings().seeds))
    rounds = chosen["folds"] * chosen["repeats"] * max(1, chosen["subsets"])
    ranks, quick = len(chosen["ranks"]), chosen["quick"]
    given = request.run != ""  # then our own method has one setting
    if request.kind == "ablation":
        own = 1 if given else len(CATALOGUE["swift"].settings(quick))
        return float(rounds * ranks * own * len(chosen["recipes"]))
    methods = [CATALOGUE[key] for key in chosen["methods"] or CATALOGUE]
    one = rounds * sum(
        (1 if given and method.key == "swift" else len(method.settings(quick)))
        * (ranks if method.is_factorization else CLASSIFIER)
        for method in methods
    )
    if request.kind == "evaluation":
        return float(one)
    variants = len(chosen["levels"]) * chosen["draws"]
    return float(one * (1 + variants) + 1 + variants)


def in_words(seconds: float) -> str:
    """A time, rounded as far as a guess allows: 40 s, 3 min, 2 h."""
    steps = ((10, 1), (30, 5), (90, 10), (5400, 60), (math.inf, 3600))
    step = next(step for most, step in steps if seconds < most)
    return duration(max(1, round(seconds / step) * step))


def _fit_settings(store: Store, request: Request) -> Mapping[str, Any]:
    """The settings of the fits behind a request."""
    if request.kind == "fit":
        return request.settings
    if request.run:
        return store.run(request.run).request.settings
    return Request("fit", request.dataset, {"rank": max(request.settings["ranks"])}).settings


def _sentence(seconds: float, memory: float) -> str:
    low, high = in_words(RANGE[0] * seconds), in_words(RANGE[1] * seconds)
    return f"About {low} to {high}, and {in_units(memory)} of memory."

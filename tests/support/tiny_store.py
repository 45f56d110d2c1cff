"""Tiny data and patient waiting, for every test that needs a store."""

from __future__ import annotations

import time
from collections.abc import Callable
from pathlib import Path

import numpy as np

from dashboard.store.cards import RunCard
from dashboard.store.store import Store
from swiftcore.data.dataset import Dataset
from swiftcore.tensor import Mode, SparseTensor

PATIENCE = 240.0  # seconds; the machine may be busy
ROOT = Path(__file__).parents[2]


def tiny_dataset(rows: int = 30, seed: int = 0, *, outcome: bool = True) -> Dataset:
    """Three planted groups of features in rows x 8 diagnoses x 6 medications."""
    rng = np.random.default_rng(seed)
    group = np.arange(rows) % 3
    places = [
        (
            row,
            int(rng.integers(0, 3)) + 3 * int(group[row]) - (group[row] == 2),
            int(rng.integers(0, 2)) + 2 * int(group[row]),
        )
        for row in range(rows)
        for _ in range(8)
    ]
    modes = (
        Mode("patient", tuple(f"row {row}" for row in range(rows))),
        Mode("diagnosis", tuple(f"diagnosis {index}" for index in range(8))),
        Mode("medication", tuple(f"medication {index}" for index in range(6))),
    )
    tensor = SparseTensor.from_coordinates(np.array(places), np.ones(len(places)), modes=modes)
    answer = (group == 0) ^ (rng.random(rows) < 0.1) if outcome else None
    return Dataset(f"tiny {seed}", tensor, answer, "fever" if outcome else "", "Made by a test.")


def wait_for(done: Callable[[], bool], patience: float = PATIENCE) -> None:
    """Look now and then until it is so."""
    until = time.monotonic() + patience
    while not done():
        assert time.monotonic() < until, "it took too long"
        time.sleep(0.05)


def ended(store: Store, run_id: str) -> RunCard:
    """The card of a run once it has ended."""
    wait_for(lambda: not store.run(run_id).state.active)
    return store.run(run_id)

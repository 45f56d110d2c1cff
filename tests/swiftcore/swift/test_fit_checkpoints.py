"""A fit that dies at any moment goes on to the same bits, and never from another fit's state."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from reference.known_problems import random_problem

from swiftcore import FitOutcome, FitProgress, ModelSpec, Swift, fit_dataset
from swiftcore.data.dataset import Dataset
from swiftcore.swift import fit_file, loop, search
from swiftcore.swift.checkpoint import INTERVAL, FitCheckpoint, kept_iteration
from swiftcore.swift.fit_file import FitFile, FitState
from swiftcore.transport.sweep import Sweeper

TENSOR, COSTS, START = random_problem(2, (20, 10, 8), 3, 0.1, False)
SETTINGS: dict[str, Any] = {"rank": 3, "random_state": 0, "tolerance": 0, "max_iterations": 15}
CASES: dict[str, dict[str, Any]] = {
    "from the KL start": {},
    "from several random starts": {"start": "random", "n_restarts": 2},
    "from one random start": {"start": "random", "n_restarts": 1},
    "in logarithms": {"sharpness": 1000.0, "dtype": "float64"},
    "one component": {"rank": 1},
    "plain steps": {"momentum": 0.0},
    "until it converges": {"tolerance": 1e-3, "max_iterations": 500},
}


class Died(Exception):
    """What ends a fit in place of kill -9; see ``test_kills`` for the real thing."""


def fitted(checkpoint: FitCheckpoint | None = None, n_jobs: int = 1, **settings: Any) -> Swift:
    model = Swift(**{**SETTINGS, **settings}, n_jobs=n_jobs)
    return model.fit(TENSOR, COSTS, checkpoint=checkpoint)


def bits(model: Swift) -> tuple[object, ...]:
    """Everything that a fit leaves behind but the times."""
    history = [replace(entry, seconds=0.0) for entry in model.history_]
    return [factor.tobytes() for factor in model.factors_], history, model.outcome_


def dies_at_every_second_writing(monkeypatch: pytest.MonkeyPatch) -> Callable[[], None]:
    """Let a fit get one state further and die at the next; returns what gives it a new life."""
    real, count = FitFile.write, [0]

    def write(self: FitFile, state: FitState) -> None:
        real(self, state)
        count[0] += 1
        if count[0] == 2:
            raise Died

    monkeypatch.setattr(FitFile, "write", write)
    return lambda: count.__setitem__(0, 0)


@pytest.mark.parametrize("settings", CASES.values(), ids=CASES.keys())
@pytest.mark.parametrize("sweeps", [loop.MAX_SETTLING_SWEEPS, 3])  # with 3 the limit is reached
def test_a_fit_that_dies_again_and_again_ends_at_the_same_bits(
    settings: dict[str, Any], sweeps: int, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(loop, "MAX_SETTLING_SWEEPS", sweeps)
    whole = fitted(**settings)
    revive = dies_at_every_second_writing(monkeypatch)
    histories: list[tuple[FitProgress, ...]] = []
    checkpoint = FitCheckpoint(tmp_path / "state.npz", 0.0, histories.append)
    deaths, model = 0, None
    while model is None:
        revive()
        try:
            model = fitted(checkpoint, n_jobs=1 + deaths % 2, **settings)
        except Died:
            deaths += 1
            assert deaths < 1000
    assert deaths >= 8 and bits(model) == bits(whole)
    lengths = [len(history) for history in histories]
    assert lengths == sorted(lengths) and lengths[-1] > 5  # it never went back
    seconds = [entry.seconds for entry in model.history_]
    assert seconds == sorted(seconds)


def stopped(path: Path, at: int = 7, **settings: Any) -> Swift:
    model = Swift(**{**SETTINGS, **settings}, n_jobs=1)
    return model.fit(
        TENSOR,
        COSTS,
        callback=lambda progress: progress.iteration == at,
        checkpoint=FitCheckpoint(path),
    )


def test_a_fit_that_was_stopped_goes_on_where_it_was(tmp_path: Path) -> None:
    path = tmp_path / "state.npz"
    assert stopped(path).outcome_ is FitOutcome.STOPPED
    assert kept_iteration(path) == 7
    seen: list[int] = []
    histories: list[tuple[FitProgress, ...]] = []
    model = Swift(**SETTINGS, n_jobs=1).fit(
        TENSOR,
        COSTS,
        callback=lambda progress: seen.append(progress.iteration),
        checkpoint=FitCheckpoint(path, resumed=histories.append),
    )
    assert bits(model) == bits(fitted())
    assert seen == list(range(8, 16)) and [len(one) for one in histories] == [8]


def test_stopped_at_its_last_iteration_it_ends_as_if_it_had_not_been(tmp_path: Path) -> None:
    stopped(tmp_path / "state.npz", at=15)
    assert bits(fitted(FitCheckpoint(tmp_path / "state.npz"))) == bits(fitted())


def begins_anew(path: Path, caplog: pytest.LogCaptureFixture, **settings: Any) -> bool:
    """Whether a fit leaves the state aside and says so; its bits are right in any case."""
    caplog.clear()
    told: list[object] = []
    state = path.read_bytes()
    assert bits(fitted(FitCheckpoint(path, resumed=told.append), **settings)) == bits(
        fitted(**settings)
    )
    path.write_bytes(state)  # it ended at its limit and kept where it was then
    assert bool(told) != ("begins anew" in caplog.text)
    return not told


def test_the_state_of_another_fit_is_left_aside(
    tmp_path: Path, caplog: pytest.LogCaptureFixture, monkeypatch: pytest.MonkeyPatch
) -> None:
    path = tmp_path / "state.npz"
    stopped(path)
    for settings in ({"random_state": 1}, {"sharpness": 9.0}, {"rank": 2}, {"dtype": "float64"}):
        assert begins_anew(path, caplog, **settings), settings
    assert not begins_anew(path, caplog, n_jobs=2)
    for name in ("ALGORITHM_VERSION", "CHECKPOINT_FORMAT"):
        with monkeypatch.context() as patch:
            patch.setattr(fit_file, name, "0")
            assert begins_anew(path, caplog), name
    assert not begins_anew(path, caplog)


def test_the_key_holds_data_costs_and_start() -> None:
    def key(tensor: Any = TENSOR, costs: Any = COSTS, initial: Any = None) -> str:
        return fit_file.fit_key(tensor, costs, initial, SETTINGS)

    other, _, factors = random_problem(3, (20, 10, 8), 3, 0.1, False)
    changed = [COSTS[0].copy(), *COSTS[1:]]
    changed[0][0, 1] = np.nextafter(changed[0][0, 1], 2)
    keys = [key(), key(other), key(costs=changed), key(costs=[None, *COSTS[1:]])]
    keys += [key(initial=START), key(initial=factors)]
    assert len(set(keys)) == len(keys) and key() == keys[0]


def test_a_damaged_state_is_left_aside_whatever_is_wrong_with_it(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    path = tmp_path / "state.npz"
    stopped(path)
    sound, rng = path.read_bytes(), np.random.default_rng(0)
    key = fit_file.fit_key(TENSOR, COSTS, None, Swift(**SETTINGS).get_params())
    file = FitFile(FitCheckpoint(path), key)
    assert file.read().loop is not None
    damaged = [b"", b"PK", b"\x93NUMPY", sound[:-1], sound + b"x", rng.bytes(5000)]
    damaged += [sound[: rng.integers(len(sound))] for _ in range(40)]
    for place in rng.integers(len(sound), size=150):
        flipped = bytearray(sound)
        flipped[place] ^= 1 << rng.integers(8)
        damaged.append(bytes(flipped))
    ignored = 0
    for content in damaged:
        path.write_bytes(content)
        state = file.read()
        assert state.restarts is None
        if state.loop is None:
            ignored += 1
        else:  # a byte that says nothing: a date or a length that the archive holds twice
            assert bits(fitted(FitCheckpoint(path))) == bits(fitted())
    assert ignored > 0.9 * len(damaged)
    path.write_bytes(sound[:-1])
    assert begins_anew(path, caplog)


def test_a_folder_in_its_place_or_a_full_disk_do_not_end_the_fit(
    tmp_path: Path, caplog: pytest.LogCaptureFixture
) -> None:
    (tmp_path / "state.npz").mkdir()
    assert bits(fitted(FitCheckpoint(tmp_path / "state.npz", 0.0))) == bits(fitted())
    assert "could not be written" in caplog.text
    assert [one.name for one in tmp_path.iterdir()] == ["state.npz"]  # no drafts
    assert bits(fitted(FitCheckpoint(tmp_path / "gone" / "state.npz", 0.0))) == bits(fitted())


def test_what_a_killed_writer_left_is_swept(tmp_path: Path) -> None:
    path = tmp_path / "state[1].npz"
    stopped(path)
    (tmp_path / f".{path.name}-abc.tmp").write_bytes(b"half")
    (tmp_path / ".other.npz-abc.tmp").write_bytes(b"not mine")
    fitted(FitCheckpoint(path))
    assert {one.name for one in tmp_path.iterdir()} == {path.name, ".other.npz-abc.tmp"}


class Clock:
    """A clock in place of the system's, which only moves when it is told to."""

    def __init__(self) -> None:
        self.now = 0.0

    def monotonic(self) -> float:
        return self.now

    def slowed(self, work: Callable[..., Any], seconds: float) -> Callable[..., Any]:
        """The same work, which takes so long by this clock."""

        def slow(*arguments: Any, **options: Any) -> Any:
            self.now += seconds
            return work(*arguments, **options)

        return slow


@pytest.mark.parametrize("start", ["kl", "random"])
def test_half_a_minute_and_one_step_is_the_most_that_is_lost(
    start: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    clock, times = Clock(), [0.0]
    monkeypatch.setattr(fit_file, "time", clock)
    monkeypatch.setattr(Sweeper, "sweep", clock.slowed(Sweeper.sweep, 7.0))
    monkeypatch.setattr(search, "kl_trial", clock.slowed(search.kl_trial, 25.0))
    real = FitFile.write

    def write(self: FitFile, state: FitState) -> None:
        real(self, state)
        times.append(clock.now)

    monkeypatch.setattr(FitFile, "write", write)
    model = fitted(FitCheckpoint(tmp_path / "state.npz"), start=start)
    assert times.pop() == clock.now  # where it reached its limit, to go on from there
    gaps = np.diff(times)
    assert len(times) > 4 and gaps.min() >= INTERVAL
    assert gaps.max() <= INTERVAL + 25.0 and gaps[-1] < INTERVAL + 7.0
    assert clock.now - times[-1] < INTERVAL + 7.0
    assert bits(model) == bits(fitted(start=start))


def test_a_quick_fit_writes_nothing(tmp_path: Path) -> None:
    model = fitted(FitCheckpoint(tmp_path / "state.npz"), tolerance=1e-2, max_iterations=200)
    assert model.outcome_ is FitOutcome.CONVERGED and list(tmp_path.iterdir()) == []


def test_every_method_takes_a_checkpoint_and_only_swift_uses_it(tmp_path: Path) -> None:
    dataset = Dataset("noise", TENSOR, None, "", "Made by a test.")
    for method, used in (("swift", True), ("cp_als", False)):
        spec = ModelSpec(rank=2, method=method, max_iterations=3)
        path = tmp_path / method
        fit_dataset(dataset, spec, n_jobs=1, checkpoint=FitCheckpoint(path, 0.0))
        assert path.exists() is used


@pytest.mark.parametrize("limits", [(4, 15), (0, 3, 9, 15)])
@pytest.mark.parametrize("settings", [{}, {"start": "random", "n_restarts": 2}])
def test_a_fit_that_ended_at_its_limit_goes_on_as_if_it_had_been_larger(
    limits: tuple[int, ...], settings: dict[str, Any], tmp_path: Path
) -> None:
    checkpoint = FitCheckpoint(tmp_path / "state.npz")
    for limit in limits:
        model = fitted(checkpoint, max_iterations=limit, **settings)
        assert model.outcome_ is FitOutcome.ITERATION_LIMIT
    assert kept_iteration(checkpoint.path) == 15
    factors, history, _ = bits(fitted(**settings))
    mine, entries, _ = bits(model)
    assert mine == factors
    assert [replace(one, max_iterations=15) for one in entries] == history

"""Commands and pages share one store: asked for at the terminal, found on the screen."""

from __future__ import annotations

import json
import signal
import time
from dataclasses import fields, replace
from pathlib import Path
from urllib.parse import parse_qs, urlsplit

import numpy as np
import pytest
from support.tiny_store import tiny_dataset

from dashboard.jobs.ask import ask
from dashboard.server.doors import Entrance
from dashboard.server.folder import running_address, server_folder
from dashboard.store.cards import RunCard, RunState
from dashboard.store.request import Request
from dashboard.store.store import Store
from swiftcore.cli import in_store, main
from swiftcore.data.bundle import write_bundle
from swiftcore.data.digest import data_digest
from swiftcore.data.shards.reader import open_shards
from swiftcore.evaluation.experiments.run import run_experiment
from swiftcore.evaluation.experiments.settings import ExperimentSettings
from swiftcore.fitting import FittedModel
from swiftcore.runtime.spent import Spent


@pytest.fixture
def data(tmp_path: Path) -> Path:
    """The data of the fitted store as a file, under another name."""
    path = tmp_path / "mine.swift.npz"
    write_bundle(replace(tiny_dataset(), name="under another name"), path)
    return path


LARGE = 4_100  # rows that are fitted in parts


@pytest.fixture
def large_shards(tmp_path: Path) -> Path:
    path = tmp_path / "large.swift"
    made = f"--patients {LARGE} --diagnoses 60 --medications 64 --seed 4 --out {path}"
    assert main(f"data generate {made}".split()) == 0
    return path


def told(words: str, capsys: pytest.CaptureFixture[str]) -> dict[str, object]:
    """What a command prints as JSON."""
    capsys.readouterr()
    assert main([*words.split(), "--json"]) == 0
    found: dict[str, object] = json.loads(capsys.readouterr().out)
    return found


def test_a_stored_answer_is_used_at_once(
    fitted_store: Store,
    fit_id: str,
    data: Path,
    tmp_path: Path,
    capsys: pytest.CaptureFixture[str],
) -> None:
    began = {path: path.stat().st_mtime_ns for path in (fitted_store.root / "runs").rglob("*")}
    words = f"fit {data} --rank 3 --data-dir {fitted_store.root} --out {tmp_path / 'out'}"
    found = told(words, capsys)
    assert found["from_store"] is True and found["run"] == fit_id
    assert {path: path.stat().st_mtime_ns for path in began} == began
    assert len(fitted_store.datasets()) == 1  # known, whatever it is called
    stored = fitted_store.fit(fit_id).factors
    for one, same in zip(
        FittedModel.load(tmp_path / "out" / "model.npz").factors, stored, strict=True
    ):
        assert one.tobytes() == same.tobytes()


@pytest.mark.slow
def test_a_new_answer_is_where_the_dashboard_finds_it(
    store: Store, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    words = f"fit {data} --rank 2 --iterations 4 --row-mass equal"
    found = told(f"{words} --data-dir {store.root}", capsys)
    assert found["from_store"] is False
    (card,) = store.runs()
    assert card.id == found["run"] and card.state is RunState.DONE and card.imported is None
    (kept,) = store.datasets()
    assert kept.name == "under another name" and not kept.synthetic
    asked = {"rank": 2, "max_iterations": 4, "row_mass": "equal"}
    assert card.id == Request("fit", kept.id, asked).key()
    spent = [found.pop(each.name) for each in fields(Spent)]
    assert spent[0] > 0 and spent[-1] == 1
    again = told(f"{words} --data-dir {store.root}", capsys)
    assert found | {"from_store": True} == {name: again[name] for name in found}
    anew = told(f"{words} --out {tmp_path / 'out'}", capsys)  # no look at any store
    assert found | {"run": None} == {name: anew[name] for name in found}
    here = FittedModel.load(tmp_path / "out" / "model.npz")
    np.testing.assert_array_equal(store.fit(card.id).factors[0], here.memberships)


def test_an_experiment_of_the_dashboard_answers_the_command(
    fitted_store: Store, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    settings = {"methods": ["lasso_indicators"], "ranks": [2], "folds": 3}  # as its form asks
    request = Request("evaluation", fitted_store.datasets()[0].id, settings)
    found = run_experiment("evaluation", tiny_dataset(), ExperimentSettings(**settings))
    fitted_store.publish_run(request, {"experiment.json": found.to_json().encode()}, 1.0, 1.0)
    words = f"evaluate {data} --methods lasso_indicators --ranks 2 --folds 3 --quick"
    more = ["--data-dir", str(fitted_store.root), "--out", str(tmp_path)]
    assert main([*words.split(), *more]) == 0
    assert (tmp_path / "evaluation.json").read_text() == found.to_json()
    said = capsys.readouterr()
    assert "Lasso" in said.out and "was in the store already" in said.err


def test_what_no_page_shows_is_refused(data: Path, capsys: pytest.CaptureFixture[str]) -> None:
    words = f"stability {data} --ranks 2 3 --quick --data-dir nowhere"
    assert main(words.split()) == 2
    said = capsys.readouterr().err
    assert "ranks-in-store" in said and "quick-in-store" in said
    assert not Path("nowhere").exists()


def test_ctrl_c_stops_the_computation(
    store: Store,
    data: Path,
    monkeypatch: pytest.MonkeyPatch,
    capsys: pytest.CaptureFixture[str],
) -> None:
    real = in_store._StoreLine.__call__

    def interrupted(self: in_store._StoreLine, card: RunCard) -> bool:
        signal.raise_signal(signal.SIGINT)
        return real(self, card)

    monkeypatch.setattr(in_store._StoreLine, "__call__", interrupted)
    words = f"fit {data} --rank 3 --tolerance 0 --iterations 100000 --data-dir {store.root}"
    assert main(words.split()) == 130
    (card,) = store.runs()
    assert card.state is RunState.CANCELLED and store.job(card.id).pid() is None
    assert "goes on from what is done" in capsys.readouterr().err


def test_what_somebody_else_has_started_goes_on(store: Store) -> None:
    request = Request("fit", store.add_dataset(tiny_dataset()), {"rank": 3})
    job = store.job(request.key())
    job.create(request, time.time(), 1)  # this process stands for its worker
    assert ask(store, request, lambda card: True) is None
    assert not job.asked_to_stop() and job.state().state.active


def opened(words: str, capsys: pytest.CaptureFixture[str]) -> dict[str, list[str]]:
    """What the printed link names, with the path of its page."""
    capsys.readouterr()
    assert main([*words.split(), "--no-browser"]) == 0
    link = urlsplit(capsys.readouterr().out.strip())
    return {"page": [link.path], **parse_qs(link.query)}


def test_a_run_opens_in_the_dashboard_that_runs(
    fitted_store: Store, fit_id: str, capsys: pytest.CaptureFixture[str]
) -> None:
    root, entrance = fitted_store.root, Entrance.with_new_token(8765)
    with server_folder(root, entrance):
        found = opened(f"open {fit_id[:6]} --data-dir {root}", capsys)
        data = fitted_store.run(fit_id).dataset
        assert found == {
            "page": ["/"],
            "token": [entrance.token],
            "data": [data],
            "run": [fit_id],
        }
        waiting = Request("stability", data, {"ranks": [3]}, fit_id)
        fitted_store.job(waiting.key()).create(waiting, time.time(), 1)
        found = opened(f"open {waiting.key()} --data-dir {root}", capsys)
        assert (found["page"], found["run"]) == (["/runs"], [fit_id])
        assert main(f"open 0000 --data-dir {root}".split()) == 2
        assert "run-unknown" in capsys.readouterr().err
    assert running_address(root) == ""
    (root / "servers" / "9").mkdir()  # left by a server that was killed
    (root / "servers" / "9" / "address").write_text(entrance.address)
    assert running_address(root) == ""


def test_a_folder_of_results_is_brought_in_and_marked(
    store: Store, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    out = tmp_path / "my fit"
    assert main([*f"fit {data} --rank 2 --iterations 2 --out".split(), str(out)]) == 0
    command = ["open", str(out), "--data-dir", str(store.root), "--no-browser"]
    with server_folder(store.root, Entrance.with_new_token(8765)):
        assert main(command) == 0
        (card,) = store.runs()
        assert card.imported is not None and card.imported.file == "my fit"
        assert store.fit(card.id).links is not None
        stored, here = store.fit(card.id).factors, FittedModel.load(out / "model.npz").factors
        pairs = zip(stored, here, strict=True)
        assert all(one.tobytes() == same.tobytes() for one, same in pairs)
        data.rename(tmp_path / "moved")
        assert main(command) == 0 and len(store.runs()) == 1  # the store has the data
        store.delete_dataset(card.dataset)
        assert main(command) == 2
        assert "Put them back, or fit again with --data-dir" in " ".join(
            capsys.readouterr().err.split()
        )
        (out / "data.json").unlink()
        assert main(command) == 2
        assert "fit-folder" in capsys.readouterr().err


def test_a_fit_of_shards_is_opened_refitted_and_described(
    large_shards: Path, store: Store, tmp_path: Path
) -> None:
    """Nobody held its rows all at once, and yet its data are known again."""
    out = tmp_path / "large"
    few = "--rank 2 --iterations 2 --restarts 1"
    assert main(f"fit {large_shards} {few} --out {out}".split()) == 0
    noted = json.loads((out / "data.json").read_text())
    assert noted["digest"] == data_digest(open_shards(large_shards).to_dataset())
    with server_folder(store.root, Entrance.with_new_token(8765)):
        assert main(["open", str(out), "--data-dir", str(store.root), "--no-browser"]) == 0
    (card,) = store.runs()
    stored, here = store.fit(card.id).factors, FittedModel.load(out / "model.npz").factors
    pairs = zip(stored, here, strict=True)
    assert all(one.tobytes() == same.tobytes() for one, same in pairs)
    assert main(f"refit {out} --pin P01 --out {tmp_path / 'refit'}".split()) == 0
    again = json.loads((tmp_path / "refit" / "data.json").read_text())
    assert again == noted
    assert main(f"project {out} {large_shards} --out {tmp_path / 'project'}".split()) == 0
    lines = (tmp_path / "project" / "memberships.csv").read_text().splitlines()
    assert len(lines) == LARGE + 1


def test_a_refit_is_no_result_of_its_own(
    store: Store, data: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    one, changed = tmp_path / "one", tmp_path / "changed"
    assert main(f"fit {data} --rank 2 --iterations 2 --out {one}".split()) == 0
    assert main(f"refit {one} --pin P01 --out {changed}".split()) == 0
    assert main(f"open {changed} --data-dir {store.root} --no-browser".split()) == 2
    assert "fit-folder-guided" in capsys.readouterr().err and not store.runs()

"""A store in a temporary folder; one with a tiny data set that was fitted by a real worker."""

from __future__ import annotations

import shutil
from collections.abc import Iterator
from functools import cache
from pathlib import Path

import pytest
from streamlit.components.v2 import manifest_scanner
from support.tiny_store import ended, tiny_dataset

from dashboard.jobs import jobs
from dashboard.store.request import Request
from dashboard.store.store import Store


@pytest.fixture(scope="session", autouse=True)
def components_sought_once() -> Iterator[None]:
    """Streamlit looks through all installed packages for every AppTest; its server does so once."""
    with pytest.MonkeyPatch.context() as patch:
        found = cache(manifest_scanner.scan_component_manifests)
        patch.setattr(manifest_scanner, "scan_component_manifests", found)
        yield


@pytest.fixture
def store(tmp_path: Path) -> Store:
    """An empty store."""
    return Store(tmp_path / "store")


@pytest.fixture(scope="session")
def fitted_root(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A store whose only data set was fitted, made once; copy it before changing anything."""
    root = tmp_path_factory.mktemp("fitted") / "store"
    made = Store(root)
    dataset = made.add_dataset(tiny_dataset(), synthetic=True)
    card = ended(made, jobs.start(made, Request("fit", dataset, {"rank": 3})))
    assert card.state.name == "DONE", card.message
    return root


@pytest.fixture
def fitted_store(fitted_root: Path, tmp_path: Path) -> Store:
    """A store of one's own with a data set of 30 x 8 x 6 and its fit with 3 phenotypes."""
    return Store(shutil.copytree(fitted_root, tmp_path / "fitted"))


@pytest.fixture
def fit_id(fitted_store: Store) -> str:
    """The run id of the fit in :func:`fitted_store`."""
    return fitted_store.runs(kind="fit")[0].id

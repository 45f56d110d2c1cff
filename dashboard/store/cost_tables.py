"""Similarities of features that people have brought: sealed folders beside the data sets.

Attaching one changes neither the data set nor any result of it. A folder holds the table and
says which mode of which data set it is for.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path

from dashboard.store.verified_folder import ChecksumMismatch, read_sealed
from swiftcore.cost.outside.cost_table import KINDS, CostTable, table_from_bytes
from swiftcore.data.options import Limits
from swiftcore.errors import InvalidData
from swiftcore.runtime.plain_json import read_json
from swiftcore.runtime.ranges import Range, record_faults, text
from swiftcore.spec.cost_text import TABLE

COSTS = "costs"  # their place in the store
TABLE_FILE, ABOUT = "table.npz", "about.json"
OWN = Limits(decoded_mb=4096)
_ABOUT = {
    "dataset": text(32, "[0-9a-f]*"),
    "mode": text(1_000_000),
    "digest": text(64, "[0-9a-f]*"),
    "kind": Range(lambda value: value in KINDS, " or ".join(KINDS)),
    "source": text(10_000),
}


@dataclass(frozen=True)
class AttachedCost:
    """A table that is offered for a mode of a data set."""

    folder: Path
    dataset: str
    mode: str
    digest: str
    kind: str
    source: str

    @property
    def text(self) -> str:
        """What a spec calls it."""
        return f"{TABLE}{self.digest}"

    @property
    def title(self) -> str:
        """For a list to choose from."""
        return f"{self.source or self.digest[:8]}: {KINDS[self.kind]}"


def cost_folder(dataset: str, mode: str, table: CostTable) -> str:
    """The name of the folder: 32 hex digits of whom it is for and what it holds."""
    named = json.dumps(["attached cost 1", dataset, mode, table.digest])
    return hashlib.sha256(named.encode()).hexdigest()[:32]


def cost_files(dataset: str, mode: str, table: CostTable) -> dict[str, bytes]:
    """What lies in the folder."""
    about = {
        "dataset": dataset,
        "mode": mode,
        "digest": table.digest,
        "kind": table.kind,
        "source": table.source,
    }
    return {TABLE_FILE: table.to_bytes(), ABOUT: json.dumps(about).encode()}


def attached_costs(root: Path, dataset: str) -> list[AttachedCost]:
    """What is attached to a data set, by mode and name; only the notes are read."""
    found = [one for one in _every(root) if one.dataset == dataset]
    return sorted(found, key=lambda one: (one.mode, one.source, one.digest))


def attached_tables(attached: Iterable[AttachedCost]) -> list[CostTable]:
    """Their tables; one whose seal does not hold is left out, and a fit will miss it by name."""
    tables = []
    for one in attached:
        try:
            content = read_sealed(one.folder)[TABLE_FILE]
            tables.append(table_from_bytes(content, TABLE_FILE, OWN))
        except (ChecksumMismatch, KeyError, InvalidData):
            continue
    return tables


def _every(root: Path) -> Iterator[AttachedCost]:
    for folder in (root / COSTS).glob("*"):
        try:
            plain = read_json((folder / ABOUT).read_bytes())
        except (OSError, ValueError):
            continue
        if isinstance(plain, dict) and not list(record_faults(plain, _ABOUT)):
            yield AttachedCost(folder, **plain)

"""Vectors of features: word2vec text with or without its first line, or a CSV.

Rules. All vectors have the same length, at least 2; their distance is 1 minus the cosine, at
most 1. A vector of zeros points nowhere: its feature counts as not known. The same label with
the same vector twice counts once.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from swiftcore.cost.outside.cost_lines import Faults, Line, is_number
from swiftcore.cost.outside.cost_table import CostTable
from swiftcore.data.reading.findings import Findings

MAX_NUMBERS = 50_000_000  # 400 MB


def is_word2vec(text: str) -> bool:
    """Whether the first lines hold a label and numbers apart by spaces, or two sizes."""
    first, _, rest = text.lstrip("\n").partition("\n")
    second = rest.partition("\n")[0].split()
    numbers = first.split()
    sizes = len(numbers) == 2 and all(part.isdecimal() for part in numbers)
    if sizes:
        return len(second) > 2 and is_number(second[-1])
    apart = len(numbers) > 2 and all("," not in one and is_number(one) for one in numbers[-2:])
    return apart and ";" not in first and "\t" not in first


def split_word2vec(text: str, name: str, findings: Findings) -> list[Line]:
    """Lines of word2vec text as cells; labels may hold spaces. Checks the announced sizes."""
    faults = Faults(name, findings)
    every = [(number, line) for number, line in enumerate(text.split("\n"), 1) if line.strip()]
    first = every[0][1].split()
    announced = len(first) == 2 and all(part.isdecimal() for part in first)
    body = every[1:] if announced else every
    tail = [is_number(part) for part in body[0][1].split()[:0:-1]]
    length = int(first[1]) if announced else (tail.index(False) if False in tail else len(tail))
    if announced and len(body) != int(first[0]):
        found = f"{len(body):,} vectors; the first line says {int(first[0]):,}"
        cure = "Save the vectors again; the file may have been cut off."
        faults.add("cost-cut-off", "The file has not as many vectors", cure, every[0][0], found)
    lines = [Line(number, tuple(line.rsplit(maxsplit=max(length, 1)))) for number, line in body]
    for line in lines:
        if len(line.cells) != length + 1:
            found = f"{len(line.cells) - 1} numbers and not {length}"
            cure = "Give vectors of one length."
            faults.add("cost-ragged", "A vector has another length", cure, line.number, found)
    faults.stop()
    return [Line(line.number, (line.cells[0].strip(), *line.cells[1:])) for line in lines]


def read_vectors(lines: Sequence[Line], name: str, findings: Findings, *, comma: bool) -> CostTable:
    """One label and its numbers per line, with or without a header."""
    faults = Faults(name, findings)
    body = lines if is_number(lines[0].cells[-1]) else lines[1:]
    length = len(body[0].cells) - 1
    if length < 2:
        found, cure = f"{length} numbers", "Give vectors of at least 2 numbers."
        faults.add("cost-short", "The vectors are too short", cure, body[0].number, found)
    if length * len(body) > MAX_NUMBERS:
        found = f"{length * len(body):,} numbers; the limit is {MAX_NUMBERS:,}"
        cure = "Keep the features of your data only."
        faults.add("cost-large", "There are too many vectors", cure, body[0].number, found)
    faults.stop()
    kept: dict[str, tuple[int, list[float]]] = {}
    for line in body:
        label, *cells = line.cells
        if len(cells) != length:
            found = f"{len(cells)} numbers; line {body[0].number} has {length}"
            cure = "Give vectors of one length."
            faults.add("cost-ragged", "A vector has another length", cure, line.number, found)
            continue
        vector = [faults.number(cell, line.number, comma=comma, signed=True) for cell in cells]
        if not label:
            faults.add("cost-label", "A label is empty", "Name it.", line.number, "nothing")
        elif label in kept and kept[label][1] != vector:
            found = f"'{label[:60]}', also on line {kept[label][0]}"
            cure = "Leave one of them."
            faults.add("cost-twice", "A label has two vectors", cure, line.number, found)
        kept.setdefault(label, (line.number, vector))
    faults.stop()
    values = np.array([vector for _, vector in kept.values()])
    return checked_vectors(tuple(kept), values, faults)


def checked_vectors(
    labels: tuple[str, ...], values: NDArray[np.float64], faults: Faults
) -> CostTable:
    """Vectors of finite numbers; those of zeros are noted, and refused if all are."""
    zeros = int((~values.any(axis=1)).sum())
    if zeros:
        faults.findings.note(
            f"{zeros:,} vectors hold only zeros; their features count as not known."
        )
    if zeros == len(values):
        cure = "Save the vectors again."
        faults.add("cost-zero", "All vectors are 0", cure, 1, "only zeros")
        faults.stop()
    return CostTable("vectors", labels, values, faults.name)

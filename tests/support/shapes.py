"""Data sets of awkward shapes: long names, many classes, many covariates, three or four modes."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.dataset import Dataset
from swiftcore.data.side_tables import Covariate, SideTables
from swiftcore.tensor import Mode, SparseTensor

ROWS, GROUPS = 360, 9
SITES = ("disorder of", "injury of", "neoplasm of", "infection of", "fracture of", "pain in")
PARTS = ("anterior cruciate ligament of right knee joint", "medial epicondyle of left humerus")
WHY = "due to and following a complication of a procedure, not elsewhere classified (situation)"


def concepts(size: int) -> tuple[str, ...]:
    """Names as a clinical vocabulary has them, up to 160 letters; some in capitals."""
    names = [
        f"{('Acute', 'Chronic', 'Recurrent')[n % 3]} {SITES[n % 6]} {PARTS[n % 2]} {n}"
        + (f" {WHY}" if n % 4 == 0 else "")
        for n in range(size)
    ]
    return tuple(name.upper() if n % 5 == 0 else name for n, name in enumerate(names))


def planted(*modes: Mode, seed: int = 0) -> tuple[SparseTensor, NDArray[np.int64]]:
    """Rows in groups, each with features of its own in every mode; the group of each row."""
    rng = np.random.default_rng(seed)
    group = np.arange(ROWS) % GROUPS
    rows = np.repeat(np.arange(ROWS), 30)
    columns = [rows]
    for mode in modes[1:]:
        own = len(mode.labels) // GROUPS
        anywhere = rng.integers(0, len(mode.labels), len(rows))
        of_group = group[rows] * own + rng.integers(0, own, len(rows))
        columns.append(np.where(rng.random(len(rows)) < 0.15, anywhere, of_group))
    places, counts = np.unique(np.column_stack(columns), axis=0, return_counts=True)
    return SparseTensor.from_coordinates(places, counts.astype(float), modes=modes), group


def known_of(rng: np.random.Generator) -> tuple[Covariate, ...]:
    """Covariates of all kinds, with long names and values."""
    day = np.datetime64("1950-01-01") + rng.integers(0, 20_000, ROWS).astype("timedelta64[D]")
    texts = {
        "sex": ["female", "male"],
        "died in hospital": ["0", "1"],
        "Self-reported ethnicity at the time of registration": [
            "Native Hawaiian or Other Pacific Islander",
            "American Indian or Alaska Native",
            "Black or African American",
            "Not Hispanic or Latino",
        ],
        "hospital": [f"University Medical Centre Number {n} (North)" for n in range(30)],
    }
    return (
        Covariate("age at last record", "number", rng.normal(60, 15, ROWS).round(1)),
        Covariate("total expenses in the local currency", "number", rng.gamma(2, 1e6, ROWS)),
        Covariate("FIRST_ADMISSION_DATE", "date", day.astype("datetime64[D]")),
        *(Covariate(name, "text", rng.choice(values, ROWS)) for name, values in texts.items()),
    )


def long_names(rng: np.random.Generator) -> Dataset:
    """Concept names, many covariates, nine classes whose names are long."""
    tensor, group = planted(
        Mode("patient", tuple(f"patient {n}" for n in range(ROWS))),
        Mode("condition_occurrence_concept", concepts(72)),
        Mode("drug", tuple(f"{n} ML Heparin Sodium 100 UNT/ML Injection" for n in range(54))),
    )
    classes = np.array([f"Discharged to a skilled nursing facility, type {n}" for n in range(9)])
    side = SideTables(known_of(rng))
    return Dataset(
        "long names", tensor, classes[group], "discharge_disposition", "Made.", side=side
    )


def four_modes(rng: np.random.Generator) -> Dataset:
    """Four feature modes, an outcome of yes and no, many covariates."""
    tensor, group = planted(
        Mode("patient", tuple(f"patient {n}" for n in range(ROWS))),
        *(Mode(name, concepts(36)) for name in ("diagnosis", "procedure", "medication")),
        Mode("laboratory finding", tuple(f"lab {n}" for n in range(36))),
    )
    died = rng.random(ROWS) < np.where(group % 2 > 0, 0.4, 0.15)
    return Dataset("four modes", tensor, died, "death", "Made.", side=SideTables(known_of(rng)))


def three_modes(rng: np.random.Generator) -> Dataset:
    """Three feature modes; nothing is known of the rows, and there is no outcome."""
    tensor, _ = planted(
        Mode("patient", tuple(f"patient {n}" for n in range(ROWS))),
        *(Mode(name, concepts(36)) for name in ("diagnosis", "procedure", "medication")),
    )
    return Dataset("three modes", tensor, None, "", "Made.")


def awkward() -> tuple[Dataset, ...]:
    """All of them."""
    rng = np.random.default_rng(11)
    return long_names(rng), four_modes(rng), three_modes(rng)

"""A finished fit made by hand, with hostile names and 100 patients whose ids must not get out."""

from __future__ import annotations

import numpy as np

from dashboard.report.contents import Report, gather_report
from dashboard.store.cards import DatasetCard, RunCard, RunState
from dashboard.store.request import Request
from dashboard.store.results import FittedRun
from dashboard.store.reviews import Review
from dashboard.store.rounds import Judged
from support import made_up
from swiftcore.data.dataset import Dataset
from swiftcore.data.side_tables import Covariate, SideTables
from swiftcore.spec import ModelSpec
from swiftcore.tensor import Mode, SparseTensor

CANARIES = tuple(f"CANARY-{number:03d}-{number * 7919 % 10007}" for number in range(100))
HOSTILE = (
    "<script>alert(1)</script>",
    "</script><img src=x onerror=alert(2)>",
    '" onmouseover="alert(3)',
    "' onfocus='alert(4)",
    "![pixel](https://evil.example/p.png)",
    "[click](javascript:alert(5))",
    "<svg onload=alert(6)>",
    '=HYPERLINK("https://evil.example","x")',
    "+1+cmd|' /C calc'!A0",
    "@SUM(1+1)",
    "-2+3",
    "\t=1+1",
    "{{ 7 * 7 }}{% raw %}",
    "&lt;b&gt; & <b>",
    "\u05e9\u05dc\u05d5\u05dd \u0645\u0631\u062d\u0628\u0627",
    "left\u202eright\u200bzero\x07bell\x00nul",
    "</style><style>body{background:url(https://evil.example)}</style>",
    "long " + "x" * 10_000,
    "line one\nline two\r\nline three",
    "<!-- comment --><a href=https://evil.example>",
)
RUN_ID, RANK, ROWS = "ab" * 16, 4, 100


def finished(labels: tuple[str, ...] = HOSTILE) -> tuple[FittedRun, Dataset, DatasetCard]:
    """Four planted phenotypes over 100 patients; one feature that a single patient has."""
    rng = np.random.default_rng(0)
    modes = (
        Mode("patient", CANARIES),
        Mode("diagnosis", (*labels, "RARE-CODE")),
        Mode("medication", tuple(f"drug {number}" for number in range(12))),
    )
    sizes = [len(mode) for mode in modes]
    group = np.arange(ROWS) % RANK
    factors = [np.where(group[:, None] == np.arange(RANK), 5.0, 0.05)]
    for size in sizes[1:]:
        own = np.arange(size)[:, None] % RANK == np.arange(RANK)
        profile = rng.uniform(0.5, 1.5, (size, RANK)) * own
        factors.append(profile / profile.sum(axis=0))
    model = np.einsum("ir,jr,kr->ijk", *factors)
    counts = rng.poisson(4 * model)
    counts[:, -1, :], counts[0, -1, 0] = 0, 1
    places = np.argwhere(counts)
    tensor = SparseTensor.from_coordinates(places, counts[tuple(places.T)], modes=modes)
    fit = FittedRun(
        factors,
        modes,
        ModelSpec().plain(),
        made_up.history(),
        "Converged.",
        True,
        (),
        12.5,
        made_up.links(),
    )
    card = DatasetCard(
        "0" * 32,
        HOSTILE[0],
        tensor.shape,
        tuple(mode.name for mode in modes),
        tensor.n_entries,
        "outcome <b>",
        ("no", "yes"),
        False,
        HOSTILE[4],
        0.0,
    )
    died = rng.random(ROWS) < 0.5
    site = np.where(group % 2 > 0, HOSTILE[0], HOSTILE[2])
    side = SideTables((Covariate(HOSTILE[6], "text", site),))
    dataset = Dataset(HOSTILE[0], tensor, died, "outcome <b>", HOSTILE[4], side=side)
    return fit, dataset, card


def reviews_of(fit: FittedRun) -> list[Review]:
    """Two reviewers of P01 with hostile words, and one of a phenotype that has changed since."""
    return [
        Review(
            RUN_ID,
            "P01",
            fit.phenotype_digest(0),
            "Dr. <i>A</i>",
            HOSTILE[1],
            "yes",
            "",
            "",
            4,
            HOSTILE[7],
            1.0,
            1,
        ),
        Review(
            RUN_ID,
            "P01",
            fit.phenotype_digest(0),
            "Dr. B",
            "",
            "no",
            "duplicate",
            "P02",
            5,
            HOSTILE[4],
            2.0,
            2,
        ),
        Review(RUN_ID, "P02", "0" * 32, "Dr. C", "of another content", "no"),
    ]


def run_card() -> RunCard:
    return RunCard(
        RUN_ID,
        "fit",
        "0" * 32,
        Request("fit", "0" * 32),
        RunState.DONE,
        1.7e9,
        1.7e9,
        12.0,
        "R = 4",
        None,
        "Done.",
        False,
    )


def hostile_report(limit: int = 11, classes: tuple[str, ...] = ("no", "yes")) -> Report:
    """Everything a report can hold."""
    fit, dataset, card = finished()
    experiments = {
        "stability": made_up.stability(),
        "evaluation": made_up.evaluation(classes),
        "noise": made_up.noise(),
        "ablation": made_up.ablation(),
    }
    return gather_report(
        run_card(),
        card,
        fit,
        dataset,
        judged=Judged(tuple(reviews_of(fit))),
        experiments=experiments,
        limit=limit,
    )

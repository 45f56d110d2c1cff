"""Made-up hospital tables in every layout, with names that the code does not know."""

from __future__ import annotations

import random
from collections import Counter
from collections.abc import Callable
from dataclasses import dataclass
from pathlib import Path

Row = list[str]
Truth = Counter[tuple[str, ...]]  # cells of the tensor: row, features; how often

# what columns are called: id, diagnoses, medications, sex, age, outcome, day, domain, count
NAMES = {
    "German": (
        ("Fallkennung", "Aktenzeichen", "Behandlungsschluessel", "Versicherte"),
        ("Befund", "Leiden", "Erkrankung", "Hauptgrund"),
        ("Praeparat", "Heilmittel", "Verordnung", "Gabe"),
        ("Anrede", "MW"),
        ("Lebensjahre", "Jahre"),
        ("Wiederaufnahme", "verlegt", "Komplikation"),
        ("Tag", "Termin", "erfasst am"),
        ("Bereich", "Art", "Rubrik"),
        ("Haeufigkeit", "wie oft"),
    ),
    "French": (
        ("dossier", "matricule", "numero du malade", "identifiant"),
        ("maladie", "pathologie", "affection"),
        ("traitement", "ordonnance", "molecule"),
        ("civilite", "hf"),
        ("ans", "annees"),
        ("reprise", "guerison", "transfert"),
        ("jour", "saisi le"),
        ("nature", "rubrique", "volet"),
        ("fois", "occurrences"),
    ),
    "Spanish": (
        ("expediente", "historia", "folio", "clave del enfermo"),
        ("padecimiento", "enfermedad", "dolencia"),
        ("remedio", "tratamiento", "receta"),
        ("hm", "trato"),
        ("anos cumplidos", "anos"),
        ("reingreso", "curado", "traslado"),
        ("dia", "apuntado"),
        ("apartado", "clase de dato", "rubro"),
        ("veces", "repeticiones"),
    ),
}
DRUGS = tuple(
    """Metformin Ramipril Acetylsalicylat Furosemid Insulin Bisoprolol Simvastatin Pantoprazol
    Torasemid Amlodipin Levothyroxin Ibuprofen Candesartan Allopurinol Prednisolon Digitoxin
    Spironolacton Clopidogrel Apixaban Tamsulosin Salbutamol Sertralin Mirtazapin Lorazepam
    """.split()  # noqa: SIM905 - twenty-four words are easier to read in three lines
)
DISEASES = tuple(
    """Hypertonie Herzschwaeche Asthma Gicht Anaemie Epilepsie Migraene Psoriasis Arthrose
    Depression Vorhofflimmern Niereninsuffizienz Struma Adipositas Gastritis Pneumonie
    Osteoporose Demenz""".split()  # noqa: SIM905
)
FLAGS = (("1", "0"), ("x", ""), ("ja", "nein"), ("oui", "non"), ("si", "no"), ("1", ""))


@dataclass(frozen=True)
class MadeTable:
    """Files to write, and what must come out of them.

    Attributes
    ----------
    layout : str
        How the generator calls it, for the table of results.
    files : dict of str to list of rows
    truth : counter
        The cells of the right tensor; feature modes in any order.
    separator : str
    """

    number: int
    layout: str
    language: str
    files: dict[str, list[Row]]
    truth: Truth
    separator: str

    def write(self, folder: Path) -> Path:
        """The file, or the folder with several."""
        place = folder / f"t{self.number:03}"
        place.mkdir()
        for name, rows in self.files.items():
            text = "".join(self.separator.join(row) + "\n" for row in rows)
            (place / name).write_text(text, encoding="utf-8")
        return place / next(iter(self.files)) if len(self.files) == 1 else place


@dataclass(frozen=True)
class _Made:
    """The patients of one table, and what its columns are called."""

    rng: random.Random
    names: tuple[str, ...]
    patients: dict[str, tuple[list[str], list[str]]]
    facts: dict[str, Row]
    diagnoses: list[str]
    drugs: list[str]

    @property
    def truth(self) -> Truth:
        return Counter(
            (who, one, other)
            for who, (dx, rx) in self.patients.items()
            for one in dx
            for other in rx
        )

    def day(self) -> str:
        day, month = self.rng.randint(1, 28), self.rng.randint(1, 12)
        return f"{day:02}.{month:02}.20{self.rng.randint(10, 23)}"


def made_table(number: int, seed: int = 7) -> MadeTable:
    """One of any number of tables; the layouts, languages and decorations go round."""
    rng = random.Random(f"{seed} {number}")
    language = list(NAMES)[number % len(NAMES)]
    layout = list(LAYOUTS)[number % len(LAYOUTS)]
    made = _made(rng, tuple(rng.choice(some) for some in NAMES[language]))
    files, truth = LAYOUTS[layout](made)
    if layout in _DECORATED and rng.random() < 0.6:
        files = {name: _decorated(rows, made) for name, rows in files.items()}
    separator = rng.choice(";\t")
    return MadeTable(number, layout, language, files, truth, separator)


def _made(rng: random.Random, names: tuple[str, ...]) -> _Made:
    codes = [f"{c}{n:02}{k}" for c in "EIJKMN" for n in (3, 10, 11, 25) for k in (".0", ".9", "")]
    diagnoses = rng.sample(codes, rng.randint(12, 30)) if rng.random() < 0.6 else list(DISEASES)
    atc = [
        f"{c}{n:02}{k}{m:02}"
        for c in "ABCN"
        for n in (1, 7, 10)
        for k in ("AA", "BC")
        for m in (1, 5)
    ]
    drugs = rng.sample(atc, 16) if rng.random() < 0.4 else rng.sample(DRUGS, rng.randint(10, 24))
    start, step = rng.choice([(1, 1), (100_017, 3), (70_001, 11)])
    form = rng.choice(["{}", "F{:06}", "{:08}", "K-{:05}"])
    count = rng.randint(40, 160)
    ids = [form.format(start + step * k) for k in range(count)]
    patients = {
        who: (
            sorted(rng.sample(diagnoses, rng.randint(1, 5))),
            sorted(rng.sample(drugs, rng.randint(1, 4))),
        )
        for who in ids
    }
    sex = rng.choice([("m", "w"), ("H", "F"), ("masc", "fem")])
    facts = {who: [rng.choice(sex), str(rng.randint(18, 95))] for who in ids}
    return _Made(rng, names, patients, facts, list(diagnoses), list(drugs))


def _padded(entries: list[str], size: int) -> Row:
    return [*entries, *[""] * (size - len(entries))]


def _wide(made: _Made) -> tuple[dict[str, list[Row]], Truth]:
    form = made.rng.choice(["{}_{}", "{} {}", "{}{}", "{}.{}"])
    head = [made.names[0], made.names[3], made.names[4]]
    head += [form.format(made.names[1], k) for k in range(1, 6)]
    head += [form.format(made.names[2], k) for k in range(1, 5)]
    rows = [
        [who, *made.facts[who], *_padded(dx, 5), *_padded(rx, 4)]
        for who, (dx, rx) in made.patients.items()
    ]
    return {"auszug.csv": [head, *rows]}, made.truth


def _titled(made: _Made) -> tuple[dict[str, list[Row]], Truth]:
    files, truth = _wide(made)
    title = [["Auszug / extrait / extracto 01.02.2024"], ["", ""]][: made.rng.randint(1, 2)]
    return {"auszug.csv": [*title, *files["auszug.csv"]]}, truth


def _two_headers(made: _Made) -> tuple[dict[str, list[Row]], Truth]:
    head = ["", made.names[1], "", "", "", "", made.names[2], "", "", ""]
    below = [made.names[0], *map(str, range(1, 6)), *map(str, range(1, 5))]
    rows = [[who, *_padded(dx, 5), *_padded(rx, 4)] for who, (dx, rx) in made.patients.items()]
    return {"auszug.csv": [head, below, *rows]}, made.truth


def _lists(made: _Made) -> tuple[dict[str, list[Row]], Truth]:
    between = made.rng.choice(["|", ", ", ",", " | "])
    head = [made.names[0], made.names[3], made.names[4], made.names[1], made.names[2]]
    rows = [
        [who, *made.facts[who], between.join(dx), between.join(rx)]
        for who, (dx, rx) in made.patients.items()
    ]
    return {"auszug.csv": [head, *rows]}, made.truth


def _onehot(made: _Made) -> tuple[dict[str, list[Row]], Truth]:
    """With prefixes there are two kinds of features, without them one."""
    yes, no = made.rng.choice(FLAGS)
    two = made.rng.random() < 0.5
    first, second = (f"{made.names[1]}_", f"{made.names[2]}_") if two else ("", "")
    used = sorted({one for dx, _ in made.patients.values() for one in dx})
    taken = sorted({one for _, rx in made.patients.values() for one in rx}) if two else []
    head = [
        made.names[0],
        made.names[4],
        *(first + one for one in used),
        *(second + one for one in taken),
    ]
    rows = [
        [who, made.facts[who][1], *(yes if one in dx else no for one in used)]
        + [yes if one in rx else no for one in taken]
        for who, (dx, rx) in made.patients.items()
    ]
    if made.rng.random() < 0.3:
        sums = [sum(row[k] == yes for row in rows) for k in range(2, len(head))]
        rows.append(["Summe", "", *map(str, sums)])
    if two:
        return {"auszug.csv": [head, *rows]}, made.truth
    truth = Counter((who, one) for who, (dx, _) in made.patients.items() for one in dx)
    return {"auszug.csv": [head, *rows]}, truth


def _domain(made: _Made) -> tuple[dict[str, list[Row]], Truth]:
    head = [made.names[0], made.names[6], made.names[7], made.names[1]]
    kinds = made.rng.choice([("D", "M"), ("Diagnose", "Medikation"), ("1 Dg", "2 Rx")])
    rows = [
        [who, made.day(), kind, one]
        for who, both in made.patients.items()
        for kind, some in zip(kinds, both, strict=True)
        for one in some
    ]
    return {"auszug.csv": [head, *rows]}, made.truth


def _pairs(made: _Made) -> tuple[dict[str, list[Row]], Truth]:
    """One line per pair, with a count in half of the tables."""
    counted = made.rng.random() < 0.5
    head = [
        made.names[0],
        made.names[6],
        made.names[1],
        made.names[2],
        made.names[3],
        made.names[4],
    ]
    truth: Truth = Counter()
    rows = []
    for who, one, other in made.truth:
        times = made.rng.choice([1, 1, 1, 1, 2, 2, 3]) if counted else 1
        truth[who, one, other] += times
        rows.append(
            [who, made.day(), one, other, *made.facts[who], *([str(times)] if counted else [])]
        )
    return {"auszug.csv": [head + ([made.names[8]] if counted else []), *rows]}, truth


def _merged(made: _Made) -> tuple[dict[str, list[Row]], Truth]:
    head = [made.names[0], made.names[3], made.names[1], made.names[2]]
    rows = []
    for who, (dx, rx) in made.patients.items():
        pairs = [(one, other) for one in dx for other in rx]
        for place, pair in enumerate(pairs):
            rows.append([*((who, made.facts[who][0]) if place == 0 else ("", "")), *pair])
    return {"auszug.csv": [head, *rows]}, made.truth


def _headerless(made: _Made) -> tuple[dict[str, list[Row]], Truth]:
    files, truth = _pairs(made)
    return {"auszug.csv": files["auszug.csv"][1:]}, truth


def _tables(made: _Made) -> tuple[dict[str, list[Row]], Truth]:
    link = made.names[0]
    outcome = made.names[5]
    return {
        "eins.csv": [[link, made.names[1], made.names[6]]]
        + [[who, one, made.day()] for who, (dx, _) in made.patients.items() for one in dx],
        "zwei.csv": [[link, made.names[6], made.names[2]]]
        + [[who, made.day(), one] for who, (_, rx) in made.patients.items() for one in rx],
        "drei.csv": [[link, made.names[3], made.names[4], outcome]]
        + [[who, *made.facts[who], made.rng.choice("01")] for who in made.patients],
    }, made.truth


def _decorated(rows: list[Row], made: _Made) -> list[Row]:
    """Rows in any order, and columns beside that are no features, at any place but the first."""
    rng, head, body = made.rng, rows[0], rows[1:]
    if any(row[0] == "Summe" for row in body):
        return rows
    towns = [f"{a}{b}" for a in ("Neu", "Alt", "Bad ") for b in ("dorf", "stadt", "heim", "au")]
    said = "Befinden gut nach dem dritten Tag, weiter wie besprochen mit Kontrolle in {} Wochen"
    extra: dict[str, Callable[[], str]] = {
        made.names[5]: lambda: rng.choice("01"),
        "Ort": lambda: rng.choice(towns),
        "Postleitung": lambda: str(rng.randint(10_000, 99_999)),
        "cm": lambda: f"{rng.uniform(150, 200):.1f}",
        "Kreatinin": lambda: f"{rng.uniform(0.5, 3):.2f}".replace(".", ","),
        "geboren": lambda: f"19{rng.randint(20, 99)}-0{rng.randint(1, 9)}-1{rng.randint(0, 9)}",
        "Bemerkung": lambda: said.format(rng.randint(2, 900)),
        "Liegedauer": lambda: str(rng.randint(1, 40)),
    }
    chosen = rng.sample(list(extra), rng.randint(1, 4))
    facts = {row[0]: [extra[name]() for name in chosen] for row in body}
    at = rng.randint(1, len(head)) if rng.random() < 0.5 else len(head)
    rng.shuffle(body)
    return [
        [*head[:at], *chosen, *head[at:]],
        *([*row[:at], *facts[row[0]], *row[at:]] for row in body),
    ]


_DECORATED = ("wide", "lists", "onehot", "long, by domain", "long, pairs")
LAYOUTS: dict[str, Callable[[_Made], tuple[dict[str, list[Row]], Truth]]] = {
    "wide": _wide,
    "lists": _lists,
    "onehot": _onehot,
    "long, by domain": _domain,
    "long, pairs": _pairs,
    "title lines": _titled,
    "two header lines": _two_headers,
    "merged cells": _merged,
    "no header": _headerless,
    "several tables": _tables,
}

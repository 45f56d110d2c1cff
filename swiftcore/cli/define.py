"""``swift define`` and ``swift match``: a phenotype as a rule, and the rows that a rule finds."""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import Any

from rich.markup import escape

from swiftcore.cli.data_argument import add_data, add_set, load_data, screen
from swiftcore.cli.finished_result import FinishedResult, add_result, find_result
from swiftcore.cli.result_files import write_json, write_table
from swiftcore.cli.store_argument import add_store_of_run
from swiftcore.definitions.atlas import atlas_cohort
from swiftcore.definitions.concept_file import read_concepts
from swiftcore.definitions.define import Definition, define
from swiftcore.definitions.definition_file import (
    code_lines,
    on_data,
    plain_definition,
    quality_words,
    read_rule,
)
from swiftcore.definitions.omop_sql import rule_sql
from swiftcore.definitions.omop_tables import tables_of
from swiftcore.definitions.rule import USUAL_FEATURES, matching_rows, strongest_features
from swiftcore.errors import InvalidData, InvalidSettings, SwiftError, refuse, where_list
from swiftcore.phenotypes.describe import Phenotype, describe_phenotypes
from swiftcore.runtime.atomic_file import write_atomic
from swiftcore.runtime.plain_json import read_json
from swiftcore.runtime.spreadsheet_text import csv_safe

DEFINITION, CODES, SQL, ATLAS = "definition.json", "codes.csv", "cohort.sql", "atlas.json"
CARRIERS = "carriers.csv"


def add_commands(commands: Any) -> None:
    """A definition of a phenotype, and the rows that one finds."""
    _add_define(commands.add_parser("define", help="a phenotype as a rule for other systems"))
    _add_match(commands.add_parser("match", help="the rows that a definition finds"))


def _add_define(parser: argparse.ArgumentParser) -> None:
    """The phenotype, the rule, and what is written of it."""
    add_result(parser)
    parser.add_argument("phenotype", metavar="PHENOTYPE", help="its id, such as P03")
    words = "folder for the definition, its codes, and for OMOP concepts SQL and ATLAS JSON"
    parser.add_argument("--out", type=Path, required=True, metavar="DIR", help=words)
    parser.add_argument(
        *("--features", "-n"),
        type=int,
        default=USUAL_FEATURES,
        metavar="N",
        help=f"features per mode at most (default {USUAL_FEATURES})",
    )
    words = "ask for at least K features of a mode (default: the best balance of both numbers)"
    parser.add_argument("--at-least", action="append", default=[], metavar="MODE=K", help=words)
    words = "CSV with the columns feature,concept_id, for data without OMOP concepts"
    parser.add_argument("--concepts", type=Path, metavar="FILE", help=words)
    words = "the table of the OMOP CDM for a mode, such as diagnosis=condition_occurrence"
    parser.add_argument("--table", action="append", default=[], metavar="MODE=TABLE", help=words)
    parser.add_argument("--schema", default="", help="of the OMOP tables, for the SQL")
    words = f"also write {CARRIERS}: the rows that carry the phenotype, one line each"
    parser.add_argument("--carriers", action="store_true", help=words)
    parser.add_argument("--data", help="the data of the result (default: as noted beside it)")
    add_set(parser)
    add_store_of_run(parser)
    parser.add_argument("--json", action="store_true", help="print the definition as JSON")
    parser.set_defaults(run=_define)


def _add_match(parser: argparse.ArgumentParser) -> None:
    """A definition and data."""
    parser.add_argument("definition", type=Path, help=f"{DEFINITION} or {ATLAS} of swift define")
    add_data(parser)
    words = "CSV file for the rows that the definition finds, one line each"
    parser.add_argument("--out", type=Path, required=True, metavar="FILE", help=words)
    parser.set_defaults(run=_match)


def _define(chosen: argparse.Namespace) -> int:
    if chosen.features < 1:
        raise _unreadable("--features", str(chosen.features), "Give a whole number of 1 or more.")
    wanted = {mode: _threshold(mode, number) for mode, number in _pairs(chosen.at_least)}
    tables = dict(_pairs(chosen.table))
    concepts = read_concepts(chosen.concepts) if chosen.concepts else None
    result = find_result(chosen)
    phenotype = _phenotype(result, chosen.phenotype, chosen.features)
    features = strongest_features(phenotype, result.model.modes, chosen.features)
    found = define(phenotype, result.dataset, features, concepts).asking(wanted)
    chosen.out.mkdir(parents=True, exist_ok=True)
    plain = plain_definition(found)
    write_json(chosen.out / DEFINITION, plain)
    write_table(chosen.out / CODES, code_lines(found.rule))
    if chosen.carriers:
        write_table(chosen.out / CARRIERS, _rows(result.dataset.tensor.modes[0], phenotype.rows))
    missing = _write_omop(chosen, found, result, tables)
    if chosen.json:
        json.dump(plain, sys.stdout, indent=2)
        sys.stdout.write("\n")
    else:
        _show(found, missing)
    screen.print(escape(f"The definition is in {chosen.out}"), highlight=False)
    return 0


def _write_omop(
    chosen: argparse.Namespace, found: Definition, result: FinishedResult, tables: dict[str, str]
) -> SwiftError | None:
    """SQL and cohort; why not, for data without concepts of which nobody asked for them."""
    try:
        placed = tables_of(found.rule, result.dataset.summary, tables)
    except InvalidData as error:
        if chosen.concepts or chosen.table or chosen.schema:
            raise
        for name in (SQL, ATLAS):  # of an earlier rule
            (chosen.out / name).unlink(missing_ok=True)
        return error
    about = quality_words(found.quality)
    sql = rule_sql(found.rule, placed, chosen.schema, about)
    write_atomic(chosen.out / SQL, sql.encode("utf-8", "replace"))
    write_json(chosen.out / ATLAS, atlas_cohort(found.rule, placed))
    return None


def _show(found: Definition, missing: SwiftError | None) -> None:
    rule = found.rule
    sys.stdout.write(f"{rule.phenotype} {rule.name}\nRule: {rule.words()}.\n")
    sys.stdout.write(f"{quality_words(found.quality)}\n")
    for part in rule.parts:
        sys.stdout.write(f"  {part.mode}: {'; '.join(one.label for one in part.features)}\n")
    sys.stdout.write("Other rules (choose with --at-least):\n")
    for one in found.curve.best():
        thresholds = ", ".join(
            f"{part.mode}={number}" for part, number in zip(rule.parts, one.at_least, strict=True)
        )
        sys.stdout.write(
            f"  {thresholds}: sensitivity {one.sensitivity:.0%}, "
            f"positive predictive value {one.predictive_value:.0%}, finds {one.found:,}\n"
        )
    if missing is not None:
        first = missing.problems[0]
        sys.stdout.write(
            f"No SQL and no ATLAS file. {first.what} ({first.where}: {first.found}"
            f"{f', and {len(missing.problems) - 1} more' if len(missing.problems) > 1 else ''}). "
            f"{first.cure}\n"
        )


def _phenotype(result: FinishedResult, wanted: str, top: int) -> Phenotype:
    model = result.model
    found = describe_phenotypes(model.factors, model.modes, top, tensor=result.dataset.tensor)
    for one in found:
        if one.identifier.lower() == wanted.lower():
            return one
    raise _unreadable(
        "PHENOTYPE", wanted, f"Give one of {where_list(p.identifier for p in found)}."
    )


def _match(chosen: argparse.Namespace) -> int:
    try:
        plain = read_json(chosen.definition.read_bytes())
    except ValueError as error:
        raise refuse(
            "definition-unknown",
            "This is no definition of a phenotype",
            str(chosen.definition),
            "no JSON",
            "Give definition.json or atlas.json written by swift define.",
            kind=InvalidData,
        ) from error
    dataset = load_data(chosen.data, chosen.settings)
    rule, missing = on_data(read_rule(plain, str(chosen.definition)), dataset)
    rows = matching_rows(rule, dataset.tensor).nonzero()[0].tolist()
    write_table(chosen.out, _rows(dataset.tensor.modes[0], rows))
    sys.stdout.write(f"{len(rows):,} of {dataset.tensor.shape[0]:,} rows have {rule.words()}.\n")
    if missing:
        sys.stdout.write(f"Not in these data: {len(missing):,}: {where_list(missing)}.\n")
    return 0


def _rows(mode: Any, rows: Sequence[int]) -> Iterator[Sequence[object]]:
    yield [mode.name]
    yield from ([csv_safe(mode.labels[row])] for row in rows)


def _pairs(given: Sequence[str]) -> Iterator[tuple[str, str]]:
    for one in given:
        name, equals, value = one.partition("=")
        if not equals:
            raise _unreadable("--at-least, --table", one, "Write MODE=VALUE.")
        yield name, value


def _threshold(mode: str, number: str) -> int:
    if not (number.isascii() and number.isdecimal()):
        raise _unreadable("--at-least", f"{mode}={number}", "Give a whole number after the =.")
    return int(number)


def _unreadable(where: str, found: str, cure: str) -> SwiftError:
    return refuse(
        "definition-setting",
        "This cannot be used",
        where,
        found[:80],
        cure,
        kind=InvalidSettings,
    )

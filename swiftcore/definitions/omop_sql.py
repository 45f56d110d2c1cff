"""A rule as a statement that an OMOP CDM can run: one line per person who fulfils it."""

from __future__ import annotations

import re

from swiftcore.definitions.omop_tables import OmopTable, Placed
from swiftcore.definitions.rule import Rule

_SELECTION = """SELECT events.person_id FROM {name} AS events
JOIN feature_concepts ON feature_concepts.part = {part}
  AND feature_concepts.concept_id = events.{concept}
GROUP BY events.person_id HAVING COUNT(DISTINCT feature_concepts.feature) >= {at_least}"""
_LINE_ENDS = re.compile(r"[\x00-\x1f\x7f-\x9f\u2028\u2029]+")


def rule_sql(rule: Rule, placed: Placed, schema: str, about: str) -> str:
    """The statement, for PostgreSQL, DuckDB and others that know ``WITH`` and ``INTERSECT``.

    Parameters
    ----------
    placed : Placed
        From :func:`~swiftcore.definitions.omop_tables.tables_of`.
    schema : str
        Of the tables; empty for the one that is searched.
    about : str
        A sentence on how well the rule does, for the comment.
    """
    lines = [
        _comment(f"{rule.phenotype} {rule.name}"),
        _comment(f"A person has {rule.words()}, at any time."),
        _comment(about),
        "WITH feature_concepts AS (",
        *_concept_lines(rule, placed),
        ")",
    ]
    selections = [
        _selection(number, rule.parts[number].at_least, table, schema) for number, table in placed
    ]
    return "\n".join([*lines, "\nINTERSECT\n".join(selections), "ORDER BY person_id;", ""])


def _concept_lines(rule: Rule, placed: Placed) -> list[str]:
    chosen = [
        (number, place, concept, feature.label)
        for number, _ in placed
        for place, feature in enumerate(rule.parts[number].features, start=1)
        for concept in feature.concepts
    ]
    lines = []
    for line, (number, place, concept, label) in enumerate(chosen):
        names = " AS part, {} AS feature, {} AS concept_id" if not line else ", {}, {}"
        union = "UNION ALL " if line else ""
        numbers = names.format(place, concept)
        lines.append(f"  {union}SELECT {number + 1}{numbers} {_comment(label)}")
    return lines


def _selection(number: int, at_least: int, table: OmopTable, schema: str) -> str:
    name = ".".join(_quoted(part) for part in (schema, table.name) if part)
    return _SELECTION.format(name=name, part=number + 1, concept=table.concept, at_least=at_least)


def _comment(text: str) -> str:
    """A text on one line whatever it holds, so that nothing of it is ever run."""
    return f"-- {_LINE_ENDS.sub(' ', text).strip()}"


def _quoted(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'

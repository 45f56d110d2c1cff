"""What would be built from a database, and everything that stands against it."""

from __future__ import annotations

from swiftcore.data.databases.build import build_from_database
from swiftcore.data.databases.connection import Progress
from swiftcore.data.from_path.sandbox import Inspection
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import InvalidData, Problem


def inspect_database(
    source: str, schema: str, options: BuildOptions, progress: Progress
) -> Inspection:
    """Build and throw away; what cannot be read is among the problems of the answer."""
    findings, summary = Findings(), None
    problems: tuple[Problem, ...] = ()
    try:
        summary = build_from_database(source, schema, options, findings, progress).summary
    except InvalidData as error:
        problems = tuple(error.problems)
    return Inspection(
        f"postgresql, schema {schema}" if schema else "postgresql",
        findings.kind,
        findings.tables,
        findings.mapping,
        findings.outcome_candidates,
        tuple(findings.notes),
        tuple(findings.left_out),
        problems,
        summary,
    )

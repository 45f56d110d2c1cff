"""What would be built from a database, and everything that stands against it."""

from __future__ import annotations

import json

from swiftcore.data.databases.build import build_from_database
from swiftcore.data.databases.connection import Progress
from swiftcore.data.from_path.reading_process import report_of
from swiftcore.data.from_path.sandbox import Inspection, inspection_from
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import InvalidData


def inspect_database(
    source: str, schema: str, options: BuildOptions, progress: Progress
) -> Inspection:
    """Build and throw away; what cannot be read is among the problems of the answer."""
    findings, summary, digest = Findings(), None, ""
    try:
        built = build_from_database(source, schema, options, findings, progress)
        summary, digest = built.summary, built.tensor.digest()
    except InvalidData as error:
        findings.problems = list(error.problems)
    name = f"postgresql, schema {schema}" if schema else "postgresql"
    plain = json.loads(json.dumps(report_of(findings, summary, digest)))  # as from a process
    return inspection_from(name, plain)

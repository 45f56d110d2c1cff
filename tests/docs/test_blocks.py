"""Every command and every Python block of the README and the tutorial runs as printed."""

from __future__ import annotations

import ast
import shlex
import shutil
from pathlib import Path
from typing import Any

import pytest
from fenced import DOCUMENTS, README, ROOT, TUTORIAL, Block, blocks

from swiftcore.cli import main

NOT_RUN = {  # commands that a test of documents cannot run, and where they are tried instead
    "make run": "installs and serves; tests/browser starts the same server",
    "make test": "is what runs this test",
    "swift dashboard": "serves until Ctrl-C; tests/browser starts it",
}
LANGUAGES = {"python", "shell", "csv", "text"}
SAMPLE = ROOT / "sample_data" / "heart_failure"


def run(block: Block, names: dict[str, Any]) -> None:
    """Run one block in the current folder."""
    if block.language == "python":
        exec(compile(block.text, f"line {block.line}", "exec"), names)
    elif block.language == "shell":
        for line in block.text.splitlines():
            command = shlex.split(line, comments=True)
            if command and " ".join(command) not in NOT_RUN:
                assert command[0] == "swift", line
                assert main(command[1:]) == 0, line
    elif block.language == "csv":
        Path("my_events.csv").write_text(block.text, encoding="utf-8")


@pytest.mark.slow
@pytest.mark.parametrize("document", [README, TUTORIAL], ids=lambda path: path.stem)
def test_all_blocks_run_in_order(
    document: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("my_export").mkdir()
    for table in SAMPLE.glob("*.csv"):
        shutil.copy(table, "my_export")
    names: dict[str, Any] = {"__name__": document.stem}
    # files that commands read are there before the first command
    for block in sorted(blocks(document), key=lambda block: block.language != "csv"):
        run(block, names)


@pytest.mark.parametrize("document", [README, TUTORIAL], ids=lambda path: path.stem)
def test_no_block_escapes_for_want_of_a_language(document: Path) -> None:
    found = blocks(document)
    assert found and {block.language for block in found} <= LANGUAGES
    assert not any(line.startswith("swift ") for line in _outside(document))


def _outside(document: Path) -> list[str]:
    return [
        line
        for block in blocks(document)
        if block.language not in ("shell", "python")
        for line in block.text.splitlines()
    ]


@pytest.mark.parametrize("path", DOCUMENTS, ids=lambda path: str(path.relative_to(ROOT)))
def test_python_in_every_document_is_python(path: Path) -> None:
    for block in blocks(path):
        if block.language == "python":
            ast.parse(block.text)

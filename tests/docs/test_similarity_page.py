"""The Python of the page about similarities runs as printed."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest
from fenced import ROOT, blocks

PAGE = ROOT / "docs" / "howto" / "bring-your-own-similarity.md"


def test_its_python_runs(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    monkeypatch.chdir(tmp_path)
    names: dict[str, Any] = {}
    for block in blocks(PAGE):
        if block.language == "python":
            exec(compile(block.text, f"line {block.line}", "exec"), names)
    assert names["found"].matrix.tolist() == [[0, 1], [1, 0]]
    assert len(names["dataset"].outside.tables) == 1 and names["fitted"].factors
    assert "[[0. 1.]" in capsys.readouterr().out

"""The charts serve notebooks too: they need plotly and jinja2, nothing of the screens."""

from __future__ import annotations

import subprocess
import sys

import pytest
from support.tiny_store import ROOT

CODE = """
import sys
from importlib import import_module

for name in ("streamlit", "starlette", "filelock", "openpyxl"):
    sys.modules[name] = None
for name in sys.argv[1:]:
    import_module(f"dashboard.charts.{name}")
"""


@pytest.mark.slow
def test_charts_import_without_streamlit() -> None:
    charts = sorted(path.stem for path in (ROOT / "dashboard" / "charts").glob("[a-z]*.py"))
    assert "phenotypes" in charts and "pages" in charts
    done = subprocess.run(
        [sys.executable, "-c", CODE, *charts], cwd=ROOT, capture_output=True, text=True
    )
    assert done.returncode == 0, done.stderr

"""What some commands need beyond the library, and how to get it."""

from __future__ import annotations

from importlib.util import find_spec

from swiftcore.errors import InvalidSettings, refuse

EXTRAS = {  # as in pyproject.toml, by the names under which they are imported
    "charts": ("plotly", "jinja2"),
    "dashboard": (
        *("plotly", "streamlit", "starlette", "python_multipart"),
        *("filelock", "jinja2", "openpyxl"),
    ),
}


def missing(extra: str) -> list[str]:
    """The packages of an extra that are not installed."""
    return [name for name in EXTRAS[extra] if find_spec(name) is None]


def how_to_install(extra: str) -> str:
    """The command that brings an extra."""
    return f'pip install "swift-phenotyping[{extra}]"'


def check_dashboard() -> None:
    """Raise :class:`InvalidSettings` unless all that the dashboard imports is installed."""
    if absent := missing("dashboard"):
        raise refuse(
            "dashboard-missing",
            "The dashboard is not installed",
            "swift dashboard",
            f"no package {', '.join(absent)}",
            f"Install it: {how_to_install('dashboard')}",
            kind=InvalidSettings,
        )

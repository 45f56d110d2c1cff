"""How much work a fit is worth, resolved to settings before a request gets its key."""

from __future__ import annotations

from typing import Any

# What each effort changes in the usual settings.
EFFORTS: dict[str, dict[str, Any]] = {
    "Quick": {},
    "Standard": {"consensus": 8},
    "Thorough": {"consensus": 20},
}

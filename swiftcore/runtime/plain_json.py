"""JSON from files that anybody may have written."""

from __future__ import annotations

import json
from typing import Any


def read_json(content: bytes | str) -> Any:
    """The value in a JSON file.

    Raises
    ------
    ValueError
        If it is none, or so deeply nested that nothing sound can be in it.
    """
    try:
        return json.loads(content)
    except RecursionError as error:
        raise ValueError("brackets within brackets within brackets") from error

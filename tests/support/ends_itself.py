"""A part of an experiment whose process the system ends; light, for workers that import it."""

from __future__ import annotations

import os
import signal


def ends_itself(number: int) -> dict[str, int]:
    """The number; except that part 1 is killed whenever it runs."""
    if number == 1:
        os.kill(os.getpid(), signal.SIGKILL)
    return {"value": number}

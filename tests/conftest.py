"""Puts ``tests`` on the import path, so that every test finds the referee in ``reference``.

``make test`` draws the same examples every time: it tells of a change, not of luck. ``make
nightly`` searches for new ones; what it finds becomes an ``@example``.
"""

import os

from hypothesis import settings
from support.postgresql import postgresql_server

__all__ = ["postgresql_server"]  # a fixture for whoever needs a real server
settings.register_profile("repeated", derandomize=True)
settings.register_profile("searching", derandomize=False)
settings.load_profile(os.environ.get("SWIFT_EXAMPLES", "repeated"))

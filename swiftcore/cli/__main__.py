"""``python -m swiftcore.cli`` is the ``swift`` command."""

import sys

from swiftcore.cli import main

sys.exit(main())

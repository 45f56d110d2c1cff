"""Records all golden results anew: ``python tests/golden/record.py [GROUP ...]``.

Only where results are meant to change; say in the commit which and why.
"""

from __future__ import annotations

import json
import sys
from pathlib import Path

FOLDER = Path(__file__).parent / "recordings"


def main(groups: list[str]) -> None:
    """Compute the cases of these groups, or of all, and write one file per group."""
    sys.path.insert(0, str(Path(__file__).parents[1]))
    from golden.cases import GROUPS, compute
    from golden.fingerprint import fingerprint

    machine = json.dumps(fingerprint(), sort_keys=True)
    FOLDER.mkdir(exist_ok=True)
    for group in groups or GROUPS:
        cases = {name: compute(group, name) for name in GROUPS[group]}
        lines = [f" {json.dumps(name)}: {json.dumps(one)}" for name, one in cases.items()]
        joined = ",\n".join(lines)
        text = f'{{"fingerprint": {machine},\n"cases": {{\n{joined}\n}}}}\n'
        (FOLDER / f"{group}.json").write_text(text, encoding="utf-8")


if __name__ == "__main__":
    main(sys.argv[1:])

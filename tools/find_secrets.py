"""Look for keys, tokens and passwords in the files of this repository; exit with 1 if there is one.

    python tools/find_secrets.py [FOLDER]

The detectors are those of detect-secrets. They are called here, line by line, because its own scan
takes half a minute over these files, too long for a check after every edit. A line that has to look
like a secret says so: `pragma: allowlist secret`, and why.
"""

from __future__ import annotations

import re
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

from detect_secrets.core.plugins.util import get_mapping_from_secret_type_to_class
from detect_secrets.plugins.base import BasePlugin
from detect_secrets.plugins.keyword import DENYLIST

ALLOWED = "pragma: allowlist secret"
MAX_LINE = 10_000  # longer ones are data
# No detector finds anything in a line without one of these; few lines have one.
WORTH_A_LOOK = re.compile(
    "|".join(["[a-z0-9+/_=.-]{13}", "://", "BEGIN", *DENYLIST]), re.IGNORECASE
)
# Addresses of machines are no secrets; long hexadecimal numbers are checksums in these files.
NO_SECRETS = ("Public IP (ipv4)",)
CHECKSUMS = (".json", ".lock", ".md", "SHA256SUMS")
HEXADECIMAL = "Hex High Entropy String"
# Tables of the samples: made by a program, and nothing but words and numbers.
LEFT_OUT = ("sample_data/*/*.csv",)


def main(folder: Path) -> int:
    """Print every find as "file:line: kind"; the secret itself is not repeated."""
    if not (folder / ".git").exists():  # an archive of the sources: nothing is committed there
        print("No git repository, so no secrets were looked for.")
        return 0
    kinds = get_mapping_from_secret_type_to_class()
    detectors = {kind: made() for kind, made in kinds.items() if kind not in NO_SECRETS}
    finds = [
        f"{path.relative_to(folder)}:{line}: {kind}"
        for path in tracked_files(folder)
        for line, kind in look_into(path, detectors)
    ]
    print("\n".join(finds) or "No secrets found.")
    return 1 if finds else 0


def tracked_files(folder: Path) -> list[Path]:
    """What git holds or is about to be told of; the samples' tables left out."""
    command = ["git", "ls-files", "-z", "--cached", "--others", "--exclude-standard"]
    listed = subprocess.run(command, cwd=folder, check=True, capture_output=True, text=True).stdout
    paths = (folder / name for name in sorted(set(listed.split("\0")) - {""}))
    left_out = {path for pattern in LEFT_OUT for path in folder.glob(pattern)}
    return [path for path in paths if path.is_file() and path not in left_out]


def look_into(path: Path, detectors: dict[str, BasePlugin]) -> Iterator[tuple[int, str]]:
    """Line and kind of everything in a text file that looks like a secret."""
    try:
        text = path.read_text("utf-8")
    except UnicodeDecodeError:
        return
    skipped = HEXADECIMAL if path.name.endswith(CHECKSUMS) else None
    for number, line in enumerate(text.splitlines(), start=1):
        if len(line) > MAX_LINE or ALLOWED in line or not WORTH_A_LOOK.search(line):
            continue
        for kind, detector in detectors.items():
            if kind != skipped and detector.analyze_line(str(path), line, number):
                yield number, kind


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1] if len(sys.argv) > 1 else ".").resolve()))

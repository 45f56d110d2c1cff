"""The search for secrets finds what is planted, and nothing in this repository."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
# Put together here, so that this file holds none of them whole.
PLANTED = {
    "aws.py": ("AWS Access Key", 'KEY = "AKIA' + 'Z7QF3KLM2PXNV8RT"'),
    "key.pem": ("Private Key", "-----BEGIN RSA " + "PRIVATE KEY-----"),
    "settings.toml": ("Secret Keyword", "pass" + 'word = "correct horse"'),
    "notes.md": ("GitHub Token", "use ghp_" + "x7Kq2" * 7 + "Z to push"),
    "token.py": ("Hex High Entropy String", 'TOKEN = "9f86d081884c7d65' + '9a2feaa0c55ad015"'),
    "mirror.cfg": ("Basic Auth Credentials", "index = https://me:hunter2" + "@example.org/simple"),
}


def search(folder: Path) -> tuple[int, list[str]]:
    command = [sys.executable, ROOT / "tools" / "find_secrets.py", folder]
    done = subprocess.run(command, capture_output=True, text=True, timeout=120)
    assert done.stderr == ""
    return done.returncode, done.stdout.splitlines()


@pytest.fixture
def repository(tmp_path: Path) -> Path:
    subprocess.run(["git", "init", "--quiet", tmp_path], check=True)
    return tmp_path


def test_a_planted_secret_is_found_and_not_repeated(repository: Path) -> None:
    for name, (_, line) in PLANTED.items():
        (repository / name).write_text(f"first line\n{line}\n")
    code, lines = search(repository)
    assert code == 1
    assert {f"{name}:2: {kind}" for name, (kind, _) in PLANTED.items()} <= set(lines)
    assert {line.split(":")[0] for line in lines} == set(PLANTED)
    assert "hunter2" not in "".join(lines)


def test_checksums_and_excused_lines_pass(repository: Path) -> None:
    digest = "9f86d081" + "884c7d65" + "9a2feaa0" + "c55ad015"
    (repository / "run.lock").write_text(f"'{digest}'\n")
    (repository / "made_up.py").write_text(f"X = '{digest}'  # pragma: allowlist secret (why)\n")
    (repository / ".gitignore").write_text("private/\n")
    (repository / "private").mkdir()
    (repository / "private" / "key.pem").write_text(PLANTED["key.pem"][1])
    assert search(repository) == (0, ["No secrets found."])

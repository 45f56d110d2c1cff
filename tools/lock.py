"""Write requirements/*.lock: every package a machine gets, its version, the hashes of its files.

    python tools/lock.py INDEX

Versions are those of constraints.txt; a package there that nothing asks for, and one that is asked
for and not there, are refused. INDEX is the address of a package index that serves pages of links
with hashes; it is read and not written down. Hashes are those of all wheels for Linux and macOS and
the Pythons of `PYTHONS`, so one file serves all of them. Archives of sources count only where a
release has no wheel: building one would run tools that no hash covers.
"""

from __future__ import annotations

import json
import re
import subprocess
import sys
import tomllib
import urllib.request
from collections.abc import Iterable, Iterator, Mapping
from html.parser import HTMLParser
from itertools import product
from pathlib import Path

from packaging.requirements import Requirement
from packaging.tags import Tag
from packaging.utils import (
    InvalidWheelFilename,
    NormalizedName,
    canonicalize_name,
    parse_sdist_filename,
    parse_wheel_filename,
)
from packaging.version import Version

ROOT = Path(__file__).parents[1]
PROJECT = canonicalize_name("swift-phenotyping")
# The extras of the project in each file; what builds the project itself is in all of them.
RUN = ("dashboard", "databases", "cluster")
LOCKS = {"run": RUN, "test": (*RUN, "test", "bench", "docs")}
EDITABLE = "editables"  # hatchling asks for it when it installs the project in place
PYTHONS = ("3.11", "3.12", "3.13", "3.14")
SYSTEMS = (("linux", "Linux"), ("darwin", "Darwin"))
MACHINES = ("x86_64", "aarch64", "arm64")
HEADER = """\
# Made by `make lock` from pyproject.toml and constraints.txt; do not edit.
# Wheels for Linux and macOS, Python {first} to {last}. To install exactly these:
#     pip install --require-hashes --no-deps -r requirements/{name}.lock
"""
Pins = Mapping[NormalizedName, Version]


def main(index: str) -> None:
    """Resolve by the pins, look up the hashes, write the files."""
    pins = read_pins((ROOT / "constraints.txt").read_text("utf-8"))
    project = tomllib.loads((ROOT / "pyproject.toml").read_text("utf-8"))
    asked = ask_what_packages_need(pins)
    asked[PROJECT] = list(project_needs(project))
    build = [*project["build-system"]["requires"], EDITABLE]
    names = {
        lock: everything_needed(
            [f"{project['project']['name']}[{','.join(extras)}]", *build], asked
        )
        for lock, extras in LOCKS.items()
    }
    refuse_unless_equal(set(pins), set().union(*names.values()))
    hashes = {name: file_hashes(index, name, pins[name]) for name in sorted(pins)}
    for lock, members in names.items():
        entries = [entry(name, pins[name], hashes[name]) for name in sorted(members)]
        head = HEADER.format(first=PYTHONS[0], last=PYTHONS[-1], name=lock)
        (ROOT / "requirements" / f"{lock}.lock").write_text(head + "".join(entries), "utf-8")


def read_pins(text: str) -> dict[NormalizedName, Version]:
    """Name and version of every line ``name==version``."""
    pairs = (line.split("==") for line in text.splitlines() if line.strip())
    return {canonicalize_name(name): Version(version) for name, version in pairs}


def project_needs(project: Mapping[str, dict[str, object]]) -> Iterator[str]:
    """The project's own requirements in the words of a package's metadata."""
    yield from project["project"]["dependencies"]
    for extra, needs in project["project"]["optional-dependencies"].items():
        yield from (f'{need}; extra == "{extra}"' for need in needs)


def ask_what_packages_need(pins: Pins) -> dict[NormalizedName, list[str]]:
    """The requirements of every pinned package, from the metadata that pip reports."""
    wanted = [f"{name}=={version}" for name, version in pins.items()]
    options = ["--dry-run", "--ignore-installed", "--no-deps", "--quiet", "--report", "-"]
    command = [sys.executable, "-m", "pip", "install", *options, *wanted]
    done = subprocess.run(command, check=True, stdout=subprocess.PIPE, text=True)
    reported = [one["metadata"] for one in json.loads(done.stdout)["install"]]
    return {canonicalize_name(one["name"]): one.get("requires_dist", []) for one in reported}


def everything_needed(
    roots: Iterable[str], asked: Mapping[NormalizedName, list[str]]
) -> set[NormalizedName]:
    """All packages that the roots need on any of the systems and Pythons, the project left out."""
    environments = [
        {
            "python_version": python,
            "python_full_version": f"{python}.0",
            "sys_platform": platform,
            "platform_system": system,
            "platform_machine": machine,
            "os_name": "posix",
            "implementation_name": "cpython",
            "platform_python_implementation": "CPython",
        }
        for python, (platform, system), machine in product(PYTHONS, SYSTEMS, MACHINES)
    ]
    seen: set[tuple[NormalizedName, str]] = set()
    waiting = [(Requirement(root), "") for root in roots]
    while waiting:
        need, extra = waiting.pop()
        marker = need.marker
        if marker and not any(marker.evaluate({**one, "extra": extra}) for one in environments):
            continue
        name = canonicalize_name(need.name)
        for wanted in {"", *need.extras} - {
            known for seen_name, known in seen if seen_name == name
        }:
            seen.add((name, wanted))
            waiting += [(Requirement(text), wanted) for text in asked.get(name, [])]
    return {name for name, _ in seen} - {PROJECT}


def refuse_unless_equal(pinned: set[NormalizedName], needed: set[NormalizedName]) -> None:
    """Stop with every package that is pinned in vain or needed without a pin."""
    faults = [f"{name}: nothing asks for it; delete its line" for name in pinned - needed]
    faults += [f"{name}: asked for without a version; add a line" for name in needed - pinned]
    if faults:
        sys.exit("constraints.txt does not fit pyproject.toml:\n" + "\n".join(sorted(faults)))


class Links(HTMLParser):
    """The links of an index page that carry a hash and were not withdrawn."""

    def __init__(self, page: str) -> None:
        super().__init__()
        self.hashes: dict[str, str] = {}
        self.feed(page)

    def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
        """Keep the name of the file and its SHA-256."""
        found = re.search(r"([^/]+)#sha256=([0-9a-f]{64})$", dict(attrs).get("href") or "")
        if tag == "a" and found and "data-yanked" not in dict(attrs):
            self.hashes[urllib.request.unquote(found[1])] = found[2]


def file_hashes(index: str, name: NormalizedName, version: Version) -> list[str]:
    """Hashes of the wheels of a release that fit; of its archive if it has no wheel at all."""
    with urllib.request.urlopen(f"{index.rstrip('/')}/{name}/", timeout=120) as answer:
        links = Links(answer.read().decode("utf-8")).hashes
    wheels, archives = [], []
    for file, digest in links.items():
        if file.endswith(".whl"):
            try:
                _, of, _, tags = parse_wheel_filename(file)
            except InvalidWheelFilename:  # of an old release; pip passes over it too
                continue
            if of == version and any(fits(tag) for tag in tags):
                wheels.append(digest)
        elif file.endswith((".tar.gz", ".zip")) and is_archive(file, name, version):
            archives.append(digest)
    if not (wheels or archives):
        sys.exit(f"{name} {version}: the index has no file with a hash")
    return sorted(wheels or archives)


def is_archive(file: str, name: NormalizedName, version: Version) -> bool:
    """Whether a file holds the sources of this release; very old names follow no rule."""
    try:
        return parse_sdist_filename(file) == (name, version)
    except ValueError:
        return False


def fits(tag: Tag) -> bool:
    """Whether a wheel serves one of the Pythons on one of the systems."""
    known = {f"cp{python.replace('.', '')}" for python in PYTHONS}
    python = tag.interpreter.startswith("py3") or tag.abi == "abi3" or tag.interpreter in known
    threads = tag.abi.endswith("t")  # the builds without the interpreter lock
    return python and not threads and tag.platform.startswith(("any", "manylinux", "macosx"))


def entry(name: NormalizedName, version: Version, hashes: Iterable[str]) -> str:
    """The lines of one package."""
    return (
        " \\\n    ".join([f"{name}=={version}", *(f"--hash=sha256:{one}" for one in hashes)]) + "\n"
    )


if __name__ == "__main__":
    main(sys.argv[1])

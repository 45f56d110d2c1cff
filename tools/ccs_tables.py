"""Make the CCS tables that ship with swiftcore from the files that AHRQ published.

    python tools/ccs_tables.py AppendixASingleDX.txt ccs_dx_icd10cm_2019_1.csv dxmlabel10.csv

What the three files are, and where they come from, stands in PROVENANCE.md beside the tables.
"""

from __future__ import annotations

import gzip
import re
import sys
from collections.abc import Iterable, Mapping
from pathlib import Path

FOLDER = Path(__file__).parents[1] / "swiftcore" / "data" / "building" / "ccs_tables"
# 'code','category',"...","...",'level 1',"...",'level 2',"..." with blanks at the ends of fields
ICD10_ROW = re.compile(
    r"""^'(\w+)\s*','(\d+)\s*',".*",".*",'([\d.]+)\s*',".*",'([\d.]*)\s*',".*"$""", re.MULTILINE
)
LABEL_ROW = re.compile(r"^'([\d.]+)','(.*?)\s*(?:\[[^]]*\]\s*)?'+$", re.MULTILINE)


def main(single_level: Path, icd10: Path, labels: Path) -> None:
    """Read AHRQ's three files and write our four."""
    names, nine = read_single_level(single_level.read_text("utf-8"))
    rows = ICD10_ROW.findall(icd10.read_text("utf-8"))
    levels = dict(LABEL_ROW.findall(labels.read_text("utf-8")))
    ten = {code: category for code, category, _, _ in rows}
    places = {(category, one, two) for _, category, one, two in rows}
    deepest = {category: two or one for category, one, two in places}
    assert len(places) == len(deepest) == len(names), "a category stands in two places"
    assert set(deepest) == set(names) and set(deepest.values()) <= set(levels)
    by_number = sorted(names, key=int)
    write_rows("categories.tsv", ((one, deepest[one], names[one]) for one in by_number))
    write_rows("levels.tsv", levels.items())
    write_codes("icd9.tsv.gz", nine)
    write_codes("icd10.tsv.gz", ten)


def read_single_level(text: str) -> tuple[dict[str, str], dict[str, str]]:
    """Names of the categories and categories of the codes, from "number name" above its codes."""
    names: dict[str, str] = {}
    codes: dict[str, str] = {}
    number = ""
    for line in text.splitlines():
        if heading := re.match(r"^(\d+)\s+(\S.*)$", line):
            number = heading[1]
            names[number] = " ".join(heading[2].split())
        elif number and line.startswith(" "):
            codes.update(dict.fromkeys(line.split(), number))
    return names, codes


def write_rows(name: str, rows: Iterable[tuple[str, ...]]) -> None:
    """A table without a heading."""
    text = "".join("\t".join(row) + "\n" for row in rows)
    (FOLDER / name).write_text(text, encoding="utf-8")


def write_codes(name: str, codes: Mapping[str, str]) -> None:
    """Codes in order: how many characters as above, the others, the category unless as above."""
    lines = []
    above = category_above = ""
    for code, category in sorted(codes.items()):
        same = max(size for size in range(len(code)) if above.startswith(code[:size]))
        lines.append(f"{same}\t{code[same:]}\t{category if category != category_above else ''}\n")
        above, category_above = code, category
    (FOLDER / name).write_bytes(gzip.compress("".join(lines).encode("utf-8"), 9, mtime=0))


if __name__ == "__main__":
    main(*(Path(argument) for argument in sys.argv[1:4]))

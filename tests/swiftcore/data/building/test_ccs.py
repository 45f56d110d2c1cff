"""The CCS tables that ship with the library say what AHRQ's definitions say."""

from __future__ import annotations

import gzip
import hashlib
import json
import re
import subprocess
import sys
from collections import Counter
from pathlib import Path

import pytest

from swiftcore.data.building.ccs import SYSTEMS, ccs_categories, ccs_category, ccs_codes

ROOT = Path(__file__).parents[4]
TABLES = ROOT / "swiftcore" / "data" / "building" / "ccs_tables"
# SHA-256 of all codes with their categories, as read from AHRQ's own files; half of it will do.
DIGESTS = {
    "icd9": "b89540ba925ef6ab46796a787d0cfcb7",  # pragma: allowlist secret (a checksum)
    "icd10": "3bc6de9e5a5f70bc0b55c0c1de670ac3",  # pragma: allowlist secret (a checksum)
}


@pytest.mark.parametrize(
    ("code", "system", "number", "name", "levels"),
    [
        ("428.0", "icd9", "108", "Congestive heart failure; nonhypertensive", ["7", "7.2"]),
        ("I50.9", "icd10", "108", "Congestive heart failure; nonhypertensive", ["7", "7.2"]),
        ("250.00", "icd9", "49", "Diabetes mellitus without complication", ["3", "3.2"]),
        ("E11.9", "icd10", "49", "Diabetes mellitus without complication", ["3", "3.2"]),
        ("E11.65", "icd10", "50", "Diabetes mellitus with complications", ["3", "3.3"]),
        ("401.9", "icd9", "98", "Essential hypertension", ["7", "7.1"]),
        (" i10 ", "icd10", "98", "Essential hypertension", ["7", "7.1"]),
        ("296.20", "icd9", "657", "Mood disorders", ["5", "5.8"]),
        ("A15.0", "icd10", "1", "Tuberculosis", ["1", "1.1"]),
        ("V27.0", "icd9", "196", "Other pregnancy and delivery including normal", ["11", "11.7"]),
        ("E880.0", "icd9", "2603", "E Codes: Fall", ["18"]),
        ("W19.XXXA", "icd10", "2603", "E Codes: Fall", ["18"]),
    ],
)
def test_codes_known_by_heart(
    code: str, system: str, number: str, name: str, levels: list[str]
) -> None:
    found = ccs_category(code, system)
    assert found is not None
    assert (found.number, found.name) == (number, name)
    assert [level.number for level in found.levels] == levels


def test_only_codes_of_the_tables_have_a_category() -> None:
    assert ccs_category("nonsense", "icd10") is None
    assert ccs_category("I50", "icd10") is None, "a heading is not a code"
    assert ccs_category("I50.9", "icd9") is None
    assert ccs_category("", "icd9") is None


def test_all_codes_are_as_ahrq_published_them() -> None:
    for system in SYSTEMS:
        listed = json.dumps(sorted(ccs_codes(system).items())).encode()
        assert hashlib.sha256(listed).hexdigest().startswith(DIGESTS[system]), system


def test_every_category_has_codes_and_a_chapter() -> None:
    categories = ccs_categories()
    assert len(categories) == 283
    assert all(number == category.number for number, category in categories.items())
    assert len({category.name for category in categories.values()}) == 283
    assert set(ccs_codes("icd9").values()) == set(ccs_codes("icd10").values()) == set(categories)
    chapters = Counter(category.levels[0].number for category in categories.values())
    assert sorted(map(int, chapters)) == list(range(1, 19))
    assert chapters["7"] == 26 and chapters["18"] == 22


def test_levels_nest_and_carry_plain_labels() -> None:
    levels = {level for category in ccs_categories().values() for level in category.levels}
    labels = {level.number: level.label for level in levels}
    assert len(levels) == len(labels) == 18 + 135
    assert labels["7"] == "Diseases of the circulatory system"
    assert labels["7.2"] == "Diseases of the heart"
    assert labels["5.15"] == "Miscellaneous mental health disorders"
    assert not [label for label in labels.values() if re.search(r"[\[\]']|^\s|\s$|^$", label)]
    for category in ccs_categories().values():
        chapter, *parts = (level.number for level in category.levels)
        assert [part.partition(".")[0] for part in parts] == ([] if chapter == "18" else [chapter])


def test_the_tables_are_made_again_from_files_like_those_of_ahrq(tmp_path: Path) -> None:
    """From AHRQ's three layouts, in small; it writes the files that ship, and no other."""
    single = tmp_path / "single.txt"
    single.write_text("Appendix\n\n1    One  thing\n     0010 0011\n\n20   Rest b\n     E8000 \n")
    ten = tmp_path / "ten.csv"
    ten.write_text(
        "'ICD-10-CM CODE','CCS CATEGORY',...\n"
        '\'A000\',\'1 \',"A, with "quotes"","One",\'1\',"Chapter",\'1.1\',"Part [1.]"\n'
        "'A0010','1 ',\"\",\"One\",'1',\"Chapter\",'1.1',\"Part [1.]\"\n"
        "'W00XXXA','20',\"Fall\",\"Rest\",'18',\"Rest [20.]\",' ',\" \"\n"
    )
    labels = tmp_path / "labels.csv"
    labels.write_text("HEAD,LABEL\n'1','Chapter'\n'1.1','Part [1.] ''\n'18','Rest [20. and 21.]'\n")
    code = (
        "import sys, pathlib; sys.path.insert(0, sys.argv[1]); import ccs_tables as made; "
        "made.FOLDER = pathlib.Path(sys.argv[2]); "
        "made.main(*map(pathlib.Path, sys.argv[3:]))"
    )
    out = tmp_path / "out"
    out.mkdir()
    paths = [str(one) for one in (ROOT / "tools", out, single, ten, labels)]
    subprocess.run([sys.executable, "-c", code, *paths], check=True, timeout=60)
    read = {one.name: one.read_bytes() for one in out.iterdir()}
    assert read["categories.tsv"] == b"1\t1.1\tOne thing\n20\t18\tRest b\n"
    assert read["levels.tsv"] == b"1\tChapter\n1.1\tPart\n18\tRest\n"
    assert gzip.decompress(read["icd9.tsv.gz"]) == b"0\t0010\t1\n3\t1\t\n0\tE8000\t20\n"
    assert gzip.decompress(read["icd10.tsv.gz"]) == b"0\tA000\t1\n3\t10\t\n0\tW00XXXA\t20\n"
    assert {one.name for one in TABLES.iterdir()} == {*read, "PROVENANCE.md"}

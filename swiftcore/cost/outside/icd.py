"""ICD-9-CM and ICD-10-CM by the form of their codes: chapter, block, category, digits.

Both editions are cut into blocks by where each block begins; a code belongs to the last block
that begins at or before it. Chapters that mean the same in both have the same name here, so
that codes of the two editions meet in them.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from functools import cache

from swiftcore.data.building.ccs import plain_code

_NINE = {
    "infections": "001 010 020 030 042 045 050 060 065 070 080 090 100 110 120 130 137",
    "neoplasms": "140 150 160 170 179 190 200 209 210 230 235 239",
    "metabolism": "240 249 260 270",
    "blood": "280",
    "mind": "290 295 300 317",
    "nerves": "320 330 338 339 340 350",
    "eye": "360",
    "ear": "380",
    "circulation": "390 393 401 410 415 420 430 440 451",
    "breathing": "460 470 480 490 500 510",
    "digestion": "520 530 540 550 555 560 570",
    "urogenital": "580 590 600 610 614 617",
    "pregnancy": "630 640 650 660 670 678",
    "skin": "680 690 700",
    "movement": "710 720 725 730",
    "malformations": "740",
    "newborn": "760 764",
    "symptoms": "780 790 797",
    "injuries": "800 805 810 820 830 840 850 860 870 880 890 900 905 910 920 925 930 940 950 "
    "958 960 980 990 996",
    "causes": "E000 E001 E800 E810 E820 E826 E830 E840 E846 E850 E860 E870 E878 E880 E890 E900 "
    "E910 E916 E929 E930 E950 E960 E970 E979 E980 E990",
    "contacts": "V01 V10 V20 V30 V40 V50 V60 V70 V83 V85 V86 V87 V88 V89 V90 V91",
}
_TEN = {
    "infections": "A00 A15 A20 A30 A50 A65 A70 A75 A80 A90 B00 B10 B15 B20 B25 B35 B50 B65 B85 "
    "B90 B95 B99",
    "neoplasms": "C00 C15 C30 C40 C43 C45 C50 C51 C60 C64 C69 C73 C76 C7A C7B C80 C81 D00 D10 "
    "D37 D3A D49",
    "blood": "D50 D55 D60 D65 D70 D78 D80",
    "metabolism": "E00 E08 E15 E20 E36 E40 E50 E65 E70 E89",
    "mind": "F01 F10 F20 F30 F40 F50 F60 F70 F80 F90 F99",
    "nerves": "G00 G10 G20 G30 G35 G40 G50 G60 G70 G80 G89",
    "eye": "H00 H10 H15 H25 H30 H40 H43 H46 H49 H53 H55",
    "ear": "H60 H65 H80 H90",
    "circulation": "I00 I05 I10 I20 I26 I30 I60 I70 I80 I95",
    "breathing": "J00 J09 J20 J30 J40 J60 J80 J85 J90 J95 J96",
    "digestion": "K00 K20 K35 K40 K50 K55 K65 K70 K80 K90",
    "skin": "L00 L10 L20 L40 L49 L50 L55 L60 L76 L80",
    "movement": "M00 M05 M15 M20 M26 M30 M40 M45 M50 M60 M65 M70 M80 M86 M91 M95 M96 M97 M99",
    "urogenital": "N00 N10 N17 N20 N25 N30 N40 N60 N65 N70 N80 N99",
    "pregnancy": "O00 O09 O10 O20 O30 O60 O80 O85 O94",
    "newborn": "P00 P05 P09 P10 P19 P35 P50 P70 P76 P80 P83 P84 P90",
    "malformations": "Q00 Q10 Q20 Q30 Q35 Q38 Q50 Q60 Q65 Q80 Q90",
    "symptoms": "R00 R10 R20 R25 R30 R40 R47 R50 R70 R80 R83 R90 R97 R99",
    "injuries": "S00 S10 S20 S30 S40 S50 S60 S70 S80 S90 T07 T14 T15 T20 T30 T33 T36 T51 T66 "
    "T79 T80",
    "special": "U00",
    "causes": "V00 V10 V20 V30 V40 V50 V60 V70 V80 V90 V95 V98 W00 W20 W50 W65 W85 W99 X00 X10 "
    "X30 X50 X52 X58 X71 X92 Y21 Y35 Y38 Y62 Y70 Y83 Y90",
    "contacts": "Z00 Z14 Z15 Z16 Z17 Z18 Z19 Z20 Z30 Z40 Z55 Z66 Z67 Z68 Z69 Z77",
}
_ODD = {"C4A": "C43", "M1A": "M10"}  # categories that stand before those of their own number
_FORMS = {
    "icd9": re.compile(r"(\d{3}|V\d{2})\d{0,2}|E\d{3}\d?"),
    "icd10": re.compile(r"[A-Z]\d[0-9A-Z][0-9A-Z]{0,4}"),
}


def icd_path(code: str, system: str) -> tuple[str, ...] | None:
    """What a code stands below, the most general first and the code itself last.

    Chapter, block, category (three characters; four for E codes of ICD-9), then one place per
    further character. None if the code has not the form of the edition.

    Parameters
    ----------
    code : str
        With or without its dot.
    system : {"icd9", "icd10"}
    """
    plain = plain_code(code)
    if not _FORMS[system].fullmatch(plain):
        return None
    length = 4 if system == "icd9" and plain[0] == "E" else 3
    category = plain[:length]
    starts, chapters = _blocks(system)
    place = bisect_right(starts, _ODD.get(category, category)) - 1
    if place < 0:
        return None
    further = tuple(f"{system} {plain[:end]}" for end in range(length, len(plain) + 1))
    return (chapters[place], f"{system} from {starts[place]}", *further)


@cache
def _blocks(system: str) -> tuple[list[str], list[str]]:
    table = _NINE if system == "icd9" else _TEN
    pairs = sorted((start, chapter) for chapter, row in table.items() for start in row.split())
    return [start for start, _ in pairs], [chapter for _, chapter in pairs]

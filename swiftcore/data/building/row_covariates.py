"""Which columns describe the rows: age, sex, site, dates and up to ten others, each by its kind.

They stay beside the tensor for tables that people read. What could name a person (names, addresses,
numbers of documents) and what differs for nearly everybody is left out.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.building.column_roles import ID_NAMES, plain_name
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.coded import Coded, days, number_of
from swiftcore.data.reading.findings import Findings
from swiftcore.data.side_arrays import FIRST_DAY, LAST_DAY
from swiftcore.data.side_tables import Covariate

MAX_OTHERS, MAX_DATES, MAX_SITES = 10, 10, 3
MAX_VALUES, MAX_SITE_VALUES, MAX_LENGTH = 50, 1_000, 200
AGE = re.compile(r"(anchor|admission)?age(at\w+|years|inyears)?|alter|edad|aetas")
SEX = re.compile(r"sex|gender|geschlecht|sexe|sexo|genero|sesso")
SITE = re.compile(
    r"(site|clinic|hospital|ward|centre|center|department|station|klinik|caresite)(id)?"
)
BIRTH = re.compile(r"birth|dob$|geburt|naissance|nacimiento")
_PERSONAL = re.compile(
    r"name$|^(first|last|maiden|middle|prefix|suffix|drivers|lat|lon|latitude|longitude|fips)$"
    r"|ssn|passport|license|licence|address|street|strasse|phone|telefon|mail|zip|postal|postcode"
    r"|plz|mrn|insurancenumber|birth|^dob$|geburt"
)
_NO_FACT = re.compile(r"(id|key|number|nbr|sourcevalue)$")
_BLANK = frozenset(("", "na", "n/a", "nan", "null", "none", "?", "-", "\\n"))
_DATE = re.compile(r"\d{1,4}[-./]\d{1,2}[-./]\d{1,4}(\D.*)?$", re.DOTALL)
_BOUND = re.compile(r"[<>]=?\s*(?=\d)")

Texts = Mapping[str, str]


def covariates_from(
    columns: Mapping[str, Texts],
    rows: Sequence[str],
    date_order: str,
    *,
    without: Collection[str] = (),
    wanted: Collection[str] = (),
) -> tuple[Covariate, ...]:
    """The columns worth keeping, age and sex first.

    Parameters
    ----------
    columns : mapping of str to mapping
        By column, the text of each row id.
    rows : sequence of str
        The row id behind each row of the tensor.
    without : collection of str
        Columns that have another role: the outcome, features.
    wanted : collection of str
        The columns a person asked for; without any, those that describe rows best.
    """
    hidden = {plain_name(name) for name in without}
    chosen = {plain_name(name) for name in wanted}
    found: dict[str, list[Covariate]] = {part: [] for part in _ROOM}
    for name, texts in columns.items():
        plain = plain_name(name)
        if plain in hidden or (chosen and plain not in chosen):
            continue
        part = _part(plain)
        if not part and plain not in chosen:
            continue
        one = as_covariate(name, [texts.get(row, "") for row in rows], date_order, part == "site")
        if one is not None:
            found["dates" if one.kind == "date" else part or "others"].append(one)
    room = _ROOM if not chosen else dict.fromkeys(_ROOM, MAX_OTHERS)
    return tuple(one for part, some in found.items() for one in some[: room[part]])


_ROOM = {"age": 2, "sex": 1, "site": MAX_SITES, "dates": MAX_DATES, "others": MAX_OTHERS}


def wanted_covariates(options: BuildOptions) -> tuple[str, ...]:
    """The columns that a person asked to keep beside the tensor."""
    named = options.columns.get("covariates", "")
    return tuple(part.strip() for part in named.split(",") if part.strip())


def _part(plain: str) -> str:
    """What a column tells by its name; "" when it tells who a person is, or nothing."""
    if _PERSONAL.search(plain):
        return ""
    for part, pattern in (("age", AGE), ("sex", SEX), ("site", SITE)):
        if pattern.fullmatch(plain):
            return part
    return "" if plain in ID_NAMES or _NO_FACT.search(plain) else "others"


def as_covariate(
    name: str, texts: Sequence[str], date_order: str, many_values: bool = False
) -> Covariate | None:
    """A column by its kind; None when it says the same of all rows, or something else of each.

    Parameters
    ----------
    many_values : bool
        Whether it may have more values than a table can list; sites do.
    """
    tidy = ["" if text.strip().lower() in _BLANK else text.strip() for text in texts]
    labels, codes = np.unique(np.array(tidy, dtype=object).astype(str), return_inverse=True)
    filled = [label for label in labels.tolist() if label]
    if not filled or (len(filled) == 1 and len(labels) == 1):
        return None
    if not many_values:
        numbers = np.array([number_of(_BOUND.sub("", one)) for one in labels], dtype=np.float64)
        if len(filled) > 2 and np.isfinite(numbers[labels != ""]).all():
            return Covariate(name, "number", numbers[codes])
        if all(_DATE.match(one) for one in filled):
            dates = dates_of(name, labels.tolist(), date_order)
            return None if dates is None else Covariate(name, "date", dates[codes])
    most = MAX_SITE_VALUES if many_values else MAX_VALUES
    telling = len(filled) <= min(most, max(2, len(texts) // 2))
    if not telling or max(len(one) for one in filled) > MAX_LENGTH:
        return None
    return Covariate(name, "text", labels[codes])


def dates_of(name: str, texts: Sequence[str], date_order: str) -> NDArray[np.datetime64] | None:
    """The day of each text; None when they are no dates, or nobody can tell day from month."""
    filled = [text for text in texts if text.strip()]
    if not filled or not all(_DATE.match(text.strip()) for text in filled):
        return None
    found = Findings()
    since = days(Coded.from_texts(name, texts), name, date_order, found)
    return None if found.problems else whole_days(since)


def whole_days(since: NDArray[np.float64]) -> NDArray[np.datetime64]:
    """Days since 1970 as dates; what no calendar has is not known."""
    low, high = (float(day.astype(np.int64)) for day in (FIRST_DAY, LAST_DAY))
    sound = (since >= low) & (since <= high)  # not of NaN
    days_ = np.floor(np.where(sound, since, 0.0)).astype(np.int64).astype("datetime64[D]")
    return np.where(sound, days_, np.datetime64("NaT", "D"))

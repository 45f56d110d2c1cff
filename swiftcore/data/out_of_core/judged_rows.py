"""The rows of a table of events in SQL: what is counted of each, or why it is not used."""

from __future__ import annotations

from swiftcore.data.out_of_core.database import Database
from swiftcore.data.out_of_core.plan import EventColumns
from swiftcore.data.reading.coded import MAX_NAME
from swiftcore.data.sql import Sql, joined, sql, text_literal

NOBODY, NOTHING, ODD, NO_VALUE, NO_VISIT = range(1, 6)
_BLANKS = text_literal("".join(chr(code) for code in range(0x3001) if chr(code).isspace()))
_WHOLE = text_literal(r"[+]?[0-9]{1,15}(\.0{0,15})?")
_WHO, _FEATURE, _VISIT, _VALUE = (sql(name) for name in ("who", "feature", "visit", "value"))


def source_of(database: Database, number: int) -> Sql:
    """The SQL of a table."""
    file = text_literal(str(database.links[number]))
    return sql("read_parquet({file}, hive_partitioning = false)", file=file)


def judged_rows(database: Database, events: EventColumns, by_visit: bool) -> Sql:
    """The SQL of a table with what is counted of each row, and its first fault (0: none)."""
    columns = (events.who, events.feature, events.visit if by_visit else "", events.value)
    who, feature, visit, value = (
        events.head.text_of(one) if one else text_literal("") for one in columns
    )
    faults = [(NOBODY, _blank(_WHO)), (NOTHING, _blank(_FEATURE))]
    faults.append((ODD, joined(" OR ", [_odd(_WHO), _odd(_FEATURE)])))
    wrong, amount = sql("false"), sql("1")
    if events.value:
        faults.append((NO_VALUE, _blank(_VALUE)))
        wrong = sql(
            "NOT {blank} AND NOT regexp_full_match(trim(value, {blanks}), {whole})",
            blank=_blank(_VALUE),
            blanks=_BLANKS,
            whole=_WHOLE,
        )
        amount = sql("TRY_CAST(trim(value, {blanks}) AS DOUBLE)::BIGINT", blanks=_BLANKS)
    if by_visit:
        faults.append((NO_VISIT, _blank(_VISIT)))
    return sql(
        "(SELECT who, feature, visit, {amount} AS amount, {wrong} AS wrong, "
        "CASE {cases} ELSE 0 END AS fault FROM (SELECT "
        "{who} AS who, {feature} AS feature, {visit} AS visit, {value} AS value FROM {source}))",
        amount=amount,
        wrong=wrong,
        cases=joined(" ", (sql("WHEN {t} THEN {f}", t=test, f=fault) for fault, test in faults)),
        who=who,
        feature=feature,
        visit=visit,
        value=value,
        source=source_of(database, events.number),
    )


def _blank(text: Sql) -> Sql:
    """Nothing but blanks; most texts show by their first letter that they are not."""
    return sql(
        "(CASE WHEN {text} >= '!' AND {text} < chr(127) THEN false "
        "ELSE trim({text}, {blanks}) = '' END)",
        text=text,
        blanks=_BLANKS,
    )


def _odd(text: Sql) -> Sql:
    """A line break, or longer than any name; the bytes of most texts are few enough."""
    return sql(
        "(CASE WHEN strlen({text}) <= {most} THEN false ELSE length({text}) > {most} END "
        "OR contains({text}, chr(10)) OR contains({text}, chr(13)))",
        text=text,
        most=MAX_NAME,
    )

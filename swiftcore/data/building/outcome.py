"""Where the outcome comes from, and which events may be used to predict it."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from swiftcore.data.building.events import Cells, Events, Records
from swiftcore.data.options import BuildOptions
from swiftcore.data.reading.coded import FALSE_WORDS, TRUE_WORDS, Coded, days
from swiftcore.data.reading.findings import Findings
from swiftcore.errors import refuse, where_list

AFTER_OUTCOME = (
    "Events after the outcome are used too; 'only events before the outcome' "
    "is the safer choice for prediction."
)
OUTCOME = "outcome"  # a column of this name is the outcome, unless another or none is asked for


@dataclass(frozen=True)
class Outcome:
    """The outcome of every subject that has one.

    Attributes
    ----------
    name : str
        What it means.
    of : mapping of str to (int or str)
        Subject to 0 / 1, or to a class.
    day : mapping of str to float
        When it happened, for the subjects it happened to and where that is known.
    """

    name: str
    of: Mapping[str, int | str]
    day: Mapping[str, float]


def take_outcome(
    records: Records, options: BuildOptions, findings: Findings
) -> tuple[Records, Outcome | None]:
    """Find the outcome and take away the events that would give it away.

    Returns
    -------
    Records
        Without the outcome's own codes (unless they are to be kept) and, when asked, without
        the events from the day of the outcome on.
    Outcome or None
        None when no outcome was asked for.
    """
    source = options.outcome or (
        "codes" if options.outcome_codes else "column" if options.outcome_column else "none"
    )
    named = next((name for name in records.traits if name.strip().lower() == OUTCOME), "")
    if (
        not options.outcome
        and source == "none"
        and _column_could_be(named, records.traits.get(named, {}))
    ):
        findings.mapping["outcome"] = named
        source, options = "column", replace(options, outcome_column=named)
    if source == "none":
        offer_outcomes(records.traits, findings)
        if records.died:
            findings.note(
                f"Death can be the outcome: {len(records.died):,} patients died "
                f"({records.death_name})."
            )
        if options.before_outcome or options.lookback_days:
            findings.note("Without an outcome there is no 'before the outcome': all events count.")
        return records, None
    if source == "codes":
        records, outcome = _from_codes(records, options, findings)
    elif source == "death":
        outcome = _from_death(records, options)
    else:
        outcome = _from_column(records, options, findings)
    if _looks_back(outcome, options):
        events = tuple(
            _before(table, outcome, options, records.times_within_visit, findings)
            for table in records.events
        )
        records = replace(records, events=events)
    elif outcome.day:
        findings.note(AFTER_OUTCOME)
    return records, outcome


def _column_could_be(name: str, texts: Mapping[str, str]) -> bool:
    return could_be(name, Counter(texts.values()))


def offer_outcomes(columns: Mapping[str, Mapping[str, str]], findings: Findings) -> None:
    """Note which columns could be the outcome, and how often each has which value."""
    possible = {
        name: dict(sorted(Counter(filter(str.strip, texts.values())).items()))
        for name, texts in columns.items()
        if _column_could_be(name, texts)
    }
    if possible:
        findings.outcome_candidates = tuple(possible)
        findings.outcome_rates = possible
        findings.note(f"Columns that could be the outcome: {where_list(possible, 8)}.")


def could_be(name: str, counts: Mapping[str, int]) -> bool:
    """Whether a patients' column holds a few classes rather than ids, dates or measurements."""
    filled = {text: count for text, count in counts.items() if text.strip()}
    few = 2 <= len(filled) <= min(10, sum(filled.values()) - 1)
    return few and not name.lower().endswith("date")


def take_cell_outcome(
    cells: Cells, column: Outcome | None, options: BuildOptions, findings: Findings
) -> tuple[Cells, Outcome | None]:
    """The same for one long table, whose rows name all features at once.

    Parameters
    ----------
    column : Outcome or None
        The outcome by the table's own outcome column, used unless codes are given.
    """
    where = " and ".join(feature.name for feature in cells.features)
    outcome = None if options.outcome == "none" else column
    if options.outcome == "death":
        raise refuse(
            "death-missing",
            "The table does not say who died",
            where,
            "one long table",
            "Name the outcome column, or give the outcome's codes.",
        )
    if options.outcome == "codes" or (options.outcome_codes and not options.outcome):
        hit = np.zeros(len(cells), dtype=bool)
        for feature in cells.features:
            meant = matches(feature.labels, feature.labels, options.outcome_codes)
            hit |= feature.marked(meant)
        happened = _first_days(cells.row, cells.time, hit)
        everyone = [cells.row.labels[code] for code in np.unique(cells.row.codes)]
        outcome = _coded_outcome(happened, everyone, options)
        if not options.keep_outcome_codes:
            findings.leave_out("rows that are the outcome itself", int(hit.sum()), where)
            cells = cells.take(~hit)
    if outcome is not None and _looks_back(outcome, options):
        if cells.time is None:
            raise refuse(
                "date-missing",
                "Events cannot be placed before the outcome",
                where,
                "no date column",
                "Name the date column, or use all events.",
            )
        cells = cells.take(_lies_before(cells.row, cells.time, outcome, options, findings, where))
    return cells, outcome


def _looks_back(outcome: Outcome, options: BuildOptions) -> bool:
    wanted = options.before_outcome or options.lookback_days > 0
    if wanted and not outcome.day:
        raise refuse(
            "outcome-undated",
            "The outcome has no dates",
            outcome.name,
            "no day on which it happened",
            "Use all events, or give the dates of the outcome.",
        )
    return wanted


def matches(codes: Sequence[str], labels: Sequence[str], wanted: Sequence[str]) -> list[bool]:
    """Which features are meant by codes or names; "428*" means all that begin so.

    Dots and case do not matter in codes, case does not matter in names.
    """
    exact = {_plain(one) for one in wanted if not one.endswith("*")}
    starts = tuple(_plain(one[:-1]) for one in wanted if one.endswith("*") and len(one) > 1)
    meant = []
    for code, label in zip(codes, labels, strict=True):
        texts = {_plain(part) for part in (*code.split(","), code, label)}
        begins = bool(starts) and any(text.startswith(starts) for text in texts)
        meant.append(bool(texts & exact) or begins)
    return meant


def _plain(text: str) -> str:
    return " ".join(text.replace(".", "").split()).casefold()


def _from_codes(
    records: Records, options: BuildOptions, findings: Findings
) -> tuple[Records, Outcome]:
    everyone: set[str] = set()
    happened: dict[str, float] = {}
    events, unmatched = [], set(options.outcome_codes)
    for table in records.events:
        present = np.unique(table.subject.codes)
        everyone |= {table.subject.labels[code] for code in present}
        meant = matches(table.codes, table.feature.labels, options.outcome_codes)
        for wanted in options.outcome_codes:
            if any(matches(table.codes, table.feature.labels, [wanted])):
                unmatched.discard(wanted)
        hit = table.feature.marked(meant)
        for who, day in _first_days(table.subject, table.time, hit).items():
            happened[who] = float(np.fmin(happened.get(who, np.nan), day))
        if not options.keep_outcome_codes and hit.any():
            names = sorted({table.feature.labels[code] for code in table.feature.codes[hit]})
            findings.leave_out(
                f"events that are the outcome itself ({_few(names)})", int(hit.sum()), table.name
            )
            table = table.take(~hit)
        events.append(table)
    outcome = _coded_outcome(happened, sorted(everyone), options)
    if unmatched:
        findings.note(f"No event is coded {_few(sorted(unmatched))}.")
    return replace(records, events=tuple(events)), outcome


def _coded_outcome(
    happened: Mapping[str, float], everyone: Sequence[str], options: BuildOptions
) -> Outcome:
    if not happened:
        raise refuse(
            "outcome-absent",
            "Nobody has the outcome",
            "all event tables",
            f"no event coded {_few(list(options.outcome_codes))}",
            "Check the codes; a star at the end takes all that begin so.",
        )
    dated = {who: day for who, day in happened.items() if not np.isnan(day)}
    of: dict[str, int | str] = {who: int(who in happened) for who in everyone}
    return Outcome(options.outcome_name or _few(list(options.outcome_codes)), of, dated)


def _first_days(
    subject: Coded, time: NDArray[np.float64] | None, hit: NDArray[np.bool_]
) -> dict[str, float]:
    """For every subject with the outcome the first day of it, NaN when undated."""
    found: dict[str, float] = {}
    times = np.full(len(subject), np.nan) if time is None else time
    for code, day in zip(subject.codes[hit], times[hit], strict=True):
        who = subject.labels[code]
        found[who] = float(np.fmin(found.get(who, np.nan), day))
    return found


def _from_death(records: Records, options: BuildOptions) -> Outcome:
    if records.died is None:
        raise refuse(
            "death-missing",
            "The tables do not say who died",
            "all tables",
            "no table or column of deaths",
            "Add it, or choose another outcome.",
        )
    everyone = {
        table.subject.labels[code]
        for table in records.events
        for code in np.unique(table.subject.codes)
    }
    of: dict[str, int | str] = {who: int(who in records.died) for who in everyone}
    dated = {who: day for who, day in records.died.items() if not np.isnan(day)}
    return Outcome(options.outcome_name or records.death_name, of, dated)


def _from_column(records: Records, options: BuildOptions, findings: Findings) -> Outcome:
    known = {name.lower(): name for name in records.traits}
    asked = options.outcome_column.strip()
    parts = [asked] if asked.lower() in known else asked.split(",")  # a name may hold a comma
    columns = [name.strip() for name in parts if name.strip()]
    missing = [name for name in columns if name.lower() not in known]
    if missing or not columns:
        raise refuse(
            "outcome-column",
            "The outcome column is not there",
            "patients' table",
            f"no column {_few(missing)}",
            f"Choose one of {_few(sorted(records.traits), 12)}.",
        )
    traits = [records.traits[known[name.lower()]] for name in columns]
    if len(traits) > 1:
        of: dict[str, int | str] = {
            who: int(any(trait.get(who, "").strip().lower() in TRUE_WORDS for trait in traits))
            for who in traits[0]
        }
    else:
        of = as_classes(traits[0])
    empty = len(traits[0]) - len(of)
    findings.leave_out("patients without an outcome", empty, "patients' table")
    dated = [known[f"{name.lower()}_date"] for name in columns if f"{name.lower()}_date" in known]
    day = _days(records.traits[dated[0]], dated[0], options, findings) if dated else {}
    return Outcome(options.outcome_name or " or ".join(columns), of, day)


def _days(
    texts: Mapping[str, str], column: str, options: BuildOptions, findings: Findings
) -> dict[str, float]:
    """Days from a patients' column such as heart_failure_date beside heart_failure."""
    coded = Coded.from_texts(column, list(texts.values()))
    found = days(coded, "patients' table", options.date_order, findings)
    return {who: float(day) for who, day in zip(texts, found, strict=True) if not np.isnan(day)}


def as_classes(texts: Mapping[str, str]) -> dict[str, int | str]:
    """0 and 1 when the texts say yes and no, else the texts; subjects without are left out."""
    filled = {who: text.strip() for who, text in texts.items() if text.strip()}
    if {text.lower() for text in filled.values()} <= TRUE_WORDS | FALSE_WORDS:
        return {who: int(text.lower() in TRUE_WORDS) for who, text in filled.items()}
    return dict(filled)


def _before(
    table: Events, outcome: Outcome, options: BuildOptions, within_visit: bool, findings: Findings
) -> Events:
    if table.time is None or within_visit:
        raise refuse(
            "date-missing",
            "Events cannot be placed before the outcome",
            table.name,
            "no dates that compare over a patient's life" if within_visit else "no date column",
            "Name the date column, or use all events.",
        )
    keep = _lies_before(table.subject, table.time, outcome, options, findings, table.name)
    return table.take(keep)


def _lies_before(
    subject: Coded,
    time: NDArray[np.float64],
    outcome: Outcome,
    options: BuildOptions,
    findings: Findings,
    where: str,
) -> NDArray[np.bool_]:
    """Events before the outcome; those who never had it keep the time before their last event."""
    last = np.full(len(subject.labels), -np.inf)
    np.fmax.at(last, subject.codes, time)
    end = np.array([outcome.day.get(who, np.nan) for who in subject.labels])
    affected = np.array([outcome.of.get(who, 0) == 1 for who in subject.labels])
    unknown = affected & np.isnan(end)
    limit = np.where(np.isnan(end), np.where(unknown, -np.inf, np.nextafter(last, np.inf)), end)
    stop = limit[subject.codes]
    undated = np.isnan(time)
    late = ~undated & (time >= stop)
    findings.leave_out("events without a date", int(undated.sum()), where)
    findings.leave_out("events at or after the outcome", int(late.sum()), where)
    keep = ~undated & ~late
    if options.lookback_days:
        early = keep & (time < stop - options.lookback_days)
        findings.leave_out(
            f"events more than {options.lookback_days:g} days before the outcome or the last event",
            int(early.sum()),
            where,
        )
        keep &= ~early
    return keep


def _few(names: Sequence[str], shown: int = 3) -> str:
    listed = ", ".join(f"'{name}'" for name in names[:shown])
    return listed + (f" and {len(names) - shown} more" if len(names) > shown else "")

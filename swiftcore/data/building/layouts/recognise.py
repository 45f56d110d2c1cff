"""How a table is laid out, by what its columns hold: names only settle what content leaves open."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence

from swiftcore.data.building.column_roles import (
    ID_NAMES,
    OF_LINES,
    ColumnRoles,
    find_column,
    guess_roles,
    plain_name,
)
from swiftcore.data.building.layouts.explain import explained
from swiftcore.data.building.layouts.feature_columns import (
    MIN_FLAGS,
    FeatureGroup,
    beside_numbered,
    features_of,
    flag_groups,
    numbered_groups,
    unlike_others,
)
from swiftcore.data.building.layouts.id_column import find_id, numbers_lines
from swiftcore.data.building.layouts.long_columns import (
    count_column,
    domain_column,
    long_features,
)
from swiftcore.data.building.layouts.profile import Profile, list_entries
from swiftcore.data.building.layouts.seen_table import SeenTable
from swiftcore.data.building.layouts.table_reading import TableReading
from swiftcore.data.reading.findings import Findings
from swiftcore.data.reading.text_table import TextTable
from swiftcore.errors import Problem, where_list

MIN_ROWS = 8  # below, content tells nothing and names decide
SITES_PER_ID = 1.5  # on average, from which on ids may have been counted at each site
MIXED = 5  # yes-no columns beside a column of labels, from which on they may be the features
_SITE = re.compile(
    r"site|hospital|clinic|cent(er|re)|klinik|standort|krankenhaus|h[oô]pital|centro"
)
_BIRTH = re.compile(r"birth|dob$|geburt|naissance|nacimiento|nascita")


def read_layout(
    table: TextTable, settings: Mapping[str, str], layout: str = "", row: str = ""
) -> TableReading:
    """Recognise how a table is laid out and what its columns are.

    Parameters
    ----------
    settings : mapping of str to str
        Columns set by the person, by role; they are never overruled.
    layout : {"", "long", "wide", "onehot", "lists"}
        The layout if the person said it.
    row : str
        The column of row ids if other tables tell it.
    """
    seen = SeenTable.of(table)
    named = guess_roles(table, settings, Findings())
    base, doubts = _base_roles(seen, settings, named, row)
    free = _free(seen, settings, base)
    groups = [] if layout == "long" else _groups(seen, settings, layout, base.row, free)
    if groups:
        shown = "+".join(dict.fromkeys(group.layout for group in groups))
        reading = TableReading(shown, base, tuple(groups))
        if not layout:
            odd = [one for group in groups for one in unlike_others(group, seen.profiles)]
            doubts += [_maybe_outcome(table.name, odd)] if odd else []
    elif layout not in ("", "long"):
        doubts.append(_absent(table.name, layout))
        reading = TableReading("long", base)
    elif table.n_rows < MIN_ROWS and "features" not in settings:
        reading = TableReading("long", named)
    else:
        reading, more = _long(seen, settings, base, free)
        doubts += more
    return explained(seen, settings, reading, tuple(doubts))


def _base_roles(
    seen: SeenTable, settings: Mapping[str, str], named: ColumnRoles, known: str
) -> tuple[ColumnRoles, list[Problem]]:
    """Row, visit, date, value and outcome; what nobody can tell is asked."""
    doubts: list[Problem] = []
    taken = {find_column(tuple(seen.columns), one) for one in _set(settings)}
    free = [one for one in seen.columns if one not in taken]
    row, visit = named.row, named.visit
    if known and "row" not in settings:
        row = known
    elif "row" not in settings and not _known_id(seen, row) and seen.rows >= MIN_ROWS:
        row, found, rivals = find_id(seen.columns, seen.profiles, free)
        visit = visit or (found if "visit" not in settings else "")
        if not row:
            doubts.append(_row_unclear(seen, rivals))
        elif site := _site_of_ids(seen, row):
            doubts.append(_id_of_two(seen.name, site, row))
    visit = "" if visit == row else visit
    value = named.value
    if "value" not in settings and seen.rows >= MIN_ROWS and value:
        value = value if seen.profiles[value].kind in ("whole", "number", "flag") else ""
    outcome = named.outcome if _is_outcome(seen, settings, row, named.outcome) else ""
    date = _date(seen, settings, row, named)
    return ColumnRoles(row, (), value, outcome, date, visit), doubts


def _known_id(seen: SeenTable, row: str) -> bool:
    """Whether a column is named as ids are, and does not just number the lines."""
    if plain_name(row) in OF_LINES:
        return not numbers_lines(seen.profiles[row])
    return plain_name(row) in ID_NAMES


def _site_of_ids(seen: SeenTable, row: str) -> str:
    """A column of sites that most ids are seen at several of, as ids counted anew at each are."""
    return next(
        (
            name
            for name, profile in seen.profiles.items()
            if name != row and profile.kind in ("label", "whole")
            if _SITE.search(plain_name(name))
            if seen.pairs_of(row, name) > SITES_PER_ID * seen.profiles[row].distinct
        ),
        "",
    )


def _is_outcome(seen: SeenTable, settings: Mapping[str, str], row: str, column: str) -> bool:
    """A column is the outcome by its name only if it says one thing of each row id."""
    if not column or "outcome" in settings or plain_name(column) == "outcome":
        return bool(column)
    few = 2 <= seen.profiles[column].distinct <= 10
    return seen.rows < MIN_ROWS or (few and (not row or seen.steady(row, column)))


def _date(seen: SeenTable, settings: Mapping[str, str], row: str, named: ColumnRoles) -> str:
    """When things happened: no date of birth, nor any that is the same on all rows of an id."""
    if "date" in settings or seen.rows < MIN_ROWS:
        return named.date
    repeats = bool(row) and seen.repeats(row)
    dates = [
        name
        for name, profile in seen.profiles.items()
        if profile.kind == "date"
        and name not in _set(settings)
        and not _BIRTH.search(plain_name(name))
        and not (repeats and seen.steady(row, name))
    ]
    return named.date if named.date in dates else dates[0] if dates else ""


def _set(settings: Mapping[str, str]) -> list[str]:
    return [part.strip() for text in settings.values() for part in text.split(",") if part.strip()]


def _free(seen: SeenTable, settings: Mapping[str, str], base: ColumnRoles) -> list[str]:
    """Columns that may be features: those set as such, or all without another role."""
    names = tuple(seen.columns)
    if settings.get("features", "").strip():
        wanted = [find_column(names, one) for one in settings["features"].split(",")]
        return [one for one in wanted if one]
    used = {base.row, base.visit, base.date, base.value, base.outcome}
    used |= {find_column(names, one) for one in _set(settings)}
    return [one for one in names if one not in used]


def _groups(
    seen: SeenTable, settings: Mapping[str, str], layout: str, row: str, free: Sequence[str]
) -> list[FeatureGroup]:
    """What is melted: numbered columns, lists in cells, columns of yes and no."""
    profiles = {name: seen.profiles[name] for name in free}
    asked = bool(settings.get("features", "").strip())
    numbers = ("whole", "number") if layout == "wide" or asked else ()
    wide = (
        numbered_groups(profiles, ("label", "list", "text", *numbers)) if layout != "onehot" else []
    )
    wide = [group for group in wide if layout in ("", "wide") or group.separators.count("") == 0]
    inside = features_of(wide)
    lists = [
        FeatureGroup(name, "lists", (name,), separators=(one.separator,))
        for name, one in profiles.items()
        if one.kind == "list" and name not in inside and layout in ("", "lists", "wide")
    ]
    several = [*_joined_lists(wide), *lists]
    inside = features_of(several)
    rest = [one for name, one in profiles.items() if name not in inside]
    if several:
        several = _with_single_columns(several, rest, seen.profiles)
        inside = features_of(several)
        rest = [one for one in rest if one.name not in inside]
    flags = [one for one in rest if one.kind in ("flag", "grade")]
    if layout == "onehot":
        amounts = [one for one in rest if one.kind in ("whole", "number") and "0" in one.counts]
        return flag_groups(
            [*flags, *(amounts if asked or not flags else [])], False, list(seen.columns)
        )
    if layout or not (several or _flags_are_features(seen, row, rest, flags, asked)):
        return several
    beside = beside_numbered([one.name for one in flags], several)
    flags = [one for one in flags if one.name not in beside]
    return [*several, *flag_groups(flags, bool(several), list(seen.columns))]


def _joined_lists(wide: Sequence[FeatureGroup]) -> list[FeatureGroup]:
    """Numbered columns whose cells hold lists themselves count as lists."""
    return [
        FeatureGroup(one.name, "lists" if all(one.separators) else "wide", one.columns)
        if not any(one.separators)
        else one
        for one in wide
    ]


def _flags_are_features(
    seen: SeenTable, row: str, rest: Sequence[Profile], flags: Sequence[Profile], asked: bool
) -> bool:
    """Whether a table without lists is a matrix of yes and no rather than a list of events."""
    if len(flags) < MIN_FLAGS or not row:
        return False
    if asked:
        return len(flags) == len(rest)
    features = long_features(seen, row, [one.name for one in rest if one not in flags])
    telling = [one for one in features if seen.profiles[one].codes > 0.5 or seen.repeats(row)]
    return not telling and (not features or len(flags) >= MIXED)


def _with_single_columns(
    groups: Sequence[FeatureGroup], rest: Sequence[Profile], profiles: Mapping[str, Profile]
) -> list[FeatureGroup]:
    """Add columns of one entry each, such as a main diagnosis beside numbered further ones.

    Its entries are codes; if most of them are also in a group, they belong to it.
    """
    found = list(groups)
    for one in rest:
        if one.kind != "label" or one.codes < 0.5:
            continue
        shares = [_shared(one, [profiles[name] for name in group.columns]) for group in groups]
        best = max(range(len(shares)), key=shares.__getitem__)
        if shares[best] >= 0.5:
            group = found[best]
            found[best] = FeatureGroup(
                group.name,
                group.layout,
                (one.name, *group.columns),
                separators=("", *(group.separators or ("",) * len(group.columns))),
            )
        else:
            found.append(FeatureGroup(one.name, "wide", (one.name,), separators=("",)))
    return found


def _shared(one: Profile, others: Sequence[Profile]) -> float:
    known = {
        part.strip()
        for other in others
        for text in other.counts
        for part in (list_entries(text, other.separator) if other.separator else [text])
    }
    return sum(n for text, n in one.counts.items() if text.strip() in known) / one.filled


def _long(
    seen: SeenTable, settings: Mapping[str, str], base: ColumnRoles, free: Sequence[str]
) -> tuple[TableReading, list[Problem]]:
    """One event per line, perhaps with a column that says what kind of event."""
    doubts: list[Problem] = []
    asked = bool(settings.get("features", "").strip())
    if not base.row:
        return TableReading("long", base), doubts
    features = list(free) if asked else long_features(seen, base.row, free)
    domain = find_column(tuple(seen.columns), settings.get("domain", ""))
    if not domain and not asked:
        domain, unclear = domain_column(seen, base.row, features, free)
        if unclear:
            doubts.append(_domain_unclear(seen.name, unclear, features))
    features = [one for one in features if one != domain]
    value = base.value
    if not value and "value" not in settings and not asked:
        value = count_column(seen, base.row, [one for one in free if one not in features])
    if not features and not asked and _count_matrix(seen, free):
        doubts.append(_numbers_unclear(seen, free))
    roles = ColumnRoles(base.row, tuple(features), value, base.outcome, base.date, base.visit)
    return TableReading("long", roles, domain=domain), doubts


def _count_matrix(seen: SeenTable, free: Sequence[str]) -> bool:
    """Whether many columns hold whole numbers that are mostly 0: counts of features, perhaps."""
    sparse = [
        one
        for one in (seen.profiles[name] for name in free)
        if one.kind == "whole" and one.counts.get("0", 0) >= 0.4 * one.filled
    ]
    return len(sparse) >= MIXED


def _row_unclear(seen: SeenTable, rivals: Sequence[str]) -> Problem:
    found = f"{where_list(rivals)} may all be" if rivals else "no column looks like numbers of rows"
    return Problem(
        "row-unclear",
        "Nobody can tell which column says whose a row is",
        seen.name,
        found,
        f"Set columns.row to one of {where_list(seen.columns, 12)}.",
    )


def _id_of_two(table: str, site: str, row: str) -> Problem:
    return Problem(
        "row-unclear",
        "Most ids are seen at several sites, where they may be different patients",
        f"{table}, columns {row} and {site}",
        "ids that come back at other sites",
        f"Set columns.row={site},{row} if every site counts its own patients, else "
        f"columns.row={row}.",
    )


def _domain_unclear(table: str, domain: str, features: Sequence[str]) -> Problem:
    return Problem(
        "domain-unclear",
        "A column may say what kind of feature each line names, or describe it",
        f"{table}, column {domain}",
        f"every entry of {features[0]} stands with one entry of {domain}",
        f"Set columns.domain={domain}, or columns.features={features[0]} if it only describes.",
    )


def _numbers_unclear(seen: SeenTable, free: Sequence[str]) -> Problem:
    return Problem(
        "layout-unclear",
        "Columns of numbers may be counts of one feature each, or measurements",
        f"{seen.name}, columns {where_list(free)}",
        "whole numbers, mostly 0",
        "Set layout=onehot if every column is a feature, or name the columns that are features.",
    )


def _maybe_outcome(table: str, columns: Sequence[str]) -> Problem:
    return Problem(
        "outcome-unclear",
        "A column of yes and no may be the outcome rather than a feature",
        f"{table}, columns {where_list(columns)}",
        "yes far more often than in the other columns",
        "Set columns.outcome or columns.ignored to it, or layout=onehot if all are features.",
    )


def _absent(table: str, layout: str) -> Problem:
    looks = {
        "wide": "numbered columns such as diag_1, diag_2",
        "onehot": "columns of yes and no",
        "lists": "cells with several entries, separated by | ; or ,",
    }
    return Problem(
        "layout-absent",
        "The table is not laid out so",
        table,
        f"no {looks[layout]}",
        "Leave out the layout, or name the columns of features (columns.features).",
    )

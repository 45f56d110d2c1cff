"""SQL for databases and files of others: their names reach it quoted, or not at all."""

from __future__ import annotations

from collections.abc import Iterable


class Sql(str):
    """SQL in which no text of others can be run: made by the functions below and nowhere else."""

    __slots__ = ()


def sql(words: str, **pieces: Sql | int) -> Sql:
    """Words of ours, with pieces in the place of their names in braces."""
    return Sql(words.format(**{name: checked_sql(piece) for name, piece in pieces.items()}))


def joined(between: str, pieces: Iterable[Sql]) -> Sql:
    """Pieces one after the other, with a word of ours between them."""
    return Sql(between.join(map(str, map(checked_sql, pieces))))


def text_literal(text: str) -> Sql:
    """A text as SQL writes it."""
    return Sql("'" + text.replace("'", "''") + "'")


def quoted(name: str) -> Sql:
    """The name of a column as SQL writes it."""
    return Sql('"' + name.replace('"', '""') + '"')


def checked_sql(piece: Sql | int) -> Sql | int:
    """The piece, unless nobody made SQL of it."""
    if not isinstance(piece, Sql | int):
        raise TypeError("a text that was not quoted is no SQL")
    return piece

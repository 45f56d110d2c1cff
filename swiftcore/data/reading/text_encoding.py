"""Bytes to UTF-8: byte order marks, UTF-16, Windows-1252; guesses noted, damage located."""

from __future__ import annotations

import codecs

from swiftcore.data.reading.findings import Findings
from swiftcore.errors import refuse


def to_utf8(data: bytes, name: str, encoding: str, findings: Findings) -> bytes:
    """The same text as UTF-8 without a byte order mark; guesses are noted, damage is located.

    Raises
    ------
    InvalidData
        When the bytes are not text in the encoding set or in any usual one.
    """
    if not data.strip(b"\0 \t\r\n\xef\xbb\xbf\xff\xfe"):
        raise refuse(
            "file-empty", "The file is empty", name, f"{len(data)} bytes", "Export the data again."
        )
    chosen = encoding or _encoding_by_mark(data)
    if not chosen and _is_utf8(data):
        text = data
    else:
        text = _recoded(data, name, chosen or _eight_bit_encoding(data, name, findings))
    text = text.removeprefix(codecs.BOM_UTF8)
    if b"\0" in text:
        line = text[: text.index(b"\0")].count(b"\n") + 1
        raise refuse(
            "nul-byte",
            "The text holds a NUL byte",
            f"{name}, line {line}",
            f"{text.count(bytes(1)):,} NUL bytes",
            "The file is damaged or not a text table; export it again.",
        )
    return text


def _recoded(data: bytes, name: str, encoding: str) -> bytes:
    try:
        return data.decode(encoding).encode("utf-8")
    except (UnicodeError, LookupError) as error:
        raise refuse(
            "encoding-wrong",
            "The text cannot be decoded",
            _place(error, data, name),
            f"bytes that are not {encoding}",
            "Set the encoding the file was saved in.",
        ) from error


def _encoding_by_mark(data: bytes) -> str:
    if data.startswith((codecs.BOM_UTF32_LE, codecs.BOM_UTF32_BE)):
        return "utf-32"
    if data.startswith((codecs.BOM_UTF16_LE, codecs.BOM_UTF16_BE)):
        return "utf-16"
    head = data[:4096]
    even, odd = head[0::2].count(0), head[1::2].count(0)
    if odd > 0.3 * len(head) / 2 and even * 10 < odd:
        return "utf-16-le"
    if even > 0.3 * len(head) / 2 and odd * 10 < even:
        return "utf-16-be"
    return ""


def _is_utf8(data: bytes) -> bool:
    if data.isascii():
        return True
    try:
        data.decode("utf-8")
    except UnicodeDecodeError:
        return False
    return True


def _eight_bit_encoding(data: bytes, name: str, findings: Findings) -> str:
    """Windows-1252, unless the bytes look like UTF-8 that was damaged."""
    lenient = data.decode("utf-8", "replace")
    broken = lenient.count("\ufffd")
    whole = sum(ord(letter) > 127 for letter in lenient) - broken
    if whole > broken:
        line = data[: _first_bad_byte(data)].count(10) + 1
        raise refuse(
            "utf8-damaged",
            "The text is UTF-8 with damaged letters",
            f"{name}, line {line}",
            f"{broken:,} damaged and {whole:,} sound letters beyond ASCII",
            "Export the file again, or set the encoding to cp1252.",
        )
    findings.note(
        f"{name} is not UTF-8; it was read as Windows-1252. If names look wrong, set the encoding."
    )
    return "cp1252"


def _first_bad_byte(data: bytes) -> int:
    try:
        data.decode("utf-8")
    except UnicodeDecodeError as error:
        return error.start
    return 0


def _place(error: Exception, data: bytes, name: str) -> str:
    start = getattr(error, "start", None)
    return name if start is None else f"{name}, line {data[:start].count(10) + 1}"

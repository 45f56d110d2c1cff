"""What a disk that refuses means for a person, and sizes in words."""

from __future__ import annotations

import errno

FULL = (errno.ENOSPC, errno.EDQUOT)
CLOSED = (errno.EROFS, errno.EACCES, errno.EPERM)
UNITS = ("B", "KB", "MB", "GB")


def disk_words(error: OSError) -> str:
    """Why a file could not be used, and what to do about it; nothing that was stored is lost."""
    if error.errno in FULL:
        return (
            "The disk is full. What is stored stays readable. Delete runs on the page Runs "
            "(History) or a data set on the page Data (Storage shows what takes how much), then "
            "try again."
        )
    if error.errno in CLOSED:
        return (
            "The data folder may not be written. What is stored stays readable. Make the folder "
            "writable for yourself, then try again."
        )
    reason = error.strerror or type(error).__name__
    return f"A file of the store cannot be used: {reason}. Check the disk, then try again."


def size_words(size: float) -> str:
    """Bytes as a person says them: 3.2 MB."""
    for unit in UNITS[:-1]:
        if size < 1000:
            return f"{size:.0f} {unit}" if unit == "B" else f"{size:.1f} {unit}"
        size /= 1000
    return f"{size:.1f} {UNITS[-1]}"

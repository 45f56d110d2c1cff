"""Files on their way in: on the disk while they come, counted, gone with what they were for.

Held in memory, a few uploads fill the machine. Here each is a private file from its first byte
on, and three caps, stated once, say how much one file, one browser tab and one server may hold.
"""

from __future__ import annotations

import os
import tempfile
from collections.abc import Callable
from dataclasses import dataclass, fields
from pathlib import Path

from swiftcore.errors import InvalidData, refuse

MEGABYTE = 1024 * 1024
SETTING = "SWIFT_UPLOAD_{}_MB"
COMING = ".part"
SERVERS = "servers"  # below the data folder, one place per port
FILE_FULL = "upload-file"


@dataclass(frozen=True)
class UploadLimits:
    """Megabytes that one file, all files of one browser tab, and all of a server may have.

    ``SWIFT_UPLOAD_FILE_MB``, ``SWIFT_UPLOAD_SESSION_MB`` and ``SWIFT_UPLOAD_SERVER_MB`` change
    them.
    """

    file: int = 500
    session: int = 2000
    server: int = 8000

    @classmethod
    def from_environment(cls) -> UploadLimits:
        """As set; raises InvalidData for what is no whole number of megabytes."""
        named = {one.name: SETTING.format(one.name.upper()) for one in fields(cls)}
        given = {name: os.environ[key] for name, key in named.items() if os.environ.get(key)}
        for name, text in given.items():
            if not text.isdecimal() or int(text) < 1:
                raise refuse(
                    "upload-limit",
                    "A limit for uploads is no whole number of megabytes",
                    named[name],
                    text,
                    "Set it to a number from 1 on, or not at all.",
                )
        return cls(**{name: int(text) for name, text in given.items()})

    def sentence(self) -> str:
        """For the person who hands over files."""
        return (
            f"At most {self.file:,} MB in one file, {self.session:,} MB in one browser tab and "
            f"{self.server:,} MB on this server at a time."
        )


@dataclass(frozen=True)
class Inbox:
    """The files that one server holds, each named by the browser session and the upload."""

    folder: Path
    limits: UploadLimits

    def find(self, upload: str) -> Path | None:
        """The file of an upload that came whole, if it is still there."""
        return next(self.folder.glob(f"*.{upload}"), None)

    def held(self, session: str = "") -> int:
        """Bytes on the disk, of one session or of all, those still coming included."""
        return sum(_size(path) for path in self.folder.glob(f"{session}*"))

    def keep_only(self, is_known: Callable[[str, str], bool]) -> None:
        """Remove every file whose session ended or whose person took it back."""
        for path in self.folder.glob("*"):
            session, _, upload = path.name.partition(".")
            if path.suffix != COMING and not is_known(session, upload):
                path.unlink(missing_ok=True)

    def refusal(self, code: str, name: str = "the upload") -> InvalidData:
        """Why a file was not taken, in words, by the code of the refusal."""
        what, found, cure = {
            FILE_FULL: (
                "The file is too large",
                f"more than {self.limits.file:,} MB",
                "Leave out what is not needed, or compress the file (gz, zip, Parquet).",
            ),
            "upload-session": (
                "The files of this browser tab are too large together",
                f"more than {self.limits.session:,} MB",
                "Take back files that are not needed, then hand over this one again.",
            ),
            "upload-server": (
                "This server holds too many uploads at the moment",
                f"more than {self.limits.server:,} MB",
                "Take back files that are not needed, close tabs, and try again in some minutes.",
            ),
            "upload-disk": (
                "There is no room for the file on the disk of this server",
                "a full disk",
                "Make room, then hand over the file again.",
            ),
        }.get(
            code,
            (
                "The file is not here any more",
                "nothing",
                "Take it back and hand it over again.",
            ),
        )
        return refuse(code or "upload-gone", what, name, found, cure)


class Arrival:
    """One file while it comes in; in the end it is kept under its name, or gone.

    Attributes
    ----------
    code : str
        Why it is not taken, for :meth:`Inbox.refusal`; empty while all is well.
    """

    def __init__(self, inbox: Inbox, session: str, upload: str) -> None:
        self.inbox = inbox
        self.session = session
        self.upload = upload
        self.code = ""
        self._size = 0
        self._draft: Path | None = None

    def write(self, block: bytes) -> None:
        """Add a block; once a cap is reached or the disk is full, only count what comes."""
        self._size += len(block)
        if self._size > self.inbox.limits.file * MEGABYTE:
            self.code = FILE_FULL
        elif not self.code:
            self.code = self._reached_cap(len(block)) or self._append(block)
        if self.code:
            self.discard()

    def accept(self) -> None:
        """Show it under its name, unless it was refused."""
        if self._draft is not None:
            os.replace(self._draft, self.inbox.folder / f"{self.session}.{self.upload}")
            self._draft = None

    def discard(self) -> None:
        """Leave nothing behind; after :meth:`accept` there is nothing to do."""
        if self._draft is not None:
            self._draft.unlink(missing_ok=True)
            self._draft = None

    def _reached_cap(self, more: int) -> str:
        if self.inbox.held(self.session) + more > self.inbox.limits.session * MEGABYTE:
            return "upload-session"
        if self.inbox.held() + more > self.inbox.limits.server * MEGABYTE:
            return "upload-server"
        return ""

    def _append(self, block: bytes) -> str:
        try:
            if self._draft is None:
                handle, name = tempfile.mkstemp(COMING, f"{self.session}.", self.inbox.folder)
                os.close(handle)
                self._draft = Path(name)
            with self._draft.open("ab") as file:
                file.write(block)
        except OSError:
            return "upload-disk"
        return ""


def server_place(root: Path, port: int) -> Path:
    """Where a server keeps what is its own while it runs."""
    return root / SERVERS / str(port)


def inbox_of(root: Path, port: int) -> Inbox:
    """The inbox of the server on a port; its folder is made when the server starts."""
    return Inbox(server_place(root, port) / "uploads", UploadLimits.from_environment())


def _size(path: Path) -> int:
    try:
        return path.stat().st_size
    except FileNotFoundError:  # taken back at this moment
        return 0

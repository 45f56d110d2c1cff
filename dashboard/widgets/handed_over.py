"""Files that a person hands over in the browser: asked for, and found where the server put them."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import streamlit as st

from dashboard.privacy.inbox import inbox_of
from dashboard.privacy.uploads import Content
from dashboard.session import cache
from dashboard.widgets.problems import show_problems
from swiftcore.errors import InvalidData


@dataclass(frozen=True)
class HandedFile:
    """A file, with the name that its person gave it."""

    name: str
    content: Content

    def read(self) -> bytes:
        """All of it; only for files that are small by their nature."""
        if isinstance(self.content, Path):
            return self.content.read_bytes()
        self.content.seek(0)
        return self.content.read()

    def forget(self) -> None:
        """Remove it from the disk, once nobody needs it any more."""
        if isinstance(self.content, Path):
            self.content.unlink(missing_ok=True)


def ask_for_files(label: str, **options: Any) -> list[HandedFile]:
    """Ask for several files; none until all are there, with every reason if one is not."""
    given = st.file_uploader(label, accept_multiple_files=True, **options)
    return _found(given)


def ask_for_file(label: str, **options: Any) -> HandedFile | None:
    """Ask for one file; the reason is shown if it was not taken."""
    given = st.file_uploader(label, **options)
    return next(iter(_found([given] if given is not None else [])), None)


def _found(given: Sequence[Any]) -> list[HandedFile]:
    inbox = inbox_of(cache.store().root, st.get_option("server.port"))
    st.caption(inbox.limits.sentence())
    if not inbox.folder.is_dir():  # drawn without a server: they are in memory
        return [HandedFile(file.name, file) for file in given]
    found, problems = [], []
    for file in given:
        path = inbox.find(file.file_id)
        if path is not None:
            found.append(HandedFile(file.name, path))
        else:
            problems += inbox.refusal(file.getvalue().decode(), file.name).problems
    if problems:
        show_problems(InvalidData(problems))
        return []
    return found

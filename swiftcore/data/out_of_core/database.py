"""A private DuckDB that may read a few named files and nothing else.

It is opened on an empty file in a folder of our own, told which files it may read and how much
memory it may take, and then locked: no other file, no network, no extension, no way back. Names
reach it quoted, values as parameters; nobody's text is ever run: it takes nothing but :class:`Sql`.
"""

from __future__ import annotations

import contextlib
import tempfile
from collections.abc import Callable, Iterator, Mapping, Sequence
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path
from typing import Any

from swiftcore.data.sql import Sql, checked_sql, text_literal
from swiftcore.errors import InvalidData, InvalidSettings, refuse

BASE_MEMORY = 200 * 10**6  # of the program itself: Python, numpy, DuckDB and Arrow, once loaded
DATABASE_SHARE = 0.5  # of the rest; what is left is the draft in hand, and what DuckDB takes beyond
MIN_MEMORY = 2 * BASE_MEMORY
_INSTALL = 'Install it: pip install "swift-phenotyping[databases]"'


@contextlib.contextmanager
def private_folder(near: Path) -> Iterator[Path]:
    """A folder for temporary files, for its owner only; it is gone afterwards."""
    with tempfile.TemporaryDirectory(prefix=".swift-count-", dir=near) as folder:
        yield Path(folder)


@contextlib.contextmanager
def open_database(folder: Path, files: Sequence[Path], memory: int) -> Iterator[Database]:
    """A database in a private folder that may read these files.

    Parameters
    ----------
    memory : int
        Bytes that the whole process should keep to.

    Raises
    ------
    InvalidSettings
        When DuckDB is not installed.
    """
    try:
        import duckdb  # late: an extra
    except ImportError as error:
        raise refuse(
            "databases-missing",
            "Tables larger than memory are counted by DuckDB, which is not installed",
            "swift data build",
            "no package duckdb",
            _INSTALL,
            kind=InvalidSettings,
        ) from error
    links = []
    for number, file in enumerate(files):  # under names without quotes, stars and brackets
        links.append(folder / f"table_{number}.parquet")
        links[-1].symlink_to(file.resolve())
    settings: dict[str, str | bool | int | float | list[str]] = {
        "autoinstall_known_extensions": "false",
        "autoload_known_extensions": "false",
        "preserve_insertion_order": "false",
        "memory_limit": f"{int((memory - BASE_MEMORY) * DATABASE_SHARE) // 10**6}MB",
        "temp_directory": str(folder / "spilled"),
    }
    connection = duckdb.connect(str(folder / "count.duckdb"), config=settings)
    try:
        allowed = ", ".join(text_literal(str(link)) for link in links)
        connection.execute(f"SET allowed_paths = [{allowed}]")
        connection.execute("SET python_enable_replacements = false")
        connection.execute("SET enable_external_access = false")
        connection.execute("SET lock_configuration = true")
        yield Database(connection, duckdb.Error, links)
    finally:
        connection.close()


class Database:
    """Runs statements; what DuckDB refuses is told in words."""

    def __init__(self, connection: Any, error: type[Exception], links: Sequence[Path]) -> None:
        self._connection, self._error = connection, error
        self.links = tuple(links)

    def run(self, statement: Sql, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        """All rows of the answer; for small ones."""
        with self._in_words():
            words = checked_sql(statement)
            answer: list[tuple[Any, ...]] = self._stoppable(
                lambda: self._connection.execute(words, values).fetchall()
            )
            return answer

    def batches(self, statement: Sql, values: Mapping[str, Any] | None = None) -> Iterator[Any]:
        """The answer as Arrow batches, one at a time; in order only if it is sorted."""
        with self._in_words():
            words = checked_sql(statement)
            reader = self._stoppable(
                lambda: self._connection.sql(words, params=values).to_arrow_reader(1 << 18)
            )
            while (batch := self._stoppable(lambda: next(reader, None))) is not None:
                yield batch

    def _stoppable(self, work: Callable[[], Any]) -> Any:
        """Do it in another thread: with little memory DuckDB does not look for Ctrl-C itself."""
        with ThreadPoolExecutor(1) as pool:
            running = pool.submit(work)
            try:
                return running.result()
            except KeyboardInterrupt:
                self._connection.interrupt()
                raise

    @contextlib.contextmanager
    def _in_words(self) -> Iterator[None]:
        try:
            yield
        except self._error as error:
            raise _refusal(error) from error


def _refusal(error: Exception) -> InvalidData:
    name = type(error).__name__
    if name == "OutOfMemoryException":
        return refuse(
            "count-memory",
            "The tables cannot be counted in this memory",
            "swift data build",
            "more is needed",
            "Raise --memory, or join per visit.",
        )
    return refuse(
        "count-refused",
        "The tables cannot be counted",
        "swift data build",
        f"{name}: {(str(error).splitlines() or [''])[0][:200]}",
        "Write the tables again as Parquet, or build a .npz.",
    )

"""A connection that can only read, gives up in time, can be stopped, and keeps its address.

The server itself refuses every write: each transaction is read-only, and so is the session's
default. What it or the driver says is never repeated, since it names hosts and users; it is
told in our own words by the kind of error.
"""

from __future__ import annotations

import contextlib
import logging
import threading
from collections.abc import Callable, Iterator, Mapping, Sequence
from typing import TYPE_CHECKING, Any

from swiftcore.data.databases.addresses import Address
from swiftcore.errors import InvalidData, InvalidSettings, SwiftError, refuse

try:
    from psycopg import sql as sql
except ImportError:  # without the extra no connection is opened, and nothing is composed
    sql = None  # type: ignore[assignment]
if TYPE_CHECKING:
    from psycopg import Connection

Row = tuple[Any, ...]
Progress = Callable[[str, int], bool]
"""Gets what is being done and how many rows were read; returns True to stop."""

BATCH = 50_000  # rows fetched at a time
LOOK = 0.2  # seconds between two looks whether to stop
CONNECT_SECONDS = "10"
_SAFE = {  # for the session; nothing later may change them
    "default_transaction_read_only": "on",
    "search_path": "pg_catalog",
    "idle_in_transaction_session_timeout": "600000",
    "client_min_messages": "error",
}
_CHECK_CLIENT = "client_connection_check_interval"  # PostgreSQL 14: ends what nobody waits for


class ReadingStopped(Exception):
    """Somebody asked to stop, and the server has ended the statement."""


@contextlib.contextmanager
def open_reading(address: Address, seconds: float, progress: Progress) -> Iterator[Reading]:
    """One read-only transaction, in which everything is read from one state of the database.

    Parameters
    ----------
    seconds : float
        After which the server ends a statement.
    progress : callable
        Asked several times a second whether to stop, also while the server computes.

    Raises
    ------
    InvalidSettings
        When psycopg is not installed.
    InvalidData
        When the database cannot be reached or read, in words without its address.
    ReadingStopped
        When ``progress`` said so.
    """
    driver = _driver()
    logging.getLogger("psycopg").propagate = False  # its warnings name the server
    connection = _connected(driver, address)
    reading = Reading(connection, driver, address.name, progress)
    try:
        with reading.in_words(), reading.watched():
            _make_safe(connection, driver, seconds)
            yield reading
    finally:
        connection.close()


def _driver() -> Any:
    try:
        import psycopg  # late: an extra
    except ImportError as error:
        raise refuse(
            "databases-missing",
            "PostgreSQL is read by psycopg, which is not installed",
            "postgresql:",
            "no package psycopg",
            'Install it: pip install "swift-phenotyping[databases]"',
            kind=InvalidSettings,
        ) from error
    return psycopg


def _connected(driver: Any, address: Address) -> Any:
    given = dict(address.parameters)
    try:
        url = driver.conninfo.conninfo_to_dict(given.pop("conninfo", ""))
        given = {"connect_timeout": CONNECT_SECONDS, **url, **given, "application_name": "swift"}
        given.pop("options", None)
        return driver.connect(**given, autocommit=True)
    except driver.ProgrammingError:
        raise refuse(
            "address-malformed",
            "The address of the database cannot be understood",
            address.name,
            "no address of a PostgreSQL server",
            "Write postgresql://user@host/database, and the password into .pgpass.",
            kind=InvalidSettings,
        ) from None
    except (driver.Error, OSError) as error:
        raise _not_connected(str(error).lower(), address.name) from None


def _not_connected(said: str, name: str) -> InvalidData:
    """Why there is no connection; what was said is only looked at."""
    if "password" in said or "authentication" in said or ("role" in said and "exist" in said):
        return refuse(
            "database-login",
            "The database does not let this user in",
            name,
            "a wrong or missing user or password",
            "Correct the user and the password where they are kept (.pgpass, settings file).",
        )
    if "database" in said and "does not exist" in said:
        return refuse(
            "database-absent",
            "The server has no such database",
            name,
            "another name",
            "Correct the name of the database (dbname).",
        )
    return refuse(
        "database-unreachable",
        "The database cannot be reached",
        name,
        "no answer from a server",
        "Check that it runs, and host and port of the connection.",
    )


def _make_safe(connection: Any, driver: Any, seconds: float) -> None:
    """Settings of the session, then the one transaction; the server checks them from now on."""
    settings = {**_SAFE, "statement_timeout": str(max(1, int(seconds * 1000)))}
    for name, value in settings.items():
        connection.execute("SELECT set_config(%s, %s, false)", (name, value))
    with contextlib.suppress(driver.Error):  # an older server, or a system without it
        connection.execute("SELECT set_config(%s, '1000', false)", (_CHECK_CLIENT,))
    connection.set_autocommit(False)
    connection.set_read_only(True)
    connection.set_isolation_level(driver.IsolationLevel.REPEATABLE_READ)
    connection.execute("SELECT 1")  # after the first query nothing can make it writable


class Reading:
    """Runs statements within the transaction; see :func:`open_reading`.

    Attributes
    ----------
    connection : psycopg.Connection
        Read-only.
    n_read : int
        Rows fetched so far.
    """

    def __init__(
        self, connection: Connection[Row], driver: Any, name: str, progress: Progress
    ) -> None:
        self.connection, self.name, self.n_read = connection, name, 0
        self._driver, self._progress = driver, progress
        self._what, self._stopped = "Connecting", False

    def begin(self, what: str) -> None:
        """What is done from now on."""
        self._what = what
        self._stop_if_asked()

    def rows(
        self, statement: sql.SQL | sql.Composed, values: Mapping[str, Any] | None = None
    ) -> list[Row]:
        """All rows of a short answer."""
        found = self.connection.execute(statement, values or {}, binary=True).fetchall()
        self.n_read += len(found)
        self._stop_if_asked()
        return found

    def batches(
        self, statement: sql.SQL | sql.Composed, values: Mapping[str, Any]
    ) -> Iterator[Sequence[Row]]:
        """A long answer by a cursor on the server, some rows at a time."""
        with self.connection.cursor(name="swift_cells", binary=True) as cursor:
            cursor.execute(statement, values)
            while batch := cursor.fetchmany(BATCH):
                self.n_read += len(batch)
                self._stop_if_asked()
                yield batch

    def _stop_if_asked(self) -> None:
        if self._progress(self._what, self.n_read):
            self._stopped = True
            raise ReadingStopped

    @contextlib.contextmanager
    def watched(self) -> Iterator[None]:
        """Within it, a wish to stop ends the statement on the server, too."""
        over = threading.Event()

        def watch() -> None:
            while not over.wait(LOOK):
                if self._progress(self._what, self.n_read):
                    self._stopped = True
                    with contextlib.suppress(self._driver.Error):
                        self.connection.cancel_safe(timeout=2.0)

        thread = threading.Thread(target=watch, daemon=True)
        thread.start()
        try:
            yield
        finally:
            over.set()
            thread.join()

    @contextlib.contextmanager
    def in_words(self) -> Iterator[None]:
        """What the server refuses, in our words; its own name hosts, users and data."""
        try:
            yield
        except self._driver.Error as error:
            if self._stopped:
                raise ReadingStopped from None
            raise _refusal(error.sqlstate or "", self.name) from None


def _refusal(state: str, name: str) -> SwiftError:
    if state == "57014":
        return refuse(
            "database-timeout",
            "The server ended a statement that took too long",
            name,
            "its time was up",
            "Allow more (--set limits.seconds=3600), or keep fewer features (--set top=200).",
        )
    if state == "42501":
        return refuse(
            "database-rights",
            "The user may not read a table",
            name,
            "no right to select",
            "Ask for GRANT USAGE on the schema and GRANT SELECT on its tables.",
        )
    if state.startswith(("57P", "08")) or not state:
        return refuse(
            "database-lost",
            "The connection to the database was lost",
            name,
            f"state {state or 'unknown'}",
            "Check that the server runs, then try again.",
        )
    return refuse(
        "database-refused",
        "The server refused a statement",
        name,
        f"SQLSTATE {state}",
        "Check that the tables are those of an OMOP CDM 5.",
    )

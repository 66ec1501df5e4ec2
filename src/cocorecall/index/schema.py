"""Opening the database: permissions, write-ahead logging, migrations, and what can go wrong there."""

from __future__ import annotations

import contextlib
import errno
import os
import stat
from collections.abc import Iterator
from pathlib import Path

import apsw

from cocorecall.errors import BusyError, IndexDamagedError, IndexTooNewError, RecallError

SCHEMA_VERSION = 2
"""`PRAGMA user_version` of an index that this program writes; the number of the newest migration."""

BUSY_TIMEOUT_MS = 10_000
_MIGRATIONS = Path(__file__).with_name("migrations")
_PREDECESSOR_TABLES = (
    "sessions", "turns", "tool_calls", "function_touches", "evaluation_results", "outcome_contracts",
    "strategy_usage", "key_decisions", "entities", "citations", "import_meta",
)  # fmt: skip


@contextlib.contextmanager
def plain_errors(path: Path) -> Iterator[None]:
    """Turn what SQLite raises for a user's disk, file or lock into a sentence with a remedy."""
    try:
        yield
    except apsw.BusyError as error:
        raise BusyError(
            f"The index {path} is in use by another process.", "Try again in a moment."
        ) from error
    except (apsw.NotADBError, apsw.CorruptError, UnicodeDecodeError) as error:
        raise _damaged(path, error) from error
    except apsw.FullError as error:
        raise _disk_full(path) from error
    except apsw.ReadOnlyError as error:
        raise RecallError(
            f"The index {path} cannot be written.", "Check the permissions of its folder."
        ) from error
    except (apsw.CantOpenError, apsw.IOError, apsw.PermissionsError) as error:
        if _is_full(path.parent):  # SQLite's shared memory, or its log, could not grow
            raise _disk_full(path) from error
        raise RecallError(
            f"The index {path} cannot be opened ({error}).", "Check the folder and its permissions."
        ) from error
    except OSError as error:
        if error.errno == errno.ENOSPC:
            raise _disk_full(path) from error
        raise RecallError(
            f"Cannot write to {path.parent}: {error.strerror or error}.",
            "Check the folder and its permissions.",
        ) from error


def _damaged(path: Path, error: Exception) -> IndexDamagedError:
    words = getattr(error, "extendedresult", 0) == apsw.SQLITE_CORRUPT_VTAB
    note_damage(path, str(error))
    if words:
        return IndexDamagedError(
            f"The full-text index in {path} is damaged ({error}).",
            "`recall doctor --fix` derives it anew from the stored turns; no transcript is needed.",
            damage="words",
        )
    return IndexDamagedError(
        f"The index {path} is damaged ({error}).",
        "Run `recall import`: it sets the damaged file aside, keeps what can be read of it, and reads the"
        " transcripts anew.",
        damage="file",
    )


def damage_note(path: Path) -> Path:
    """The file that says that damage was met; the next import then checks the whole index."""
    return path.parent / "recall" / "damage-seen"


def note_damage(path: Path, what: str) -> None:
    """Leave a note for the next import; where that cannot be written, damage is met again."""
    note = damage_note(path)
    with contextlib.suppress(OSError):
        note.parent.mkdir(mode=0o700, exist_ok=True)
        with os.fdopen(os.open(note, os.O_CREAT | os.O_WRONLY | os.O_TRUNC, 0o600), "w") as file:
            file.write(what)


def _disk_full(path: Path) -> RecallError:
    return RecallError(
        f"The disk that holds {path.parent} is full.",
        "What was committed is safe; free some space and run the command again.",
    )


def _is_full(folder: Path) -> bool:
    import shutil  # noqa: PLC0415 - only after an error

    try:
        return shutil.disk_usage(folder).free < _NEARLY_NOTHING
    except OSError:
        return False


_NEARLY_NOTHING = 65_536
"""Free bytes below which a failed write is put down to the disk."""


def open_for_writing(path: Path) -> apsw.Connection:
    """Open the index, create or migrate it as needed, and make it private to its owner.

    Raises:
        IndexTooNewError: a newer program wrote it; not a byte is changed.
        IndexDamagedError: it is no database.
        BusyError, RecallError: as the disk or another process has it.
    """
    with plain_errors(path):
        fresh = not path.exists()
        if fresh:
            os.close(os.open(path, os.O_CREAT | os.O_RDWR, stat.S_IRUSR | stat.S_IWUSR))
        connection = apsw.Connection(str(path))
        try:
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            version = _version(connection, path)
            _configure(connection)
            if version < SCHEMA_VERSION:
                migrate(connection, version)
        except BaseException:
            connection.close()
            raise
        return connection


def open_for_reading(path: Path) -> apsw.Connection:
    """Open an existing index to search it; on a read-only disk without its log, as it stands.

    The caller checks that the file exists. Schema older than `SCHEMA_VERSION` is migrated first, which
    needs a writable folder.

    Raises:
        IndexTooNewError, IndexDamagedError, BusyError, RecallError: as for `open_for_writing`.
    """
    with plain_errors(path):
        try:
            connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)
            version = _version(connection, path)
        except (apsw.CantOpenError, apsw.ReadOnlyError, apsw.IOError):
            # a read-only disk, or one so full that SQLite's shared memory has no room
            if _log_holds_something(path):
                raise
            uri = path.resolve().as_uri() + "?immutable=1"
            connection = apsw.Connection(uri, flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)
            version = _version(connection, path)
    if version < SCHEMA_VERSION:
        connection.close()
        return open_for_writing(path)
    with plain_errors(path):
        connection.execute("PRAGMA temp_store = MEMORY")
        _meet_damage(connection, path)
    return connection


def _log_holds_something(path: Path) -> bool:
    """Whether the database file alone is not the whole index."""
    try:
        return path.with_name(path.name + "-wal").stat().st_size > 0
    except OSError:
        return False


def _meet_damage(connection: apsw.Connection, path: Path) -> None:
    """Read the schema now, so that damage of it is met here and not in the middle of an answer."""
    try:
        connection.execute("SELECT 1 FROM turn_words LIMIT 0")
    except apsw.SQLError as error:  # a table is missing, or the full-text index cannot be set up
        raise _damaged(path, error) from error


def _version(connection: apsw.Connection, path: Path) -> int:
    version = int(connection.pragma("user_version"))
    if version > SCHEMA_VERSION:
        connection.close()
        raise IndexTooNewError(
            f"The index {path} has schema {version}, written by a newer CocoRecall; this one knows {SCHEMA_VERSION}.",
            "Its data is intact: upgrade CocoRecall to read it.",
        )
    return version


def _configure(connection: apsw.Connection) -> None:
    from cocorecall.index.volumes import network_type  # noqa: PLC0415 - a search does not write

    # a write-ahead log needs memory that all its users share, which a network file system has not
    mode = "DELETE" if network_type(Path(connection.filename)) else "WAL"
    connection.execute(f"PRAGMA journal_mode = {mode}")
    # NORMAL: a power cut may cost the last commits, never the database; transcripts fill them in again
    connection.execute("PRAGMA synchronous = NORMAL")
    connection.execute("PRAGMA temp_store = MEMORY")
    connection.execute("PRAGMA journal_size_limit = 16777216")
    connection.execute("PRAGMA cache_size = -65536")
    connection.execute("PRAGMA wal_autocheckpoint = 16000")


def migrate(connection: apsw.Connection, version: int, wanted: int = SCHEMA_VERSION) -> None:
    """Bring an index from one schema to another, one transaction a step."""
    for step in range(version + 1, wanted + 1):
        script = next(_MIGRATIONS.glob(f"{step:04d}_*.sql")).read_text(encoding="utf-8")
        connection.execute("BEGIN IMMEDIATE")
        try:
            # another process may have migrated while this one waited for the lock
            if int(connection.pragma("user_version")) < step:
                old = _set_predecessor_aside(connection) if step == 1 else []
                connection.execute(script)
                if old:
                    from cocorecall.index.predecessor import carry_over  # noqa: PLC0415 - once in a lifetime

                    carry_over(connection, old)
                connection.execute(f"PRAGMA user_version = {step}")
            connection.execute("COMMIT")
        except BaseException as error:
            if connection.in_transaction:  # a full disk has ended it already
                connection.execute("ROLLBACK")
            if isinstance(error, apsw.SQLError):
                raise IndexDamagedError(
                    f"{connection.filename} holds tables that are not CocoRecall's ({error}).",
                    "Move the file away and run `recall import`.",
                ) from error
            raise


def _set_predecessor_aside(connection: apsw.Connection) -> list[str]:
    """Rename the tables of the JavaScript predecessor (user_version 0, same names) out of the way."""
    query = "SELECT name FROM sqlite_schema WHERE type = 'table'"
    present = {str(name) for (name,) in connection.execute(query)}
    old = [name for name in _PREDECESSOR_TABLES if name in present]
    for name in old:
        indexes = connection.execute(
            "SELECT name FROM sqlite_schema WHERE type = 'index' AND tbl_name = ? AND sql IS NOT NULL",
            (name,),
        ).fetchall()
        for (index,) in indexes:
            connection.execute(f'DROP INDEX "{index}"')
        connection.execute(f'ALTER TABLE "{name}" RENAME TO "predecessor_{name}"')
    return old

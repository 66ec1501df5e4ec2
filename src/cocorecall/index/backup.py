"""Backup and restore: whole copies by SQLite's own backup, while others read and write."""

from __future__ import annotations

import contextlib
import os
from collections.abc import Iterator
from pathlib import Path

import apsw

from cocorecall.errors import IndexDamagedError, IndexTooNewError, RecallError, UsageError
from cocorecall.index import tombstones
from cocorecall.index.docs import rows
from cocorecall.index.forgetting import Forgetter, note_backup
from cocorecall.index.glance import damage_at_a_glance
from cocorecall.index.recovery import deep_damage, discard_recovery, set_aside
from cocorecall.index.schema import SCHEMA_VERSION, damage_note, open_for_writing, plain_errors
from cocorecall.model.doctor import BackupReport, RestoreReport
from cocorecall.project import Place


def backup(place: Place, source: apsw.Connection, target: Path, *, force: bool) -> BackupReport:
    """Copy the index as it stands at this moment into one file, check the copy, and put it in place.

    Raises:
        UsageError: the file exists, or is the index itself.
        IndexDamagedError: the copy is not sound, because the index is not.
        RecallError: it cannot be written.
    """
    _refuse_target(place, target, force=force)
    building = target.with_name(f".{target.name}.{os.getpid()}.tmp")
    try:
        with _writing(target):
            os.close(os.open(building, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
            with plain_errors(building):
                sessions, turns = _copy_into(source, building)
            with building.open("rb+") as file:
                os.fsync(file.fileno())
            building.replace(target)
    finally:
        building.unlink(missing_ok=True)
    with contextlib.suppress(OSError):
        note_backup(place, target)
    return BackupReport(str(target), target.stat().st_size, sessions, turns)


def _refuse_target(place: Place, target: Path, *, force: bool) -> None:
    if target.is_dir():
        raise UsageError(f"{target} is a folder.", "Name a file: recall backup recall-backup.db")
    if target.exists() and os.path.samefile(target, place.index_path):  # noqa: PTH121 - of two paths
        raise UsageError(f"{target} is the index itself.", "Name another file.")
    if target.exists() and not force:
        raise UsageError(f"{target} exists.", "Name another file, or add --force to replace it.")


@contextlib.contextmanager
def _writing(target: Path) -> Iterator[None]:
    try:
        yield
    except OSError as error:
        raise RecallError(
            f"Cannot write {target}: {error.strerror or error}.", "Name another file."
        ) from error


def _copy_into(source: apsw.Connection, path: Path) -> tuple[int, int]:
    """Copy and check; (sessions, turns) of the copy."""
    copy = apsw.Connection(str(path))
    try:
        copy.execute("PRAGMA journal_mode = OFF")  # the file is new: nothing to roll back to
        _copy(source, copy)
        copy.execute("PRAGMA journal_mode = DELETE")  # one file, without a log
        file, words = deep_damage(copy)
        if file:
            raise IndexDamagedError(
                f"The index is damaged ({file}), so no backup was written.",
                "Run `recall import`: it keeps what can be read. Then back up again.",
                damage="file",
            )
        if words:
            raise IndexDamagedError(
                f"The full-text index is damaged ({words}), so no backup was written.",
                "Run `recall doctor --fix`, then back up again.",
                damage="words",
            )
        return _totals(copy)
    finally:
        copy.close()


def _copy(source: apsw.Connection, target: apsw.Connection) -> None:
    """One step copies all: another process's writes then wait for no one, and never begin it anew."""
    with target.backup("main", source, "main") as copying:
        while not copying.done:
            copying.step(-1)


def _totals(connection: apsw.Connection) -> tuple[int, int]:
    row = rows(connection, "SELECT (SELECT count(*) FROM sessions), (SELECT count(*) FROM turns)")[0]
    return int(row[0]), int(row[1])


# --- restore ------------------------------------------------------------------------------------------


def restore(place: Place, source: Path, now: str) -> RestoreReport:
    """Put a backup in the index's place; what was there is set aside, what was forgotten since stays so.

    The backup is first made ready beside the index. A sound index is then overwritten in one transaction, so
    that searches in other processes go on; a damaged one is renamed. The caller holds the import lock.

    Raises:
        UsageError: there is no such file.
        IndexDamagedError: the backup is not sound, or no index of ours.
        IndexTooNewError: a newer program wrote it.
        RecallError: the disk or another process is in the way.
    """
    index = place.index_path
    _check(source)
    ready = index.with_name(index.name + ".restoring")
    _discard(ready)
    try:
        with plain_errors(index):
            stones = _present_stones(place)
            forgotten_again, totals = _make_ready(source, ready, stones, now)
            aside = _put_in_place(index, ready, now)
        discard_recovery(index)
        tombstones.write_file(place, _stones_of(index))
        damage_note(index).unlink(missing_ok=True)
    finally:
        _discard(ready)
    return RestoreReport(str(source), *totals, aside, forgotten_again)


def _discard(path: Path) -> None:
    for suffix in ("", "-wal", "-shm", "-journal"):
        path.with_name(path.name + suffix).unlink(missing_ok=True)


def _check(path: Path) -> None:
    if not path.is_file():
        raise UsageError(f"There is no backup {path}.")
    problem = damage_at_a_glance(path) or (None if path.stat().st_size else "it is empty")
    if problem is None:
        try:
            problem = _deep_problem(path)
        except apsw.Error as error:
            problem = str(error)
    if problem:
        raise IndexDamagedError(
            f"The backup {path} is damaged ({problem}); nothing was changed.", "Take another backup."
        )


def _deep_problem(path: Path) -> str | None:
    connection = apsw.Connection(path.resolve().as_uri() + "?immutable=1",
                                 flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)  # fmt: skip
    try:
        version = int(connection.pragma("user_version"))
        if version > SCHEMA_VERSION:
            raise IndexTooNewError(
                f"The backup {path} has schema {version}, written by a newer CocoRecall; this one knows"
                f" {SCHEMA_VERSION}.",
                "Its data is intact: upgrade CocoRecall to restore it.",
            )
        tables = {
            str(n) for (n,) in connection.execute("SELECT name FROM sqlite_schema WHERE type = 'table'")
        }
        if not {"sessions", "turns"} <= tables:
            return "it holds no index of CocoRecall"
        return next((p for p in deep_damage(connection) if p), None)
    finally:
        connection.close()


def _present_stones(place: Place) -> dict[str, str]:
    stones = tombstones.read_file(place)
    if place.index_path.exists():
        with contextlib.suppress(IndexDamagedError, apsw.Error):
            stones |= _stones_of(place.index_path)
    return stones


def _stones_of(index: Path) -> dict[str, str]:
    connection = open_for_writing(index)
    try:
        return tombstones.read(connection)
    finally:
        connection.close()


def _make_ready(source: Path, ready: Path, stones: dict[str, str], now: str) -> tuple[int, tuple[int, int]]:
    """A copy of the backup in this program's schema, without what was forgotten since it was made."""
    os.close(os.open(ready, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    old = apsw.Connection(source.resolve().as_uri() + "?immutable=1",
                          flags=apsw.SQLITE_OPEN_READONLY | apsw.SQLITE_OPEN_URI)  # fmt: skip
    copy = apsw.Connection(str(ready))
    try:
        _copy(old, copy)
    finally:
        copy.close()
        old.close()
    connection = open_for_writing(ready)
    try:
        tombstones.replace(connection, stones | tombstones.read(connection))
        held = rows(connection, "SELECT id, agent, native_id FROM sessions")
        doomed = [str(sid) for sid, agent, native in held if tombstones.tombstone(agent, native) in stones]
        if doomed:
            forgetter = Forgetter(connection)
            forgetter.forget(doomed, now)
            forgetter.compact()
        # what lies in the sources may have changed since: the next import reads it anew where it has
        totals = _totals(connection)
        connection.execute("PRAGMA journal_mode = DELETE")
    finally:
        connection.close()
    return len(doomed), totals


def _put_in_place(index: Path, ready: Path, now: str) -> str | None:
    if not index.exists():
        set_aside(index, "replaced", now)  # a log without its database
        ready.replace(index)
        return None
    try:
        aside = _copy_aside(index, now)
    except (apsw.CorruptError, apsw.NotADBError, IndexDamagedError):
        damaged = set_aside(index, "damaged", now)
        ready.replace(index)
        return damaged
    source, target = apsw.Connection(str(ready)), open_for_writing(index)
    try:
        _copy(source, target)
        target.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    finally:
        target.close()
        source.close()
    return aside


def _copy_aside(index: Path, now: str) -> str:
    stamp = now.replace(":", "").replace("-", "").split(".")[0]
    target, n = index.with_name(f"{index.name}.replaced-{stamp}"), 1
    while target.exists():
        n += 1
        target = index.with_name(f"{index.name}.replaced-{stamp}-{n}")
    building = index.with_name(index.name + ".replacing")
    _discard(building)
    os.close(os.open(building, os.O_CREAT | os.O_EXCL | os.O_RDWR, 0o600))
    source, copy = open_for_writing(index), apsw.Connection(str(building))
    try:
        _copy(source, copy)
        copy.execute("PRAGMA journal_mode = DELETE")
        if copy.execute("PRAGMA quick_check(1)").fetchall() != [("ok",)]:
            raise IndexDamagedError(f"The index {index} is damaged.", damage="file")
    finally:
        copy.close()
        source.close()
    building.replace(target)
    return str(target)

"""A damaged index: what can be read is carried over into a new file, and the damaged one is set aside.

The new file is built beside the damaged one (`recall.db.recovering`), named `recall.db.recovered` once it is
whole, and then takes the place of the damaged one, which stays as `recall.db.damaged-<time>` with its log.
A crash on the way leaves either the damaged index or a whole new one, and the next import goes on.
"""

from __future__ import annotations

import contextlib
import hashlib
import os
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from cocorecall.errors import IndexDamagedError, RecallError
from cocorecall.index.docs import MAX_SEQ, doc_range, rows, transaction
from cocorecall.index.glance import MAGIC, damage_at_a_glance
from cocorecall.index.pages import DamagedFile
from cocorecall.index.schema import (
    SCHEMA_VERSION,
    damage_note,
    migrate,
    open_for_writing,
    plain_errors,
)
from cocorecall.index.volumes import network_type
from cocorecall.index.writer import IndexWriter
from cocorecall.model.doctor import PartlyLost, RecoveryReport

SIDE_FILES = ("-wal", "-shm", "-journal")
LOST_PATH = "(lost)"
"""Stands for the transcript of a session of which only turns could be saved."""
UNKNOWN_AGENT = "unknown"
"""Stands for its agent; an import that finds the transcript puts the true one in its place."""

UNREADABLE = (apsw.Error, UnicodeDecodeError)
"""What reading a damaged database can raise."""

_HEADER = 100
_MIN_ROWID, _MAX_ROWID = -(1 << 63), (1 << 63) - 1
_BATCH = 500
_DERIVED = {"speakers"}
"""Tables that are derived from others after all rows are there."""


@dataclass(slots=True)
class Salvage:
    """What was carried over, before the transcripts fill the gaps.

    Attributes:
        expected: turns that each session held, as its row says; by session id.
        held: rows of a table that could not be read whole, as far as they could be counted.
    """

    what: str = "file"
    set_aside: str | None = None
    carried: dict[str, int] = field(default_factory=dict)
    unreadable: dict[str, int] = field(default_factory=dict)
    expected: dict[str, int] = field(default_factory=dict)
    held: dict[str, int | None] = field(default_factory=dict)

    def report(self, connection: apsw.Connection) -> RecoveryReport:
        """The report, after the import has read what transcripts there are."""
        present = dict(rows(connection, "SELECT id, turn_count FROM sessions"))
        lost = tuple(
            PartlyLost(sid, turns, turns - present.get(sid, 0))
            for sid, turns in sorted(self.expected.items())
            if present.get(sid, 0) < turns
        )
        return RecoveryReport(
            "words" if self.what == "words" else "file",
            self.set_aside,
            tuple(self.carried.items()),
            tuple(sorted(self.unreadable.items(), key=lambda t: (t[0] not in _PROOFS, t[0]))),
            lost,
        )


# --- is it damaged? -----------------------------------------------------------------------------------


def _side(path: Path, suffix: str) -> Path:
    return path.with_name(path.name + suffix)


def deep_damage(connection: apsw.Connection) -> tuple[str | None, str | None]:
    """(damage of the database, damage of the full-text index), each the first sentence or None.

    Reads the whole file.
    """
    try:
        lines = [str(row[0]) for row in connection.execute("PRAGMA integrity_check(20)")]
    except UNREADABLE as error:
        return str(error), None
    words = [line for line in lines if "fts5" in line.lower() or "inverted index" in line]
    file = next((line for line in lines if line != "ok" and line not in words), None)
    try:
        file = file or _changed_text(connection)
    except UNREADABLE as error:
        file = str(error)
    return file, words[0] if words else None


def _changed_text(connection: apsw.Connection) -> str | None:
    """SQLite does not notice a bit that flips inside a text; the turn's hash does."""
    changed = [
        str(turn_id)
        for turn_id, digest, text in connection.execute("SELECT id, text_hash, CAST(text AS BLOB) FROM turns")
        if digest and hashlib.sha256(text).hexdigest() != digest
    ]
    if not changed:
        return _missing_turns(connection)
    named = ", ".join(changed[:3]) + (" …" if len(changed) > 3 else "")  # noqa: PLR2004 - three are enough
    return f"the text of {len(changed):,} turns is not what was stored: {named}"


def _missing_turns(connection: apsw.Connection) -> str | None:
    """Nor that a bit which flips in a page's head hides rows of it."""
    missing = rows(
        connection,
        "SELECT count(*), coalesce(sum(turn_count - stored), 0) FROM (SELECT turn_count, (SELECT count(*) FROM turns"
        " WHERE doc BETWEEN s.number << 24 AND (s.number << 24) | 16777215) AS stored FROM sessions s)"
        " WHERE turn_count > stored",
    )[0]
    return f"{missing[1]:,} turns of {missing[0]:,} sessions are missing" if missing[0] else None


# --- mending ------------------------------------------------------------------------------------------


def mend(path: Path, now: str, *, damage: str | None = None) -> Salvage | None:
    """Mend an index that is damaged, before an import; None where there is nothing to mend.

    The caller holds the import lock and has no connection open.

    Args:
        path: the database file.
        now: ISO time, for the name of the file that is set aside.
        damage: `file` or `words` where damage was met already; else the file is looked at, and checked
            through and through only where a command met damage before.

    Raises:
        IndexDamagedError: it lies on a network file system, where files are left alone.
        IndexTooNewError, RecallError: as for opening.
    """
    _finish_swap(path, now)
    if damage is None:
        damage = _known_damage(path)
    if damage is None:
        return None
    kind = network_type(path)
    if kind:
        raise IndexDamagedError(
            f"The index {path} is damaged, and lies on a network file system ({kind}).",
            "Nothing is repaired there: move it to a local disk, or for the personal index set COCORECALL_HOME"
            " to a local folder, and run `recall import`.",
            damage="file",
        )
    salvage = _mend_words(path) if damage == "words" else None
    if salvage is None:
        salvage = _mend_file(path, now)
    damage_note(path).unlink(missing_ok=True)
    return salvage


def _known_damage(path: Path) -> str | None:
    if not path.exists():
        return None
    if damage_at_a_glance(path):
        return "file"
    note = damage_note(path)
    if not note.exists():
        return None
    try:
        connection = open_for_writing(path)
    except IndexDamagedError as error:
        if error.damage is None:
            raise
        return error.damage
    try:
        file, words = deep_damage(connection)
    finally:
        connection.close()
    if not file and not words:
        note.unlink(missing_ok=True)
    return "file" if file else "words" if words else None


def _mend_words(path: Path) -> Salvage | None:
    """Derive the full text anew in place; None where the file itself is in the way."""
    try:
        connection = open_for_writing(path)
    except IndexDamagedError:
        return None
    try:
        rebuild_words(connection)
    except (apsw.CorruptError, apsw.NotADBError, apsw.SQLError, UnicodeDecodeError):
        return None
    else:
        return Salvage("words")
    finally:
        connection.close()


def rebuild_words(connection: apsw.Connection) -> None:
    """Derive the full-text index anew from stored turns, in one transaction, and check it.

    Raises:
        apsw.Error: its tables are too damaged for that; nothing was changed.
    """
    with transaction(connection):
        IndexWriter(connection).rebuild_words()
        connection.execute("INSERT INTO turn_words (turn_words) VALUES ('integrity-check')")


def _mend_file(path: Path, now: str) -> Salvage:
    building = _side(path, ".recovering")
    _remove(building)
    with plain_errors(building):
        salvage = _salvage(path, building)
    building.replace(_side(path, ".recovered"))
    salvage.set_aside = _finish_swap(path, now)
    return salvage


def discard_recovery(path: Path) -> None:
    """Remove what an unfinished recovery of an index left: another file has taken its place."""
    for suffix in (".recovering", ".recovered"):
        _remove(_side(path, suffix))


def _remove(path: Path) -> None:
    for suffix in ("", *SIDE_FILES):
        _side(path, suffix).unlink(missing_ok=True)


def _finish_swap(path: Path, now: str) -> str | None:
    """Put a whole new file in the damaged one's place; also after a crash in the middle of it."""
    whole = _side(path, ".recovered")
    if not whole.exists():
        return None
    aside = set_aside(path, "damaged", now)
    whole.replace(path)
    return aside


def set_aside(path: Path, why: str, now: str) -> str | None:
    """Rename an index with its side files to `recall.db.<why>-<time>`; its new path, or None where none is there.

    Raises:
        RecallError: it cannot be renamed: on Windows, another program has it open.
    """
    stamp = now.replace(":", "").replace("-", "").split(".")[0]
    target = _side(path, f".{why}-{stamp}")
    n = 1
    while any(_side(target, s).exists() for s in ("", *SIDE_FILES)):
        n += 1
        target = _side(path, f".{why}-{stamp}-{n}")
    existed = path.exists()
    try:
        # the log first: a new file must never find the old one's
        for suffix in (*SIDE_FILES, ""):
            with contextlib.suppress(FileNotFoundError):
                _side(path, suffix).rename(_side(target, suffix))
    except OSError as error:
        raise RecallError(
            f"The damaged index {path} cannot be set aside ({error.strerror or error}).",
            "End the programs that have it open and run the command again.",
        ) from error
    return str(target) if existed else None


# --- carrying over ------------------------------------------------------------------------------------


def _salvage(path: Path, building: Path) -> Salvage:
    salvage = Salvage()
    version = _header_version(path)
    os.close(os.open(building, os.O_CREAT | os.O_RDWR, 0o600))
    fresh = apsw.Connection(str(building))
    try:
        fresh.execute("PRAGMA journal_mode = DELETE")
        fresh.execute("PRAGMA temp_store = MEMORY")
        old = _open_damaged(path)
        try:
            _carry_over(old, fresh, version, salvage)
        finally:
            if old is not None:
                old.close()
        if version and (old is None or any(t in salvage.unreadable for t in _PROOFS)):
            _carry_pages(path, fresh, salvage)
        _count_again(salvage)
        _complete(fresh, salvage)
    finally:
        fresh.close()
    return salvage


def _header_version(path: Path) -> int:
    with path.open("rb") as file:
        header = file.read(_HEADER)
    version = int.from_bytes(header[60:64], "big")
    return version if header.startswith(MAGIC) and version <= SCHEMA_VERSION else SCHEMA_VERSION


def _open_damaged(path: Path) -> apsw.Connection | None:
    """Open for reading and change nothing: not even the log is written back into the file."""
    try:
        connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READWRITE)
    except UNREADABLE:
        return None
    try:
        connection.config(apsw.SQLITE_DBCONFIG_NO_CKPT_ON_CLOSE, 1)
        connection.execute("PRAGMA query_only = ON")
        connection.execute("PRAGMA cell_size_check = ON")
        connection.execute("SELECT count(*) FROM sqlite_schema").fetchall()
        connection.execute("SELECT 1 FROM sessions LIMIT 0").fetchall()
    except UNREADABLE:
        connection.close()
        return None
    return connection


def _carry_over(old: apsw.Connection | None, fresh: apsw.Connection, version: int, salvage: Salvage) -> None:
    if version == 0 and old is not None:  # the predecessor's: its own tables first, then the migration
        _create_as_in(old, fresh)
    else:
        migrate(fresh, 0, max(version, 1))
    for table in _tables(fresh):
        if old is None:
            salvage.unreadable[table] = -1
        else:
            _carry_table(old, fresh, table, salvage)
    migrate(fresh, 0 if version == 0 and old is not None else max(version, 1))


def _create_as_in(old: apsw.Connection, fresh: apsw.Connection) -> None:
    with contextlib.suppress(*UNREADABLE):
        for (sql,) in old.execute(
            "SELECT sql FROM sqlite_schema WHERE type = 'table' AND name NOT LIKE 'sqlite%'"
        ):
            with contextlib.suppress(*UNREADABLE):
                fresh.execute(sql)


def _tables(connection: apsw.Connection) -> list[str]:
    found = connection.execute(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%'"
        " ORDER BY name = 'turns', name"
    )
    return [str(name) for (name,) in found if name not in _DERIVED]


def _carry_table(old: apsw.Connection, fresh: apsw.Connection, table: str, salvage: Salvage) -> None:
    theirs = _columns(old, table)
    columns = [c for c in _columns(fresh, table) if c in theirs]
    if not columns:
        salvage.unreadable[table] = -1
        return
    reader = _TableReader(old, table, columns)
    marks = ", ".join("?" * len(columns))
    names = ", ".join(f'"{c}"' for c in columns)
    statement = f'INSERT OR IGNORE INTO "{table}" ({names}) VALUES ({marks})'
    sound = _sound_turns(columns) if table == "turns" and "text_hash" in columns else None
    before = fresh.total_changes()
    fresh.execute("BEGIN")
    batch: list[Sequence[Any]] = []
    for row in reader.rows():
        if sound is None or sound(row):
            batch.append(row)
        else:
            reader.broken = True
        if len(batch) >= _BATCH:
            fresh.executemany(statement, batch)
            batch = []
    fresh.executemany(statement, batch)
    fresh.execute("COMMIT")
    carried = fresh.total_changes() - before
    salvage.carried[table] = carried
    if reader.broken:
        salvage.held[table] = _count(old, table)
        salvage.unreadable[table] = -1


def _count_again(salvage: Salvage) -> None:
    """How many rows of each table are still missing, where it is known how many there were."""
    for table in list(salvage.unreadable):
        held = salvage.held.get(table)
        if held is not None:
            missing = held - salvage.carried.get(table, 0)
            if missing > 0:
                salvage.unreadable[table] = missing
            else:
                del salvage.unreadable[table]


def _sound_turns(columns: Sequence[str]) -> Any:
    """A check that a turn's text still has its hash; one with another is not what was said."""
    text, digest = columns.index("text"), columns.index("text_hash")

    def is_sound(row: Sequence[Any]) -> bool:
        if not row[digest]:
            return True  # the predecessor's may have none
        return isinstance(row[text], str) and hashlib.sha256(row[text].encode()).hexdigest() == row[digest]

    return is_sound


def _columns(connection: apsw.Connection, table: str) -> list[str]:
    try:
        return [str(r[1]) for r in connection.execute(f'PRAGMA table_info("{table}")')]
    except UNREADABLE:
        return []


def _count(connection: apsw.Connection, table: str) -> int | None:
    """Rows of a table, counted over whichever of its trees can still be read."""
    try:
        return int(rows(connection, f'SELECT count(*) FROM "{table}"')[0][0])
    except UNREADABLE:
        return None


class _TableReader:
    """Reads all that can be read of a table: past a place that cannot, it goes on behind it."""

    def __init__(self, connection: apsw.Connection, table: str, columns: Sequence[str]) -> None:
        self._db = connection
        self._table = table
        self._names = ", ".join(f'"{c}"' for c in columns)
        self.broken = False

    def rows(self) -> Iterator[Sequence[Any]]:
        try:
            self._db.execute(f'SELECT rowid FROM "{self._table}" LIMIT 0').fetchall()
        except apsw.SQLError:
            yield from self._both_ways()
        except UNREADABLE:
            self.broken = True
        else:
            yield from self._by_rowid()

    def _by_rowid(self) -> Iterator[Sequence[Any]]:
        following, jump = _MIN_ROWID, 1
        while following <= _MAX_ROWID:
            start = following
            try:
                for rowid, *row in self._db.execute(
                    f'SELECT rowid, {self._names} FROM "{self._table}" WHERE rowid >= ? ORDER BY rowid',
                    (following,),
                ):
                    if rowid < following:
                        raise apsw.CorruptError("rows out of order")
                    following = rowid + 1
                    yield row
            except UNREADABLE:
                self.broken = True
                # where the place found cannot be read on from after all, the next try begins further behind
                jump = 1 if following > start else jump * 2
                readable = self._next_readable(following)
                if readable is None:
                    return
                following = readable - 1 + jump
            else:
                return

    def _next_readable(self, bad: int) -> int | None:
        """The first rowid behind a bad one from which reading goes on; None where nothing more can be read."""
        step, good = 1, bad + 1
        while good <= _MAX_ROWID and not self._reads_from(good):
            bad, step = good, step * 2
            good = bad + step
        if good > _MAX_ROWID:
            return None
        while good - bad > 1:
            middle = (good + bad) // 2
            if self._reads_from(middle):
                good = middle
            else:
                bad = middle
        return good

    def _reads_from(self, rowid: int) -> bool:
        """Whether the first row at or behind a rowid can be read; at the end of the table, whether that is seen."""
        try:
            found = rows(
                self._db,
                f'SELECT rowid, {self._names} FROM "{self._table}" WHERE rowid >= ? ORDER BY rowid LIMIT 1',
                (rowid,),
            )
        except UNREADABLE:
            return False
        return not found or found[0][0] >= rowid

    def _both_ways(self) -> Iterator[Sequence[Any]]:
        """A table without rowids: from its beginning, and where that breaks off, from its end."""
        seen = 0
        try:
            for row in self._db.execute(f'SELECT {self._names} FROM "{self._table}"'):
                seen += 1
                yield row
        except UNREADABLE:
            self.broken = True
        else:
            return
        key = [str(r[1]) for r in self._db.execute(f'PRAGMA table_info("{self._table}")') if r[5]]
        order = ", ".join(f'"{c}" DESC' for c in key)
        try:
            yield from self._db.execute(f'SELECT {self._names} FROM "{self._table}" ORDER BY {order}')
        except UNREADABLE:
            return


# --- making it whole ----------------------------------------------------------------------------------


def _carry_pages(path: Path, fresh: apsw.Connection, salvage: Salvage) -> None:
    """Rows that no tree leads to any more, from the file's pages: those whose own contents prove them."""
    file = DamagedFile(path)
    columns = {table: _columns(fresh, table) for table in _PROOFS if _columns(fresh, table)}
    seen: dict[str, set[int]] = {}
    fresh.execute("BEGIN")
    try:
        for rowid, values in file.rows():
            table = next((t for t, names in columns.items() if _PROOFS[t](rowid, values, names)), None)
            if table is None:
                continue
            row = list(values) + [None] * (len(columns[table]) - len(values))
            if table == "turns":
                row[columns[table].index("doc")] = rowid
            elif not _is_news(fresh, table, columns[table], row, seen):
                continue
            names = ", ".join(f'"{c}"' for c in columns[table][: len(values)])
            marks = ", ".join("?" * len(values))
            before = fresh.total_changes()
            fresh.execute(f'INSERT OR IGNORE INTO "{table}" ({names}) VALUES ({marks})', row[: len(values)])
            salvage.carried[table] = salvage.carried.get(table, 0) + fresh.total_changes() - before
        fresh.execute("COMMIT")
    finally:
        file.close()


def _is_news(
    fresh: apsw.Connection, table: str, names: Sequence[str], row: list[Any], seen: dict[str, set[int]]
) -> bool:
    """Whether a row of a table without a key of its own was not carried over before."""
    if table == "sessions":
        return True  # its key decides
    if table not in seen:
        quoted = ", ".join(f'"{c}"' for c in names)
        seen[table] = {hash(r) for r in fresh.execute(f'SELECT {quoted} FROM "{table}"')}
    key = hash(tuple(row))
    if key in seen[table]:
        return False
    seen[table].add(key)
    return True


def _is_turn(rowid: int, values: Sequence[Any], names: Sequence[str]) -> bool:
    if not _TURN_COLUMNS <= len(values) <= len(names):
        return False
    turn = dict(zip(names, values, strict=False))
    text = turn["text"]
    return (
        turn["id"] == f"{turn['session_id']}:{turn['seq']}"
        and rowid & MAX_SEQ == turn["seq"]
        and isinstance(text, str)
        and turn["text_hash"] == hashlib.sha256(text.encode()).hexdigest()
    )


def _is_session(rowid: int, values: Sequence[Any], names: Sequence[str]) -> bool:
    del rowid
    if not _SESSION_COLUMNS <= len(values) <= len(names):
        return False
    session = dict(zip(names, values, strict=False))
    texts = all(
        isinstance(session[c], str) and session[c] for c in ("id", "native_id", "agent", "source_path")
    )
    return (
        texts and isinstance(session["number"], int) and str(session["id"]).startswith(session["native_id"])
    )


def _is_call(rowid: int, values: Sequence[Any], names: Sequence[str]) -> bool:
    del rowid
    if len(values) != len(names):
        return False
    call = dict(zip(names, values, strict=True))
    doc = call["doc"]
    named = isinstance(call["name"], str) and isinstance(call["position"], int)
    return named and isinstance(doc, int) and call["turn_id"] == f"{call['session_id']}:{doc & MAX_SEQ}"


def _is_citation(rowid: int, values: Sequence[Any], names: Sequence[str]) -> bool:
    del rowid
    if len(values) != len(names):
        return False
    cited = dict(zip(names, values, strict=True))
    texts = all(isinstance(cited[c], str) for c in ("query", "session_id", "turn_id", "ts"))
    return (
        texts and cited["source_exists"] in (0, 1) and cited["turn_id"].startswith(cited["session_id"] + ":")
    )


_TURN_COLUMNS, _SESSION_COLUMNS = 22, 20
"""Columns of the first schema: a row that was written before a column was added has no value for it."""
_PROOFS = {"turns": _is_turn, "sessions": _is_session, "tool_calls": _is_call, "citations": _is_citation}


def _complete(fresh: apsw.Connection, salvage: Salvage) -> None:
    """Sessions for turns that lost theirs, totals, full text; every transcript is to be read again."""
    writer = IndexWriter(fresh)
    fresh.execute("BEGIN IMMEDIATE")
    fresh.execute(
        "DELETE FROM sessions WHERE typeof(number) <> 'integer' OR number NOT BETWEEN 1 AND 549755813887"
    )
    fresh.execute("DELETE FROM turns WHERE typeof(seq) <> 'integer' OR id <> session_id || ':' || seq")
    _adopt_orphans(fresh)
    salvage.expected = dict(rows(fresh, "SELECT id, turn_count FROM sessions"))
    fresh.execute(
        "UPDATE sessions SET (turn_count, chars) = (SELECT count(*), coalesce(sum(chars), 0) FROM turns"
        " WHERE doc BETWEEN sessions.number << 24 AND (sessions.number << 24) | 16777215)"
    )
    fresh.execute("UPDATE transcripts SET signature = ''")
    fresh.execute("DELETE FROM speakers")
    fresh.execute("INSERT INTO speakers SELECT speaker_role, count(*) FROM turns GROUP BY speaker_role")
    drop_orphans(fresh)
    writer.rebuild_words()
    writer.refresh_totals()
    fresh.execute("COMMIT")


def _adopt_orphans(fresh: apsw.Connection) -> None:
    """Give turns whose session's row is lost a row with what the turns tell."""
    orphans = rows(
        fresh,
        "SELECT DISTINCT session_id, doc >> 24 FROM turns WHERE session_id NOT IN (SELECT id FROM sessions)",
    )
    for session_id, number in orphans:
        bounds = doc_range(number)
        # a row of the same number would be another session's; then these turns have no place
        taken = fresh.execute("SELECT 1 FROM sessions WHERE number = ?", (number,)).fetchall()
        if taken:
            fresh.execute("DELETE FROM turns WHERE session_id = ?", (session_id,))
            continue
        fresh.execute(
            "INSERT INTO sessions (id, start_time, end_time, source_path, number, native_id, agent, turn_count)"
            " SELECT ?1, min(timestamp), max(timestamp), ?2, ?3, ?4, ?5, max(seq) + 1 FROM turns"
            " WHERE doc BETWEEN ?6 AND ?7",
            (session_id, LOST_PATH, number, _native(session_id), UNKNOWN_AGENT, *bounds),
        )  # fmt: skip


def _native(session_id: str) -> str:
    head, tilde, tail = session_id.rpartition("~")
    return head if tilde and tail.isdigit() else session_id


_OF_TURNS = ("tool_calls", "records", "copies")
"""Tables whose rows belong to a stored turn. A facet may also name a copied turn, which another session holds."""


def _orphans(connection: apsw.Connection) -> Iterator[tuple[str, str]]:
    """(table, condition) of rows that belong to no turn or session."""
    for table in _tables(connection):
        columns = _columns(connection, table)
        conditions = []
        if table in _OF_TURNS:
            conditions.append("doc IS NOT NULL AND doc NOT IN (SELECT doc FROM turns)")
        if "session_id" in columns:
            conditions.append("session_id NOT IN (SELECT id FROM sessions)")
        if conditions:
            yield table, " OR ".join(conditions)


def drop_orphans(connection: apsw.Connection) -> int:
    """Delete rows that belong to no turn or session, turns included; how many. A transaction is open."""
    before = connection.total_changes()
    for table, condition in _orphans(connection):
        connection.execute(f'DELETE FROM "{table}" WHERE {condition}')
    return connection.total_changes() - before


def count_orphans(connection: apsw.Connection) -> dict[str, int]:
    """Rows that belong to no turn or session, by table; turns without a session included."""
    found: dict[str, int] = {}
    for table, condition in _orphans(connection):
        n = int(rows(connection, f'SELECT count(*) FROM "{table}" WHERE {condition}')[0][0])
        if n:
            found[table] = n
    return found

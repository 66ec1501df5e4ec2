"""Forgetting sessions: out of every table, the full text, the log, freed pages, receipts; and for good.

What stays, and is said: the agents' own files, backups, damaged or replaced indexes that were set aside, and
turns that another session's transcript holds too (a fork, a resume): they are that session's words as well,
and move to it.
"""

from __future__ import annotations

import json
import time
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import apsw

from cocorecall.analysis import index_text
from cocorecall.index import tombstones
from cocorecall.index.docs import SEQ_BITS, doc_range, transaction, turn_id
from cocorecall.index.writer import IndexWriter
from cocorecall.model.reports import ForgottenSession
from cocorecall.project import Place, write_text
from cocorecall.sources.ignoring import matches_glob

_LOG_SECONDS = 5.0


@dataclass(slots=True)
class Forgotten:
    """What one call removed.

    Attributes:
        kept_in: turns that moved to another session, by its id.
        log_in_use: another process holds the log, so that it could not be emptied.
    """

    sessions: list[ForgottenSession] = field(default_factory=list)
    citations: int = 0
    kept_in: dict[str, int] = field(default_factory=dict)
    log_in_use: bool = False


class Forgetter:
    """Removes sessions; the caller holds the import lock and a connection open for writing."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._writer = IndexWriter(connection)

    def _all(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._db.execute(sql, values).fetchall()

    # --- which ---

    def present(self, session_ids: Sequence[str]) -> list[str]:
        """Those of the sessions that the index has."""
        return [sid for sid in session_ids if self._all("SELECT 1 FROM sessions WHERE id = ?", (sid,))]

    def with_subagents(self, session_ids: Sequence[str]) -> list[str]:
        """The sessions and those of their subagents, at any depth: they are parts of the work."""
        out = dict.fromkeys(session_ids)
        pending = list(session_ids)
        while pending:
            native = self._all("SELECT native_id, agent FROM sessions WHERE id = ?", (pending.pop(),))
            if not native:
                continue
            children = self._all(
                "SELECT id FROM sessions WHERE parent_id = ? AND agent = ? AND session_type = 'subagent'",
                native[0],
            )
            new = [str(c) for (c,) in children if c not in out]
            out |= dict.fromkeys(new)
            pending += new
        return list(out)

    def with_forks(self, session_ids: Sequence[str]) -> list[str]:
        """The sessions and those whose transcripts hold copies of their turns."""
        out = dict.fromkeys(session_ids)
        for session_id in session_ids:
            out |= dict.fromkeys(self._copies_of(session_id))
        return list(out)

    def _copies_of(self, session_id: str) -> dict[str, int]:
        """Copies of a session's turns, by the session that holds them."""
        return dict(
            self._all(
                "SELECT c.session_id, count(*) FROM copies c JOIN sessions s"
                " ON c.doc BETWEEN s.number << 24 AND (s.number << 24) | 16777215"
                " WHERE s.id = ? AND c.session_id <> s.id GROUP BY 1 ORDER BY 1",
                (session_id,),
            )
        )

    def preview(self, session_ids: Sequence[str]) -> Forgotten:
        """What forgetting them would remove."""
        out = Forgotten(citations=len(self._cited(session_ids)))
        for session_id in session_ids:
            out.sessions.append(self._facts(session_id))
            for fork, n in self._copies_of(session_id).items():
                if fork not in session_ids:
                    out.kept_in[fork] = out.kept_in.get(fork, 0) + n
        return out

    def _facts(self, session_id: str) -> ForgottenSession:
        row = self._all(
            "SELECT id, agent, title, start_time, turn_count, source_path FROM sessions WHERE id = ?",
            (session_id,),
        )[0]
        sid, agent, title, start, turns, path = row
        return ForgottenSession(sid, agent, title, start, turns, path, Path(path).exists())

    def _cited(self, session_ids: Sequence[str]) -> list[int]:
        """Citations to remove: every one of a query whose answer cited one of the sessions."""
        return [
            int(rowid)
            for (rowid,) in self._all(
                "SELECT rowid FROM citations WHERE query IN (SELECT query FROM citations WHERE session_id IN"
                " (SELECT value FROM json_each(?1)))",
                (json.dumps(list(session_ids)),),
            )
        ]

    # --- removing ---

    def forget(self, session_ids: Sequence[str], now: str) -> Forgotten:
        """Remove sessions in one transaction; `compact` must follow."""
        self._db.execute("PRAGMA secure_delete = ON")
        with transaction(self._db):
            out = self.preview(session_ids)
            out.kept_in = {}
            self._delete_by_rowid("citations", self._cited(session_ids))
            for session_id in session_ids:
                for fork, n in self._move_copies(session_id, set(session_ids)).items():
                    out.kept_in[fork] = out.kept_in.get(fork, 0) + n
                self._remove(session_id, now)
            self._writer.refresh_totals()
            self._refresh_speakers()
            self._writer.set_meta(tombstones.COMPACTION_DUE, "1")
        return out

    def _delete_by_rowid(self, table: str, rowids: Sequence[int]) -> None:
        self._db.executemany(f"DELETE FROM {table} WHERE rowid = ?", [(r,) for r in rowids])

    def _remove(self, session_id: str, now: str) -> None:
        number, native_id, agent, path = self._all(
            "SELECT number, native_id, agent, source_path FROM sessions WHERE id = ?", (session_id,)
        )[0]
        bounds = doc_range(number)
        docs = self._all("SELECT doc FROM turns WHERE doc BETWEEN ? AND ?", bounds)
        self._db.executemany("DELETE FROM turn_words WHERE rowid = ?", docs)
        for table in _tables_with(self._db, "doc"):
            self._db.execute(f'DELETE FROM "{table}" WHERE doc BETWEEN ? AND ?', bounds)
        for table in _tables_with(self._db, "session_id"):
            self._db.execute(f'DELETE FROM "{table}" WHERE session_id = ?', (session_id,))
        self._db.execute("DELETE FROM sessions WHERE id = ?", (session_id,))
        self._db.execute("UPDATE sessions SET shared_with = NULL WHERE shared_with = ?", (session_id,))
        self._db.execute("UPDATE sessions SET parent_id = NULL WHERE parent_id = ?", (native_id,))
        if not self._all("SELECT 1 FROM sessions WHERE source_path = ?", (path,)):
            self._db.execute("DELETE FROM transcripts WHERE path = ?", (path,))
        stone = tombstones.tombstone(agent, native_id)
        self._db.execute("INSERT OR REPLACE INTO forgotten VALUES (?, ?)", (stone, now))

    def _refresh_speakers(self) -> None:
        self._db.execute("DELETE FROM speakers")
        self._db.execute(
            "INSERT INTO speakers SELECT speaker_role, count(*) FROM turns GROUP BY speaker_role"
        )

    # --- turns that another session holds too ---

    def _move_copies(self, session_id: str, leaving: set[str]) -> dict[str, int]:
        """Give turns that stand in another transcript too to its session; how many, by that session."""
        number = self._number(session_id)
        rows = self._all(
            "SELECT c.doc, c.session_id FROM copies c JOIN sessions s ON s.id = c.session_id"
            " WHERE c.doc BETWEEN ? AND ? ORDER BY s.number, c.doc",
            doc_range(number),
        )
        moves: dict[str, list[int]] = {}
        placed: set[int] = set()
        for doc, holder in rows:
            if holder not in leaving and doc not in placed:
                placed.add(doc)
                moves.setdefault(holder, []).append(doc)
        for holder, docs in moves.items():
            self._move(docs, holder)
        return {holder: len(docs) for holder, docs in moves.items()}

    def _number(self, session_id: str) -> int:
        return int(self._all("SELECT number FROM sessions WHERE id = ?", (session_id,))[0][0])

    def _move(self, docs: list[int], holder: str) -> None:
        """Turns copied from a history stand at the places that the holder's own turns have left free."""
        number = self._number(holder)
        taken = {
            seq for (seq,) in self._all("SELECT seq FROM turns WHERE doc BETWEEN ? AND ?", doc_range(number))
        }
        free = (seq for seq in range(1 << SEQ_BITS) if seq not in taken)
        for doc, seq in zip(docs, free, strict=False):
            self._move_turn(doc, holder, number << SEQ_BITS | seq, seq)
        self._db.execute(
            "UPDATE sessions SET shared_turns = max(0, shared_turns - ?1), (turn_count, chars) ="
            " (SELECT count(*), coalesce(sum(chars), 0) FROM turns WHERE doc BETWEEN ?2 AND ?3) WHERE id = ?4",
            (len(docs), *doc_range(number), holder),
        )
        self._db.execute("UPDATE sessions SET facets_pending = 2 WHERE id = ?", (holder,))
        # the next import reads the holder's transcript anew, for what else is derived from these turns
        self._db.execute(
            "UPDATE transcripts SET signature = '' WHERE path = (SELECT source_path FROM sessions WHERE id = ?)",
            (holder,),
        )

    def _move_turn(self, doc: int, holder: str, new: int, seq: int) -> None:
        old_id, new_id = self._all("SELECT id FROM turns WHERE doc = ?", (doc,))[0][0], turn_id(holder, seq)
        self._db.execute(
            "UPDATE turns SET id = ?, session_id = ?, seq = ?, doc = ? WHERE doc = ?",
            (new_id, holder, seq, new, doc),
        )
        self._db.execute(
            "UPDATE tool_calls SET session_id = ?, turn_id = ?, doc = ? WHERE doc = ?",
            (holder, new_id, new, doc),
        )
        self._db.execute(
            "UPDATE tool_calls SET result_turn_id = ? WHERE result_turn_id = ?", (new_id, old_id)
        )
        self._db.execute("UPDATE records SET doc = ? WHERE doc = ?", (new, doc))
        self._db.execute("DELETE FROM copies WHERE doc = ? AND session_id = ?", (doc, holder))
        self._db.execute("UPDATE copies SET doc = ? WHERE doc = ?", (new, doc))
        self._db.execute("DELETE FROM turn_words WHERE rowid = ?", (doc,))
        text, tags = self._all("SELECT text, said_tags FROM turns WHERE doc = ?", (new,))[0]
        calls = self._writer.calls_between(new, new).get(new, "")
        self._db.execute(
            "INSERT INTO turn_words (rowid, text, calls, tags) VALUES (?, ?, ?, ?)",
            (new, index_text(text), index_text(calls), index_text(tags)),
        )

    # --- freed pages and the log ---

    def compact(self) -> bool:
        """Rewrite the file without freed pages and empty the log; False where another process holds the log."""
        self._db.execute("PRAGMA secure_delete = ON")
        # words of deleted turns stay in full-text segments until these are merged
        self._db.execute("INSERT INTO turn_words (turn_words) VALUES ('optimize')")
        self._db.execute("VACUUM")
        if not self._empty_log():
            self._writer.set_meta(tombstones.COMPACTION_DUE, "1")
            return False
        self._db.execute("DELETE FROM import_meta WHERE key = ?", (tombstones.COMPACTION_DUE,))
        return self._empty_log()

    def _empty_log(self) -> bool:
        until = time.monotonic() + _LOG_SECONDS
        while self._all("PRAGMA wal_checkpoint(TRUNCATE)")[0][0]:
            if time.monotonic() > until:
                return False
            time.sleep(0.1)
        return True


def sessions_where(connection: apsw.Connection, *, path: str | None, before: str | None) -> list[str]:
    """Sessions whose transcript's path matches a glob and whose last turn was before a moment."""
    rows = connection.execute(
        "SELECT id, source_path FROM sessions WHERE ?1 IS NULL OR coalesce(end_time, start_time) < ?1 ORDER BY number",
        (before,),
    ).fetchall()
    return [str(sid) for sid, where in rows if path is None or matches_glob(str(where), path)]


def _tables_with(connection: apsw.Connection, column: str) -> list[str]:
    """Tables of ours that have a column."""
    rows = connection.execute(
        "SELECT t.name FROM pragma_table_list t JOIN pragma_table_info(t.name) c"
        " WHERE t.schema = 'main' AND t.type = 'table' AND c.name = ? AND t.name <> 'sessions'",
        (column,),
    )
    return [str(name) for (name,) in rows]


def clean_receipts(place: Place, paths: Sequence[str]) -> None:
    """Take the mentions of forgotten transcripts out of the import receipts."""
    for receipt in place.receipts.glob("import-*.json"):
        try:
            data = json.loads(receipt.read_text(encoding="utf-8"))
            skipped = data["skipped"]
            left = [entry for entry in skipped if not _mentions(entry, paths)]
        except (OSError, ValueError, KeyError, TypeError, RecursionError):
            continue
        if len(left) != len(skipped):
            data["skipped"] = left
            write_text(receipt, json.dumps(data, indent=2) + "\n", private=True)


def _mentions(entry: Any, paths: Sequence[str]) -> bool:
    return isinstance(entry, dict) and entry.get("path") in paths


def out_of_reach(place: Place, sessions: Sequence[ForgottenSession]) -> tuple[str, ...]:
    """Files that may still hold the sessions' text: the agents' own, backups, indexes set aside, memory files."""
    found = [s.source_path for s in sessions if s.source_exists]
    found += set_aside_files(place)
    found += [b for b in read_backups(place) if Path(b).exists()]
    found += _citing(place, [s.session_id for s in sessions])
    return tuple(dict.fromkeys(found))


def set_aside_files(place: Place) -> list[str]:
    """Indexes that were set aside, damaged or replaced."""
    name = place.index_path.name
    found = [*place.home.glob(f"{name}.damaged-*"), *place.home.glob(f"{name}.replaced-*")]
    return sorted(str(p) for p in found if not p.name.endswith(("-wal", "-shm", "-journal")))


def _citing(place: Place, session_ids: Sequence[str]) -> list[str]:
    """Memory files that cite a session."""
    found = []
    for path in sorted((place.home / "memory").rglob("*.md")):
        try:
            text = path.read_text(encoding="utf-8", errors="replace")
        except OSError:
            continue
        if any(sid in text for sid in session_ids):
            found.append(str(path))
    return found


def backups_path(place: Place) -> Path:
    """The record of backups that were made."""
    return place.receipts / "backups.json"


def read_backups(place: Place) -> list[str]:
    """Paths of the backups that were made; none where the record is missing or unreadable."""
    try:
        data = json.loads(backups_path(place).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return []
    paths = data.get("backups") if isinstance(data, dict) else None
    return [p for p in paths if isinstance(p, str)] if isinstance(paths, list) else []


def note_backup(place: Place, path: Path) -> None:
    """Remember that a backup was made, so that `forget` can say that it still holds what was forgotten."""
    paths = dict.fromkeys([*(p for p in read_backups(place) if Path(p).exists()), str(path)])
    place.receipts.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_text(backups_path(place), json.dumps({"backups": list(paths)}, indent=2) + "\n", private=True)

"""Reads of whole sessions and of the index's state: for show, sources, status and forget."""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import apsw

from cocorecall.model import CallView, SessionInfo, SkippedInput


@dataclass(frozen=True, slots=True)
class StoredTurn:
    """A turn as the index holds it, whole."""

    doc: int
    turn_id: str
    seq: int
    speaker_role: str
    timestamp: str
    time_source: str
    text: str
    text_hash: str
    text_length: int
    in_source: bool
    source_line: int | None
    kind: str
    echo: bool
    tags: tuple[str, ...]
    thinking: str


@dataclass(frozen=True, slots=True)
class IndexState:
    """Counts for `status`."""

    sessions: int
    turns: int
    turns_not_in_source: int
    citations: int
    agents: dict[str, int]
    newest_turn: str | None
    unreadable: tuple[SkippedInput, ...]
    unknown_records: dict[str, int]
    transcripts: dict[str, tuple[str, int]]
    source_paths: dict[str, int]


FIRST = "~1"
"""Behind an id that several conversations share: the first; the others are stored with `~2`, `~3`, …"""


class SessionStore:
    """Statements over whole sessions."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def _all(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._db.execute(sql, values).fetchall()

    # --- finding one ---

    def is_session(self, session_id: str) -> bool:
        """Whether a session has exactly this id."""
        return bool(self._all("SELECT 1 FROM sessions WHERE id = ?", (session_id,)))

    def find(self, wanted: str, most: int = 12) -> list[str]:
        """Ids of the sessions that a person can mean: by the agent's own id, by ours, or by a prefix.

        Where several conversations share the agent's id, `ID~1` means the one that carries it unchanged.
        """
        if wanted.endswith(FIRST) and self.is_session(wanted.removesuffix(FIRST)):
            return [wanted.removesuffix(FIRST)]
        exact = [
            str(r[0])
            for r in self._all("SELECT id FROM sessions WHERE native_id = ? ORDER BY number", (wanted,))
        ]
        if exact:
            return exact
        if self.is_session(wanted):
            return [wanted]
        return [
            str(r[0])
            for r in self._all(
                "SELECT id FROM sessions WHERE substr(id, 1, length(?1)) = ?1 ORDER BY start_time DESC, id LIMIT ?2",
                (wanted, most),
            )
        ]

    def newest_in_folder(self, folder: str, agent: str) -> tuple[str, str] | None:
        """(id, path of the transcript) of an agent's session that last worked in a folder."""
        rows = self._all(
            "SELECT s.id, s.source_path FROM folders f JOIN sessions s ON s.id = f.session_id"
            " WHERE f.cwd = ? AND s.agent = ? ORDER BY s.end_time DESC, s.number DESC LIMIT 1",
            (folder, agent),
        )
        return (str(rows[0][0]), str(rows[0][1])) if rows else None

    def info(self, session_id: str) -> SessionInfo:
        """A session's facts.

        Raises:
            KeyError: there is no such session.
        """
        row = self._db.execute(
            "SELECT id, agent, title, cwd, git_branch, start_time, end_time, phase_context, parent_id, session_type,"
            " source_path, turn_count, summary, entity_tags FROM sessions WHERE id = ?", (session_id,),
        ).fetchone()  # fmt: skip
        if row is None:
            raise KeyError(session_id)
        sid, agent, title, cwd, branch, start, end, phase, parent, kind, path, turns, summary, tags = row
        return SessionInfo(
            sid, agent, title, cwd, branch, start or "", end or "", phase, parent, kind, path, Path(path).exists(),
            turns, summary, tuple(t for t in tags.split(",") if t),
        )  # fmt: skip

    def shared(self, session_id: str) -> tuple[int, str | None]:
        """How many of a session's turns are copies of another's, and whose."""
        row = self._db.execute(
            "SELECT shared_turns, shared_with FROM sessions WHERE id = ?", (session_id,)
        ).fetchone()
        return (int(row[0]), row[1]) if row else (0, None)

    def turns(self, session_id: str) -> list[StoredTurn]:
        """A session's turns, in order."""
        rows = self._all(
            "SELECT t.doc, t.id, t.seq, t.speaker_role, t.timestamp, t.time_source, t.text, t.text_hash, t.text_length,"
            " t.in_source, t.source_line, t.kind, t.echo, t.tags, t.thinking FROM turns t"
            " JOIN sessions s ON t.doc BETWEEN s.number << 24 AND (s.number << 24) | 16777215"
            " WHERE s.id = ? ORDER BY t.doc",
            (session_id,),
        )
        return [_stored(*row) for row in rows]

    def calls(self, session_id: str) -> dict[int, list[CallView]]:
        """The calls of a session's turns, by `doc`."""
        out: dict[int, list[CallView]] = {}
        rows = self._all(
            "SELECT c.doc, c.name, c.payload, c.status FROM tool_calls c JOIN sessions s"
            " ON c.doc BETWEEN s.number << 24 AND (s.number << 24) | 16777215 WHERE s.id = ? ORDER BY c.doc, c.position",
            (session_id,),
        )
        for doc, name, payload, status in rows:
            out.setdefault(doc, []).append(CallView(name, payload or "", status))
        return out

    def last_query(self, session_id: str) -> str | None:
        """The last query whose answer cited a session."""
        row = self._db.execute(
            "SELECT query FROM citations WHERE session_id = ? ORDER BY ts DESC, rowid DESC LIMIT 1",
            (session_id,),
        ).fetchone()
        return str(row[0]) if row else None

    # --- the whole index ---

    def source_counts(self, folder: str) -> tuple[int, int]:
        """(sessions, turns) indexed from a source's folder."""
        row = self._db.execute(
            "SELECT count(*), coalesce(sum(turn_count), 0) FROM sessions"
            " WHERE source_path = ?1 OR substr(source_path, 1, length(?1) + 1) IN (?1 || '/', ?1 || '\\')",
            (folder.rstrip("/\\"),),
        ).fetchone()
        return (int(row[0]), int(row[1])) if row else (0, 0)

    def last_import_of(self, folder: str) -> str | None:
        """When a source was last scanned."""
        row = self._db.execute("SELECT last_import FROM sources WHERE path = ?", (folder,)).fetchone()
        return row[0] if row else None

    def meta(self, key: str) -> str | None:
        """A line of `import_meta`."""
        row = self._db.execute("SELECT value FROM import_meta WHERE key = ?", (key,)).fetchone()
        return row[0] if row else None

    def state(self) -> IndexState:
        """Everything that `status` counts."""
        count = self._count
        transcripts = self._all("SELECT path, signature, sessions, state, skipped, unknown FROM transcripts")
        unreadable: list[SkippedInput] = []
        unknown: dict[str, int] = {}
        for *_, skipped, kinds in transcripts:
            unreadable += [SkippedInput(**entry) for entry in json.loads(skipped)]
            for kind, n in json.loads(kinds).items():
                unknown[kind] = unknown.get(kind, 0) + n
        newest = self._all("SELECT max(end_time) FROM sessions")
        return IndexState(
            sessions=count("sessions"),
            turns=count("turns"),
            turns_not_in_source=int(self._all("SELECT count(*) FROM turns WHERE NOT in_source")[0][0]),
            citations=count("citations"),
            agents=dict(self._all("SELECT agent, count(*) FROM sessions GROUP BY agent ORDER BY agent")),
            newest_turn=newest[0][0] if newest else None,
            unreadable=tuple(unreadable),
            unknown_records=dict(sorted(unknown.items())),
            transcripts={path: (signature, sessions) for path, signature, sessions, *_ in transcripts},
            source_paths=dict(self._all("SELECT source_path, count(*) FROM sessions GROUP BY source_path")),
        )

    def transcripts_of(self, agent: str | None = None) -> list[tuple[str, str, str]]:
        """(session id, agent, path of its transcript) of every session, the newest first."""
        rows = self._all(
            "SELECT id, agent, source_path FROM sessions WHERE ?1 IS NULL OR agent = ?1"
            " ORDER BY end_time DESC, id",
            (agent,),
        )
        return [(str(s), str(a), str(p)) for s, a, p in rows]

    def _count(self, table: str) -> int:
        return int(self._all(f"SELECT count(*) FROM {table}")[0][0])

    def facets_pending(self) -> int:
        """Sessions whose turns have not been read for facets yet."""
        return int(self._all("SELECT count(*) FROM sessions WHERE facets_pending")[0][0])

    def free_bytes(self) -> int:
        """Bytes of unused pages in the database file."""
        return int(self._db.pragma("freelist_count")) * int(self._db.pragma("page_size"))

    def words_problem(self) -> str | None:
        """What is wrong between the full-text index and the turns, or None."""
        try:
            self._db.execute("INSERT INTO turn_words (turn_words) VALUES ('integrity-check')")
        except apsw.CorruptError:
            return (
                "The full-text index is damaged; `recall doctor --fix` derives it anew from the stored turns."
            )
        except (apsw.ReadOnlyError, apsw.BusyError):
            return None  # FTS5 wants to write to check; an import that is writing is checked next time
        row = self._db.execute(
            "SELECT (SELECT count(*) FROM turns), (SELECT count(*) FROM turn_words_docsize)"
        ).fetchone()
        if row and row[0] != row[1]:
            return (
                f"The full-text index holds {row[1]:,} turns of {row[0]:,};"
                " `recall doctor --fix` derives it anew from the stored turns."
            )
        return None


def _names(tags: str) -> tuple[str, ...]:
    return tuple(t for t in tags.split(",") if t)


def _stored(*row: Any) -> StoredTurn:
    *facts, in_source, line, kind, echo, tags, thinking = row
    doc, turn_id, seq, role, timestamp, time_source, text, text_hash, text_length = facts
    return StoredTurn(
        doc, turn_id, seq, role, timestamp, time_source, text, text_hash, text_length, bool(in_source), line, kind,
        bool(echo), _names(tags), thinking,
    )  # fmt: skip

"""Reads for `export`: sessions with everything that the index holds of their turns."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import Any, NamedTuple

import apsw

from cocorecall.index.docs import doc_range
from cocorecall.index.snapshot import unchanging
from cocorecall.index.writer import EXPORT

BATCH = 200
"""Turns that are in memory at a time."""


class StoredCall(NamedTuple):
    """A tool call; `payload` is JSON text.

    Attributes:
        answered: whether a turn of the session holds its result.
    """

    name: str
    payload: str | None
    call_id: str | None
    status: str | None
    duration_ms: int | None
    answered: bool


class StoredResult(NamedTuple):
    """A call that a turn answers."""

    call_id: str | None
    status: str | None
    duration_ms: int | None


class ArchivedTurn(NamedTuple):
    """A turn with all that is known of it."""

    turn_id: str
    seq: int
    role: str
    text: str
    text_hash: str
    text_length: int
    timestamp: str
    time_source: str
    zoned: bool
    kind: str
    echo: bool
    in_source: bool
    native_id: str | None
    source_line: int | None
    tags: tuple[str, ...]
    thinking: str
    calls: tuple[StoredCall, ...] = ()
    results: tuple[StoredResult, ...] = ()


class ArchivedSession(NamedTuple):
    """A session with all that is known of it; `native_id` is the agent's own id."""

    session_id: str
    native_id: str
    number: int
    agent: str
    title: str | None
    summary: str | None
    cwd: str | None
    git_branch: str | None
    start_time: str | None
    end_time: str | None
    phase_context: str | None
    parent_id: str | None
    session_type: str | None
    source_path: str
    turn_count: int
    shared_turns: int
    shared_with: str | None
    entity_tags: tuple[str, ...]
    folders: tuple[str, ...] = ()


_SESSION = (
    "SELECT id, native_id, number, agent, title, summary, cwd, git_branch, start_time, end_time, phase_context,"
    " parent_id, session_type, source_path, turn_count, shared_turns, shared_with, said_entity_tags FROM sessions"
)
_TURNS = (
    "SELECT doc, id, seq, speaker_role, text, text_hash, text_length, timestamp, time_source, zoned, kind, echo,"
    " in_source, native_id, source_line, said_tags, thinking FROM turns WHERE doc > ? AND doc <= ? ORDER BY doc LIMIT ?"
)


class ExportStore:
    """Statements over whole sessions, a batch of turns at a time."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def _all(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._db.execute(sql, values).fetchall()

    def unchanging(self) -> contextlib.AbstractContextManager[None]:
        """See the index as it is now."""
        return unchanging(self._db)

    def transcripts(self) -> list[str]:
        """Agents' files that the index was made from; earlier exports are none."""
        rows = self._all("SELECT path FROM transcripts WHERE agent IS NOT ?", (EXPORT,))
        return [str(p) for (p,) in rows]

    def session_ids(self) -> list[str]:
        """Every session, in the order of first import."""
        return [str(s) for (s,) in self._all("SELECT id FROM sessions ORDER BY number")]

    def session(self, session_id: str) -> ArchivedSession:
        """A session.

        Raises:
            KeyError: there is none of this id.
        """
        rows = self._all(f"{_SESSION} WHERE id = ?", (session_id,))
        if not rows:
            raise KeyError(session_id)
        *facts, tags = rows[0]
        folders = self._all("SELECT cwd FROM folders WHERE session_id = ? ORDER BY cwd", (session_id,))
        row = (*facts, _names(tags), tuple(str(f) for (f,) in folders))
        return ArchivedSession(*row)

    def turns(self, session: ArchivedSession) -> Iterator[ArchivedTurn]:
        """A session's turns, in order of their numbers."""
        first, last = doc_range(session.number)
        results = self._results(first, last)
        done = first - 1
        while rows := self._all(_TURNS, (done, last, BATCH)):
            calls = self._calls(rows[0][0], rows[-1][0])
            for doc, turn_id, *facts, tags, thinking in rows:
                yield _turn((turn_id, *facts), tags, thinking, calls.get(doc, []), results.get(turn_id, []))
            done = rows[-1][0]

    def _calls(self, first: int, last: int) -> dict[int, list[StoredCall]]:
        rows = self._all(
            "SELECT doc, name, payload, call_id, status, duration_ms, result_turn_id IS NOT NULL FROM tool_calls"
            " WHERE doc BETWEEN ? AND ? ORDER BY doc, position",
            (first, last),
        )
        calls: dict[int, list[StoredCall]] = {}
        for doc, *facts in rows:
            calls.setdefault(doc, []).append(StoredCall(*facts))
        return calls

    def _results(self, first: int, last: int) -> dict[str, list[StoredResult]]:
        rows = self._all(
            "SELECT result_turn_id, call_id, status, duration_ms FROM tool_calls"
            " WHERE doc BETWEEN ? AND ? AND result_turn_id IS NOT NULL ORDER BY doc, position",
            (first, last),
        )
        results: dict[str, list[StoredResult]] = {}
        for turn_id, *facts in rows:
            results.setdefault(turn_id, []).append(StoredResult(*facts))
        return results


def _turn(
    facts: tuple[Any, ...], tags: str, thinking: str, calls: list[StoredCall], results: list[StoredResult]
) -> ArchivedTurn:
    (
        turn_id,
        seq,
        role,
        text,
        text_hash,
        length,
        time,
        time_source,
        zoned,
        kind,
        echo,
        in_source,
        native,
        line,
    ) = facts
    return ArchivedTurn(
        turn_id, seq, role, text, text_hash, length, time, time_source, bool(zoned), kind, bool(echo), bool(in_source),
        native, line, _names(tags), thinking, tuple(calls), tuple(results),
    )  # fmt: skip


def _names(tags: str) -> tuple[str, ...]:
    return tuple(t for t in tags.split(",") if t)

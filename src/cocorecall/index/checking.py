"""Reads for `verify`: the turns of an index beside the transcripts they came from."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from itertools import groupby
from typing import Any, NamedTuple

import apsw

from cocorecall.index.docs import doc_range
from cocorecall.index.snapshot import unchanging


class TurnMark(NamedTuple):
    """A stored turn without its text.

    Attributes:
        content_key: empty where the turn was taken over from the JavaScript predecessor.
        has_calls: whether it calls tools.
    """

    doc: int
    seq: int
    native_id: str | None
    role: str
    text_hash: str
    text_length: int
    source_line: int | None
    in_source: bool
    content_key: bytes
    has_calls: bool


class CheckedSession(NamedTuple):
    """A session whose turns are to be compared.

    Attributes:
        wanted: numbers of the turns asked for; None: all.
        parser: the format that its transcript was imported with, where the index knows.
    """

    session_id: str
    native_id: str
    agent: str
    number: int
    source_path: str
    parser: str | None
    wanted: frozenset[int] | None = None


_SESSIONS = (
    "SELECT s.id, s.native_id, s.agent, s.number, s.source_path, t.agent FROM sessions s"
    " LEFT JOIN transcripts t ON t.path = s.source_path"
)


class CheckingStore:
    """Statements over turns and where they came from."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def _all(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._db.execute(sql, values).fetchall()

    def unchanging(self) -> contextlib.AbstractContextManager[None]:
        """See the index as it is now."""
        return unchanging(self._db)

    def session(self, session_id: str, wanted: frozenset[int] | None = None) -> CheckedSession | None:
        """One session; None where the index has none of this id."""
        rows = self._all(f"{_SESSIONS} WHERE s.id = ?", (session_id,))
        return CheckedSession(*rows[0])._replace(wanted=wanted) if rows else None

    def by_transcript(self) -> Iterator[list[CheckedSession]]:
        """All sessions, those of one transcript together, folder by folder."""
        rows = self._all(f"{_SESSIONS} ORDER BY s.source_path, s.number")
        for _, group in groupby((CheckedSession(*row) for row in rows), key=lambda s: s.source_path):
            yield list(group)

    def count_turns(self) -> int:
        """Turns of the whole index."""
        return int(self._all("SELECT coalesce(sum(turn_count), 0) FROM sessions")[0][0])

    def cited_since(self, moment: str) -> list[tuple[str, int]]:
        """(session id, seq) of every turn cited from a moment on, each once."""
        rows = self._all(
            "SELECT DISTINCT session_id, turn_id FROM citations WHERE ts >= ? ORDER BY session_id, turn_id",
            (moment,),
        )
        return [(s, int(seq)) for s, t in rows if (seq := str(t).rpartition(":")[2]).isdigit()]

    def turns(self, number: int) -> list[TurnMark]:
        """A session's turns in order, without their texts."""
        rows = self._all(
            "SELECT doc, seq, native_id, speaker_role, text_hash, text_length, source_line, in_source, content_key,"
            " EXISTS (SELECT 1 FROM tool_calls c WHERE c.doc = turns.doc) FROM turns WHERE doc BETWEEN ? AND ?"
            " ORDER BY doc",
            doc_range(number),
        )
        return [TurnMark(*row) for row in rows]

    def text(self, doc: int) -> str:
        """A turn's text as stored."""
        return str(self._all("SELECT text FROM turns WHERE doc = ?", (doc,))[0][0])

    def calls(self, doc: int) -> list[tuple[str, str | None]]:
        """Name and payload (JSON) of a turn's calls."""
        return [
            (str(name), payload)
            for name, payload in self._all(
                "SELECT name, payload FROM tool_calls WHERE doc = ? ORDER BY position", (doc,)
            )
        ]

    def copies(self, docs: Sequence[int]) -> list[tuple[int, CheckedSession]]:
        """For turns that other transcripts hold too (forks, resumes): `doc`, and the session of each copy."""
        out: list[tuple[int, CheckedSession]] = []
        for doc in docs:
            out += [
                (doc, CheckedSession(*row))
                for row in self._all(
                    f"{_SESSIONS} JOIN copies c ON c.session_id = s.id WHERE c.doc = ? ORDER BY s.source_path, s.number",
                    (doc,),
                )
            ]
        return out

    def indexed_paths(self) -> set[str]:
        """Transcripts that hold sessions of the index."""
        return {str(p) for (p,) in self._all("SELECT path FROM transcripts WHERE sessions > 0")}

"""Reads of what was said lately: the turns of a window, and the errors in it."""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import apsw

from cocorecall.index.facets import Failure


class RecentTurn(NamedTuple):
    """A turn of the window, with what a citation of it needs."""

    doc: int
    turn_id: str
    session_id: str
    role: str
    timestamp: str
    text_hash: str
    source_path: str
    text: str


class RecentReader:
    """Statements over the turns from a moment on, in the order of sessions; echoes and CocoPlus's own files left out.

    Args:
        connection: the open index.
        since: the moment, ISO 8601 UTC.
    """

    _TURNS = "FROM turns t JOIN sessions s ON s.number = t.doc >> 24 WHERE t.timestamp >= ? AND NOT t.echo AND s.agent <> 'cocoplus'"

    def __init__(self, connection: apsw.Connection, since: str) -> None:
        self._db = connection
        self._since = since

    def count(self) -> int:
        """How many turns there are."""
        rows = self._db.execute(f"SELECT count(*) {self._TURNS}", (self._since,)).fetchall()
        return int(str(rows[0][0]))

    def said(self) -> Iterator[RecentTurn]:
        """What persons and models said."""
        rows = self._db.execute(
            "SELECT t.doc, t.id, t.session_id, t.speaker_role, t.timestamp, t.text_hash, s.source_path, t.text"
            f" {self._TURNS} AND t.speaker_role IN ('user', 'assistant') AND t.kind = 'message' ORDER BY s.number, t.doc",
            (self._since,),
        )
        for row in rows:
            yield RecentTurn(*row)

    def turn(self, doc: int) -> RecentTurn:
        """One turn.

        Raises:
            KeyError: there is none.
        """
        row = self._db.execute(
            "SELECT t.doc, t.id, t.session_id, t.speaker_role, t.timestamp, t.text_hash, s.source_path, t.text"
            " FROM turns t JOIN sessions s ON s.number = t.doc >> 24 WHERE t.doc = ?",
            (doc,),
        ).fetchone()
        if row is None:
            raise KeyError(doc)
        return RecentTurn(*row)

    def failures(self) -> list[Failure]:
        """The errors that results report."""
        rows = self._db.execute(
            f"SELECT e.doc, e.error, e.normalized {self._TURNS.replace('FROM turns t', 'FROM errors e JOIN turns t ON t.doc = e.doc')}"
            " ORDER BY s.number, e.doc",
            (self._since,),
        )
        return [Failure(*row) for row in rows]

"""What turns and sessions name: the few reads of the entities that a search makes."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

import apsw


class EntityReader:
    """Statements over the entities of an open index."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection

    def _all(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._db.execute(sql, values).fetchall()

    def entities_of(self, doc: int) -> list[tuple[str, str, str]]:
        """(name, type, spelling) of the entities of a turn."""
        rows = self._all(
            "SELECT name, type, coalesce(spelling, name) FROM entities WHERE doc = ? ORDER BY rowid", (doc,)
        )
        return [(str(n), str(t), str(s)) for n, t, s in rows]

    def entity_tags(self, number: int) -> list[str]:
        """The names that a session mentions most."""
        rows = self._all("SELECT entity_tags FROM sessions WHERE number = ?", (number,))
        return [name for name in str(rows[0][0]).split(",") if name] if rows else []

    def tools_of(self, doc: int) -> frozenset[str]:
        """Names of the tools that a turn calls."""
        return frozenset(str(n) for (n,) in self._all("SELECT name FROM tool_calls WHERE doc = ?", (doc,)))

    def sessions_of_entity(self, name: str, at_most: int) -> int:
        """Sessions that mention an entity, counted over its first `at_most` mentions."""
        row = self._all(
            "SELECT count(DISTINCT doc >> 24) FROM (SELECT doc FROM entities WHERE name = ? LIMIT ?)",
            (name, at_most),
        )[0]
        return int(row[0])

"""From stored turns to facets: what a session touched is derived from the index, so no source is needed for it.

Reading only: `facet_import` says which sessions are due, and writes what this module finds.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, field
from typing import Any

import apsw

from cocorecall.evidence import AGENT, Vocabulary
from cocorecall.extract import (
    Extraction,
    entity_tags_of,
    error_of,
    normalize_error,
    parse_glossary,
    tags_of,
)
from cocorecall.extract.cocoplus import parse_premortems
from cocorecall.extract.extractor import reads_only
from cocorecall.index.docs import MAX_SEQ, SEQ_BITS, doc_range, load_payload
from cocorecall.index.facet_rows import facet_row
from cocorecall.model import Entity, KeyDecision, ToolCall, ToolResult, Turn

_BATCH = 200
"""Turns that are read at a time: memory depends on it and on the largest texts, not on the session."""


@dataclass(slots=True)
class SessionFacets:
    """What one session's turns hold, as rows to be written; plain values, so that a process can send it.

    Attributes:
        number: the session's number.
        rows: by table, the turn's `seq` and the values of `facet_rows.COLUMNS`.
        tags: (`seq`, tags) of the turns that have any.
        entity_tags: the names that the session mentions most.
        statements: SQL statements that were read.
        unparsed: of these, the ones that the grammar did not understand.
    """

    number: int
    rows: dict[str, list[list[Any]]] = field(default_factory=dict)
    tags: list[tuple[int, str]] = field(default_factory=list)
    entity_tags: list[str] = field(default_factory=list)
    statements: int = 0
    unparsed: int = 0


class SessionExtractor:
    """Reads sessions of an open index for their facets.

    Args:
        connection: open for reading.
        vocabulary: the project's own words.
    """

    def __init__(self, connection: apsw.Connection, vocabulary: Vocabulary) -> None:
        self._db = connection
        self._extraction = Extraction(
            parse_glossary(vocabulary.glossary), vocabulary.strategies, vocabulary.functions
        )

    def read(self, number: int) -> SessionFacets:
        """The facets of one session."""
        sql = self._extraction.sql
        statements, unparsed = sql.statements, sql.unparsed
        out = SessionFacets(number)
        entities: list[Entity] = []
        agent, cwd, path = self._session(number)
        extractor = self._extraction.session(cwd)
        for turn, seq, quiet in self._turns(number):
            facets = extractor.extract_turn(turn, seq)
            if agent == AGENT:  # which sentence is the decision, its file says
                facets = [f for f in facets if not isinstance(f, KeyDecision)]
            entities += [f for f in facets if isinstance(f, Entity)]
            for facet in facets:
                table, values = facet_row(facet)
                out.rows.setdefault(table, []).append([seq, *values])
            error = None if turn.echo or (quiet and not _failed(turn)) else error_of(turn)
            if error:
                out.rows.setdefault("errors", []).append([seq, error, normalize_error(error)])
            if agent == AGENT:
                out.rows.setdefault("premortems", []).extend([seq, *row, path] for row in _feared(turn.text))
            tags = set(tags_of(facets)) | ({"error"} if error else set())
            if tags:
                out.tags.append((seq, ",".join(sorted(tags))))
        out.entity_tags = list(entity_tags_of(entities))
        out.statements, out.unparsed = sql.statements - statements, sql.unparsed - unparsed
        return out

    def _rows(self, sql: str, values: tuple[int, ...]) -> list[tuple[Any, ...]]:
        return self._db.execute(sql, values).fetchall()

    def _session(self, number: int) -> tuple[str, str | None, str]:
        row = self._db.execute(
            "SELECT agent, cwd, source_path FROM sessions WHERE number = ?", (number,)
        ).fetchone()
        return (str(row[0]), row[1], str(row[2])) if row else ("", None, "")

    def _turns(self, number: int) -> Iterator[tuple[Turn, int, bool]]:
        """The turns, each with its `seq` and whether it is what a reading tool returned."""
        low, high = doc_range(number)
        waiting: dict[int, list[ToolResult]] = {}
        quiet: set[int] = set()
        while rows := self._rows(
            "SELECT doc, speaker_role, text, kind, echo FROM turns WHERE doc BETWEEN ? AND ? ORDER BY doc LIMIT ?",
            (low, high, _BATCH),
        ):
            calls = self._calls(rows[0][0], rows[-1][0], waiting, quiet)
            for doc, role, text, kind, echo in rows:
                results = waiting.pop(doc, [])
                if not results and role == "tool":
                    results = [ToolResult()]
                yield (
                    Turn(role, text, kind=kind, echo=bool(echo), calls=calls.get(doc, ()), results=tuple(results)),
                    doc & MAX_SEQ, doc in quiet,
                )  # fmt: skip
                quiet.discard(doc)
            low = rows[-1][0] + 1

    def _calls(
        self, first: int, last: int, waiting: dict[int, list[ToolResult]], quiet: set[int]
    ) -> dict[int, tuple[ToolCall, ...]]:
        """Calls by `doc`; the results that they name go into `waiting`, by the `doc` that holds them.

        Results of tools that only read are noted in `quiet`.
        """
        calls: dict[int, list[ToolCall]] = {}
        for doc, position, name, payload, status, result in self._rows(
            "SELECT doc, position, name, payload, status, result_turn_id FROM tool_calls"
            " WHERE doc BETWEEN ? AND ? ORDER BY doc, position",
            (first, last),
        ):
            call_id = f"{doc}:{position}"
            calls.setdefault(doc, []).append(ToolCall(name, load_payload(payload), call_id, status))
            if result:
                answered = (doc >> SEQ_BITS << SEQ_BITS) | int(result.rpartition(":")[2])
                waiting.setdefault(answered, []).append(ToolResult(call_id, status))
                if reads_only(name.lower()):
                    quiet.add(answered)
        return {doc: tuple(found) for doc, found in calls.items()}


def _failed(turn: Turn) -> bool:
    return any(result.status not in (None, "success", "ok", "completed") for result in turn.results)


def _feared(text: str) -> Iterator[tuple[Any, ...]]:
    for fear in parse_premortems(text).entries:
        yield (
            fear.stage_id,
            fear.timestamp,
            fear.failure_scenario,
            fear.prevention_status,
            fear.operator_acknowledgment,
        )

"""Reads of the index for search: document frequencies, candidates, term frequencies, rows.

Every read is bounded by what it returns, not by the size of the index: terms that stand in half of all
turns are never ranked over all of them (see `search.candidates`).
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from functools import cached_property
from typing import TYPE_CHECKING, Any, NamedTuple

import apsw

from cocorecall.analysis import Stemmer, calls_text
from cocorecall.index.docs import MAX_SEQ, SEQ_BITS, doc_range, load_payload
from cocorecall.index.entities import EntityReader
from cocorecall.index.filters import Filters, condition

if TYPE_CHECKING:
    from cocorecall.index.facets import FacetReader

FIELD_WEIGHTS = (1.0, 0.4, 0.6)
"""How much a word counts in each field of the full-text index (text, calls, tags), for the first stage's bm25 and for the ranking alike."""


class Totals(NamedTuple):
    """Size of the index."""

    turns: int
    sessions: int
    chars: int


class TurnRow(NamedTuple):
    """What ranking needs of a turn, without its text."""

    doc: int
    role: str
    timestamp: str
    chars: int
    kind: str
    cues: int
    echo: bool
    text_hash: str

    @property
    def session_number(self) -> int:
        """Number of the turn's session."""
        return self.doc >> SEQ_BITS


class SessionRow(NamedTuple):
    """What ranking and citations need of a session."""

    number: int
    session_id: str
    agent: str
    title: str | None
    cwd: str | None
    phase_context: str | None
    source_path: str
    start_time: str | None
    turn_count: int
    chars: int


class TurnText(NamedTuple):
    """A turn as a hit shows it.

    Attributes:
        tags: what the transcript attached and what was extracted.
        said_tags: of these, what the transcript attached: words that a search may match.
    """

    doc: int
    turn_id: str
    seq: int
    text: str
    text_hash: str
    text_length: int
    time_source: str
    in_source: bool
    source_line: int | None
    tags: tuple[str, ...]
    said_tags: tuple[str, ...]
    echo: bool


Frequencies = dict[int, list[tuple[float, int]]]
"""For each matched doc: per phrase of the expression, (field-weighted frequency, plain count)."""


class IndexReader:
    """Everything that search reads; a thin layer of statements over one connection."""

    def __init__(self, connection: apsw.Connection) -> None:
        self._db = connection
        self._collected: Frequencies = {}
        connection.register_fts5_function("recall_frequencies", self._collect)
        self.stems = Stemmer(connection)
        self.entities = EntityReader(connection)

    @cached_property
    def facets(self) -> FacetReader:
        """Reads of the facet tables, for what is no search by words alone."""
        from cocorecall.index.facets import FacetReader  # noqa: PLC0415 - most searches name no facet

        return FacetReader(self._db)

    def _all(self, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
        return self._db.execute(sql, values).fetchall()

    # --- sizes ---

    def totals(self) -> Totals:
        """Turns, sessions and characters of the whole index."""
        meta = dict(
            self._all("SELECT key, value FROM import_meta WHERE key IN ('turns', 'sessions', 'chars')")
        )
        return Totals(*(int(meta.get(k, 0)) for k in ("turns", "sessions", "chars")))

    def speakers(self) -> list[str]:
        """Every role or speaker of the index."""
        return [str(r) for (r,) in self._all("SELECT role FROM speakers ORDER BY role")]

    # --- frequencies ---

    def document_frequency(self, expression: str, at_most: int) -> int:
        """Turns that match an expression, counted up to `at_most`."""
        row = self._db.execute(
            "SELECT count(*) FROM (SELECT 1 FROM turn_words WHERE turn_words MATCH ? LIMIT ?)",
            (expression, at_most),
        ).fetchone()
        return int(row[0]) if row else 0

    def stem_frequency(self, stem: str) -> int:
        """Turns that hold a stem, from the vocabulary."""
        row = self._db.execute("SELECT doc FROM turn_vocabulary WHERE term = ?", (stem,)).fetchone()
        return int(row[0]) if row else 0

    def sessions_with(self, expression: str) -> int:
        """Sessions in which an expression matches."""
        row = self._db.execute(
            "SELECT count(DISTINCT rowid >> 24) FROM turn_words WHERE turn_words MATCH ?", (expression,)
        ).fetchone()
        return int(row[0]) if row else 0

    def count(self, expression: str, filters: Filters) -> tuple[int, int]:
        """(turns, sessions) that match an expression and meet the filters."""
        where, values = condition(filters, "turn_words.rowid")
        low, high = self._bounds(filters)
        row = self._db.execute(
            "SELECT count(*), count(DISTINCT rowid >> 24) FROM turn_words"
            f" WHERE turn_words MATCH ? AND rowid BETWEEN ? AND ? AND {where}",
            (expression, low, high, *values),
        ).fetchone()
        return (int(row[0]), int(row[1])) if row else (0, 0)

    # --- candidates ---

    def newest_matching(self, expression: str, filters: Filters, limit: int) -> list[int]:
        """Docs of the newest matches, without ranking them."""
        where, values = condition(filters, "turn_words.rowid")
        low, high = self._bounds(filters)
        rows = self._all(
            "SELECT rowid FROM turn_words WHERE turn_words MATCH ? AND rowid BETWEEN ? AND ?"
            f" AND {where} ORDER BY rowid DESC LIMIT ?",
            (expression, low, high, *values, limit),
        )
        return [int(d) for (d,) in rows]

    def best(self, expression: str, filters: Filters, *, turns: int, sessions: int) -> list[int]:
        """Docs of the best turns by FTS5's own bm25, and of the best turn of each of the best sessions.

        Args:
            expression: an FTS5 query.
            filters: what the turns must meet.
            turns: how many turns.
            sessions: how many sessions.
        """
        where, values = condition(filters, "turn_words.rowid")
        low, high = self._bounds(filters)
        weights = ", ".join(map(str, FIELD_WEIGHTS))
        rows = self._all(
            f"WITH m AS MATERIALIZED (SELECT rowid AS doc, bm25(turn_words, {weights}) AS score"
            f" FROM turn_words WHERE turn_words MATCH ? AND rowid BETWEEN ? AND ? AND {where})"
            " SELECT * FROM (SELECT doc FROM m ORDER BY score, doc DESC LIMIT ?)"
            " UNION SELECT * FROM (SELECT doc FROM (SELECT doc, min(score) AS s FROM m GROUP BY doc >> 24)"
            " ORDER BY s, doc DESC LIMIT ?)",
            (expression, low, high, *values, turns, sessions),
        )
        return [int(doc) for (doc,) in rows]

    def containing(self, expression: str, literal: str, limit: int) -> list[int]:
        """Newest docs that match an expression and whose text or calls hold a literal, without case.

        Looks through the `limit` newest matches only.
        """
        rows = self._all(
            "SELECT rowid FROM turn_words WHERE turn_words MATCH ? ORDER BY rowid DESC LIMIT ?",
            (expression, limit),
        )
        docs = [int(d) for (d,) in rows]
        return [d for d in docs if self._holds(d, literal)]

    def _holds(self, doc: int, literal: str) -> bool:
        row = self._db.execute("SELECT text FROM turns WHERE doc = ?", (doc,)).fetchone()
        if row and literal in str(row[0]).lower():
            return True
        return literal in self.calls_text(doc).lower()

    def newest(self, filters: Filters, limit: int, *, one_a_session: bool) -> list[int]:
        """Docs that meet the filters, newest first: the answer to a search without words.

        Args:
            filters: what the turns must meet.
            limit: most docs.
            one_a_session: only the newest of each session.
        """
        where, values = condition(filters, "turns.doc")
        low, high = self._bounds(filters)
        # SQLite takes a bare column from the row that holds the maximum
        columns, group = (
            ("doc, max(timestamp) AS at", "GROUP BY doc >> 24")
            if one_a_session
            else ("doc, timestamp AS at", "")
        )
        rows = self._all(
            f"SELECT {columns} FROM turns WHERE doc BETWEEN ? AND ? AND {where} {group} ORDER BY at DESC, doc DESC LIMIT ?",
            (low, high, *values, limit),
        )
        return [int(doc) for doc, _ in rows]

    def count_filtered(self, filters: Filters) -> tuple[int, int]:
        """(turns, sessions) that meet the filters."""
        where, values = condition(filters, "turns.doc")
        low, high = self._bounds(filters)
        row = self._db.execute(
            f"SELECT count(*), count(DISTINCT doc >> 24) FROM turns WHERE doc BETWEEN ? AND ? AND {where}",
            (low, high, *values),
        ).fetchone()
        return (int(row[0]), int(row[1])) if row else (0, 0)

    def _bounds(self, filters: Filters) -> tuple[int, int]:
        if filters.session:
            row = self._db.execute("SELECT number FROM sessions WHERE id = ?", (filters.session,)).fetchone()
            return doc_range(int(row[0])) if row else (1, 0)
        return 0, (1 << 62)

    def meets(self, doc: int, filters: Filters) -> bool:
        """Whether one turn meets the filters."""
        where, values = condition(filters, "turns.doc")
        return (
            self._db.execute(f"SELECT 1 FROM turns WHERE doc = ? AND {where}", (doc, *values)).fetchone()
            is not None
        )

    def occurs_elsewhere(self, expression: str, session_number: int) -> bool:
        """Whether an expression matches in any other session."""
        first, last = doc_range(session_number)
        statement = "SELECT 1 FROM turn_words WHERE turn_words MATCH ? AND rowid {} ? LIMIT 1"
        return any(
            self._db.execute(statement.format(sign), (expression, bound)).fetchone()
            for sign, bound in ((">", last), ("<", first))
        )

    # --- term frequencies ---

    def frequencies(self, expression: str, ranges: Iterable[tuple[int, int]]) -> Frequencies:
        """Frequencies of each phrase of an expression in the matching docs of some ranges.

        Args:
            expression: an FTS5 query; its phrases are numbered as they stand in it.
            ranges: (first doc, last doc), inclusive.
        """
        self._collected = {}
        statement = "SELECT recall_frequencies(turn_words) FROM turn_words WHERE turn_words MATCH ? AND rowid BETWEEN ? AND ?"
        for bounds in ranges:
            for _ in self._db.execute(statement, (expression, *bounds)):
                pass
        return self._collected

    def _collect(self, api: apsw.FTS5ExtensionApi, *_: Any) -> None:
        row: list[tuple[float, int]] = []
        for phrase in range(api.phrase_count):
            weighted, plain = 0.0, 0
            for column in api.phrase_columns(phrase):
                n = len(api.phrase_column_offsets(phrase, column))
                weighted += n * FIELD_WEIGHTS[column]
                plain += n
            row.append((weighted, plain))
        self._collected[api.rowid] = row

    def matching(self, expression: str, session_number: int, filters: Filters) -> list[int]:
        """Docs of one session that match, oldest first."""
        where, values = condition(filters, "turn_words.rowid")
        rows = self._all(
            f"SELECT rowid FROM turn_words WHERE turn_words MATCH ? AND rowid BETWEEN ? AND ? AND {where}"
            " ORDER BY rowid",
            (expression, *doc_range(session_number), *values),
        )
        return [int(d) for (d,) in rows]

    def session_match_summary(
        self, expression: str, session_number: int, filters: Filters
    ) -> tuple[int, int]:
        """(how many turns of a session match, `doc` of the last of them); without words, meet the filters."""
        doc = "rowid" if expression else "doc"
        table = "turn_words" if expression else "turns"
        where, values = condition(filters, f"{table}.{doc}")
        words = ("turn_words MATCH ? AND ", (expression,)) if expression else ("", ())
        row = self._db.execute(
            f"SELECT count(*), max({doc}) FROM {table} WHERE {words[0]}{doc} BETWEEN ? AND ? AND {where}",
            (*words[1], *doc_range(session_number), *values),
        ).fetchone()
        return (int(row[0]), int(row[1] or 0)) if row else (0, 0)

    # --- rows ---

    def turn_rows(self, ranges: Iterable[tuple[int, int]]) -> dict[int, TurnRow]:
        """Turns of some ranges of docs, without their texts."""
        out: dict[int, TurnRow] = {}
        statement = "SELECT doc, speaker_role, timestamp, chars, kind, cues, echo, text_hash FROM turns WHERE doc BETWEEN ? AND ?"
        for bounds in ranges:
            for row in self._db.execute(statement, bounds):
                out[row[0]] = TurnRow(*row)
        return out

    def session_rows(self, numbers: Iterable[int]) -> dict[int, SessionRow]:
        """Sessions by number."""
        rows = self._all(
            "SELECT number, id, agent, title, cwd, phase_context, source_path, start_time, turn_count, chars"
            " FROM sessions WHERE number IN (SELECT value FROM json_each(?))",
            (_json_list(numbers),),
        )
        return {row[0]: SessionRow(*row) for row in rows}

    def turn_text(self, doc: int) -> TurnText:
        """A turn with its text.

        Raises:
            KeyError: there is no such turn.
        """
        row = self._db.execute(
            "SELECT id, seq, text, text_hash, text_length, time_source, in_source, source_line, tags, said_tags, echo"
            " FROM turns WHERE doc = ?", (doc,),
        ).fetchone()  # fmt: skip
        if row is None:
            raise KeyError(doc)
        turn_id, seq, text, text_hash, length, time_source, in_source, line, tags, said, echo = row
        return TurnText(
            doc, turn_id, seq, text, text_hash, length, time_source, bool(in_source), line,
            tuple(filter(None, tags.split(","))), tuple(filter(None, said.split(","))), bool(echo),
        )  # fmt: skip

    def calls_text(self, doc: int) -> str:
        """The searchable text of a turn's calls (`analysis.calls_text`)."""
        rows = self._all("SELECT name, payload FROM tool_calls WHERE doc = ? ORDER BY position", (doc,))
        return calls_text((str(name), load_payload(payload)) for name, payload in rows)

    def copies(self, doc: int) -> list[str]:
        """Other sessions whose transcripts hold a copy of a turn."""
        return [
            str(s)
            for (s,) in self._all("SELECT session_id FROM copies WHERE doc = ? ORDER BY session_id", (doc,))
        ]

    # --- citations ---

    def record_citations(self, query: str, cited: Sequence[tuple[str, str, bool]], now: str) -> None:
        """Note what an answer cited: (session id, turn id, source exists)."""
        with self._db:
            self._db.executemany(
                "INSERT INTO citations VALUES (?, ?, ?, ?, ?)",
                [(query, s, t, int(e), now) for s, t, e in cited],
            )

    # --- spelling ---

    def vocabulary(self, first: str, last: str, limit: int) -> list[tuple[str, int]]:
        """(stem, turns) of the vocabulary from `first` up to `last`."""
        return self._all(
            "SELECT term, doc FROM turn_vocabulary WHERE term >= ? AND term < ? LIMIT ?", (first, last, limit)
        )

    def example(self, stem: str) -> str | None:
        """The text of the newest turn that holds a stem (to find how the word is written there)."""
        row = self._db.execute(
            "SELECT t.text FROM (SELECT rowid AS doc FROM turn_words WHERE turn_words MATCH ? ORDER BY rowid DESC"
            " LIMIT 1) m JOIN turns t ON t.doc = m.doc", (f'text : "{self.stems.word_for(stem)}"',),
        ).fetchone()  # fmt: skip
        return str(row[0]) if row else None


def _json_list(values: Iterable[int]) -> str:
    return f"[{','.join(map(str, sorted(set(values))))}]"


def neighbours(doc: int, distance: int) -> tuple[int, int]:
    """The range of docs within `distance` turns of one, in its session."""
    seq = doc & MAX_SEQ
    return doc - min(seq, distance), doc + min(MAX_SEQ - seq, distance)

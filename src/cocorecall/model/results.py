"""What a search returns: cited hits, and where the words of the query occur."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, NamedTuple

Span = tuple[int, int]
"""Half-open character offsets into a text."""


class Secret(NamedTuple):
    """A credential in a text.

    Attributes:
        kind: what it is: `aws-access-key`, `password`, …
        start: offset of its first character.
        end: offset behind its last.
    """

    kind: str
    start: int
    end: int


@dataclass(frozen=True, slots=True)
class Factor:
    """One multiplicand or summand of a hit's score, for `--explain`."""

    name: str
    value: float


@dataclass(frozen=True, slots=True)
class TermScore:
    """What one word of the query contributed to a hit, for `--explain`.

    Attributes:
        term: the word as asked.
        idf: its weight in this index.
        frequency: windowed, field-weighted frequency of the word in the turn.
        own: its plain count in the turn itself.
        score: what it added to the relevance.
    """

    term: str
    idf: float
    frequency: float
    own: int
    score: float


@dataclass(frozen=True, slots=True)
class Explanation:
    """How a hit came by its score."""

    factors: tuple[Factor, ...]
    terms: tuple[TermScore, ...]


@dataclass(frozen=True, slots=True)
class Hit:
    """One cited turn. Field meanings and JSON keys are the search schema of the README.

    Attributes:
        text: the excerpt: `spans` of the turn's text joined by gap marks; verbatim within a span, but for
            markers in place of credentials.
        spans: offsets into the field's full text (`field` says which text that is).
        highlights: offsets of matched words, each inside a span.
        match: matched share of the query's weight, 0 to 1, comparable between queries.
        timestamp: ISO 8601 UTC; never None for an indexed turn.
        masked: what the markers in `text` stand for, in order; offsets into the field's stored text, as
            those of `spans` and `highlights`.
        verified: whether its source holds the same text now; None where that was not asked.
    """

    rank: int
    score: float
    field: str
    in_source: bool
    session_id: str
    turn_id: str
    source_exists: bool
    suggested_follow_up: str
    match: float
    matched: tuple[str, ...]
    missed: tuple[str, ...]
    session_matches: int
    latest_turn_id: str
    speaker_role: str
    timestamp: str
    time_source: str
    seq: int
    agent: str
    title: str | None
    cwd: str | None
    phase_context: str | None
    source_path: str
    source_line: int | None
    text_hash: str
    text: str
    spans: tuple[Span, ...]
    text_length: int
    highlights: tuple[Span, ...]
    tags: tuple[str, ...] = ()
    also_in: tuple[str, ...] = ()
    kind: str = "message"
    echo: bool = False
    explanation: Explanation | None = None
    masked: tuple[Secret, ...] = ()
    verified: bool | None = None

    @property
    def secrets(self) -> int:
        """How many credentials are masked in `text`; where 0 it is verbatim."""
        return len(self.masked)


@dataclass(frozen=True, slots=True)
class WordReport:
    """Where one word of the query occurs, for the notes under an answer.

    Attributes:
        word: as asked.
        turns: turns that hold it.
        sessions: sessions that hold it.
        near: similar words of the index, where it occurs nowhere.
    """

    word: str
    turns: int
    sessions: int
    near: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class Results:
    """The answer to one query.

    Attributes:
        mode: `session-diverse`, `all` or `session`.
        total_turns: turns that match, before any cut.
        total_sessions: sessions they lie in.
        tokens: estimated tokens of the answer in its plain form, citations included.
        words: one report a query word, where no turn holds all of them; else empty.
        notes: what the reader should know of this answer, one sentence each.
    """

    query: str
    mode: str
    filters: Mapping[str, Any]
    total_turns: int
    total_sessions: int
    returned: int
    budget: int | None
    tokens: int
    hits: tuple[Hit, ...]
    words: tuple[WordReport, ...] = ()
    notes: tuple[str, ...] = field(default=())

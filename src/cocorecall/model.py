"""The things CocoRecall speaks of: what a parser yields, and what a search returns.

Frozen dataclasses without I/O; every layer may import this module, and it imports none of them.
Words as in the glossary of the README: a *transcript* is the file or files of one *session*; a
session is a row of *turns*, numbered from 0; a *facet* is a normalized fact of a session or turn.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any, Literal

TimeSource = Literal["own", "before", "after", "session", "file", "none"]
"""Where a turn's time comes from: the record itself, the last or next timed turn of its session, the
session's start, or the transcript's modification time."""

TurnKind = Literal["message", "summary"]
"""`summary`: text that a compaction wrote about earlier turns; never the words of a person."""


# --- what a parser yields ----------------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class ToolCall:
    """One call of a tool, as the turn that made it says.

    Attributes:
        name: the tool's name as written (`snowflake_sql_execute`, `Bash`).
        payload: the tool's input, a JSON value, as written.
        call_id: pairs the call with its `ToolResult`; None where the format has no ids.
        status: `success`, `error` or the agent's own word, where the call's record itself says.
        duration_ms: how long the call took, where known.
    """

    name: str
    payload: Any = None
    call_id: str | None = None
    status: str | None = None
    duration_ms: int | None = None


@dataclass(frozen=True, slots=True)
class ToolResult:
    """Marks a `tool` turn as the answer to a call; the text is the turn's own.

    Attributes:
        call_id: the `call_id` of the `ToolCall` it answers.
        status: `success`, `error`, the agent's own word, or None where it does not say.
        duration_ms: how long the call took, where the result says.
    """

    call_id: str | None = None
    status: str | None = None
    duration_ms: int | None = None


@dataclass(frozen=True, slots=True)
class Turn:
    """One message of a session with something to show.

    Attributes:
        role: `user`, `assistant`, `tool`, `system`; or a speaker's name where the transcript names one.
        text: the message's text, verbatim, injected context left out, blocks joined by a blank line.
            Free of NUL and lone surrogates, at most `MAX_TEXT` characters.
        seq: the turn's place in its transcript, from 0; None lets the importer count.
        native_id: the record's own id (Claude's `message.id` or `uuid`, Cortex's `id`).
        record_ids: every globally unique id of the records that make up the turn; what copies in other
            transcripts are recognised by.
        timestamp: ISO 8601, UTC, milliseconds, `Z`; None before times are derived.
        time_source: where `timestamp` comes from.
        zoned: False where the transcript gave a time without a zone, read as local time.
        thinking: the model's reasoning, kept apart.
        calls: tools the turn calls.
        results: calls that the turn answers.
        tags: words that the transcript attaches to the turn.
        line: 1-based line of the (first) record in `source`; None in single-document formats.
        cwd: the working directory while the turn ran, where the record says.
        kind: `message` or `summary`.
        echo: the text is what CocoRecall itself printed into the transcript.
        text_length: true length in characters, where `text` was cut at `MAX_TEXT`; else None.
    """

    role: str
    text: str
    seq: int | None = None
    native_id: str | None = None
    record_ids: tuple[str, ...] = ()
    timestamp: str | None = None
    time_source: TimeSource = "none"
    zoned: bool = True
    thinking: str = ""
    calls: tuple[ToolCall, ...] = ()
    results: tuple[ToolResult, ...] = ()
    tags: tuple[str, ...] = ()
    line: int | None = None
    cwd: str | None = None
    kind: TurnKind = "message"
    echo: bool = False
    text_length: int | None = None


MAX_TEXT = 1 << 20
"""Characters of a turn's text that are stored; what is longer is cut there and its length kept."""


@dataclass(frozen=True, slots=True)
class SessionHead:
    """What a transcript says of its session as a whole. A later head of the same id replaces an earlier.

    Attributes:
        id: the agent's own id of the session, unchanged.
        agent: `cortex`, `claude`, `reference`, …
        title: as a person would recognise it; None where the transcript has none.
        cwd: the working directory the session was started in.
        start_time: ISO 8601 UTC, where the transcript says apart from its turns.
        end_time: likewise.
        git_branch: branch at the start, where known.
        parent_id: the session that spawned or was copied into this one.
        session_type: `main`, `subagent`, or the agent's own word; None where unknown.
        phase_context: the CocoPlus phase, where the transcript itself says.
        entity_tags: names attached to the session by the transcript.
        summary: the session's summary, where the transcript carries one.
    """

    id: str
    agent: str
    title: str | None = None
    cwd: str | None = None
    start_time: str | None = None
    end_time: str | None = None
    git_branch: str | None = None
    parent_id: str | None = None
    session_type: str | None = None
    phase_context: str | None = None
    entity_tags: tuple[str, ...] = ()
    summary: str | None = None


@dataclass(frozen=True, slots=True)
class Skipped:
    """A record that could not be used; it costs only itself and is counted.

    Attributes:
        reason: what was wrong, in words for a person.
        line: 1-based line in the transcript, where it has lines.
    """

    reason: str
    line: int | None = None


@dataclass(frozen=True, slots=True)
class UnknownRecord:
    """A record of a type that the parser does not know: no error, but counted by name."""

    type: str


@dataclass(frozen=True, slots=True)
class FunctionTouch:
    """A function that a session called, defined, edited, created or dropped."""

    function_name: str
    how: str | None = None
    turn_seq: int | None = None
    payload: Any = None


@dataclass(frozen=True, slots=True)
class EvaluationResult:
    """A measured value: `accuracy = 0.91`."""

    metric: str
    value: float | str | None
    unit: str | None = None
    threshold: float | None = None
    turn_seq: int | None = None
    payload: Any = None


@dataclass(frozen=True, slots=True)
class OutcomeContract:
    """What a function was promised to do, and whether it did.

    Attributes:
        outcome_type: `e2e`, `reference`, `spec`, `differential`, `unit`, or as written.
        status: `pass`, `fail`, `stale`, `absent`, or as written.
    """

    function_name: str
    outcome_type: str | None = None
    status: str | None = None
    turn_seq: int | None = None
    payload: Any = None


@dataclass(frozen=True, slots=True)
class StrategyUse:
    """A strategy of `cocoplus/strategies` that a session used."""

    strategy_id: str
    turn_seq: int | None = None


@dataclass(frozen=True, slots=True)
class KeyDecision:
    """A decision, in the words in which it was taken.

    Attributes:
        decision: the sentence, verbatim.
        role: who decided: the role of the turn, where there is one.
    """

    decision: str
    role: str | None = None
    turn_seq: int | None = None


@dataclass(frozen=True, slots=True)
class Entity:
    """A name that a turn mentions.

    Attributes:
        name: canonical form (upper case for Snowflake objects).
        type: `snowflake_object`, `function`, `cortex_feature`, `data_concept`, `file`, `error_code`,
            `url`, `ticket`.
        spelling: as the turn writes it.
        turn_seq: the turn; None for what the transcript attaches to the whole session.
    """

    name: str
    type: str
    spelling: str | None = None
    turn_seq: int | None = None


Facet = FunctionTouch | EvaluationResult | OutcomeContract | StrategyUse | KeyDecision | Entity
Event = SessionHead | Turn | Skipped | UnknownRecord | Facet
"""What a parser yields, in the transcript's own order; turns and facets belong to the last head."""


# --- what a search returns ---------------------------------------------------------------------------

Span = tuple[int, int]
"""Half-open character offsets into a text."""


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
        text: the excerpt: `spans` of the turn's text joined by gap marks; verbatim within a span.
        spans: offsets into the field's full text (`field` says which text that is).
        highlights: offsets of matched words, each inside a span.
        match: matched share of the query's weight, 0 to 1, comparable between queries.
        timestamp: ISO 8601 UTC; never None for an indexed turn.
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


# --- what the other commands return --------------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class SkippedInput:
    """Something of a source that an import left out, and why.

    Attributes:
        path: the file or folder.
        line: 1-based line, where the reason lies in one line.
        records: how many records the reason stands for (unlike reasons of one file are apart).
    """

    path: str
    reason: str
    line: int | None = None
    records: int = 1


@dataclass(frozen=True, slots=True)
class ImportReport:
    """What one import did.

    Attributes:
        sessions_new: sessions that the index did not know.
        sessions_changed: known sessions of which a turn was added, changed or has gone.
        sessions_unchanged: known sessions whose files were not opened, or held nothing new.
        sessions_gone: sessions whose transcript is no longer there; their turns are kept.
        turns_new: turns added.
        turns_changed: turns whose text or calls were rewritten in place.
        turns_gone: turns that have left their transcript (compaction, rewind); kept, `in_source: false`.
        transcripts: transcripts found in the sources.
        transcripts_read: of these, how many were opened.
        bytes_read: bytes of transcripts that were read.
        skipped: what was left out, by reason.
        unknown_records: records of a type that no parser knows, by type.
        receipt: path of the receipt, or None where it could not be written.
    """

    sessions_new: int = 0
    sessions_changed: int = 0
    sessions_unchanged: int = 0
    sessions_gone: int = 0
    turns_new: int = 0
    turns_changed: int = 0
    turns_gone: int = 0
    transcripts: int = 0
    transcripts_read: int = 0
    bytes_read: int = 0
    skipped: tuple[SkippedInput, ...] = ()
    unknown_records: Mapping[str, int] = field(default_factory=dict)
    receipt: str | None = None


@dataclass(frozen=True, slots=True)
class Progress:
    """How far a running import is; handed to the caller's callback.

    Attributes:
        done: transcripts dealt with.
        total: transcripts to deal with.
        turns: turns written so far.
    """

    done: int
    total: int
    turns: int


@dataclass(frozen=True, slots=True)
class SessionInfo:
    """A session as the index knows it.

    Attributes:
        turns: how many turns are indexed.
        also_at: other sessions that hold copies of its turns (forks, resumes).
    """

    session_id: str
    agent: str
    title: str | None
    cwd: str | None
    git_branch: str | None
    start_time: str
    end_time: str
    phase_context: str | None
    parent_id: str | None
    session_type: str | None
    source_path: str
    source_exists: bool
    turns: int
    summary: str | None = None
    entity_tags: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class CallView:
    """A tool call as `show` prints it.

    Attributes:
        payload: the tool's input as JSON text.
    """

    name: str
    payload: str
    status: str | None = None


@dataclass(frozen=True, slots=True)
class TurnView:
    """One turn as `show` prints it, whole.

    Attributes:
        matched: whether the turn matches the originating query.
        highlights: offsets of matched words in `text`.
        spans: the parts of `text` to print: all of it, or the context lines round each match.
        text_length: true length in characters; longer than `text` where the index holds a cut text.
        omitted_before: turns left out between this one and the one before it in the view.
    """

    turn_id: str
    seq: int
    speaker_role: str
    timestamp: str
    time_source: str
    text: str
    spans: tuple[Span, ...]
    highlights: tuple[Span, ...]
    matched: bool
    text_hash: str
    text_length: int
    in_source: bool
    source_line: int | None
    kind: str
    echo: bool
    tags: tuple[str, ...]
    calls: tuple[CallView, ...]
    thinking: str
    omitted_before: int = 0


@dataclass(frozen=True, slots=True)
class SessionView:
    """The answer to `show`.

    Attributes:
        query: the query whose matches are highlighted; None where none is known.
        turns: the turns to print, in order.
        omitted_after: turns left out after the last one shown.
        shared_turns: turns at the start of the transcript that are copies of another session's, which
            holds them in the index.
        shared_with: the session that holds them.
    """

    session: SessionInfo
    query: str | None
    turns: tuple[TurnView, ...]
    omitted_after: int = 0
    shared_turns: int = 0
    shared_with: str | None = None


@dataclass(frozen=True, slots=True)
class SourceReport:
    """A configured source.

    Attributes:
        agent: as configured, or None where it is told from the files.
        exists: whether the path is there now.
        sessions: sessions indexed from it.
        last_import: when it was last scanned; None before its first import.
        configured: False for the built-in default that stands in where no sources file exists.
    """

    path: str
    agent: str | None
    description: str | None
    exists: bool
    sessions: int
    turns: int
    last_import: str | None
    configured: bool


@dataclass(frozen=True, slots=True)
class StatusReport:
    """The state of an index.

    Attributes:
        project: the project's folder; None for the personal index.
        index_path: the database file.
        index_bytes: size of the database file.
        wal_bytes: size of its write-ahead log.
        free_bytes: unused pages inside the database file.
        not_indexed: transcripts that lie in the sources and are not indexed (new or changed since).
        sessions_gone: indexed sessions whose source no longer exists.
        turns_not_in_source: turns kept although their transcript dropped them.
        unreadable: transcripts that the last import could not use, with reasons.
        unknown_records: record types that no parser knew, with counts.
        citations: citations recorded by searches.
        phase: the project's current phase.
        problems: what is wrong with the index or its sources, one sentence each, with its remedy.
    """

    project: str | None
    index_path: str
    index_bytes: int
    wal_bytes: int
    free_bytes: int
    schema_version: int
    sessions: int
    turns: int
    agents: Mapping[str, int]
    last_import: str | None
    newest_turn: str | None
    transcripts: int
    not_indexed: int
    sessions_gone: int
    turns_not_in_source: int
    unreadable: tuple[SkippedInput, ...]
    unknown_records: Mapping[str, int]
    citations: int
    phase: str | None
    problems: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """What `forget` removed, and what it cannot reach.

    Attributes:
        remaining: copies that lie outside the index: the agent's own files.
    """

    session_id: str
    turns: int
    citations: int
    remaining: tuple[str, ...]

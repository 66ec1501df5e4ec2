"""What a parser yields: sessions, turns, facets, and what could not be used."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Literal

TimeSource = Literal["own", "before", "after", "session", "file", "none"]
"""Where a turn's time comes from: the record itself, the last or next timed turn of its session, the
session's start, or the transcript's modification time."""

TurnKind = Literal["message", "summary"]
"""`summary`: text that a compaction wrote about earlier turns; never the words of a person."""


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
        exported: the transcript is an export of CocoRecall: it stands in for the agent's own, and gives way
            to it.
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
    exported: bool = False


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

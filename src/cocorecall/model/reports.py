"""What the other commands return: import, show, sources, status, forget."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import TYPE_CHECKING

from cocorecall.model.results import Span

if TYPE_CHECKING:
    from cocorecall.model.doctor import RecoveryReport


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
        sql_statements: SQL statements that were read for what they touch.
        sql_unparsed: of these, the ones that the grammar did not understand; they were read word by word.
        receipt: path of the receipt, or None where it could not be written.
        requests: requests of CocoPlus's queue that this import honoured.
        ignored: transcripts and sessions that `ignore` patterns of the sources file kept out.
        recovered: what was saved of a damaged index; None where it was sound.
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
    sql_statements: int = 0
    sql_unparsed: int = 0
    receipt: str | None = None
    requests: int = 0
    ignored: int = 0
    recovered: RecoveryReport | None = None


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
        secrets: credentials that are masked in text, thinking and calls; where 0 they are verbatim. Offsets
            count in `text` as it is shown.
        not_stored: characters of the turn that the index does not hold, as it cut the text.
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
    secrets: int = 0
    not_stored: int = 0


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
class RetentionReport:
    """What an agent deletes of its own transcripts; the index keeps their turns.

    Attributes:
        agent: the agent.
        days: how long it keeps a transcript after its last change; None where no limit is known.
        setting: the file that sets this; None where it is the agent's default.
        due: sessions whose transcript it will delete within seven days.
        due_sessions: ids of the first of them, the nearest first.
        gone: sessions whose transcript is no longer there.
        gone_sessions: ids of the last of them, the newest first.
    """

    agent: str
    days: int | None
    setting: str | None
    due: int
    due_sessions: tuple[str, ...]
    gone: int
    gone_sessions: tuple[str, ...]


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
        secrets: credentials by kind, as the last look through the whole index (`Recall.secrets`) counted
            them; None before the first.
        secrets_counted: when that was.
        retention: agents that delete transcripts, or whose transcripts are gone.
        dream: whether the memory was consolidated within 48 hours: `green`, `amber` or `never`.
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
    secrets: Mapping[str, int] | None = None
    secrets_counted: str | None = None
    retention: tuple[RetentionReport, ...] = ()
    dream: str = "never"


@dataclass(frozen=True, slots=True)
class ForgottenSession:
    """A session that `forget` removed, or would.

    Attributes:
        turns: how many turns the index held of it.
        source_path: the agent's own file.
        source_exists: whether that is still there.
    """

    session_id: str
    agent: str
    title: str | None
    start_time: str | None
    turns: int
    source_path: str
    source_exists: bool


@dataclass(frozen=True, slots=True)
class KeptTurns:
    """Turns of a forgotten session that another session's transcript holds too, and that are now its own."""

    session_id: str
    turns: int


@dataclass(frozen=True, slots=True)
class ForgetReport:
    """What `forget` removed, and what it cannot reach.

    Attributes:
        session_id: the session, where it is one; else None.
        turns: turns of all of them.
        citations: citations removed: all of every query whose answer cited one of them.
        remaining: files outside the index that may still hold the text: the agent's own, backups, indexes that
            were set aside, memory files that cite it.
        sessions: the sessions, those of subagents included.
        kept: turns that stay because a fork holds them too.
        dry_run: nothing was removed.
        note: what is left to do; empty where nothing is.
    """

    session_id: str | None
    turns: int
    citations: int
    remaining: tuple[str, ...]
    sessions: tuple[ForgottenSession, ...] = ()
    kept: tuple[KeptTurns, ...] = ()
    dry_run: bool = False
    note: str = ""


@dataclass(frozen=True, slots=True)
class SecretPlace:
    """Credentials of one kind in one turn; their values are nowhere in it.

    Attributes:
        count: how many.
        suggested_follow_up: the command that shows the turn, masked.
        fields: where in the turn: `text`, `thinking`, `calls`.
    """

    kind: str
    count: int
    session_id: str
    turn_id: str
    source_exists: bool
    suggested_follow_up: str
    speaker_role: str
    timestamp: str
    source_path: str
    source_line: int | None
    fields: tuple[str, ...]


@dataclass(frozen=True, slots=True)
class SecretReport:
    """Where the index holds credentials.

    Attributes:
        secrets: how many, in all.
        turns: turns that hold one.
        sessions: sessions that hold one.
        kinds: how many of each kind, most frequent first.
        places: one a turn and kind, newest first.
    """

    secrets: int
    turns: int
    sessions: int
    kinds: Mapping[str, int]
    places: tuple[SecretPlace, ...]


@dataclass(frozen=True, slots=True)
class Tombstone:
    """That a session was forgotten.

    Attributes:
        key: digest of its agent and id; its name is not kept.
        forgotten_at: when, ISO time.
    """

    key: str
    forgotten_at: str

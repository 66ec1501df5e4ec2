"""Import: discover → changed? → parse → compare → write, one transaction a batch.

Transcripts whose path, sizes and modification times are as at the last import are not opened. Everything
else is parsed anew and compared turn by turn with the index, so that only what changed is written and a
turn keeps the number it was first given.
"""

from __future__ import annotations

import json
import time
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import asdict, dataclass, field
from pathlib import Path

import apsw

from cocorecall.evidence import AGENT, EvidenceFormat, Vocabulary, evidence_files
from cocorecall.index.facet_import import FacetImport
from cocorecall.index.tombstones import tombstone
from cocorecall.index.writer import IndexWriter, SessionWriter, Tally, TranscriptState
from cocorecall.model import (
    Event,
    Facet,
    ImportReport,
    Progress,
    SessionHead,
    Skipped,
    SkippedInput,
    Turn,
    UnknownRecord,
)
from cocorecall.project import PhaseHistory, Source
from cocorecall.sources import formats, recognise
from cocorecall.sources.discovery import Unreadable, walk
from cocorecall.sources.ignoring import Ignore
from cocorecall.sources.transcript import HEAD_BYTES, Transcript, TranscriptFormat

BATCH_TURNS = 20_000
BATCH_SECONDS = 1.0
"""A batch is committed when either is reached: short enough for other writers, long enough for speed."""

MAX_SKIPPED_PER_FILE = 20
"""Reasons kept of one transcript; further ones are counted in the last."""


@dataclass(slots=True)
class Found:
    """A transcript of a source, and what the index knows of it."""

    transcript: Transcript
    source: Source
    signature: str


@dataclass(slots=True)
class Outcome:
    """What became of one transcript."""

    state: str = "ok"
    agent: str | None = None
    skipped: list[SkippedInput] = field(default_factory=list)
    unknown: Counter[str] = field(default_factory=Counter)
    sessions: int = 0

    def stored(self, now: str) -> TranscriptState:
        """The outcome as the index keeps it."""
        skipped = json.dumps([asdict(s) for s in self.skipped], ensure_ascii=False)
        unknown = json.dumps(dict(self.unknown), sort_keys=True)
        return TranscriptState(self.agent, self.state, skipped, unknown, self.sessions, now)

    def skip(self, path: str, reason: str, line: int | None = None) -> None:
        """Note something left out; alike reasons share one entry, and only the first are kept apart."""
        for i, entry in enumerate(self.skipped):
            if entry.reason == reason or i == MAX_SKIPPED_PER_FILE - 1:
                self.skipped[i] = SkippedInput(path, entry.reason, entry.line, entry.records + 1)
                return
        self.skipped.append(SkippedInput(path, reason, line))


class _TooOldError(Exception):
    """The session started before the moment that `--since` names."""


class Importer:
    """One run over the sources; made anew for each import.

    Args:
        connection: open for writing; the caller holds the import lock.
        sources: the places to scan.
        root: the project's folder, whose CocoPlus files are read too; None for the personal index.
        vocabulary: the project's own words.
        phases: the project's phase history.
        now: ISO time of this import.
        since: ISO time; sessions that started before are left for later.
        rebuild: read every transcript, and derive full text anew.
        progress: called after each transcript.
        ignore: what the sources file keeps out.
    """

    def __init__(
        self,
        connection: apsw.Connection,
        sources: Sequence[Source],
        *,
        root: Path | None,
        vocabulary: Vocabulary,
        phases: PhaseHistory,
        now: str,
        since: str | None = None,
        rebuild: bool = False,
        progress: Callable[[Progress], None] | None = None,
        ignore: Ignore | None = None,
    ) -> None:
        self._ignore = ignore or Ignore(())
        self._db = connection
        self._writer = IndexWriter(connection)
        self._sources = sources
        self._root = root
        self._facets = FacetImport(connection, vocabulary)
        self._phases = phases
        self._now = now
        self._since = since
        self._rebuild = rebuild
        self._progress = progress
        self._formats = formats()
        self._found: dict[str, Found] = {}
        self._tally = Tally()
        self._counts = Counter[str]()
        self._skipped: list[SkippedInput] = []
        self._unknown = Counter[str]()
        self._batch_turns = 0
        self._batch_start = time.monotonic()

    def run(self) -> ImportReport:
        """Import what is new or changed.

        Raises:
            apsw.Error: the disk or another process interfered; what was committed stays.
        """
        self._discover()
        known = self._known_transcripts()
        changed = [
            f for path, f in self._found.items() if self._rebuild or known.get(path, ("",))[0] != f.signature
        ]
        if self._since:
            changed = [f for f in changed if f.transcript.mtime >= _epoch(self._since)]
        changed.sort(key=lambda f: (f.transcript.mtime, f.transcript.location))
        self._count_unchanged(known, changed)
        self._forgotten = {str(k) for (k,) in self._db.execute("SELECT session_key FROM forgotten")}
        try:
            self._begin()
            if self._rebuild:
                self._writer.rebuild_words()
            self._facets.begin(sum(f.size for found in changed for f in found.transcript.files))
            for done, found in enumerate(changed, 1):
                self._import(found)
                self._commit_if_due()
                if self._progress:
                    self._progress(Progress(done, len(changed), self._tally.new))
            self._finish(changed)
        except BaseException:
            self._writer.rollback()
            raise
        finally:
            self._facets.close()
        return self._report(changed)

    # --- discovery ---

    def _discover(self) -> None:
        for source in self._sources:
            if not source.folder.exists():
                self._skipped.append(SkippedInput(str(source.folder), "source does not exist"))
                continue
            for item in walk(source.folder, self._formats):
                if isinstance(item, Unreadable):
                    self._skipped.append(SkippedInput(str(item.path), item.reason))
                elif self._ignore.path(item.location):
                    self._counts["ignored"] += 1
                else:
                    self._found.setdefault(item.location, Found(item, source, signature_of(item)))
        if self._root is not None:
            self._discover_evidence(self._root)

    def _discover_evidence(self, root: Path) -> None:
        beside = Source(".cocoplus", root, AGENT)
        for item in evidence_files(root):
            if isinstance(item, Unreadable):
                self._skipped.append(SkippedInput(str(item.path), item.reason))
            else:
                self._found[item.location] = Found(item, beside, signature_of(item))

    def _known_transcripts(self) -> dict[str, tuple[str, str, int, str, str]]:
        rows = self._db.execute("SELECT path, signature, state, sessions, skipped, unknown FROM transcripts")
        return {
            path: (signature, state, n, skipped, unknown)
            for path, signature, state, n, skipped, unknown in rows
        }

    def _count_unchanged(
        self, known: dict[str, tuple[str, str, int, str, str]], changed: list[Found]
    ) -> None:
        to_read = {f.transcript.location for f in changed}
        scanned = {str(s.folder) for s in self._sources}
        for path, (_, _, sessions, skipped, unknown) in known.items():
            if path in self._found and path not in to_read:
                self._counts["unchanged"] += sessions
                if skipped != "[]":
                    self._skipped.extend(SkippedInput(**entry) for entry in json.loads(skipped))
                if unknown != "{}":
                    self._unknown.update(json.loads(unknown))
            elif path not in self._found and sessions and not Path(path).exists() and _below(path, scanned):
                self._counts["gone"] += sessions

    # --- one transcript ---

    def _import(self, found: Found) -> None:
        transcript = found.transcript
        path = transcript.location
        outcome = Outcome()
        self._counts["read"] += 1
        self._counts["bytes"] += sum(f.size for f in transcript.files)
        try:
            chosen = self._format_of(found)
            if chosen is None:
                outcome.state = "unrecognised"
                outcome.skip(path, "not a transcript of a known agent")
            else:
                outcome.agent = chosen.agent
                self._import_events(found, chosen, outcome)
        except _TooOldError:
            return
        except OSError as error:
            outcome.state = "unreadable"
            outcome.skip(path, f"cannot be read: {error.strerror or error}")
        except apsw.Error:
            raise
        except Exception as error:  # noqa: BLE001 - a parser's fault costs its file, never the import
            outcome.state = "unreadable"
            outcome.skip(path, f"the {outcome.agent} parser failed: {type(error).__name__}: {error}")
        self._skipped.extend(outcome.skipped)
        self._unknown.update(outcome.unknown)
        self._writer.save_transcript(
            path, str(found.source.folder), found.signature, outcome.stored(self._now)
        )

    def _format_of(self, found: Found) -> TranscriptFormat | EvidenceFormat | None:
        if found.source.agent == AGENT and self._root is not None:
            return EvidenceFormat(self._root)
        with found.transcript.path.open("rb") as file:
            head = file.read(HEAD_BYTES)
        agent = found.source.agent
        if agent:
            mine = [f for f in self._formats if f.agent == agent]
            if mine and mine[0].recognises(found.transcript, head):
                return mine[0]
        return recognise(found.transcript, head)

    def _import_events(
        self, found: Found, chosen: TranscriptFormat | EvidenceFormat, outcome: Outcome
    ) -> None:
        path = found.transcript.location
        running: _RunningSession | None = None
        complete = False
        try:
            for event in chosen.parse(found.transcript):
                if isinstance(event, SessionHead):
                    if running and running.head.id != event.id:
                        self._close(running, outcome, complete=True)
                        running = None
                    running = running or _RunningSession(self, event, path)
                    running.head = event
                else:
                    _take(event, running, outcome, path)
            complete = True
        finally:
            if running:
                self._close(running, outcome, complete=complete)
        if not outcome.sessions and outcome.state == "ok":
            outcome.state = "empty"

    def _close(self, running: _RunningSession, outcome: Outcome, *, complete: bool) -> None:
        tally = running.finish(self._now, self._phases, complete=complete)
        if running.left_out:
            outcome.skip(str(running.path), running.left_out)
        if tally is None:
            return
        outcome.sessions += 1
        self._batch_turns += tally.new + tally.changed
        self._tally.new += tally.new
        self._tally.changed += tally.changed
        self._tally.gone += tally.gone
        if running.is_new:
            self._counts["new"] += 1
        elif tally.new or tally.changed or tally.gone:
            self._counts["changed"] += 1
        else:
            self._counts["unchanged"] += 1

    # --- what a running session asks ---

    @property
    def rebuild(self) -> bool:
        """Whether everything is derived anew."""
        return self._rebuild

    @property
    def writer(self) -> IndexWriter:
        """The writes of this import."""
        return self._writer

    def left_out(self, head: SessionHead, path: str) -> str | None:
        """Why the user does not want this session in the index, or None."""
        if self._ignore.session(head.id):
            self._counts["ignored"] += 1
            return "session is kept out by an `ignore` pattern of the sources file"
        parent = head.parent_id if head.session_type == "subagent" else None
        own = tombstone(head.agent, head.id) in self._forgotten
        if not own and not (parent and tombstone(head.agent, parent) in self._forgotten):
            return None
        # another conversation of the same id, which was not forgotten, goes on
        indexed = any(t.path == path for t in self._writer.sessions_of(head.id, head.agent))
        return None if indexed else "session was forgotten by `recall forget`"

    def too_old(self, start: str | None) -> bool:
        """Whether a session that started then is outside `--since`."""
        return bool(self._since and start and start < self._since)

    def is_live(self, path: str) -> bool:
        """Whether a transcript lies at a path now."""
        return path in self._found or Path(path).exists()

    # --- batches ---

    def _begin(self) -> None:
        self._writer.begin()
        self._batch_turns = 0
        self._batch_start = time.monotonic()

    def _commit_if_due(self) -> None:
        if self._batch_turns >= BATCH_TURNS or time.monotonic() - self._batch_start >= BATCH_SECONDS:
            self._writer.commit()
            self._facets.go_on()
            self._begin()

    def _finish(self, changed: list[Found]) -> None:
        per_source = Counter(str(f.source.folder) for f in self._found.values() if f.source.agent != AGENT)
        for source in self._sources:
            self._writer.save_source(str(source.folder), self._now, per_source[str(source.folder)])
        self._writer.set_meta("last_import", self._now)
        self._writer.commit()
        derived = self._facets.complete()
        if changed or derived:
            self._writer.settle(self._tally.new)

    def _report(self, changed: list[Found]) -> ImportReport:
        return ImportReport(
            sessions_new=self._counts["new"],
            sessions_changed=self._counts["changed"],
            sessions_unchanged=self._counts["unchanged"],
            sessions_gone=self._counts["gone"],
            turns_new=self._tally.new,
            turns_changed=self._tally.changed,
            turns_gone=self._tally.gone,
            transcripts=len(self._found),
            transcripts_read=len(changed),
            bytes_read=self._counts["bytes"],
            skipped=tuple(self._skipped),
            unknown_records=dict(sorted(self._unknown.items())),
            sql_statements=self._facets.statements,
            sql_unparsed=self._facets.unparsed,
            ignored=self._counts["ignored"],
        )


class _RunningSession:
    """One session of a transcript while its turns arrive."""

    def __init__(self, importer: Importer, head: SessionHead, path: str) -> None:
        self.head = head
        self.path = path
        self.facets: list[Facet] = []
        self.is_new = False
        self._importer = importer
        self._writer: SessionWriter | None = None
        self._folders: set[str] = set()
        self.left_out = importer.left_out(head, path)

    def add(self, turn: Turn) -> None:
        if self.left_out:
            return
        if self._writer is None:
            if self._importer.too_old(self.head.start_time or turn.timestamp):
                raise _TooOldError
            self._writer = self._open()
        if turn.cwd:
            self._folders.add(turn.cwd)
        self._writer.add(turn)

    def _open(self) -> SessionWriter:
        index = self._importer.writer
        twins = index.sessions_of(self.head.id, self.head.agent)
        mine = next((t for t in twins if t.path == self.path), None)
        # a transcript that was renamed or moved is still its session; an export gives way to the agent's own
        mine = mine or next((t for t in twins if not self._importer.is_live(t.path)), None)
        if mine is None and not self.head.exported:
            mine = next((t for t in twins if index.is_export(t.path)), None)
        self.is_new = mine is None
        if mine:
            session_id, number = mine.session_id, mine.number
        else:
            session_id, number = index.free_id(self.head.id), index.next_number()
            index.create_session(session_id, number, self.head, self.path)
        known = [] if self.is_new else index.known_turns(number)
        others = {
            k: v
            for t in twins
            if t is not mine
            for k, v in index.turns_by_native_id(t.number, by_place=self.head.exported).items()
        }
        return SessionWriter(index, session_id, number, known=known, twins=others)

    def finish(self, now: str, phases: PhaseHistory, *, complete: bool) -> Tally | None:
        """Write the rest of the session; None where it came to nothing."""
        writer = self._writer
        if writer is None:
            return self._emptied() if complete else None
        writer.finish(complete=complete)
        index, head = self._importer.writer, self.head
        if self.is_new and not writer.tally.new and writer.shared_native == head.id:
            index.drop_empty_session(writer.session_id)  # the same transcript, copied to another place
            return None
        start = head.start_time or writer.first_time
        end = max(filter(None, (head.end_time, writer.last_time)), default=start)
        index.update_session(
            writer.session_id, writer.number, head, path=self.path,
            phase=head.phase_context or (phases.at(start) if start else None), start=start, end=end,
            shared=writer.tally.shared, shared_with=writer.shared_with, now=now,
        )  # fmt: skip
        for folder in sorted(self._folders):
            index.add_folder(writer.session_id, folder)
        index.write_stated(writer.session_id, writer.number, self.facets, writer.seqs)
        if writer.tally.new or writer.tally.changed or self.facets or self._importer.rebuild:
            index.facets_are_due(writer.number)
        return writer.tally

    def _emptied(self) -> Tally | None:
        """A known session whose transcript now holds no turn at all: its turns are kept, marked as gone."""
        known = self._importer.writer.sessions_of(self.head.id, self.head.agent)
        if self.left_out or not any(k.path == self.path for k in known):
            return None
        writer = self._open()
        writer.finish(complete=True)
        return writer.tally


def _take(event: Event, running: _RunningSession | None, outcome: Outcome, path: str) -> None:
    match event:
        case Turn():
            if running:
                running.add(event)
        case Skipped():
            outcome.skip(path, event.reason, event.line)
        case UnknownRecord():
            outcome.unknown[event.type] += 1
        case SessionHead():
            pass
        case _:
            if running:
                running.facets.append(event)


def signature_of(transcript: Transcript) -> str:
    """Sizes and modification times of a transcript's files: what tells that it has not changed."""
    return ";".join(f"{f.size}:{f.mtime_ns}" for f in transcript.files)


def _epoch(iso: str) -> float:
    from datetime import datetime  # noqa: PLC0415 - only with --since

    return datetime.fromisoformat(iso).timestamp()


def _below(path: str, folders: Iterable[str]) -> bool:
    return any(path == f or path.startswith((f.rstrip("/\\") + "/", f + "\\")) for f in folders)

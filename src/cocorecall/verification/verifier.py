"""Whether what the index holds is still what the transcripts say.

A transcript is read again with the parser that imported it, once however many of its turns are asked for.

A turn that its own transcript no longer holds is looked for where else it may stand: in the transcripts of
forks and resumes that hold a copy, and in files of the sources that the index does not know yet, whose
session or first turns are these (a transcript that was renamed or moved).
"""

from __future__ import annotations

import hashlib
from collections.abc import Iterator, Sequence
from functools import cached_property
from pathlib import Path
from typing import NamedTuple

from cocorecall.evidence import AGENT, EvidenceFormat, project_of
from cocorecall.index.checking import CheckedSession, CheckingStore, TurnMark
from cocorecall.model import CheckedTurn, SessionHead, Skipped, Turn, Verdict
from cocorecall.project import Source
from cocorecall.sources import formats, recognise
from cocorecall.sources.discovery import Unreadable, lone, lying_in, walk
from cocorecall.sources.transcript import HEAD_BYTES, ReadsLines, Transcript, TranscriptFormat
from cocorecall.verification.comparison import (
    GONE,
    PREDECESSOR,
    Comparison,
    Mask,
    calls_difference,
    checked,
    is_asked_for,
    relocated,
)


class _Reading(NamedTuple):
    """What one reading of a transcript gave.

    Attributes:
        comparisons: by the session's id in the index.
        problem: why nothing could be compared; None where it could.
        damaged: reasons by line, of lines that could not be used.
    """

    comparisons: dict[str, Comparison]
    problem: str | None
    damaged: dict[int, str]


class Verifier:
    """Compares turns with their sources; made anew for each run.

    Args:
        store: the index.
        sources: where transcripts that were moved are looked for.
        mask: what every excerpt goes through; None: shown as it is.
    """

    def __init__(self, store: CheckingStore, sources: Sequence[Source], *, mask: Mask | None = None) -> None:
        self.transcripts_read = 0
        self._mask = mask
        self._store = store
        self._sources = sources
        self._formats = formats()
        self._folder: tuple[str, dict[str, Transcript]] = ("", {})

    def check(self, sessions: Sequence[CheckedSession]) -> Iterator[CheckedTurn]:
        """Compare the turns of sessions that one transcript holds, session by session, in order."""
        path = sessions[0].source_path
        transcript, problem = self._transcript(path)
        if transcript is None:
            yield from self._elsewhere(sessions, problem)
            return
        reading = self._read(transcript, [(s.native_id, s) for s in sessions])
        for session in sessions:
            yield from self._verdicts(session, reading)

    def _verdicts(self, session: CheckedSession, reading: _Reading) -> Iterator[CheckedTurn]:
        comparison = reading.comparisons[session.session_id]
        results = list(comparison.results())
        if reading.problem:
            for mark, _ in results:
                yield checked(session, mark, "unverifiable", reading.problem)
            return
        found = self._in_copies([mark for mark, turn in results if turn.verdict == "missing"], session)
        for mark, turn in results:
            damage = reading.damaged.get(mark.source_line or 0)
            if turn.verdict == "missing" and mark.doc in found:
                yield found[mark.doc]
            elif turn.verdict == "missing" and damage:
                yield checked(session, mark, "unverifiable", damage)
            else:
                yield turn

    # --- one transcript ---

    def _transcript(self, path: str) -> tuple[Transcript | None, str]:
        """The transcript at a path, with its companions; else why there is none."""
        if not path:
            return None, PREDECESSOR
        folder = str(Path(path).parent)
        if self._folder[0] != folder:
            self._folder = (folder, lying_in(Path(folder), self._formats))
        found = self._folder[1].get(path)
        if found:
            return found, ""
        try:
            return lone(Path(path)), ""
        except (FileNotFoundError, NotADirectoryError):
            return None, GONE
        except (OSError, ValueError) as error:
            return None, f"cannot be read: {getattr(error, 'strerror', None) or error}"

    def _format_of(
        self, transcript: Transcript, parser: str | None
    ) -> TranscriptFormat | EvidenceFormat | None:
        if parser == AGENT:
            root = project_of(transcript.path)
            return EvidenceFormat(root) if root else None
        with transcript.path.open("rb") as file:
            head = file.read(HEAD_BYTES)
        known = next((f for f in self._formats if f.agent == parser), None)
        if known and (not head or known.recognises(transcript, head)):
            return known
        return recognise(transcript, head)

    def _read(
        self,
        transcript: Transcript,
        sessions: Sequence[tuple[str, CheckedSession]],
        *,
        only_wanted: bool = False,
    ) -> _Reading:
        """Read a transcript once and compare the sessions in it, each by the id that it has there."""
        named = [(native, Comparison(self._store, s, self._mask)) for native, s in sessions]
        comparisons = {c.session.session_id: c for _, c in named}
        damaged: dict[int, str] = {}
        self.transcripts_read += 1
        chosen = None
        any_turn, skipped = False, ""
        current: list[Comparison] = []
        try:
            chosen = self._format_of(transcript, sessions[0][1].parser)
            if chosen is None:
                return _Reading(comparisons, "not a transcript of a known agent any more", damaged)
            for event in chosen.parse(transcript):
                if isinstance(event, SessionHead):
                    # of what the predecessor indexed the agent is not known
                    current = [
                        c for i, c in named if i == event.id and c.session.agent in (event.agent, "reference")
                    ]
                elif isinstance(event, Turn):
                    any_turn = True
                    for comparison in current:
                        comparison.take(event)
                    if only_wanted and all(c.settled for _, c in named):
                        break
                elif isinstance(event, Skipped):
                    skipped = skipped or event.reason
                    damaged.setdefault(event.line or 0, event.reason)
        except OSError as error:
            return _Reading(comparisons, f"cannot be read: {error.strerror or error}", damaged)
        except Exception as error:  # noqa: BLE001 - a parser's fault costs its file, as in an import
            name = chosen.agent if chosen else "source"
            return _Reading(
                comparisons, f"the {name} parser failed: {type(error).__name__}: {error}", damaged
            )
        damaged.pop(0, None)
        return _Reading(comparisons, skipped if skipped and not any_turn else None, damaged)

    # --- where a turn may stand if not in its own transcript ---

    def _elsewhere(self, sessions: Sequence[CheckedSession], problem: str) -> Iterator[CheckedTurn]:
        """Turns whose transcript is not there, or cannot be looked at."""
        moved = self._moved(sessions) if problem == GONE else {}
        for session in sessions:
            marks = [m for m in self._store.turns(session.number) if is_asked_for(session, m)]
            here = moved.get(session.session_id, {})
            gone = [m for m in marks if m.doc not in here]
            found = here | (self._in_copies(gone, session) if problem == GONE else {})
            verdict: Verdict = "missing" if problem == GONE else "unverifiable"
            for mark in marks:
                yield found.get(mark.doc) or checked(session, mark, verdict, problem)

    def _moved(self, sessions: Sequence[CheckedSession]) -> dict[str, dict[int, CheckedTurn]]:
        """Turns that stand in a file of the sources that the index does not know yet, by session and doc."""
        by_session, by_turn = self._strays
        stray = next((by_session[s.native_id] for s in sessions if s.native_id in by_session), None)
        names = [(s.native_id, s) for s in sessions]
        if stray is None:
            for session in sessions:
                ids = (m.native_id for m in self._store.turns(session.number))
                renamed = next((by_turn[i] for i in ids if i in by_turn), None)
                if renamed:
                    head_id, stray = renamed
                    names = [(head_id, session)]
                    break
        if stray is None:
            return {}
        reading = self._read(stray, names)
        if reading.problem:
            return {}
        return {
            session_id: dict(relocated(c, stray.location)) for session_id, c in reading.comparisons.items()
        }

    @cached_property
    def _strays(self) -> tuple[dict[str, Transcript], dict[str, tuple[str, Transcript]]]:
        """Transcripts that the index does not know: by session id, and by the native id of their first turn."""
        known = self._store.indexed_paths()
        by_session: dict[str, Transcript] = {}
        by_turn: dict[str, tuple[str, Transcript]] = {}
        for source in self._sources:
            if not source.folder.exists():
                continue
            for item in walk(source.folder, self._formats):
                if isinstance(item, Unreadable) or item.location in known:
                    continue
                head_id, first = self._peek(item)
                if head_id:
                    by_session.setdefault(head_id, item)
                    if first:
                        by_turn.setdefault(first, (head_id, item))
        return by_session, by_turn

    def _peek(self, transcript: Transcript) -> tuple[str | None, str | None]:
        """The first session's id, and its first turn's native id."""
        head_id: str | None = None
        try:
            chosen = self._format_of(transcript, None)
            for event in chosen.parse(transcript) if chosen else ():
                if isinstance(event, SessionHead):
                    head_id = head_id or event.id
                elif isinstance(event, Turn):
                    return head_id, event.native_id
        except Exception:  # noqa: BLE001 - a file that nobody can read is not the one that is looked for
            return None, None
        return head_id, None

    def _in_copies(self, marks: Sequence[TurnMark], session: CheckedSession) -> dict[int, CheckedTurn]:
        """Turns that transcripts of forks and resumes still hold, by doc."""
        found: dict[int, CheckedTurn] = {}
        asked = {m.doc: m for m in marks}
        holders: dict[str, CheckedSession] = {}
        for _, holder in self._store.copies(list(asked)):
            holders.setdefault(holder.source_path, holder)
        for path, holder in holders.items():
            left = frozenset(m.seq for doc, m in asked.items() if doc not in found)
            transcript, _ = self._transcript(path)
            if transcript is None or not left:
                continue
            reading = self._read(transcript, [(holder.native_id, session._replace(wanted=left))])
            if not reading.problem:
                found |= {
                    doc: turn
                    for doc, turn in relocated(reading.comparisons[session.session_id], path)
                    if turn.verdict == "moved"
                }
        return found

    # --- for a search ---

    def holds(self, session: CheckedSession) -> set[int]:
        """Numbers of those turns asked for whose transcript holds their text now, wherever in it.

        Reads no more than that file, and of a format with lines only the records that make a turn, where they
        still stand at their line.
        """
        marks = [m for m in self._store.turns(session.number) if is_asked_for(session, m)]
        try:
            held = self._at_their_lines(lone(Path(session.source_path)), session, marks)
        except (OSError, ValueError):
            return set()
        left = frozenset(m.seq for m in marks) - held
        transcript, _ = self._transcript(session.source_path) if left else (None, "")
        if transcript:
            reading = self._read(
                transcript, [(session.native_id, session._replace(wanted=left))], only_wanted=True
            )
            if not reading.problem:
                results = reading.comparisons[session.session_id].results()
                held |= {m.seq for m, turn in results if turn.verdict in ("verified", "moved")}
        return held

    def _at_their_lines(
        self, transcript: Transcript, session: CheckedSession, marks: Sequence[TurnMark]
    ) -> set[int]:
        held: set[int] = set()
        try:
            chosen = self._format_of(transcript, session.parser)
            if not isinstance(chosen, ReadsLines):
                return held
            for mark in marks:
                lines = () if mark.source_line is None else chosen.turns_at(transcript, mark.source_line)
                if any(self._is_same(mark, turn) for turn in lines):
                    held.add(mark.seq)
        except Exception:  # noqa: BLE001 - the whole file is read instead, and says what is wrong with it
            return held
        return held

    def _is_same(self, mark: TurnMark, turn: Turn) -> bool:
        return (
            hashlib.sha256(turn.text.encode()).hexdigest() == mark.text_hash
            and (turn.text_length or len(turn.text)) == mark.text_length
            and turn.role == mark.role
            and calls_difference(self._store, mark, turn) is None
        )

"""The public door: everything that CocoRecall does, as methods of one object.

The faces (command line, MCP, hooks, web) call these methods and render what they return; none of them
sees SQL or a parser. Heavy parts load inside the method that needs them: a search imports no parser.
"""

from __future__ import annotations

import contextlib
import os
from collections.abc import Callable, Iterator, Mapping, Sequence
from datetime import UTC, datetime
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

from cocorecall.errors import BusyError, RecallError, UsageError
from cocorecall.project import Place, Source, find_project, personal_place, read_phases, read_sources

if TYPE_CHECKING:
    import apsw

    from cocorecall.index.filters import Filters
    from cocorecall.index.reader import IndexReader
    from cocorecall.index.sessions import SessionStore
    from cocorecall.model import (
        ForgetReport,
        ImportReport,
        Progress,
        Results,
        SecretReport,
        SessionInfo,
        SessionView,
        SourceReport,
        StatusReport,
    )

LOCK_SECONDS = 10.0
"""How long an import waits for another one to end."""
RECEIPTS_KEPT = 20
ASKING_SESSION = ("COCORECALL_SESSION", "COCO_SESSION_ID", "CLAUDE_SESSION_ID")
"""Environment variables by which a host tells which session is asking."""


def _utc_now() -> datetime:
    return datetime.now(UTC)


class Recall:
    """An index, open for searching; use it as a context manager.

    Args:
        place: where the index is.
        clock: gives the current time, aware; what recency and receipts go by.
    """

    def __init__(self, place: Place, clock: Callable[[], datetime] | None = None) -> None:
        self._place = place
        self._clock = clock or _utc_now
        self._connection: apsw.Connection | None = None
        self._reader: IndexReader | None = None

    @classmethod
    def open(cls, path: str | Path = ".", *, clock: Callable[[], datetime] | None = None) -> Recall:
        """The index of the project at or above a folder.

        Raises:
            NotInitializedError: no folder at or above has a `.cocoplus/`.
        """
        return cls(find_project(Path(path)), clock)

    @classmethod
    def personal(cls, *, clock: Callable[[], datetime] | None = None) -> Recall:
        """The person's own index for all projects; needs no CocoPlus."""
        return cls(personal_place(), clock)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self.close()

    def close(self) -> None:
        """Close the index; the object can be used again and opens it anew."""
        self._reader = None
        if self._connection is not None:
            connection, self._connection = self._connection, None
            connection.close()

    @property
    def place(self) -> Place:
        """Where the index is, and the project it belongs to."""
        return self._place

    # --- import --------------------------------------------------------------------------------------

    def import_sources(
        self,
        since: str | None = None,
        *,
        rebuild: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> ImportReport:
        """Bring what is new or changed in the sources into the index.

        Args:
            since: only sessions that started after this moment: a date, a time, `7d`, `yesterday`, …
            rebuild: read every transcript again and derive full text anew; nothing indexed is dropped.
            progress: called after each transcript.

        Raises:
            UsageError: `since` is no moment.
            BusyError: another import holds the lock.
            SourceConfigError, IndexTooNewError, IndexDamagedError, RecallError: as they say.
        """
        from cocorecall.index.importer import Importer  # noqa: PLC0415 - a search imports no parser
        from cocorecall.index.schema import open_for_writing, plain_errors  # noqa: PLC0415
        from cocorecall.project import keep_out_of_git  # noqa: PLC0415

        now = self._now()
        start = self._moment(since) if since else None
        sources = self._sources()
        with self._import_lock():
            keep_out_of_git(self._place)
            self.close()
            connection = open_for_writing(self._place.index_path)
            try:
                with plain_errors(self._place.index_path):
                    report = Importer(
                        connection, sources, phases=read_phases(self._place), now=now, since=start, rebuild=rebuild,
                        progress=progress,
                    ).run()  # fmt: skip
            finally:
                connection.close()
        return self._with_receipt(report, now)

    @contextlib.contextmanager
    def _import_lock(self) -> Iterator[None]:
        from filelock import FileLock, Timeout  # noqa: PLC0415 - only writers lock

        from cocorecall.project import write_text  # noqa: PLC0415 - the same

        holder = self._place.receipts / "import.holder"
        lock = FileLock(self._place.lock_path, timeout=LOCK_SECONDS, mode=0o600)
        try:
            lock.acquire()
        except Timeout as error:
            raise BusyError(
                f"Another import is running ({_read_holder(holder)}).", "Try again when it is done."
            ) from error
        except OSError as error:
            raise RecallError(f"Cannot write to {self._place.home}: {error.strerror or error}.") from error
        try:
            with contextlib.suppress(OSError):
                holder.parent.mkdir(mode=0o700, exist_ok=True)
                write_text(holder, f"process {os.getpid()}, since {self._now()}", private=True)
            yield
        finally:
            with contextlib.suppress(OSError):
                holder.unlink(missing_ok=True)
            lock.release()

    def _with_receipt(self, report: ImportReport, now: str) -> ImportReport:
        import json  # noqa: PLC0415
        from dataclasses import asdict, replace  # noqa: PLC0415

        from cocorecall.project import write_text  # noqa: PLC0415

        path = self._place.receipts / f"import-{now.replace(':', '-')}.json"
        try:
            self._place.receipts.mkdir(mode=0o700, exist_ok=True)
            write_text(
                path,
                json.dumps({"ts": now} | asdict(report) | {"receipt": str(path)}, indent=2) + "\n",
                private=True,
            )
            for old in sorted(self._place.receipts.glob("import-*.json"))[:-RECEIPTS_KEPT]:
                old.unlink(missing_ok=True)
        except OSError:
            return report
        return replace(report, receipt=str(path))

    # --- search --------------------------------------------------------------------------------------

    def search(
        self,
        query: str,
        *,
        all: bool = False,  # noqa: A002 - the option's name
        session: str | None = None,
        limit: int | None = None,
        budget: int | None = 1000,
        full: bool = False,
        record: bool = True,
        explain: bool = False,
        echo: bool = False,
        include_current: bool = False,
        reveal: bool = False,
        role: Sequence[str] = (),
        agent: Sequence[str] = (),
        phase: Sequence[str] = (),
        tool: Sequence[str] = (),
        since: str | None = None,
        until: str | None = None,
        here: bool = False,
        path: Sequence[str] = (),
    ) -> Results:
        """Find the turns that answer a query, best first, cited.

        Args:
            query: words, `"phrases"`, `prefix*`, `+must`, `-without`, inline filters; anything else is literal.
            all: every matching turn, not only the best of each session.
            session: only this session: an id or an unambiguous prefix.
            limit: most hits.
            budget: most tokens of the answer in its plain form; None: no limit.
            full: whole turns instead of excerpts.
            record: note the citations in the index.
            explain: give each hit an `explanation`.
            echo: find also what CocoRecall itself printed into transcripts.
            include_current: find also turns of the session that is asking.
            reveal: show credentials; else each is masked by a marker of its kind, `[secret: password]`.
            role: only turns of these roles or speakers; several values of one filter: any of them.
            agent: only sessions of these agents.
            phase: only sessions of these CocoPlus phases.
            tool: only turns that call these tools.
            since: only turns from this moment on.
            until: only turns before the end of this moment.
            path: only transcripts whose path holds this, or matches it as a glob pattern.
            here: only sessions that worked in the current folder or below it.

        Raises:
            UsageError: an ambiguous or unknown session, an unreadable date.
            IndexTooNewError, IndexDamagedError, BusyError, RecallError: as they say.
        """
        from cocorecall.search.answer import Request, answer  # noqa: PLC0415 - import and status do not search

        reader = self._open_reader()
        if reader is None or not reader.totals().turns:
            from cocorecall.secrets import mask  # noqa: PLC0415 - loaded where text is shown

            return self._nothing_indexed(query if reveal else mask(query).text, budget)
        inline = _inline_filters(query, reader)
        session = session or next(iter(inline.get("session", ())), None)
        asked = {
            "role": (*role, *inline.get("role", ())),
            "agent": (*agent, *inline.get("agent", ())),
            "phase": (*phase, *inline.get("phase", ())),
            "tool": (*tool, *inline.get("tool", ())),
            "path": (*path, *inline.get("path", ())),
            "since": since or next(iter(inline.get("since", ())), None),
            "until": until or next(iter(inline.get("until", ())), None),
            "here": here or "here" in inline,
            "session": self._resolve(session) if session else None,
            "echo": echo,
        }
        current = None if include_current or session else self._asking_session()
        request = Request(
            query=query,
            mode="session" if session else "all" if all else "session-diverse",
            limit=limit,
            budget=budget,
            full=full,
            explain=explain,
            filters=self._filters(asked, current),
            shown_filters=tuple((k, list(v) if isinstance(v, tuple) else v) for k, v in asked.items() if v),
            notes=self._notes(current),
            reveal=reveal,
        )
        with self._plain_errors():
            results = answer(request, reader, now=self._clock(), phase=read_phases(self._place).current)
        if record and results.hits:
            self._record(results)
        return results

    def _filters(self, asked: Mapping[str, Any], current: str | None) -> Filters:
        from cocorecall.index.filters import Filters  # noqa: PLC0415

        return Filters(
            roles=asked["role"],
            agents=asked["agent"],
            phases=asked["phase"],
            tools=asked["tool"],
            paths=asked["path"],
            since=self._moment(asked["since"]) if asked["since"] else None,
            until=self._moment(asked["until"], end=True) if asked["until"] else None,
            folders=(os.getcwd(),) if asked["here"] else (),  # noqa: PTH109 - as the shell spells it
            session=asked["session"],
            without_session=current,
            echo=asked["echo"],
        )

    def _asking_session(self) -> str | None:
        asking = next((os.environ[name] for name in ASKING_SESSION if os.environ.get(name)), None)
        return asking if asking and self._store().find(asking) == [asking] else None

    def _notes(self, current: str | None) -> tuple[str, ...]:
        return (f"The asking session {current} is left out; --include-current adds it.",) if current else ()

    def _nothing_indexed(self, query: str, budget: int | None) -> Results:
        from cocorecall.model import Results  # noqa: PLC0415

        waiting = self._waiting_transcripts()
        what = "1 transcript waits" if waiting == 1 else f"{waiting:,} transcripts wait"
        note = f"Nothing is indexed yet; {what}: run `recall import`."
        if not waiting:
            note = "Nothing is indexed yet, and the sources hold no transcripts: see `recall sources`."
        return Results(query, "session-diverse", {}, 0, 0, 0, budget, 0, (), notes=(note,))

    def _waiting_transcripts(self) -> int:
        from cocorecall.sources import formats  # noqa: PLC0415 - only before the first import
        from cocorecall.sources.discovery import walk  # noqa: PLC0415
        from cocorecall.sources.transcript import Transcript  # noqa: PLC0415

        known = formats()
        found = (item for s in self._sources() if s.folder.exists() for item in walk(s.folder, known))
        return sum(isinstance(item, Transcript) for item in found)

    def _record(self, results: Results) -> None:
        """Store what was cited; a search neither fails nor waits for this."""
        import apsw  # noqa: PLC0415 - loaded by the search already

        from cocorecall.index.schema import BUSY_TIMEOUT_MS  # noqa: PLC0415 - loaded too

        cited = [(h.session_id, h.turn_id, h.source_exists) for h in results.hits]
        connection, reader = self._connection, self._reader
        if connection is None or reader is None:
            return
        connection.set_busy_timeout(20)
        try:
            reader.record_citations(results.query, cited, self._now())
        except apsw.Error:
            return
        finally:
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)

    @staticmethod
    def render(results: Results) -> str:
        """The plain form of an answer: what a pipe gets, and what `results.tokens` counts."""
        from cocorecall.search.render import render_plain  # noqa: PLC0415

        return render_plain(results)

    @staticmethod
    def render_header(results: Results) -> str:
        """The first lines of the plain form: totals before any cut, words that were missed, notes."""
        from cocorecall.search.render import header  # noqa: PLC0415

        return header(results)

    # --- show ----------------------------------------------------------------------------------------

    def show(
        self,
        session_id: str,
        *,
        turn: int | None = None,
        query: str | None = None,
        around: int | None = None,
        before: int | None = None,
        after: int | None = None,
        thinking: bool = False,
        reveal: bool = False,
    ) -> SessionView:
        """A session's turns in order, with the matches of the query that led to it.

        Args:
            session_id: an id, an unambiguous prefix, or a turn's id (`<session>:<seq>`), which shows that turn.
            turn: only the turn of this `seq`, with `around` turns about it.
            query: what to highlight; without it the last query that cited this session.
            around: only so many turns before and after each matching turn.
            before: only so many lines before each match; turns without a match are left out.
            after: only so many lines after each match; likewise.
            thinking: with the model's reasoning.
            reveal: show credentials; else each is masked by a marker of its kind, `[secret: password]`.

        Raises:
            UsageError: no such session or turn, or an ambiguous prefix.
        """
        from cocorecall.search.show import compose_view  # noqa: PLC0415

        reader = self._open_reader()
        if reader is None:
            raise UsageError("Nothing is indexed yet.", "Run `recall import` first.")
        sid, own_turn = self._resolve_turn(session_id)
        turn = own_turn if turn is None else turn
        store = self._store()
        with self._plain_errors():
            return compose_view(
                store,
                reader,
                sid,
                turn=turn,
                query=query,
                around=around,
                before=before,
                after=after,
                thinking=thinking,
                reveal=reveal,
            )

    def _resolve_turn(self, wanted: str) -> tuple[str, int | None]:
        head, colon, tail = wanted.rpartition(":")
        if colon and tail.isdigit() and not self._store().find(wanted):
            # a citation names one session exactly, even where others share the agent's id
            return head if self._store().is_session(head) else self._resolve(head), int(tail)
        return self._resolve(wanted), None

    def _resolve(self, wanted: str) -> str:
        """The session that an id or prefix means.

        Raises:
            UsageError: none, or several.
        """
        self._open_reader()
        if self._connection is None:
            raise UsageError("Nothing is indexed yet.", "Run `recall import` first.")
        store = self._store()
        with self._plain_errors():
            found = store.find(wanted) if wanted else []
            if len(found) == 1:
                return found[0]
            if not found:
                raise UsageError(
                    f"No session {wanted!r} is indexed.", "`recall search` prints the ids of sessions."
                )
            lines = "".join(f"\n  {_one_line(store.info(sid), shared=sid == wanted)}" for sid in found)
        raise UsageError(f"{wanted!r} can mean {len(found)} sessions; write one of these ids:", lines)

    # --- sources -------------------------------------------------------------------------------------

    def _sources(self) -> list[Source]:
        configured = read_sources(self._place)
        if configured is not None:
            return configured
        from cocorecall.sources import default_sources  # noqa: PLC0415

        return default_sources(personal=self._place.root is None)

    def sources(self) -> tuple[SourceReport, ...]:
        """The configured sources, or the defaults where no sources file exists."""
        configured = read_sources(self._place) is not None
        self._open_reader()
        return tuple(self._source_report(s, configured=configured) for s in self._sources())

    def _source_report(self, source: Source, *, configured: bool) -> SourceReport:
        from cocorecall.model import SourceReport  # noqa: PLC0415

        folder = str(source.folder)
        sessions, turns, last = 0, 0, None
        if self._connection is not None:
            with self._plain_errors():
                sessions, turns = self._store().source_counts(folder)
                last = self._store().last_import_of(folder)
        return SourceReport(
            source.path,
            source.agent,
            source.description,
            source.folder.exists(),
            sessions,
            turns,
            last,
            configured,
        )

    def add_source(
        self, path: str, *, agent: str | None = None, description: str | None = None
    ) -> SourceReport:
        """Add a place to the sources file; the defaults, where they were in force, are written into it.

        Raises:
            UsageError: it is configured already, or the agent is not known.
        """
        from cocorecall.project import resolve_source, write_sources  # noqa: PLC0415
        from cocorecall.sources import formats  # noqa: PLC0415

        agents = sorted(f.agent for f in formats())
        if agent is not None and agent not in agents:
            raise UsageError(f"No agent {agent!r} is known.", f"Known: {', '.join(agents)}.")
        present = self._sources()
        folder = resolve_source(path, self._place)
        if any(s.folder == folder for s in present):
            raise UsageError(f"{path} is a source already.", "`recall sources` lists them.")
        source = Source(path, folder, agent, description)
        write_sources(self._place, [*present, source])
        self._open_reader()
        return self._source_report(source, configured=True)

    def remove_source(self, path: str) -> None:
        """Take a place out of the sources file; what was indexed from it stays.

        Raises:
            UsageError: it is not configured.
        """
        from cocorecall.project import resolve_source, write_sources  # noqa: PLC0415

        present = self._sources()
        folder = resolve_source(path, self._place)
        left = [s for s in present if path != s.path and folder != s.folder]
        if len(left) == len(present):
            raise UsageError(f"{path} is not a source.", "`recall sources` lists them.")
        write_sources(self._place, left)

    def detect_sources(self) -> tuple[SourceReport, ...]:
        """Known agents' folders that exist on this machine and are not configured."""
        from cocorecall.sources import default_sources  # noqa: PLC0415

        present = {s.folder for s in self._sources()} if read_sources(self._place) is not None else set()
        self._open_reader()
        known = default_sources(personal=True)
        return tuple(self._source_report(s, configured=False) for s in known if s.folder not in present)

    # --- status and forget ---------------------------------------------------------------------------

    def status(self) -> StatusReport:
        """The state of the index and its sources.

        Raises:
            IndexTooNewError, IndexDamagedError, BusyError, RecallError: as they say.
        """
        from cocorecall.index.status import report_status  # noqa: PLC0415

        self._open_reader()
        store = self._store() if self._connection is not None else None
        with self._plain_errors():
            return report_status(self._place, self._sources(), store)

    def forget(self, session_id: str) -> ForgetReport:
        """Remove a session, and every trace of it, from the index; later imports do not bring it back.

        Raises:
            UsageError: no such session, or an ambiguous prefix.
            BusyError: an import is running.
        """
        from cocorecall.index.schema import open_for_writing  # noqa: PLC0415
        from cocorecall.index.sessions import SessionStore  # noqa: PLC0415
        from cocorecall.model import ForgetReport  # noqa: PLC0415

        sid = self._resolve(session_id)
        with self._import_lock():
            self.close()
            connection = open_for_writing(self._place.index_path)
            try:
                with self._plain_errors():
                    store = SessionStore(connection)
                    turns, citations, path = store.forget(sid, self._now())
                    store.compact()
            finally:
                connection.close()
        return ForgetReport(sid, turns, citations, (path,) if Path(path).exists() else ())

    # --- secrets -------------------------------------------------------------------------------------

    def secrets(self, *, kind: Sequence[str] = (), session: str | None = None) -> SecretReport:
        """Where the index holds credentials, by kind; never their values.

        Args:
            kind: only these kinds.
            session: only this session: an id or an unambiguous prefix.

        Raises:
            UsageError: nothing is indexed, no such session, or an ambiguous prefix.
            IndexTooNewError, IndexDamagedError, BusyError, RecallError: as they say.
        """
        from cocorecall.search.secret_places import find_places  # noqa: PLC0415 - nothing else needs it

        sid = self._resolve(session) if session else None
        self._store()
        connection = self._connection
        if connection is None:
            raise UsageError("Nothing is indexed yet.", "Run `recall import` first.")
        with self._plain_errors():
            report = find_places(connection, session=sid, kinds=frozenset(kind) or None)
        if not kind and not session:
            self._note_secrets(connection, report)
        return report

    def _note_secrets(self, connection: apsw.Connection, report: SecretReport) -> None:
        """Keep the counts for `status`; what was asked for neither fails nor waits for this."""
        import json  # noqa: PLC0415

        import apsw  # noqa: PLC0415 - loaded already

        from cocorecall.index.schema import BUSY_TIMEOUT_MS  # noqa: PLC0415 - loaded too
        from cocorecall.index.texts import note_secrets  # noqa: PLC0415 - loaded too

        connection.set_busy_timeout(20)
        try:
            note_secrets(connection, json.dumps({"kinds": dict(report.kinds), "ts": self._now()}))
        except apsw.Error:
            return
        finally:
            connection.set_busy_timeout(BUSY_TIMEOUT_MS)

    # --- what all of them use ------------------------------------------------------------------------

    def _now(self) -> str:
        return self._clock().astimezone(UTC).isoformat(timespec="milliseconds").replace("+00:00", "Z")

    def _moment(self, text: str, *, end: bool = False) -> str:
        from cocorecall.times import format_instant, parse_moment, parse_period  # noqa: PLC0415 - few searches

        if end:
            return format_instant(parse_period(text, self._clock())[1])
        return format_instant(parse_moment(text, self._clock()))

    def _open_reader(self) -> IndexReader | None:
        """The reader, or None where nothing was ever indexed."""
        if self._reader is None and self._place.index_path.exists():
            from cocorecall.index.reader import IndexReader  # noqa: PLC0415
            from cocorecall.index.schema import open_for_reading  # noqa: PLC0415

            self._connection = open_for_reading(self._place.index_path)
            self._reader = IndexReader(self._connection)
        return self._reader

    def _store(self) -> SessionStore:
        from cocorecall.index.sessions import SessionStore  # noqa: PLC0415

        if self._connection is None:
            self._open_reader()
        if self._connection is None:
            raise UsageError("Nothing is indexed yet.", "Run `recall import` first.")
        return SessionStore(self._connection)

    def _plain_errors(self) -> contextlib.AbstractContextManager[None]:
        from cocorecall.index.schema import plain_errors  # noqa: PLC0415

        return plain_errors(self._place.index_path)


def _inline_filters(query: str, reader: IndexReader) -> dict[str, list[str]]:
    if ":" not in query:
        return {}
    from cocorecall.search.query import parse_query  # noqa: PLC0415

    found: dict[str, list[str]] = {}
    for key, value in parse_query(query, reader.stems).filters:
        found.setdefault(key, []).append(value)
    return found


def _read_holder(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8")[:100]
    except (OSError, UnicodeDecodeError):
        return "another process"


def _one_line(info: SessionInfo, *, shared: bool) -> str:
    from cocorecall.index.sessions import FIRST  # noqa: PLC0415 - only for an ambiguous id
    from cocorecall.secrets import mask  # noqa: PLC0415 - the same

    what = mask(info.title or info.cwd or "").text
    session_id = info.session_id + (FIRST if shared else "")
    return f"{session_id}  {info.start_time[:10]}  {info.agent}  {what}".rstrip()

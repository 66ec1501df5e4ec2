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
    from cocorecall.index.forgetting import Forgotten
    from cocorecall.index.reader import IndexReader
    from cocorecall.index.sessions import SessionStore
    from cocorecall.model import (
        BackupReport,
        CitedTurn,
        DoctorReport,
        DreamLogEntry,
        DreamReport,
        DreamStatus,
        ExportReport,
        FacetReport,
        FixReport,
        ForgetReport,
        Hit,
        ImportReport,
        PreMortemReport,
        Progress,
        RestoreReport,
        Results,
        SecretReport,
        SessionInfo,
        SessionView,
        SourceReport,
        StatusReport,
        Timeline,
        Tombstone,
        VerifyReport,
    )

LOCK_SECONDS = 10.0
"""How long an import waits for another one to end."""
RECEIPTS_KEPT = 20
LIVE_SECONDS = 600.0
"""How long after its last change a transcript counts as that of a session that is going on."""
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
        self._file: tuple[int, int] | None = None
        self.folder: str | None = None
        """What the filter `here` means; None: the process's working directory."""

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

    def refresh(self) -> None:
        """Let go of an index file that was replaced, removed or migrated since it was opened.

        For a program that stays open between questions: the next call opens what is there now. What another
        process writes into the same file is seen without this.
        """
        from cocorecall.index.schema import SCHEMA_VERSION  # noqa: PLC0415 - loaded by the first question

        if self._connection is None:
            return
        with self._plain_errors():
            migrated = int(self._connection.pragma("user_version")) != SCHEMA_VERSION
        if migrated or _file_id(self._place.index_path) != self._file:
            self.close()

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
        from cocorecall.evidence import read_vocabulary  # noqa: PLC0415 - a search imports no parser
        from cocorecall.index.care import import_with_care  # noqa: PLC0415
        from cocorecall.index.importer import Importer  # noqa: PLC0415 - likewise
        from cocorecall.project import keep_out_of_git, read_ignored  # noqa: PLC0415
        from cocorecall.sources.ignoring import Ignore  # noqa: PLC0415

        now = self._now()
        start = self._moment(since) if since else None
        sources = self._sources()
        ignore = Ignore(read_ignored(self._place))

        def run(connection: apsw.Connection) -> ImportReport:
            return Importer(
                connection, sources, root=self._place.root, vocabulary=read_vocabulary(self._place.root),
                phases=read_phases(self._place), now=now, since=start, rebuild=rebuild, progress=progress,
                ignore=ignore,
            ).run()  # fmt: skip

        with self._import_lock():
            keep_out_of_git(self._place)
            self.close()
            report = import_with_care(self._place, now, run)
        return self._with_receipt(report, now)

    def import_queued(self, *, progress: Callable[[Progress], None] | None = None) -> ImportReport:
        """Honour the requests for imports in CocoPlus's queue: one import for all of them, or none.

        Args:
            progress: called after each transcript.

        Raises:
            UsageError: the requests name a moment that is none.
            BusyError, SourceConfigError, IndexTooNewError, IndexDamagedError, RecallError: as for an import.
        """
        from dataclasses import replace  # noqa: PLC0415

        from cocorecall.model import ImportReport  # noqa: PLC0415
        from cocorecall.requests import mark_done, read_requests  # noqa: PLC0415

        requests = read_requests(self._place)
        if not requests.since:
            return ImportReport()
        report = self.import_sources(requests.widest, progress=progress)
        with contextlib.suppress(OSError):
            mark_done(self._place, requests)
        return replace(report, requests=len(requests.since))

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
        function: Sequence[str] = (),
        outcome_type: Sequence[str] = (),
        outcome_status: Sequence[str] = (),
        entity: Sequence[str] = (),
        metric: Sequence[str] = (),
        stage: Sequence[str] = (),
        skip: int = 0,
        asking: str | None = None,
        verify: bool = False,
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
            function: only turns that call, define, change, name or prove one of these functions.
            outcome_type: only turns about a contract of this type (`e2e`, `unit`, …); with `function`, of that function.
            outcome_status: likewise: `pass`, `fail`, `stale`, `absent`.
            entity: only turns that mention one of these: `NAME` or `type:NAME`; the last part of a dotted name will do.
            metric: only turns that state a value of one of these metrics.
            stage: only pre-mortems of these stages.
            skip: leave out so many of the best hits: those that an answer before this one showed.
            asking: the session that asks, where the host tells it; else the environment may.
            verify: read each hit's source again, and say in `verified` whether it holds the same text.

        Raises:
            UsageError: an ambiguous or unknown session, an unreadable date.
            IndexTooNewError, IndexDamagedError, BusyError, RecallError: as they say.
        """
        from cocorecall.search.answer import Request, answer  # noqa: PLC0415 - import and status do not search

        reader = self._open_reader()
        with self._plain_errors():
            empty = reader is None or not reader.totals().turns
        if reader is None or empty:
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
            "function": (*function, *inline.get("function", ())),
            "outcome_type": (*outcome_type, *inline.get("outcome-type", ())),
            "outcome_status": (*outcome_status, *inline.get("outcome-status", ())),
            "entity": (*entity, *inline.get("entity", ())),
            "metric": (*metric, *inline.get("metric", ())),
            "stage": (*stage, *inline.get("stage", ())),
            "since": since or next(iter(inline.get("since", ())), None),
            "until": until or next(iter(inline.get("until", ())), None),
            "here": here or "here" in inline,
            "session": self._resolve(session) if session else None,
            "echo": echo,
        }
        current, guessed = (None, False) if include_current or session else self._asking_session(asking)
        with self._plain_errors():
            facets, unknown = self._resolve_facets(asked, reader)
        request = Request(
            query=query,
            mode="session" if session else "all" if all else "session-diverse",
            limit=limit,
            budget=budget,
            full=full,
            explain=explain,
            filters=self._filters(asked, current, facets),
            shown_filters=tuple((k, list(v) if isinstance(v, tuple) else v) for k, v in asked.items() if v),
            notes=(*self._notes(current, guessed=guessed), *unknown),
            skip=skip,
            reveal=reveal,
        )
        with self._plain_errors():
            now, phase_now = self._clock(), read_phases(self._place).current
            results = answer(request, reader, now=now, phase=phase_now)
            if not results.hits and any(asked[key] for key in ("role", "agent", "phase", "tool")):
                from cocorecall.search.narrow import unknown_values  # noqa: PLC0415 - only for an empty answer

                request = request._replace(notes=(*request.notes, *unknown_values(asked, reader.facets)))
                results = answer(request, reader, now=now, phase=phase_now)
            if verify:
                results = self._verified(
                    results,
                    lambda room: answer(request._replace(budget=room), reader, now=now, phase=phase_now),
                )
        if record and results.hits:
            self.record(results)
        return results

    def _verified(self, results: Results, ask: Callable[[int], Results]) -> Results:
        """The answer with `verified` in each hit, within its budget: the marks cost a few tokens.

        Args:
            results: the answer.
            ask: gives the answer anew, within so many tokens.
        """
        from dataclasses import replace  # noqa: PLC0415

        from cocorecall.search.render import render_plain  # noqa: PLC0415 - loaded by the search already
        from cocorecall.search.tokens import estimate_tokens  # noqa: PLC0415 - likewise

        budget = room = results.budget
        held: dict[str, bool] = {}
        while True:
            held |= self._held([h for h in results.hits if h.turn_id not in held])
            hits = tuple(replace(h, verified=held[h.turn_id]) for h in results.hits)
            marked = replace(results, hits=hits, budget=budget)
            marked = replace(marked, tokens=estimate_tokens(render_plain(marked)))
            if budget is None or room is None or marked.tokens <= budget or not hits:
                return marked
            room = max(1, room - (marked.tokens - budget))
            results = ask(room)

    def _held(self, hits: Sequence[Hit]) -> dict[str, bool]:
        """Whether the sources of hits hold their texts now, by turn id."""
        from cocorecall.index.checking import CheckingStore  # noqa: PLC0415
        from cocorecall.verification.verifier import Verifier  # noqa: PLC0415 - a search imports no parser

        if self._connection is None:
            return {}
        store = CheckingStore(self._connection)
        verifier = Verifier(store, ())
        wanted: dict[str, set[int]] = {}
        for hit in hits:
            wanted.setdefault(hit.session_id, set()).add(hit.seq)
        with store.unchanging():
            held = {
                s: verifier.holds(session)
                for s, seqs in wanted.items()
                if (session := store.session(s, frozenset(seqs)))
            }
        return {h.turn_id: h.seq in held.get(h.session_id, ()) for h in hits}

    @staticmethod
    def _resolve_facets(
        asked: Mapping[str, Any], reader: IndexReader
    ) -> tuple[Mapping[str, Any], Sequence[str]]:
        if not any(
            asked[k] for k in ("function", "entity", "metric", "stage", "outcome_type", "outcome_status")
        ):
            return {}, ()
        from cocorecall.search.narrow import resolve_facets  # noqa: PLC0415 - most searches name no facet

        return resolve_facets(asked, reader.facets)

    def _filters(self, asked: Mapping[str, Any], current: str | None, facets: Mapping[str, Any]) -> Filters:
        from cocorecall.index.filters import Filters  # noqa: PLC0415

        return Filters(
            roles=asked["role"],
            agents=asked["agent"],
            phases=asked["phase"],
            tools=asked["tool"],
            paths=asked["path"],
            since=self._moment(asked["since"]) if asked["since"] else None,
            until=self._moment(asked["until"], end=True) if asked["until"] else None,
            folders=(self.folder or os.getcwd(),) if asked["here"] else (),  # noqa: PTH109 - as the shell spells it
            session=asked["session"],
            without_session=current,
            echo=asked["echo"],
            **facets,
        )

    def _asking_session(self, told: str | None) -> tuple[str | None, bool]:
        """(the session that asks, whether that is a guess)."""
        asking = told or next((os.environ[name] for name in ASKING_SESSION if os.environ.get(name)), None)
        if asking:
            return (asking if self._store().find(asking) == [asking] else None), False
        if os.environ.get("CLAUDECODE") != "1":
            return None, False
        # Claude Code says that it is there, not always who asks: its live transcript of this folder is the one
        found = self._store().newest_in_folder(os.getcwd(), "claude")  # noqa: PTH109 - as the shell spells it
        if found is None:
            return None, False
        with contextlib.suppress(OSError):
            age = self._clock().timestamp() - Path(found[1]).stat().st_mtime
            return (found[0], True) if 0 <= age < LIVE_SECONDS else (None, False)
        return None, False

    def _notes(self, current: str | None, *, guessed: bool) -> tuple[str, ...]:
        if not current:
            return ()
        what = f"Session {current}, which seems to be asking," if guessed else f"The asking session {current}"
        return (f"{what} is left out; --include-current adds it.",)

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

    def record(self, results: Results) -> None:
        """Store what an answer cites, as `search` does unless told not to; it neither fails nor waits."""
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
    def render(results: Results | FacetReport | Timeline | FixReport | PreMortemReport) -> str:
        """The plain form of an answer: what a pipe gets, and what its `tokens` counts."""
        from cocorecall.search.render import plain_form  # noqa: PLC0415

        return plain_form(results)

    @staticmethod
    def citation_line(cited: Hit | CitedTurn) -> str:
        """The line of the plain form that cites a turn: its id, who, whether the source is there, what is next."""
        from cocorecall.model import Hit  # noqa: PLC0415 - a search has loaded it

        if isinstance(cited, Hit):
            from cocorecall.search.render import citation_line  # noqa: PLC0415

            return citation_line(cited)
        from cocorecall.search.render_evidence import citation  # noqa: PLC0415

        return citation(cited)

    @staticmethod
    def join_spans(text: str, spans: Sequence[tuple[int, int]]) -> str:
        """Parts of a text, verbatim, with gap marks that count what is left out between and around them."""
        from cocorecall.search.excerpt import join_spans  # noqa: PLC0415

        return join_spans(text, spans)

    @staticmethod
    def estimate_tokens(text: str) -> int:
        """How many tokens a text costs a model: the estimate that budgets go by."""
        from cocorecall.search.tokens import estimate_tokens  # noqa: PLC0415

        return estimate_tokens(text)

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

    # --- facets --------------------------------------------------------------------------------------

    def facets(
        self,
        kind: str | None = None,
        *,
        type: str | None = None,  # noqa: A002 - the option's name
        like: str | None = None,
        limit: int | None = 50,
    ) -> FacetReport:
        """What there is to filter by, with counts, each value with the newest turn that carries it.

        Args:
            kind: `functions`, `entities`, `outcomes`, `metrics`, `decisions`, `strategies`, `stages`, `errors`, `tools`,
                `phases`, `agents` or `roles`; None for an overview of them.
            type: only values of this type: an entity's (`snowflake_object`, …), a contract's, the role that decided.
            like: only values that hold this text, without case.
            limit: most values, the most used first; None: all.

        Raises:
            UsageError: nothing is indexed, or there is no such kind or type.
        """
        from cocorecall.search.evidence import report_facets  # noqa: PLC0415 - a search needs none

        reader = self._caught_up()
        with self._plain_errors():
            return report_facets(reader, kind, of_type=type, like=like, limit=limit)

    def timeline(self, name: str, *, budget: int | None = 1000, limit: int | None = None) -> Timeline:
        """Everything indexed about one function, object, file or other name, oldest first, each event cited.

        Args:
            name: as a person writes it; the last part of a dotted name will do.
            budget: most tokens of the plain form; the newest events are kept; None: no limit.
            limit: most events.

        Raises:
            UsageError: nothing is indexed, or the name is empty.
        """
        from cocorecall.search.evidence import compose_timeline  # noqa: PLC0415 - a search needs none

        reader = self._caught_up()
        with self._plain_errors():
            return compose_timeline(reader, name, budget=budget, limit=limit)

    def fix(self, error: str, *, budget: int | None = 1000) -> FixReport:
        """Where the same error came before, and what was run or changed next that then worked.

        Args:
            error: its message, or its number.
            budget: most tokens of the plain form; None: no limit.

        Raises:
            UsageError: nothing is indexed, or the error is empty.
        """
        from cocorecall.search.repairs import find_repairs  # noqa: PLC0415 - a search needs none

        reader = self._caught_up()
        with self._plain_errors():
            return find_repairs(reader, error, budget=budget)

    def premortems(self, *, stage: str | None = None, status: str | None = None) -> PreMortemReport:
        """What was feared before stages ran, newest first; kept when PROGRESS.md is rewritten.

        Args:
            stage: only of this stage.
            status: only those whose prevention status holds this text, without case.

        Raises:
            UsageError: nothing is indexed.
        """
        from cocorecall.search.evidence import report_premortems  # noqa: PLC0415 - a search needs none

        reader = self._caught_up()
        with self._plain_errors():
            return report_premortems(reader, stage, status)

    def _caught_up(self) -> IndexReader:
        """The reader, every session read for facets: an index that an older schema wrote is not yet.

        Raises:
            UsageError: nothing is indexed.
        """
        reader = self._open_reader()
        if reader is None:
            raise UsageError("Nothing is indexed yet.", "Run `recall import` first.")
        with self._plain_errors():
            due = reader.facets.pending()
        if due:
            with contextlib.suppress(
                RecallError
            ):  # a read-only disk, a running import: what is there is shown
                self._extract()
            reader = self._open_reader() or reader
        return reader

    def _extract(self) -> None:
        """Read the facets of sessions that are due, from their stored turns."""
        from cocorecall.evidence import read_vocabulary  # noqa: PLC0415 - once after an upgrade
        from cocorecall.index.facet_import import FacetImport  # noqa: PLC0415 - likewise
        from cocorecall.index.schema import open_for_writing  # noqa: PLC0415 - likewise

        with self._import_lock():
            self.close()
            connection = open_for_writing(self._place.index_path)
            try:
                with self._plain_errors():
                    FacetImport(connection, read_vocabulary(self._place.root)).complete()
            finally:
                connection.close()

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

    def sessions_indexed(self) -> int:
        """How many sessions the index holds; 0 where nothing was ever imported.

        Raises:
            IndexTooNewError, IndexDamagedError, BusyError, RecallError: as they say.
        """
        reader = self._open_reader()
        if reader is None:
            return 0
        with self._plain_errors():
            return reader.totals().sessions

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
            return report_status(self._place, self._sources(), store, self._clock())

    def forget(
        self,
        session_id: str | None = None,
        *,
        path: str | None = None,
        before: str | None = None,
        matching: str | None = None,
        forks: bool = False,
        dry_run: bool = False,
    ) -> ForgetReport:
        """Remove sessions, and every trace of them, from the index; later imports do not bring them back.

        Several conditions together name the sessions that meet all of them. Sessions of subagents go with
        theirs.

        Args:
            session_id: an id or an unambiguous prefix.
            path: sessions whose transcript's path matches this glob, as in `ignore`.
            before: sessions whose last turn was before this moment.
            matching: sessions that hold a turn with all words of this query.
            forks: also sessions that hold copies of their turns; else such turns stay, as the fork's own.
            dry_run: only say what would go.

        Raises:
            UsageError: no condition, no such session, an ambiguous prefix, a query without a word.
            BusyError: an import is running.
        """
        from cocorecall.index import forgetting, tombstones  # noqa: PLC0415
        from cocorecall.index.schema import open_for_writing  # noqa: PLC0415

        if session_id is None and path is None and before is None and matching is None:
            raise UsageError(
                "Nothing says what to forget.", "Name a session, or --path, --before, --matching."
            )
        wanted = self._selected(session_id, path, before, matching)
        with self._import_lock():
            self.close()
            connection = open_for_writing(self._place.index_path)
            try:
                with self._plain_errors():
                    forgetter = forgetting.Forgetter(connection)
                    # an import may have run since they were looked up
                    wanted = forgetter.present(wanted)
                    wanted = forgetter.with_subagents(forgetter.with_forks(wanted) if forks else wanted)
                    if dry_run or not wanted:
                        return self._forget_report(forgetter.preview(wanted), dry_run=dry_run)
                    tombstones.merge(connection, self._place)
                    gone = forgetter.forget(wanted, self._now())
                    tombstones.merge(connection, self._place)
                    gone.log_in_use = not forgetter.compact()
            finally:
                connection.close()
            forgetting.clean_receipts(self._place, [s.source_path for s in gone.sessions])
        return self._forget_report(gone)

    def _selected(
        self, session_id: str | None, path: str | None, before: str | None, matching: str | None
    ) -> list[str]:
        """Sessions that meet every condition that is given."""
        chosen = [self._resolve(session_id)] if session_id is not None else None
        if path is not None or before is not None:
            from cocorecall.index.forgetting import sessions_where  # noqa: PLC0415

            self._store()
            assert self._connection is not None  # noqa: S101 - opened by the line above
            moment = self._moment(before) if before is not None else None
            with self._plain_errors():
                found = sessions_where(self._connection, path=path, before=moment)
            chosen = found if chosen is None else [s for s in chosen if s in found]
        if matching is not None:
            holding = self._sessions_holding(matching)
            chosen = holding if chosen is None else [s for s in chosen if s in holding]
        return chosen or []

    def _sessions_holding(self, query: str) -> list[str]:
        from cocorecall.search.holding import sessions_holding  # noqa: PLC0415

        self._store()
        assert self._reader is not None  # noqa: S101 - opened by the line above
        with self._plain_errors():
            return sessions_holding(query, self._reader)

    def _forget_report(self, gone: Forgotten, *, dry_run: bool = False) -> ForgetReport:
        from cocorecall.index.forgetting import out_of_reach  # noqa: PLC0415
        from cocorecall.model import ForgetReport, KeptTurns  # noqa: PLC0415

        sessions = tuple(gone.sessions)
        note = "Another process holds the index's log: the next import empties it." if gone.log_in_use else ""
        return ForgetReport(
            sessions[0].session_id if len(sessions) == 1 else None,
            sum(s.turns for s in sessions) - sum(gone.kept_in.values()),
            gone.citations,
            out_of_reach(self._place, sessions) if sessions else (),
            sessions,
            tuple(KeptTurns(sid, n) for sid, n in sorted(gone.kept_in.items())),
            dry_run,
            note,
        )

    def forgotten(self) -> tuple[Tombstone, ...]:
        """What was forgotten and when, newest first; names are not kept."""
        from cocorecall.index import tombstones  # noqa: PLC0415
        from cocorecall.model import Tombstone  # noqa: PLC0415

        stones = tombstones.read_file(self._place)
        self._open_reader()
        if self._connection is not None:
            with self._plain_errors():
                stones |= tombstones.read(self._connection)
        found = (Tombstone(key, at) for key, at in stones.items())
        return tuple(sorted(found, key=lambda t: (t.forgotten_at, t.key), reverse=True))

    def remember(self, key: str) -> Tombstone:
        """Take a tombstone away, so that the next import brings the session back, if its transcript is there.

        Args:
            key: its key, or an unambiguous beginning.

        Raises:
            UsageError: none, or several.
            BusyError: an import is running.
        """
        from cocorecall.index import tombstones  # noqa: PLC0415
        from cocorecall.index.schema import open_for_writing  # noqa: PLC0415

        found = [t for t in self.forgotten() if key and t.key.startswith(key)]
        if len(found) != 1:
            raise UsageError(
                f"{key!r} names {len(found) or 'no'} forgotten sessions.",
                "`recall forget --list` shows the keys.",
            )
        with self._import_lock():
            self.close()
            connection = open_for_writing(self._place.index_path)
            try:
                with self._plain_errors():
                    tombstones.remove(connection, self._place, found[0].key)
            finally:
                connection.close()
        return found[0]

    # --- ignore patterns -----------------------------------------------------------------------------

    def ignored(self) -> tuple[str, ...]:
        """The patterns that keep transcripts and sessions out."""
        from cocorecall.project import read_ignored  # noqa: PLC0415

        return read_ignored(self._place)

    def ignore(self, pattern: str) -> tuple[str, ...]:
        """Keep transcripts whose path matches a glob, or sessions (`session:ID`), out of coming imports.

        Raises:
            UsageError: the pattern is there already, or empty.
        """
        from cocorecall.project import write_ignored  # noqa: PLC0415

        present = self.ignored()
        if not pattern.strip() or pattern in present:
            raise UsageError(f"{pattern!r} is {'ignored already' if pattern.strip() else 'no pattern'}.")
        write_ignored(self._place, [*present, pattern], self._sources())
        return self.ignored()

    def unignore(self, pattern: str) -> tuple[str, ...]:
        """Take a pattern away again.

        Raises:
            UsageError: there is no such pattern.
        """
        from cocorecall.project import write_ignored  # noqa: PLC0415

        present = self.ignored()
        if pattern not in present:
            raise UsageError(
                f"{pattern!r} is no pattern of the sources file.", "`recall sources` lists them."
            )
        write_ignored(self._place, [p for p in present if p != pattern], self._sources())
        return self.ignored()

    # --- doctor, backup, restore ---------------------------------------------------------------------

    def doctor(self, *, fix: bool = False) -> DoctorReport:
        """Examine the index and what belongs to it.

        Args:
            fix: mend what can be mended without asking; a damaged file is set aside, nothing is deleted.

        Raises:
            BusyError: with `fix`, an import is running.
            IndexTooNewError, RecallError: as they say.
        """
        from cocorecall.index.checkup import after_recovery, examine, mend_findings  # noqa: PLC0415

        self.close()
        sources, now = self._sources(), self._now()
        if not fix:
            return examine(self._place, sources, now)
        found = examine(self._place, sources, now)
        recovered = None
        if any(f.check == "database" and f.severity == "error" for f in found.findings):
            recovered = self.import_sources().recovered
        with self._import_lock():
            report = mend_findings(self._place, sources, now)
        return after_recovery(found, recovered, report) if recovered else report

    def backup(self, path: str | Path, *, force: bool = False) -> BackupReport:
        """Write a checked copy of the whole index to a file; searches and imports go on meanwhile.

        Args:
            path: the file.
            force: replace it where it exists.

        Raises:
            UsageError: it exists, or nothing is indexed yet.
            IndexDamagedError: the index is not sound; nothing was written.
            RecallError: it cannot be written.
        """
        from cocorecall.index.backup import backup  # noqa: PLC0415

        self._store()
        assert self._connection is not None  # noqa: S101 - opened by the line above
        with self._plain_errors():
            return backup(self._place, self._connection, Path(os.path.abspath(path)), force=force)  # noqa: PTH100

    def restore(self, path: str | Path) -> RestoreReport:
        """Put a backup in the index's place; the present index is set aside, forgotten sessions stay forgotten.

        Raises:
            UsageError: there is no such file.
            IndexDamagedError, IndexTooNewError: it is not sound, or a newer program's; nothing was changed.
            BusyError: an import is running.
        """
        from cocorecall.index.backup import restore  # noqa: PLC0415
        from cocorecall.project import keep_out_of_git  # noqa: PLC0415

        with self._import_lock():
            keep_out_of_git(self._place)
            self.close()
            return restore(self._place, Path(os.path.abspath(path)), self._now())  # noqa: PTH100

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

    # --- verify --------------------------------------------------------------------------------------

    def verify(
        self,
        target: str | None = None,
        *,
        all: bool = False,  # noqa: A002 - the option's name
        cited: bool = False,
        days: int = 30,
        reveal: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> VerifyReport:
        """Compare turns with their sources, which are read again; nothing is written.

        Args:
            target: a turn's id, a session's, or a beginning of one.
            all: every turn of the index, instead of a target.
            cited: every turn that searches cited in the last `days` days, instead of a target.
            days: how far back citations go.
            reveal: show secrets in what differs as they are.
            progress: called after each transcript.

        Raises:
            UsageError: not exactly one of target, `all` and `cited`; no such session or turn.
            IndexTooNewError, IndexDamagedError, BusyError, RecallError: as they say.
        """
        from cocorecall.index.checking import CheckingStore  # noqa: PLC0415
        from cocorecall.search.masking import shown  # noqa: PLC0415
        from cocorecall.verification.scope import cited_turns, one, report, whole  # noqa: PLC0415
        from cocorecall.verification.verifier import Verifier  # noqa: PLC0415 - a search imports no parser

        if (target is not None) + all + cited != 1:
            raise UsageError("Say what to verify: a turn or a session, --all, or --cited.")
        self._open_reader()
        if self._connection is None:
            raise UsageError("Nothing is indexed yet.", "Run `recall import` first.")
        store = CheckingStore(self._connection)
        with self._plain_errors():
            if target is not None:
                scope = one(store, *self._resolve_turn(target))
            elif all:
                scope = whole(store)
            else:
                scope = cited_turns(store, self._moment(f"{days}d"), days)
            verifier = Verifier(store, self._sources(), mask=None if reveal else shown)
            return report(scope, verifier, progress)

    # --- export --------------------------------------------------------------------------------------

    def export(
        self,
        session_id: str | None = None,
        *,
        all: bool = False,  # noqa: A002 - the option's name
        format: str = "jsonl",  # noqa: A002 - likewise
        output: str | Path | None = None,
        send: Callable[[str], object] | None = None,
        force: bool = False,
        reveal: bool = False,
        progress: Callable[[Progress], None] | None = None,
    ) -> ExportReport:
        """Write sessions out of the index; those whose source is gone, too.

        Args:
            session_id: an id, or an unambiguous prefix.
            all: every session, a file each, instead of one.
            format: `jsonl`, which an import reads back hash for hash; `markdown` or `html`, to read.
            output: the file, or with `all` the folder; without it `<session id>.<suffix>` in the current
                folder, or the folder `recall-export` there.
            send: takes the text part by part, instead of files.
            force: write over files that exist.
            reveal: write secrets as they are; a turn whose secrets are masked cannot be imported again.
            progress: called after each session.

        Raises:
            UsageError: not exactly one of a session and `all`; an unknown session or format; a file exists.
            RecallError: a file or folder cannot be written.
        """
        from cocorecall.export.exporter import Exporter  # noqa: PLC0415
        from cocorecall.index.exporting import ExportStore  # noqa: PLC0415
        from cocorecall.search.masking import shown  # noqa: PLC0415

        if (session_id is not None) + all != 1:
            raise UsageError("Say what to export: a session, or --all.")
        self._open_reader()
        if self._connection is None:
            raise UsageError("Nothing is indexed yet.", "Run `recall import` first.")
        store = ExportStore(self._connection)
        wanted = self._resolve(session_id) if session_id is not None else None
        with self._plain_errors():
            exporter = Exporter(store, format, mask=None if reveal else shown, progress=progress)
            target = None if output is None else Path(output).expanduser()
            ids = [wanted] if wanted is not None else store.session_ids()
            if send:
                return exporter.to_stream(ids, send)
            if wanted is not None:
                return exporter.to_file(wanted, target, force=force)
            return exporter.to_folder(ids, target, force=force)

    # --- dream ---------------------------------------------------------------------------------------

    def dream(self, *, window: str = "14d", dry_run: bool = False) -> DreamReport:
        """Keep what recent sessions say worth keeping in the managed block of the memory file, cited.

        Args:
            window: turns from this moment on are read: `14d`, a date, a time.
            dry_run: only say what would be kept; nothing is written, the log neither.

        Raises:
            UsageError: `window` is no moment.
            BusyError: another dream is running.
            IndexTooNewError, IndexDamagedError, RecallError: as they say; nothing is indexed yet; a setting is
                none; the markers of the memory file do not pair.
        """
        from cocorecall.project import keep_out_of_git  # noqa: PLC0415

        since = self._moment(window)
        if self._open_reader() is None:
            raise RecallError("Nothing is indexed yet.", "Run `recall import` first.")
        if dry_run:
            return self._dream(since, dry_run=True)
        keep_out_of_git(self._place)
        with self._dream_lock():
            try:
                report = self._dream(since, dry_run=False)
                self._log_dream("completed", {"counts": _dream_counts(report)})
            except RecallError as error:
                with contextlib.suppress(RecallError):
                    self._log_dream("failed", {"error": str(error)})
                raise
        return report

    def _dream(self, since: str, *, dry_run: bool) -> DreamReport:
        from cocorecall.dream.cycle import dream  # noqa: PLC0415 - nothing else needs it

        self._caught_up()
        assert self._connection is not None  # noqa: S101 - opened by the line above
        with self._plain_errors():
            return dream(
                self._place, self._connection, since=since, now=self._clock().astimezone(UTC),
                sessions=self.sessions_indexed(), dry_run=dry_run,
            )  # fmt: skip

    @contextlib.contextmanager
    def _dream_lock(self) -> Iterator[None]:
        from filelock import FileLock, Timeout  # noqa: PLC0415 - only writers lock

        lock = FileLock(self._place.dream_lock_path, timeout=0, mode=0o600)
        try:
            lock.acquire()
        except Timeout as error:
            raise BusyError(
                "Another dream is running.", "`recall dream log` shows when it is done."
            ) from error
        except OSError as error:
            raise RecallError(f"Cannot write to {self._place.home}: {error.strerror or error}.") from error
        try:
            yield
        finally:
            lock.release()

    def _log_dream(self, status: str, more: Mapping[str, Any]) -> None:
        from cocorecall import lifecycle  # noqa: PLC0415
        from cocorecall.dream.cycle import PHASES  # noqa: PLC0415 - loaded already

        entry = {
            "ts": self._now(), "session_id": None, "phases": list(PHASES), "status": status, "trigger": "command",
        }  # fmt: skip
        try:
            lifecycle.append_log(self._place.home, entry | dict(more))
            if status == "completed":
                lifecycle.mark_consolidation(self._place.home, self._now_ms())
        except OSError as error:
            raise RecallError(f"Cannot write to {self._place.home}: {error.strerror or error}.") from error

    def dream_status(self) -> DreamStatus:
        """When the memory was last consolidated, and how large it and what lies beside it are.

        Raises:
            RecallError: a setting is none.
        """
        from cocorecall import lifecycle  # noqa: PLC0415
        from cocorecall.dream.cycle import stores  # noqa: PLC0415
        from cocorecall.model import DreamStatus  # noqa: PLC0415

        home = self._place.home
        last = lifecycle.last_done_ms(home)
        completed = next((e for e in self.dream_log() if e.status == "completed"), None)
        return DreamStatus(
            state=lifecycle.freshness(home, self._now_ms()),
            last=_iso_of(last),
            last_completed=completed,
            due=last is None or not 0 <= self._now_ms() - last < lifecycle.DUE_MS,
            unreadable=lifecycle.unreadable_lines(home),
            stores=stores(self._place, self._clock().astimezone(UTC)),
        )

    def dream_log(self) -> tuple[DreamLogEntry, ...]:
        """What the consolidation log tells, newest first: asked for, completed, failed."""
        from cocorecall import lifecycle  # noqa: PLC0415
        from cocorecall.dream.cycle import log_entry  # noqa: PLC0415

        return tuple(log_entry(entry) for entry in reversed(lifecycle.read_log(self._place.home)))

    def _now_ms(self) -> int:
        return int(self._clock().timestamp() * 1000)

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

            self._file = _file_id(self._place.index_path)
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


def _dream_counts(report: DreamReport) -> dict[str, int]:
    return {
        "turns": report.turns, "signals": sum(report.signals.values()), "entries": len(report.entries),
        "added": report.added, "merged": report.merged, "superseded": report.superseded, "archived": report.archived,
        "lines": report.lines,
    }  # fmt: skip


def _iso_of(ms: int | None) -> str | None:
    if ms is None:
        return None
    try:
        moment = datetime.fromtimestamp(ms / 1000, UTC)
    except (ValueError, OverflowError, OSError):
        return None
    return moment.isoformat(timespec="milliseconds").replace("+00:00", "Z")


def _file_id(path: Path) -> tuple[int, int] | None:
    """What tells one file at a path from another that took its place."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


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

"""Sessions into files or a stream, one after the other; memory follows a batch of turns."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal, Protocol

from cocorecall.errors import UsageError
from cocorecall.export import html, jsonl, markdown
from cocorecall.export.files import file_names, make_folder, refuse_to_overwrite, write
from cocorecall.export.shown import Mask, shown_session, shown_turn
from cocorecall.index.exporting import ArchivedSession, ArchivedTurn, ExportStore
from cocorecall.model import ExportedFile, ExportReport, Progress

ExportFormatName = Literal["jsonl", "markdown", "html"]
SUFFIXES = {"jsonl": ".recall.jsonl", "markdown": ".md", "html": ".html"}
"""What files are called behind the session's id; an agent's own transcript is often called `<id>.jsonl`."""
FOLDER = "recall-export"
"""Where all sessions go if no folder is named."""


class _Form(Protocol):
    def session_lines(
        self, session: ArchivedSession, turns: Iterator[tuple[ArchivedTurn, bool]], *, masked: bool
    ) -> Iterator[str]: ...


_FORMS: dict[str, _Form] = {"jsonl": jsonl, "markdown": markdown, "html": html}


@dataclass(slots=True)
class _Tally:
    turns: int = 0
    not_in_source: int = 0
    masked: int = 0
    bytes: int = 0


class Exporter:
    """Writes sessions out in one format.

    Args:
        store: the index.
        form: `jsonl`, `markdown` or `html`.
        mask: what every text goes through; None: shown as stored.
        progress: called after each session.
    """

    def __init__(
        self,
        store: ExportStore,
        form: str,
        *,
        mask: Mask | None = None,
        progress: Callable[[Progress], None] | None = None,
    ) -> None:
        if form not in _FORMS:
            raise UsageError(f"No format {form!r} is known.", f"Known: {', '.join(_FORMS)}.")
        self._store = store
        self._name = form
        self._form = _FORMS[form]
        self._mask = mask
        self._progress = progress

    def to_file(self, session_id: str, output: Path | None, *, force: bool) -> ExportReport:
        """One session into a file, `<session id>.<suffix>` of the current folder if none is named.

        Raises:
            UsageError: the file exists and `force` is not given.
            RecallError: it cannot be written.
        """
        name = file_names([session_id], SUFFIXES[self._name])[session_id]
        path = Path(name) if output is None else output / name if output.is_dir() else output
        if not force:
            refuse_to_overwrite([path])
        self._spare_transcripts([path])
        make_folder(path.parent)
        return self._report(self._written([(session_id, path)], force=force))

    def to_folder(self, session_ids: Sequence[str], output: Path | None, *, force: bool) -> ExportReport:
        """Each session into a file of its own; nothing is written where one of the files exists.

        Raises:
            UsageError: a file exists and `force` is not given; `output` is no folder.
            RecallError: the folder or a file cannot be written.
        """
        folder = output or Path(FOLDER)
        names = file_names(session_ids, SUFFIXES[self._name])
        if not force:
            refuse_to_overwrite(folder / name for name in names.values())
        places = [(session_id, folder / name) for session_id, name in names.items()]
        self._spare_transcripts([path for _, path in places])
        make_folder(folder)
        return self._report(self._written(places, force=force))

    def to_stream(self, session_ids: Sequence[str], send: Callable[[str], object]) -> ExportReport:
        """Sessions one behind the other into a stream.

        Raises:
            UsageError: several sessions as one HTML page.
        """
        if self._name == "html" and len(session_ids) > 1:
            raise UsageError("An HTML page holds one session.", "Name a folder with --output.")
        return self._report(self._sent(session_ids, send))

    def _written(self, places: Sequence[tuple[str, Path]], *, force: bool) -> Iterator[ExportedFile]:
        for done, (session_id, path) in enumerate(places, 1):
            tally = _Tally()
            with self._store.unchanging():
                tally.bytes = write(path, self._parts(session_id, tally), force=force)
            yield _file(session_id, str(path), tally)
            self._tell(done, len(places), tally)

    def _sent(self, session_ids: Sequence[str], send: Callable[[str], object]) -> Iterator[ExportedFile]:
        for done, session_id in enumerate(session_ids, 1):
            tally = _Tally()
            with self._store.unchanging():
                for part in self._parts(session_id, tally):
                    tally.bytes += len(part.encode())
                    send(part)
            yield _file(session_id, None, tally)
            self._tell(done, len(session_ids), tally)

    def _spare_transcripts(self, paths: Sequence[Path]) -> None:
        """Refuse to write over an agent's own file, forced or not."""
        there = [path for path in paths if path.exists()]
        transcripts = {os.path.realpath(p) for p in self._store.transcripts()} if there else set()
        for path in there:
            if os.path.realpath(path) in transcripts:
                raise UsageError(f"{path} is an agent's transcript.", "Name another file with --output.")

    def _tell(self, done: int, total: int, tally: _Tally) -> None:
        if self._progress:
            self._progress(Progress(done, total, tally.turns))

    def _parts(self, session_id: str, tally: _Tally) -> Iterator[str]:
        session = self._store.session(session_id)
        turns = self._turns(session, tally)
        return self._form.session_lines(
            shown_session(session, self._mask), turns, masked=self._mask is not None
        )

    def _turns(self, session: ArchivedSession, tally: _Tally) -> Iterator[tuple[ArchivedTurn, bool]]:
        for turn in self._store.turns(session):
            shown, masked = shown_turn(turn, self._mask)
            tally.turns += 1
            tally.not_in_source += not turn.in_source
            tally.masked += masked
            yield shown, masked

    def _report(self, files: Iterable[ExportedFile]) -> ExportReport:
        done = tuple(files)
        return ExportReport(self._name, len(done), sum(f.turns for f in done), done)


def _file(session_id: str, path: str | None, tally: _Tally) -> ExportedFile:
    return ExportedFile(session_id, path, tally.turns, tally.not_in_source, tally.masked, tally.bytes)

"""Citing turns outside a search: a few words of each, round what it is cited for."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from pathlib import Path

from cocorecall.index.reader import IndexReader, SessionRow
from cocorecall.model import CitedTurn
from cocorecall.search.excerpt import make_excerpt
from cocorecall.search.follow_up import LOOKED_AT, FollowUp, Lead
from cocorecall.search.masking import Masking
from cocorecall.search.matches import passages
from cocorecall.search.query import parse_query
from cocorecall.search.tokens import estimate_tokens


class Citer:
    """Makes cited turns for one answer.

    Args:
        reader: the open index.
        asked: what was asked; follow-ups do not repeat it.
        reveal: show credentials as they are.
    """

    def __init__(self, reader: IndexReader, asked: Iterable[str] = (), *, reveal: bool = False) -> None:
        self._reader = reader
        self._masking = Masking("", reveal=reveal, names_in=LOOKED_AT)
        stems = {s for text in asked for unit in parse_query(text, reader.stems).units for s in unit.stems}
        self._follow_up = FollowUp(reader, stems, reader.totals().turns)
        self._sessions: dict[int, SessionRow] = {}

    def plain(self, text: str | None) -> str | None:
        """A name or sentence of the index as it is shown."""
        return self._masking.line(text)

    def cite(
        self, doc: int, *, focus: Sequence[str] = (), room: int = 60, field: str | None = None
    ) -> CitedTurn:
        """A turn with the part of it that holds what it is cited for.

        Args:
            doc: the turn.
            focus: passages or words to show, the most telling first, found without case.
            room: most tokens of the excerpt, marks included.
            field: `text` or `calls`; None: the one that holds the focus, else the text.
        """
        turn = self._reader.turn_text(doc)
        session = self._session(doc >> 24)
        row = self._reader.turn_rows([(doc, doc)])[doc]
        body, field = self._body(doc, turn.text, focus, field)
        excerpt = make_excerpt(body, passages(body, focus), budget=room, cost=estimate_tokens)
        shown = self._masking.excerpt(body, excerpt)
        names = self._masking.names_of(body)
        return CitedTurn(
            session_id=session.session_id,
            turn_id=turn.turn_id,
            source_exists=Path(session.source_path).exists(),
            suggested_follow_up=self._follow_up.sentence(
                Lead(doc, names, session, self._reader.entities.tools_of(doc))
            ),
            seq=turn.seq,
            speaker_role=row.role,
            timestamp=row.timestamp,
            agent=session.agent,
            title=self._masking.line(session.title),
            source_path=session.source_path,
            source_line=turn.source_line,
            in_source=turn.in_source,
            text_hash=turn.text_hash,
            field=field,
            text=shown.text,
            spans=excerpt.spans,
            text_length=turn.text_length if field == "text" else len(body),
            secrets=len(shown.masked),
        )

    def _session(self, number: int) -> SessionRow:
        if number not in self._sessions:
            self._sessions |= self._reader.session_rows([number])
        return self._sessions[number]

    def _body(self, doc: int, text: str, focus: Sequence[str], field: str | None) -> tuple[str, str]:
        if field == "text" or (field is None and (passages(text, focus) or (text.strip() and not focus))):
            return text, "text"
        calls = self._reader.calls_text(doc)
        if calls and (field == "calls" or not text.strip() or passages(calls, focus)):
            return calls, "calls"
        return text, "text"

"""A session cut into pages: as many turns, and as much of each, as a budget holds, and where to go on.

A turn has up to three kinds of parts that may be long: reasoning, text, and the inputs of its calls. A page ends
between turns or within a part; its cursor names the turn, the part and the character to go on at.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

from cocorecall.documents import document, session_document
from cocorecall.mcp.answers import (
    FLAG,
    MOST_DOCUMENT,
    MOST_HIGHLIGHTS,
    Answer,
    document_tokens,
    quoting_document,
    spoken_of_tools,
    warned,
)
from cocorecall.mcp.quoting import Part, Quote, fenced, reads_like_an_instruction
from cocorecall.model import CallView, SessionView, Span, TurnView
from cocorecall.plain import header, turn_head, turns_left_out
from cocorecall.recall import Recall
from cocorecall.wording import counted, one_line

_TAIL_TOKENS = 75
"""What the notice and the lines behind the last turn cost."""
_TURN_TOKENS = 16
"""What a turn's tags and marks cost beside its head."""
_LEAST = 24
"""Tokens below which a part is not begun any more."""
_CHARS_PER_TOKEN = 12
_SPAN_TOKENS = 10


@dataclass(frozen=True, slots=True)
class Position:
    """Where a page begins.

    Attributes:
        seq: the turn.
        part: number of its part.
        at: character of that part.
    """

    seq: int = -1
    part: int = 0
    at: int = 0


@dataclass(slots=True)
class _Shown:
    """A turn as a page shows it."""

    view: TurnView
    thinking: str
    text: str
    calls: list[CallView]
    flagged: bool = False


class Page:
    """One page of a session.

    Args:
        view: the turns to show.
        start: where to begin.
        budget: most tokens of the text.
    """

    def __init__(self, view: SessionView, start: Position, budget: int) -> None:
        self._view = view
        self._start = start
        self._budget = budget
        self._turns: list[_Shown] = []
        self.next: Position | None = None
        self._document_room = max(MOST_DOCUMENT, budget) - 600
        self._head = self._session_head()
        self._room = budget - _TAIL_TOKENS - Recall.estimate_tokens("".join(map(_text_of, self._head)))
        self._fill()

    def answer(self, cursor: str | None) -> Answer:
        """The page as an answer; `cursor` goes on at `next`."""
        flagged = [s.view.turn_id for s in self._turns if s.flagged]
        parts: list[Part] = [warned(flagged), *self._head]
        for shown in self._turns:
            parts += self._turn_parts(shown)
        parts += ["\n\n" + line for line in self._last_lines(cursor)]
        text = fenced(parts)
        turns = tuple(
            replace(s.view, text=s.text, thinking=s.thinking, calls=tuple(s.calls)) for s in self._turns
        )
        view = replace(self._view, turns=turns, omitted_after=self._view.omitted_after + self._left())
        content = session_document(view) | {"budget": self._budget, "tokens": Recall.estimate_tokens(text)}
        return Answer(quoting_document("show", content, flagged=flagged, next_cursor=cursor), text)

    # --- what is around the turns ---

    def _session_head(self) -> list[Part]:
        lines = [spoken_of_tools(one_line(line)) for line in header(self._view)]
        if self._start.seq >= 0:
            return [f"{lines[0]}, continued"]
        facts = [f"{line[:200]}…" if len(line) > 200 else line for line in lines[1:]]  # noqa: PLR2004
        while len(facts) > 1 and Recall.estimate_tokens("\n".join(facts)) > self._budget // 3:
            facts.pop()
        return [lines[0] + "\n", Quote("\n".join(facts))]

    def _left(self) -> int:
        """Turns behind the page."""
        if self.next is None:
            return 0
        whole = 0 if self._turns and self._turns[-1].view.seq == self.next.seq else 1
        return sum(t.seq > self.next.seq for t in self._view.turns) + whole

    def _last_lines(self, cursor: str | None) -> Iterator[str]:
        if self._view.omitted_after:
            yield turns_left_out(self._view.omitted_after)
        if self.next is not None:
            left = self._left()
            more = f"{counted(left, 'turn')} more" if left else "The rest of this turn"
            yield f"{more}: cursor {cursor}"

    def _turn_parts(self, shown: _Shown) -> list[Part]:
        turn = shown.view
        lead = f"{turns_left_out(turn.omitted_before)}\n\n" if turn.omitted_before else ""
        body = "\n".join(_body(shown))
        stored = f"\n[… {turn.not_stored:,} characters are not in the index …]" if turn.not_stored else ""
        head = f"\n\n{lead}{one_line(turn_head(turn))}{FLAG if shown.flagged else ''}"
        return [head + "\n", Quote(body), stored] if body else [head]

    # --- filling ---

    def _fill(self) -> None:
        for turn in self._view.turns:
            if turn.seq >= self._start.seq and self.next is None:
                self._add(turn)

    def _add(self, turn: TurnView) -> None:
        first = self._start if turn.seq == self._start.seq else Position(turn.seq)
        head = Recall.estimate_tokens(turn_head(turn)) + _TURN_TOKENS
        bare = replace(turn, text="", thinking="", calls=(), spans=(), highlights=())
        facts = document_tokens(document(bare)) + 20
        if self._turns and (self._room < head + _LEAST or self._document_room < facts + _LEAST):
            self.next = first
            return
        self._room -= head
        self._document_room -= facts
        shown = _Shown(replace(turn, spans=(), highlights=()), "", "", [])
        self._turns.append(shown)
        for number, (kind, text, spans) in enumerate(_parts(turn)):
            if number < first.part or self.next is not None:
                continue
            at = first.at if number == first.part else 0
            self._add_part(shown, turn, Position(turn.seq, number, at), (kind, text, spans))
        shown.flagged = reads_like_an_instruction("\n".join(_body(shown)))

    def _add_part(
        self, shown: _Shown, turn: TurnView, start: Position, part: tuple[str, str, tuple[Span, ...]]
    ) -> None:
        kind, text, spans = part
        room = min(self._room, self._document_room)
        nothing_yet = len(self._turns) == 1 and not (shown.text or shown.thinking or shown.calls)
        if room < _LEAST and not nothing_yet:
            self.next = start
            return
        kept, end = _within(
            text,
            _behind(spans, start.at),
            room=max(self._room, _LEAST),
            document_room=max(self._document_room, 300),
        )
        if end is not None:
            self.next = Position(start.seq, start.part, end)
        printed = Recall.join_spans(text, kept)
        cost = Recall.estimate_tokens(printed)
        self._room -= cost
        self._document_room -= cost + _SPAN_TOKENS * len(kept)
        if kind == "thinking":
            shown.thinking = printed
        elif kind == "text":
            shown.text = printed
            marks = tuple(h for h in turn.highlights if any(a <= h[0] and h[1] <= b for a, b in kept))
            shown.view = replace(shown.view, spans=kept, highlights=marks[:MOST_HIGHLIGHTS])
            self._document_room -= _SPAN_TOKENS * min(len(marks), MOST_HIGHLIGHTS)
        else:
            shown.calls.append(replace(turn.calls[int(kind)], payload=printed))


def _text_of(part: Part) -> str:
    return part.text if isinstance(part, Quote) else part


def _parts(turn: TurnView) -> Iterator[tuple[str, str, tuple[Span, ...]]]:
    """(kind, whole text, the spans of it to print); a call's kind is its number."""
    if turn.thinking:
        yield "thinking", turn.thinking, ((0, len(turn.thinking)),)
    if turn.text:
        yield "text", turn.text, turn.spans
    for n, call in enumerate(turn.calls):
        yield str(n), call.payload, ((0, len(call.payload)),)


def _body(shown: _Shown) -> Iterator[str]:
    if shown.thinking:
        yield f"(thinking) {shown.thinking}"
    if shown.text:
        yield shown.text.rstrip("\n")
    for call in shown.calls:
        status = f" ({one_line(call.status)})" if call.status and call.status != "success" else ""
        yield f"→ {one_line(call.name)} {call.payload}{status}"


def _behind(spans: tuple[Span, ...], at: int) -> tuple[Span, ...]:
    """What is left of some spans from a character on."""
    return tuple((max(a, at), b) for a, b in spans if b > at)


def _before(spans: tuple[Span, ...], end: int) -> tuple[Span, ...]:
    return tuple((a, min(b, end)) for a, b in spans if a < end)


def _within(
    text: str, spans: tuple[Span, ...], *, room: int, document_room: int
) -> tuple[tuple[Span, ...], int | None]:
    """The longest beginning of some spans that keeps the budgets, and where it ends; None: all of them."""
    if not spans:
        return (), None
    first, last = spans[0][0], spans[-1][1]
    end = min(last, first + room * _CHARS_PER_TOKEN)
    while True:
        kept = _before(spans, end)
        cost = Recall.estimate_tokens(Recall.join_spans(text, kept))
        over = max(cost / room, (cost + _SPAN_TOKENS * (len(kept) + MOST_HIGHLIGHTS)) / document_room)
        if over <= 1:
            return kept, None if end >= last else end
        guess = first + int((end - first) * min(0.9, 0.97 / over)) - 8
        end = _border(text, first, guess)
        if end <= first + 1:
            end = min(last, first + 1)
            return _before(spans, end), None if end >= last else end


def _border(text: str, first: int, end: int) -> int:
    """A little before `end`, behind a line or a word, where there is such a place."""
    low = max(first + 1, end - (end - first) // 5)
    for sign in ("\n", " "):
        found = text.rfind(sign, low, end)
        if found > low:
            return found + 1
    return end

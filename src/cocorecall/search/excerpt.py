"""The part of a text that is shown: contiguous spans, verbatim, gaps marked and counted.

An excerpt is chosen for what it shows of the query: the passage in which the distinct words weigh most, and
up to two further ones where they add words that the first does not hold. Each passage begins as the sentence
or line that holds its matches and grows by whole sentences and lines, more behind than before, while the
budget lasts. Only what is longer than the budget by itself is cut at a word's border. `join_spans` is how
spans become text, so a program that has the full text can rebuild an excerpt from its spans, and so check it.
"""

from __future__ import annotations

import math
import re
from bisect import bisect_left
from collections.abc import Callable, Iterable, Iterator, Sequence
from typing import NamedTuple

from cocorecall.model import Span
from cocorecall.search.borders import (
    LINE_ENDS,
    begins_paragraph,
    border_before,
    border_behind,
    whole_words,
    word_end,
    word_start,
)
from cocorecall.search.budget import pack as pack  # noqa: PLC0414 - part of this module's interface
from cocorecall.search.passages import Match as Match  # noqa: PLC0414 - the same
from cocorecall.search.passages import passages, start_of, thinned

Cost = Callable[[str], int]


class Excerpt(NamedTuple):
    """What is shown of a text.

    Attributes:
        text: the spans joined by gap marks (`join_spans`).
        spans: offsets into the full text, sorted and apart.
        highlights: matches that lie wholly in a span; overlapping ones are merged.
    """

    text: str
    spans: tuple[Span, ...]
    highlights: tuple[Span, ...]


# --- spans to text ---------------------------------------------------------------------------------------


def gap_mark(characters: int) -> str:
    """What stands for characters left out: `[… 1,234 characters …]`."""
    return f"[… {characters:,} characters …]" if characters != 1 else "[… 1 character …]"


def join_spans(text: str, spans: Sequence[Span]) -> str:
    """The spans of a text, in order, with a mark for every gap between, before and after them.

    A mark stands on a line of its own where the text is cut at a line border, else behind one space.
    """
    out: list[str] = []
    done = 0
    for start, end in spans:
        if start > done:
            out.append(_lead(text, done) + gap_mark(start - done))
            out.append("\n" if text[start - 1] in LINE_ENDS else " ")
        out.append(text[start:end])
        done = end
    if done < len(text):
        out.append(_lead(text, done) + gap_mark(len(text) - done))
    return "".join(out)


def _lead(text: str, cut: int) -> str:
    """What stands between the text before a gap and the gap's mark."""
    if cut == 0 or text[cut - 1] in LINE_ENDS:
        return ""
    return "\n" if text[cut] in LINE_ENDS else " "


def whole(text: str, matches: Sequence[Match]) -> Excerpt:
    """All of a text."""
    spans: tuple[Span, ...] = ((0, len(text)),)
    return Excerpt(text, spans, _highlights(sorted(matches), spans))


def _highlights(matches: Sequence[Match], spans: Sequence[Span]) -> tuple[Span, ...]:
    out: list[Span] = []
    for low, high in spans:
        first = bisect_left(matches, low, key=start_of)
        for start, end, *_ in matches[first : bisect_left(matches, high, key=start_of)]:
            if end > high:
                continue
            if out and start < out[-1][1]:
                out[-1] = (out[-1][0], max(end, out[-1][1]))
            else:
                out.append((start, end))
    return tuple(out)


# --- an excerpt ------------------------------------------------------------------------------------------

_CHARS_PER_TOKEN = 12
"""More than any text has on average: bounds what is priced."""
_TRIES = 8
_BEGINNING = (Match(0, 0, 0, 0.0),)
"""What is shown of a text without matches."""


def make_excerpt(
    text: str, matches: Sequence[Match], *, budget: int, cost: Cost, max_spans: int = 3
) -> Excerpt:
    """The best excerpt of a text whose cost keeps a budget; all of it where that fits.

    Args:
        text: the full text.
        matches: occurrences of query words; without any, the beginning is shown.
        budget: the most that `cost(excerpt.text)` may be. One that holds no words beside the gap marks (below
            some 25 tokens) gives no spans, and one gap mark as text, of about 12 tokens, whatever the budget.
        cost: the price of a text, in tokens. It is asked for pieces of about the excerpt's length in sum,
            twice over, and for no more of a long text.
        max_spans: how many spans there may be.
    """
    if len(text) <= budget * _CHARS_PER_TOKEN and cost(text) <= budget:
        return whole(text, matches)
    ordered = sorted(matches)
    room = max(budget - 2 * _mark_cost(text, cost), budget / 4)
    size = room * _chars_per_token(text, ordered, cost)
    close = thinned(ordered, int(size)) or _BEGINNING
    allowed = budget
    for _ in range(_TRIES):
        draft = _Draft(text, cost, allowed)
        if draft.filled(passages(close, int(size), max_spans)):
            spans = draft.tidy()
            joined = join_spans(text, spans)
            over = cost(joined) - budget
            if over <= 0:
                return Excerpt(joined, tuple(spans), _highlights(ordered, spans))
            allowed -= over
        elif size < 1:
            break
        size /= 2
    return Excerpt(join_spans(text, ()), (), ())


def _mark_cost(text: str, cost: Cost) -> int:
    return cost(f"\n{gap_mark(len(text))}\n")


def _chars_per_token(text: str, matches: Sequence[Match], cost: Cost) -> float:
    at = matches[len(matches) // 2].start if matches else 0
    sample = text[max(0, at - 200) : at + 600]
    return len(sample) / max(1, cost(sample))


# --- spans that grow ---------------------------------------------------------------------------------------

_BEFORE = 0.35
"""Share of the context that stands before a passage."""
_LEAST_HIDDEN = 22
"""A gap of fewer characters is shown: its mark would be as long as what it hides."""
_CHEAP_GAP = 2
"""A gap is closed, where it can be, if its text costs no more than so many marks."""
_PASSES = 3
_WORTH_A_PASS = 8
"""Tokens left over for which the spans are grown once more."""
_TORN_SHARE = 0.4
"""A sentence is cut to use up what is left of a budget, where that is more than this share of it."""


class _Side(NamedTuple):
    """One end of the span that holds a passage: `place` is a character offset within the passage."""

    place: int
    forward: bool


class _Draft:
    """Spans that grow while the budget lasts.

    Text is priced piece by piece, which may only come out too high: the price of the whole is taken when the
    pieces have used up the budget, and what is left then is used too.
    """

    def __init__(self, text: str, cost: Cost, budget: int) -> None:
        self._text = text
        self._cost = cost
        self._budget = budget
        self._mark = _mark_cost(text, cost)
        self._left = budget - self._mark
        self._spans: list[Span] = []
        self._shown: list[Span] = []

    def filled(self, wanted: Sequence[Span]) -> bool:
        """Show the passages with as much around them as the budget allows; whether the first could be shown."""
        for n, passage in enumerate(wanted):
            share = self._left // (len(wanted) - n)
            kept, self._left = self._left - share, share
            if self._settle(passage):
                self._shown.append(passage)
            self._left += kept
            if not self._shown:
                return False
        places = [start for start, _ in self._shown]
        for _ in range(_PASSES):
            self._close_gaps()
            self._grow(places)
            self._close_gaps()
            counted, self._left = self._left, self._budget - self._cost(join_spans(self._text, self.tidy()))
            if self._left < counted + _WORTH_A_PASS:
                break
        if self._left > self._budget * _TORN_SHARE:
            self._fill_forward(places[0])
        return True

    def tidy(self) -> list[Span]:
        """The spans without blank ends and stray code fences."""
        tidied = [
            _trimmed(self._text, _without_stray_fences(self._text, s, self._shown)) for s in self._spans
        ]
        return [span for span in tidied if span[0] < span[1]]

    # -- one passage

    def _settle(self, passage: Span) -> bool:
        """Show a passage in its lines or sentences, or, where these are too long, as much of them as fits."""
        text, (first, last) = self._text, passage
        reach = self._left * _CHARS_PER_TOKEN
        start = None
        for rows in (True, False):
            start = border_before(text, first + 1, reach, rows=rows)
            end = border_behind(text, last, reach, rows=rows)
            if start is not None and end is not None and self._take(start, end):
                return True
        if not (self._take(*whole_words(text, first, last)) or self._take(first, last)):
            return False
        self._close_gaps()
        shown = self._span_at(first)
        low = max(start or 0, self._priced(shown[0], -int(self._left * _BEFORE)))
        self._take(word_start(text, low, shown[0]), shown[1])
        self._fill_forward(first)
        return True

    def _fill_forward(self, place: int) -> None:
        """As many whole words as fit, to the sentence's end, behind the span that holds a place."""
        start, end = self._span_at(place)
        far = self._priced(end, self._left)
        border = border_behind(self._text, end, far - end, rows=False)
        far = border or word_end(self._text, end, far)
        while far > end and not self._take(start, far):
            far = word_end(self._text, end, end + (far - end) * 3 // 4)

    def _priced(self, at: int, tokens: int) -> int:
        """How far from `at` a text reaches that costs so many tokens; backwards where they are negative."""
        far = max(0, min(len(self._text), at + tokens * _CHARS_PER_TOKEN // 2))
        while far != at:
            price = self._cost(self._text[min(at, far) : max(at, far)])
            if price <= abs(tokens):
                break
            far = at + int((far - at) * 0.95 * abs(tokens) / price)
        return far

    # -- growing

    def _grow(self, places: Sequence[int]) -> None:
        """Give the spans a sentence or line each in turn, until none fits."""
        shown = {_Side(p, forward): 0 for p in places for forward in (True, False)}
        growing = dict.fromkeys(shown)
        while growing:
            for place in places:
                sides = [side for side in growing if side.place == place]
                if not sides:
                    continue
                side = min(sides, key=lambda s: self._turn(s, shown[s]))
                before = self._left
                if self._extend(side):
                    shown[side] += max(1, before - self._left)
                else:
                    del growing[side]

    def _close_gaps(self) -> None:
        """Show what lies between the spans, or at an end of the text, where that is little."""
        edges = [0, *(at for span in self._spans for at in span), len(self._text)]
        reach = _CHEAP_GAP * self._mark
        for low, high in zip(edges[::2], edges[1::2], strict=True):
            if 0 < high - low <= reach * _CHARS_PER_TOKEN and self._cost(self._text[low:high]) <= reach:
                self._take(low, high)

    def _turn(self, side: _Side, shown: int) -> float:
        """Which side of a span is extended next: the smaller. A paragraph is left backwards only at last."""
        if side.forward:
            return shown / (1 - _BEFORE)
        start = self._span_at(side.place)[0]
        return math.inf if begins_paragraph(self._text, start) else shown / _BEFORE

    def _extend(self, side: _Side) -> bool:
        """Add the next line or sentence at one end of a span, if there is one and it can be paid."""
        start, end = self._span_at(side.place)
        reach = self._left * _CHARS_PER_TOKEN
        if side.forward:
            border = border_behind(self._text, end, reach, rows=True) if end < len(self._text) else None
            return border is not None and self._take(start, border)
        border = border_before(self._text, start, reach, rows=True) if start else None
        return border is not None and self._take(border, end)

    # -- spans and their price

    def _span_at(self, place: int) -> Span:
        return next(span for span in self._spans if span[0] <= place <= span[1])

    def _take(self, start: int, end: int) -> bool:
        """Show [start, end) too, and what hardly hides beside it, if that can be paid."""
        spans = _merged([*self._spans, (start, end)], len(self._text))
        marks = _gaps(spans, len(self._text)) - _gaps(self._spans, len(self._text))
        price = marks * self._mark
        for low, high in _added(self._spans, spans):
            price += self._cost(self._text[low:high])
            if price > self._left + self._mark:
                return False
        if price > self._left:
            return False
        self._spans, self._left = spans, self._left - price
        return True


def _gaps(spans: Sequence[Span], length: int) -> int:
    if not spans:
        return 1
    return len(spans) - 1 + (spans[0][0] > 0) + (spans[-1][1] < length)


def _added(old: Sequence[Span], new: Sequence[Span]) -> Iterator[Span]:
    """What the new spans show that the old ones did not; each old span lies within a new one."""
    for low, high in new:
        at = low
        for start, end in old:
            if low <= start and end <= high:
                if at < start:
                    yield at, start
                at = end
        if at < high:
            yield at, high


def _merged(spans: Iterable[Span], length: int) -> list[Span]:
    """Sorted, and joined with each other and with the text's ends where hardly anything lies between."""
    out: list[Span] = []
    for start, end in sorted(spans):
        if out and start - out[-1][1] < _LEAST_HIDDEN:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((0 if start < _LEAST_HIDDEN else start, end))
    if out and length - out[-1][1] < _LEAST_HIDDEN:
        out[-1] = (out[-1][0], length)
    return out


# --- ends of spans -----------------------------------------------------------------------------------------

_BLANK = re.compile(r"[ \t]*(?:\r\n|\n|\r)")
_FENCE = "```"


def _trimmed(text: str, span: Span) -> Span:
    """A span without the white space at its end, but for the end of its line; the text's end stays."""
    start, end = span
    if end == len(text):
        return span
    last = start + len(text[start:end].rstrip())
    line_end = _BLANK.match(text, last, end)
    return start, line_end.end() if line_end else last


def _without_stray_fences(text: str, span: Span, shown: Sequence[Span]) -> Span:
    """A span that neither begins with the end of a code block nor ends with the beginning of one."""
    start, end = span
    line_end = text.find("\n", start, end) + 1
    if text.startswith(_FENCE, start) and line_end and _in_code(text, start):
        start = line_end if not any(start <= s < line_end for s, _ in shown) else start
    last = text.rfind("\n", start, max(start, end - 1)) + 1
    if last > start and end < len(text) and text.startswith(_FENCE, last) and not _in_code(text, last):
        end = last if not any(last < e <= end for _, e in shown) else end
    return start, end


def _in_code(text: str, at: int) -> bool:
    """Whether a code block is open before the line that begins at `at`."""
    return (text.startswith(_FENCE) + text.count("\n" + _FENCE, 0, at - 1)) % 2 == 1

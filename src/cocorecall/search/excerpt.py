"""The part of a text that is shown: contiguous spans, verbatim, gaps marked and counted.

An excerpt is chosen for what it shows of the query: the window in which the distinct words weigh most, and
up to two further ones where they add words that the first does not hold. It is cut at the borders of
sentences and lines. `join_spans` is how spans become text, so a program that has the full text can rebuild
an excerpt from its spans, and so check it.
"""

from __future__ import annotations

import re
import unicodedata
from collections.abc import Callable, Mapping, Sequence
from typing import NamedTuple, Protocol

from cocorecall.model import Span

Cost = Callable[[str], int]


class Match(NamedTuple):
    """One occurrence of a query word.

    Attributes:
        start: offset of its first character.
        end: offset behind its last.
        term: number of the word in the query.
        weight: what the word is worth (its idf).
    """

    start: int
    end: int
    term: int
    weight: float


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


def join_spans(
    text: str, spans: Sequence[Span], replaced: Mapping[int, tuple[int, str]] | None = None
) -> str:
    """The spans of a text, in order, with a mark for every gap between, before and after them.

    A mark stands on a line of its own where the text is cut at a line border, else behind one space.

    Args:
        text: the full text.
        spans: offsets into it.
        replaced: parts of the spans for which something else is shown: start to (end, what is shown).
    """
    out: list[str] = []
    done = 0
    for start, end in spans:
        if start > done:
            out.append(
                _lead(text, done) + gap_mark(start - done) + ("\n" if text[start - 1] == "\n" else " ")
            )
        out.append(_replaced(text, start, end, replaced) if replaced else text[start:end])
        done = end
    if done < len(text):
        out.append(_lead(text, done) + gap_mark(len(text) - done))
    return "".join(out)


def _replaced(text: str, start: int, end: int, replaced: Mapping[int, tuple[int, str]]) -> str:
    out: list[str] = []
    for at in sorted(k for k in replaced if start <= k < end):
        out += (text[start:at], replaced[at][1])
        start = replaced[at][0]
    return "".join((*out, text[start:end]))


def _lead(text: str, cut: int) -> str:
    """What stands between the text before a gap and the gap's mark."""
    if cut == 0 or text[cut - 1] == "\n":
        return ""
    return "\n" if text[cut] == "\n" else " "


def whole(text: str, matches: Sequence[Match]) -> Excerpt:
    """All of a text."""
    spans: tuple[Span, ...] = ((0, len(text)),)
    return Excerpt(text, spans, _highlights(matches, spans))


def _highlights(matches: Sequence[Match], spans: Sequence[Span]) -> tuple[Span, ...]:
    out: list[Span] = []
    for start, end in sorted((m.start, m.end) for m in matches):
        if not any(a <= start and end <= b for a, b in spans):
            continue
        if out and start < out[-1][1]:
            out[-1] = (out[-1][0], max(end, out[-1][1]))
        else:
            out.append((start, end))
    return tuple(out)


# --- choosing ----------------------------------------------------------------------------------------------

_REPEAT = 0.1
"""What a word's second to sixth occurrence in a window is worth of its first."""
_MORE_SPANS = 1.15
"""Several spans are taken where they show this many times the weight of one."""
_SHARES = ((1.0,), (0.62, 0.38), (0.5, 0.28, 0.22))
"""How one, two and three spans share the room."""
_BEFORE = 0.35
"""Share of the spare room of a window that stands before its first match."""
_CHARS_PER_TOKEN = 12
"""More than any text has on average: bounds what is priced."""
_TRIES = 12


def make_excerpt(
    text: str, matches: Sequence[Match], *, budget: int, cost: Cost, max_spans: int = 3
) -> Excerpt:
    """The best excerpt of a text whose cost keeps a budget.

    Args:
        text: the full text.
        matches: occurrences of query words, sorted by position; without any, the beginning is shown.
        budget: the most that `cost(excerpt.text)` may be. Below some ten tokens there may be room for
            nothing but a gap mark, which is then all there is, even where it costs more.
        cost: the price of a text, in tokens.
        max_spans: 1 to 3.
    """
    if len(text) <= budget * _CHARS_PER_TOKEN and cost(text) <= budget:
        return whole(text, matches)
    room = budget * _chars_per_token(text, matches, cost)
    for _ in range(_TRIES):
        spans = _choose(text, matches, int(room), max_spans)
        joined = join_spans(text, spans)
        price = cost(joined)
        if price <= budget:
            return Excerpt(joined, tuple(spans), _highlights(matches, spans))
        # the marks cost as much whatever the spans hold
        room = min(room * 0.9, room * budget / price) - 4
        if room < 1:
            break
    return Excerpt(join_spans(text, ()), (), ())


def _chars_per_token(text: str, matches: Sequence[Match], cost: Cost) -> float:
    at = matches[0].start if matches else 0
    sample = text[max(0, at - 200) : at + 600]
    return len(sample) / max(1, cost(sample))


def _choose(text: str, matches: Sequence[Match], room: int, max_spans: int) -> list[Span]:
    """The spans that show most within `room` characters."""
    if not matches:
        return [(0, _end(text, 0, min(len(text), max(1, room))))]
    best: tuple[float, list[Span]] = (-1.0, [])
    for shares in _SHARES[:max_spans]:
        value, windows = _windows(matches, [max(1, int(room * s)) for s in shares])
        if value > best[0] * (_MORE_SPANS if best[1] else 1):
            best = (value, [_widened(text, w, size) for w, size in windows])
    return _merged(best[1], len(text))


def _windows(matches: Sequence[Match], sizes: Sequence[int]) -> tuple[float, list[tuple[Span, int]]]:
    """Greedily the best window of each size for the words that the windows before it do not show."""
    seen: set[int] = set()
    windows: list[tuple[Span, int]] = []
    total = 0.0
    for size in sizes:
        value, window = _best_window(matches, size, seen)
        if value <= 0:
            break
        total += value
        windows.append((window, size))
        seen |= {m.term for m in matches if window[0] <= m.start and m.end <= window[1]}
    return total, windows


def _best_window(matches: Sequence[Match], size: int, seen: set[int]) -> tuple[float, Span]:
    """The run of matches, at most `size` characters long, whose unseen words weigh most; the first of equals."""
    counts: dict[int, int] = {}
    best: tuple[float, Span] = (0.0, (0, 0))
    value = 0.0
    last = 0
    for i, first in enumerate(matches):
        while last < len(matches) and (last <= i or matches[last].end - first.start <= size):
            value += _gain(counts, matches[last], +1, seen)
            last += 1
        if value > best[0] + 1e-9:
            best = (value, (first.start, max(m.end for m in matches[i:last][-3:])))
        value -= _gain(counts, first, -1, seen)
    return best


def _gain(counts: dict[int, int], match: Match, step: int, seen: set[int]) -> float:
    """What one occurrence more, or less, changes."""
    count = counts.get(match.term, 0) + min(0, step)
    counts[match.term] = counts.get(match.term, 0) + step
    if match.term in seen:
        return 0.0
    if count == 0:
        return match.weight
    return match.weight * _REPEAT if count < 6 else 0.0  # noqa: PLR2004 - stated at _REPEAT


def _widened(text: str, window: Span, size: int) -> Span:
    """A window with the context that fits, cut at borders."""
    spare = max(0, size - (window[1] - window[0]))
    low = max(0, window[0] - int(spare * _BEFORE))
    start = _start(text, low, window[0])
    high = min(len(text), start + max(size, window[1] - window[0]))
    if high - start > size and window[1] - window[0] > size:
        high = start + size
    return start, _end(text, min(window[1], high), high)


_LEAST_HIDDEN = 40
"""A gap of fewer characters is shown: its mark would cost as much as what it hides."""


def _merged(spans: list[Span], length: int) -> list[Span]:
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


# --- borders -------------------------------------------------------------------------------------------

_BORDER = re.compile(r"(?<=\n)|(?<=[.!?…][)\"'”’»]\s)|(?<=[.!?…]\s)(?=\S)|(?<=[。！？])")
"""Where a sentence or a line begins."""
_ZERO_WIDTH_JOINER = "\u200d"


_WORD_START = re.compile(r"(?<=\s)(?=\S)")
_LONG_RUN = 40
"""Characters without a space from which on a run is cut anywhere."""


def _start(text: str, low: int, high: int) -> int:
    """A place to begin in [low, high]: the first border, else the first word, else anywhere."""
    if low == 0:
        return 0
    for pattern in (_BORDER, _WORD_START):
        found = pattern.search(text, low, high + 1)
        if found and found.start() <= high:
            return found.start()
    return _whole_character(text, high if high - low < _LONG_RUN else low)


def _end(text: str, low: int, high: int) -> int:
    """A place to end in [low, high]: the last border, else the last word's end."""
    if high >= len(text):
        return len(text)
    ends = [b.start() for b in _BORDER.finditer(text, low, high + 1) if low < b.start() <= high]
    if ends:
        return _before_space(text, ends[-1], low)
    space = max(text.rfind(" ", low, high + 1), text.rfind("\n", low, high + 1))
    return space if space > low else _whole_character(text, high)


def _before_space(text: str, end: int, low: int) -> int:
    """A sentence's end without the white space behind it; a line keeps its line feed."""
    while end > low and text[end - 1] in " \t":
        end -= 1
    return end


def _whole_character(text: str, at: int) -> int:
    """Back to the beginning of what a reader sees as one character."""
    while 0 < at < len(text) and (
        unicodedata.combining(text[at])
        or text[at] in (_ZERO_WIDTH_JOINER, "\ufe0f")
        or text[at - 1] == _ZERO_WIDTH_JOINER
        or "\U0001f3fb" <= text[at] <= "\U0001f3ff"
        or text[at - 1 : at + 1] == "\r\n"
    ):
        at -= 1
    return at


# --- sharing a budget ------------------------------------------------------------------------------------


class Packable(Protocol):
    """A hit's claim on an answer's budget, in tokens."""

    @property
    def fixed(self) -> int:
        """Its citation line, which is never cut."""

    @property
    def full(self) -> int:
        """Its whole text."""

    @property
    def floor(self) -> int:
        """The smallest excerpt worth showing."""

    @property
    def value(self) -> float:
        """What it is worth, decreasing with rank."""


KEPT_SHARE = 0.2
"""Hits worth less than this share of the best do not push out text of better ones."""
ALWAYS_KEPT = 5


def pack(items: Sequence[Packable], budget: int) -> list[int | None]:
    """Share a budget over ranked hits: tokens of text for each, or None for one that is left out.

    As many hits as fit with their smallest excerpts, best first: a turn that is shown in part can be
    followed up, one that is dropped cannot. What is left goes to the hits by value, none more than its
    whole text. The first hit is shown if its citation fits at all.
    """
    grants: list[int | None] = [None] * len(items)
    left = budget
    top = max((i.value for i in items), default=0.0)
    for n, item in enumerate(items):
        floor = min(item.floor, item.full)
        if n >= ALWAYS_KEPT and item.value < KEPT_SHARE * top:
            break
        if item.fixed + floor > left:
            if n == 0 and item.fixed + 1 <= left:
                grants[0], left = left - item.fixed, 0
            break
        grants[n] = floor
        left -= item.fixed + floor
    _share_out(items, grants, left)
    return grants


def _share_out(items: Sequence[Packable], grants: list[int | None], left: int) -> None:
    """Give what is left by value; what one hit does not need goes to the others."""
    scored = any(item.value > 0 for item in items)

    def worth(n: int) -> float:
        return items[n].value if scored else 1.0

    while left > 0:
        open_ = [n for n, g in enumerate(grants) if g is not None and g < items[n].full]
        if not open_:
            return
        total = sum(map(worth, open_))
        before = left
        for n in open_:
            granted = grants[n] or 0
            more = min(items[n].full - granted, max(1, int(before * worth(n) / total)), left)
            grants[n] = granted + more
            left -= more
            if left <= 0:
                return

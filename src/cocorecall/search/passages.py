"""Where in a text the words of a query stand together: what an excerpt is centred on."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Iterator, Sequence
from itertools import accumulate
from typing import NamedTuple

from cocorecall.model import Span


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


def start_of(match: Match) -> int:
    """The key by which matches are sorted."""
    return match.start


_SPREAD = 0.2
"""What share of its worth a passage as wide as the excerpt loses against one that stands close together."""
_REPEAT, _REPEATS_COUNT = 0.1, 0.25
"""What a word's further occurrences near a passage are worth of its first; their most, of the passage's worth."""
_MORE_SPANS = 1.15
"""Several passages are taken where they show this many times the weight of one."""
_SHORTEST = 70
"""A passage for which there is less room, in characters, is not worth its gap mark."""
_PER_SPAN = 40
"""Characters of room that a further gap mark takes."""


class _Passage(NamedTuple):
    """A run of matches, and which words of the query it holds."""

    span: Span
    worth: float
    terms: frozenset[int]


def passages(matches: Sequence[Match], size: int, most: int) -> list[Span]:
    """The passages to show within `size` characters, best first: one, or several that show more words."""
    weights = {m.term: m.weight for m in matches}
    chosen = [_best_passage(matches, size)]
    for count in range(2, most + 1):
        shown = sum(weights[t] for p in chosen for t in p.terms)
        room = (size - (count - 1) * _PER_SPAN) // count
        if room < _SHORTEST or shown >= sum(weights.values()) - 1e-9:
            break
        several = list(_apart(matches, room, count))
        if sum(weights[t] for p in several for t in p.terms) > shown * _MORE_SPANS:
            chosen = several
    return [p.span for p in chosen]


def _apart(matches: Sequence[Match], size: int, count: int) -> Iterator[_Passage]:
    """Greedily the best passage, then the best of the words that it does not hold, and so on."""
    for _ in range(count):
        if not matches:
            return
        passage = _best_passage(matches, size)
        yield passage
        matches = [m for m in matches if m.term not in passage.terms]


def _best_passage(matches: Sequence[Match], size: int) -> _Passage:
    """The run of matches, at most `size` characters long, that is worth most; the first of equals.

    Worth is the weight of the distinct words, less for a wide run, more where they are repeated nearby.
    """
    sums = [0.0, *accumulate(m.weight for m in matches)]
    best = _Passage((0, 0), -1.0, frozenset())
    for low, high, weight in _runs(matches, size):
        if weight * (1 + _REPEATS_COUNT) <= best.worth:
            continue
        run = matches[low:high]
        start, end = run[0].start, max(m.end for m in run)
        margin = max(0, size - (end - start)) // 2
        near = bisect_left(matches, start - margin, key=start_of)
        past = bisect_right(matches, end + margin, key=start_of)
        repeats = min(_REPEAT * (sums[past] - sums[near] - weight), _REPEATS_COUNT * weight)
        worth = weight * (1 - _SPREAD * min(1.0, (end - start) / max(1, size))) + repeats
        if worth > best.worth + 1e-9:
            best = _Passage((start, end), worth, frozenset(m.term for m in run))
    return best


def _runs(matches: Sequence[Match], size: int) -> Iterator[tuple[int, int, float]]:
    """For each match the shortest run that ends with it and holds all words within `size` before it."""
    counts: Counter[int] = Counter()
    weight = 0.0
    low = 0
    for n, match in enumerate(matches):
        counts[match.term] += 1
        if counts[match.term] == 1:
            weight += match.weight
        while low < n and (match.end - matches[low].start > size or counts[matches[low].term] > 1):
            counts[matches[low].term] -= 1
            if not counts[matches[low].term]:
                weight -= matches[low].weight
            low += 1
        yield low, n + 1, weight


_MANY = 600
"""Matches that are looked at closely."""


def thinned(matches: Sequence[Match], size: int) -> Sequence[Match]:
    """Of very many matches, those in the stretches of text that hold the words of most weight.

    Stretches are `size` characters long and taken with the one that follows, so no passage lies across two
    pairs. Each word keeps its first stretch, so that none is lost.
    """
    if len(matches) <= _MANY:
        return matches
    size = max(1, size)
    cells: dict[int, int] = {}
    weights: dict[int, float] = {}
    for start, _, term, weight in matches:
        cell = start // size
        cells[cell] = cells.get(cell, 0) | 1 << term
        weights[term] = weight
    worth = {mask: _worth(mask, weights) for mask in {m | cells.get(c + 1, 0) for c, m in cells.items()}}
    ranked = sorted(cells, key=lambda c: -worth[cells[c] | cells.get(c + 1, 0)])
    kept: set[int] = set()
    room = _MANY
    for cell in _leading(ranked, cells):
        for near in {cell, cell + 1} - kept:
            kept.add(near)
            low = bisect_left(matches, near * size, key=start_of)
            room -= bisect_left(matches, (near + 1) * size, key=start_of) - low
        if room <= 0:
            break
    return [m for m in matches if m.start // size in kept]


def _leading(ranked: Sequence[int], cells: dict[int, int]) -> Iterator[int]:
    """First the best cell of each word, then the others in their order."""
    seen = 0
    for cell in ranked:
        if cells[cell] & ~seen:
            seen |= cells[cell]
            yield cell
    yield from ranked


def _worth(mask: int, weights: dict[int, float]) -> float:
    return sum(weight for term, weight in weights.items() if mask >> term & 1)

"""Where the words of a query stand in a text, to the character: for highlights, excerpts and fields."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence

from cocorecall.analysis import Stemmer, cjk_runs, fold, index_text
from cocorecall.search.excerpt import Match
from cocorecall.search.query import Unit

_WORD = re.compile(r"[^\W_]+")
_CAMEL_END = re.compile(r"(?<=[a-z0-9])(?=[A-Z])|(?<=[A-Z])(?=[A-Z][a-z])|$")
MAX_MATCHES = 5_000
"""Occurrences that are located in one text: beyond, more of them change no excerpt."""


def find_matches(text: str, units: Sequence[tuple[Unit, float]], stems: Stemmer) -> list[Match]:
    """Every occurrence of the units in a text, in order of position.

    A compound unit that does not occur as a whole is looked for by its parts, at a third of its weight.

    Args:
        text: the text to search.
        units: each with its weight (idf).
        stems: the index's stemmer.
    """
    folded = fold(text)
    found: list[Match] = []
    for number, (unit, weight) in enumerate(units):
        spans = list(_occurrences(text, folded, unit, stems))
        if not spans and unit.parts:
            parts = [Unit(p, (p,)) for p in unit.parts]
            spans = sorted({s for part in parts for s in _word_spans(text, folded, part, stems)})
            weight /= 3  # noqa: PLW2901 - parts are worth less than the whole
        found += [Match(start, end, number, weight) for start, end in spans[:MAX_MATCHES]]
    return sorted(found, key=lambda m: (m.start, m.end, m.term))


def _occurrences(text: str, folded: str, unit: Unit, stems: Stemmer) -> Iterator[tuple[int, int]]:
    if unit.literal:
        yield from _plain_spans(folded, unit.literal)
    elif cjk_runs(unit.shown) == [(0, len(unit.shown))]:
        yield from _plain_spans(folded, fold(unit.shown))
    elif unit.prefix:
        yield from (
            _prefix_spans(folded, unit.stems[-1])
            if len(unit.stems) == 1
            else _word_spans(text, folded, unit, stems)
        )
    else:
        yield from _word_spans(text, folded, unit, stems)


def _plain_spans(folded: str, literal: str) -> Iterator[tuple[int, int]]:
    at = folded.find(literal)
    while at >= 0:
        yield at, at + len(literal)
        at = folded.find(literal, at + len(literal))


def _prefix_spans(folded: str, prefix: str) -> Iterator[tuple[int, int]]:
    for match in re.finditer(rf"(?<![^\W_]){re.escape(prefix)}[^\W_]*", folded):
        yield match.span()


def _word_spans(text: str, folded: str, unit: Unit, stems: Stemmer) -> Iterator[tuple[int, int]]:
    """Occurrences of one or several adjacent stems, as whole words or as parts of camelCase names."""
    first = unit.stems[0]
    # a stem is the beginning of its word, but for a final y that became i
    lead = first[:-1] if first.endswith("i") and len(first) > 1 else first
    done = 0
    for match in re.finditer(re.escape(lead), folded):
        start = match.start()
        if start < done or not _begins(text, start):
            continue
        end = _end_of(text, start, unit, stems)
        if end:
            yield start, end
            done = end


def _begins(text: str, at: int) -> bool:
    """Whether a word, or a part of a camelCase name, begins here."""
    if at == 0:
        return True
    before, here = text[at - 1], text[at]
    if not before.isalnum():
        return True
    if here.isupper():
        return not before.isupper() or (at + 1 < len(text) and text[at + 1].islower())
    return here.isdigit() != before.isdigit()


def _end_of(text: str, start: int, unit: Unit, stems: Stemmer) -> int:
    """Where the unit that begins at `start` ends; 0 where it does not stand there."""
    word = _WORD.match(text, start)
    if word is None:
        return 0
    if len(unit.stems) == 1:
        part = _CAMEL_END.search(text, start + 1, word.end())
        ends = (word.end(), part.start() if part else word.end())
        return next((e for e in ends if e > start and stems(text[start:e]) == unit.stems), 0)
    end = word.end()
    for _ in range(len(unit.stems)):
        found = stems(index_text(text[start:end]))
        if found == unit.stems:
            return end
        if len(found) >= len(unit.stems):
            return 0
        following = _WORD.search(text, end)
        if following is None or following.start() - end > 40:  # noqa: PLR2004 - a phrase's words stand close
            return 0
        end = following.end()
    return 0


_MOST_PASSAGES = 40


def passages(body: str, focus: Sequence[str]) -> list[Match]:
    """Where passages or words stand in a text, without case; earlier ones of `focus` weigh more."""
    lowered = (
        body.lower() if body.isascii() else "".join(c.lower() if len(c.lower()) == 1 else c for c in body)
    )
    found: list[Match] = []
    for n, passage in enumerate(focus):
        wanted = passage.lower()
        at = lowered.find(wanted) if wanted else -1
        while at >= 0 and len(found) < _MOST_PASSAGES:
            found.append(Match(at, at + len(wanted), n, float(len(focus) - n)))
            at = lowered.find(wanted, at + len(wanted))
    return sorted(found)

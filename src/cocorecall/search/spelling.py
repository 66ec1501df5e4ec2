"""Near spellings of a word that occurs nowhere, from the index's own vocabulary."""

from __future__ import annotations

import re
from collections.abc import Iterable

from cocorecall.analysis import fold
from cocorecall.index.reader import IndexReader

MAX_NEAR = 3
_VOCABULARY_READ = 4_000
"""Stems that are compared: those that share the first two letters, or the last ones with another first."""


def near_spellings(word: str, reader: IndexReader) -> tuple[str, ...]:
    """Words of the index one or two edits away, nearest and then most frequent first, as they are written.

    Two edits only for words of six letters and more. The distance is Damerau-Levenshtein's (optimal string
    alignment), which counts swapped neighbours as one edit.
    """
    stems = reader.stems(fold(word).strip("*\"'"))
    if len(stems) != 1 or len(stems[0]) < 3:  # noqa: PLR2004 - shorter words are near to everything
        return ()
    stem = stems[0]
    allowed = 1 if len(stem) < 6 else 2  # noqa: PLR2004 - stated above
    found = []
    for term, turns in _neighbourhood(stem, reader):
        distance = _distance(stem, term, allowed)
        if 0 < distance <= allowed:
            found.append((distance, -turns, term))
    nearest = [term for _, _, term in sorted(found)[:MAX_NEAR]]
    return tuple(dict.fromkeys(filter(None, (_as_written(term, reader) for term in nearest))))


def _neighbourhood(stem: str, reader: IndexReader) -> Iterable[tuple[str, int]]:
    """Stems with the same beginning; with the first two letters swapped; with the second letter other."""
    beginnings = {stem[:2], stem[1] + stem[0]}
    for beginning in sorted(beginnings):
        yield from reader.vocabulary(
            beginning, beginning[:-1] + chr(ord(beginning[-1]) + 1), _VOCABULARY_READ
        )
    yield from (
        (term, turns)
        for term, turns in reader.vocabulary(stem[0], chr(ord(stem[0]) + 1), _VOCABULARY_READ)
        if term[:2] not in beginnings
    )


def _distance(a: str, b: str, at_most: int) -> int:
    """Optimal string alignment distance, or `at_most + 1` where it is larger."""
    if abs(len(a) - len(b)) > at_most:
        return at_most + 1
    before_last: list[int] = []
    last = list(range(len(b) + 1))
    for i, ca in enumerate(a, 1):
        row = [i]
        for j, cb in enumerate(b, 1):
            cost = min(last[j] + 1, row[j - 1] + 1, last[j - 1] + (ca != cb))
            if i > 1 and j > 1 and ca == b[j - 2] and a[i - 2] == cb:
                cost = min(cost, before_last[j - 2] + 1)
            row.append(cost)
        if min(row) > at_most:
            return at_most + 1
        before_last, last = last, row
    return last[-1]


def _as_written(stem: str, reader: IndexReader) -> str | None:
    """A stem as some turn writes it; None where it may be a part of a credential."""
    from cocorecall.search.masking import without_secrets  # noqa: PLC0415 - only for words that occur nowhere
    from cocorecall.secrets import find_secrets  # noqa: PLC0415 - the same

    text = reader.example(stem) or ""
    text = without_secrets(text, find_secrets(text))
    lead = re.escape(stem.removesuffix("i"))
    for match in re.finditer(rf"(?<![^\W_]){lead}[^\W_]*", fold(text)):
        if reader.stems(match[0]) == (stem,):
            return match[0]
    return None if any(c.isdigit() for c in stem) else stem

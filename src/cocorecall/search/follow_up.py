"""The suggested follow-up of a hit: the name in it that best leads to other sessions."""

from __future__ import annotations

import re
from collections.abc import Iterator

from cocorecall.analysis import fold
from cocorecall.index.reader import IndexReader
from cocorecall.search.query import STOP_WORDS, Unit, parse_query
from cocorecall.search.ranking import LIGHT_WORDS, Plan, Ranked

LOOKED_AT = 6_000
"""Characters of a turn in which names are looked for."""
_LONGEST = 80
"""Characters of a name or word; a run of a thousand letters is none, and would not fit a citation's line."""
_LOOKED_THROUGH = 24
"""Names of a text that are considered."""
_TRIED = 6
"""Of these, how many are looked up."""

_NAME = re.compile(
    r"(?P<dotted>\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*){1,3}\b)"
    r"|(?P<snake>\b[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b)"
    r"|(?P<camel>\b[a-z]+(?:[A-Z][a-z0-9]+)+\b|\b(?:[A-Z][a-z0-9]+){2,}\b)"
    r"|(?P<upper>\b[A-Z][A-Z0-9]{3,}\b)"
)
_SEPARATOR = re.compile(r"[._]|(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[^\W\d_]{4,}")


class FollowUp:
    """Suggests follow-ups for the hits of one answer, no two hits the same where that can be helped."""

    def __init__(self, reader: IndexReader, planned: Plan) -> None:
        self._reader = reader
        self._turns = max(1, planned.totals.turns)
        self._asked = {s for t in planned.terms for s in t.unit.stems}
        self._given: set[str] = set()
        self._frequencies: dict[str, int] = {}

    def sentence(self, body: str, ranked: Ranked) -> str:
        """The follow-up of a hit; never empty."""
        return f"search for `{self.name(body, ranked)}` to find related decisions in other sessions"

    def name(self, body: str, ranked: Ranked) -> str:
        """The name of the text that best separates sessions: rare, but in at least one other session."""
        best = self._best(_names(body), ranked) or self._best(_words(body), ranked)
        chosen = best or self._fallback(body, ranked)
        self._given.add(chosen)
        return chosen

    def _best(self, names: Iterator[str], ranked: Ranked) -> str | None:
        """The first name, most specific first, that occurs elsewhere, and not everywhere.

        One that another hit suggests already is taken only where there is no other.
        """
        first = [name for _, name in zip(range(_LOOKED_THROUGH), names, strict=False)]
        first.sort(key=lambda n: (n in self._given, -len(_SEPARATOR.findall(n)), -len(n), n))
        for name in first[:_TRIED]:
            unit = self._unit(name)
            if unit is None or self._frequent(unit):
                continue
            if self._reader.occurs_elsewhere(unit.expression, ranked.session.number):
                return name
        return None

    def _frequent(self, unit: Unit) -> bool:
        """Whether a plain word stands in so many turns that it leads nowhere."""
        if len(unit.stems) > 1:
            return False
        stem = unit.stems[0]
        if stem not in self._frequencies:
            self._frequencies[stem] = self._reader.stem_frequency(stem)
        return self._frequencies[stem] > max(50, self._turns // 10)

    def _unit(self, name: str) -> Unit | None:
        units = parse_query(name, self._reader.stems).units
        if len(units) != 1 or set(units[0].stems) <= self._asked:
            return None
        return units[0]

    def _fallback(self, body: str, ranked: Ranked) -> str:
        """Nothing leads elsewhere: a name of this turn, of its session's title, or of its folder."""
        for name in (*_names(body), *_words(body)):
            if self._unit(name) is not None:
                return name
        from cocorecall.secrets import mask  # noqa: PLC0415 - loaded where text is shown

        title = next(_words(mask(ranked.session.title or "").text), "")
        folder = re.split(r"[/\\]", (ranked.session.cwd or "").rstrip("/\\"))[-1]
        return title or folder[:_LONGEST] or ranked.session.agent


def _names(body: str) -> Iterator[str]:
    """Identifiers of a text, each once: dotted, snake_case, camelCase, upper case."""
    seen: set[str] = set()
    for match in _NAME.finditer(body, 0, LOOKED_AT):
        name = match[0].strip(".")
        if name not in seen and len(name) <= _LONGEST and fold(name) not in STOP_WORDS:
            seen.add(name)
            yield name


def _words(body: str) -> Iterator[str]:
    """Plain words of a text, longest first."""
    found = {
        w
        for w in _WORD.findall(body[:LOOKED_AT])
        if len(w) <= _LONGEST and fold(w) not in STOP_WORDS | LIGHT_WORDS
    }
    yield from sorted(found, key=lambda w: (-len(w), w))

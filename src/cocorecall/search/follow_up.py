"""The suggested follow-up of a hit: the name in it that best leads to other sessions."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import NamedTuple

from cocorecall.analysis import fold
from cocorecall.index.reader import IndexReader, SessionRow
from cocorecall.search.query import STOP_WORDS, Unit, parse_query
from cocorecall.search.ranking import LIGHT_WORDS

LOOKED_AT = 6_000
"""Characters of a turn in which names are looked for."""
_LONGEST = 80
"""Characters of a name or word; a run of a thousand letters is none, and would not fit a citation's line."""
_LOOKED_THROUGH = 24
"""Names of a text that are considered."""
_TRIED = 6
"""Of these, how many are looked up."""
_COUNTED = 150
"""Mentions of an entity over which its sessions are counted: beyond that it separates nothing."""

_RANK = {
    "function": 0,
    "snowflake_object": 0,
    "ticket": 1,
    "cortex_feature": 2,
    "error_code": 2,
    "data_concept": 3,
    "file": 4,
}
"""Which types of entities lead on; links do not."""

_NAME = re.compile(
    r"(?P<dotted>\b[A-Za-z_]\w*(?:\.[A-Za-z_]\w*){1,3}\b)"
    r"|(?P<snake>\b[A-Za-z][A-Za-z0-9]*(?:_[A-Za-z0-9]+)+\b)"
    r"|(?P<camel>\b[a-z]+(?:[A-Z][a-z0-9]+)+\b|\b(?:[A-Z][a-z0-9]+){2,}\b)"
    r"|(?P<upper>\b[A-Z][A-Z0-9]{3,}\b)"
)
_SEPARATOR = re.compile(r"[._]|(?<=[a-z0-9])(?=[A-Z])")
_WORD = re.compile(r"[^\W\d_]{4,}")


class Lead(NamedTuple):
    """A turn that a follow-up is to lead on from.

    Attributes:
        body: its text, or the inputs of its calls.
        tools: names of the tools it calls, which lead nowhere.
    """

    doc: int
    body: str
    session: SessionRow
    tools: frozenset[str] = frozenset()


class FollowUp:
    """Suggests follow-ups for the turns of one answer, no two the same where that can be helped.

    Args:
        reader: the open index.
        asked: the stems of what was asked; a follow-up never repeats it.
        turns: turns of the whole index.
    """

    def __init__(self, reader: IndexReader, asked: Iterable[str], turns: int) -> None:
        self._reader = reader
        self._entities = reader.entities
        self._turns = max(1, turns)
        self._asked = set(asked)
        self._given: set[str] = set()
        self._frequencies: dict[str, int] = {}

    def sentence(self, lead: Lead) -> str:
        """The follow-up of a turn; never empty."""
        return f"search for `{self.name(lead)}` to find related decisions in other sessions"

    def name(self, lead: Lead) -> str:
        """The name that best separates sessions: rare, but in at least one other session."""
        best = (
            self._best_entity(lead)
            or self._best_of_session(lead)
            or self._best((n for n in _names(lead.body) if n not in lead.tools), lead)
            or self._best(_words(lead.body), lead)
        )
        chosen = best or self._fallback(lead)
        self._given.add(chosen)
        return chosen

    def _best_entity(self, lead: Lead) -> str | None:
        """The turn's entity that the fewest other sessions share, kinds that lead on best first."""
        entities = [e for e in self._entities.entities_of(lead.doc) if e[1] in _RANK]
        entities.sort(key=lambda e: (_RANK[e[1]], e[0]))
        found = []
        for name, kind, spelling in entities[:_LOOKED_THROUGH]:
            sessions = self._entities.sessions_of_entity(name, _COUNTED)
            if sessions > 1:
                found.append((spelling in self._given, _RANK[kind], sessions, name, spelling))
        for *_, name, spelling in sorted(found)[:_TRIED]:
            for written in dict.fromkeys((spelling, name, name.rpartition(".")[2])):
                if self._leads_on(written, lead):
                    return written
        return None

    def _best_of_session(self, lead: Lead) -> str | None:
        """What the session is about most, where the turn itself names nothing that leads on."""
        names = self._entities.entity_tags(lead.session.number)[:_LOOKED_THROUGH]
        names.sort(key=lambda name: name in self._given)
        for name in names[:_TRIED]:
            if self._entities.sessions_of_entity(name, _COUNTED) > 1 and self._leads_on(name, lead):
                return name
        return None

    def _leads_on(self, written: str, lead: Lead) -> bool:
        """Whether a search for it, as a whole, finds another session."""
        if "`" in written:
            return False
        units = parse_query(written, self._reader.stems).units
        stems = {stem for unit in units for stem in unit.stems}
        return (
            bool(units)
            and not stems <= self._asked
            and all(
                not self._frequent(unit)
                and self._reader.occurs_elsewhere(unit.expression, lead.session.number)
                for unit in units
            )
        )

    def _best(self, names: Iterator[str], lead: Lead) -> str | None:
        """The first name, most specific first, that occurs elsewhere, and not everywhere.

        One that another hit suggests already is taken only where there is no other.
        """
        first = [name for _, name in zip(range(_LOOKED_THROUGH), names, strict=False)]
        first.sort(key=lambda n: (n in self._given, -len(_SEPARATOR.findall(n)), -len(n), n))
        for name in first[:_TRIED]:
            unit = self._unit(name)
            if unit is None or self._frequent(unit):
                continue
            if self._reader.occurs_elsewhere(unit.expression, lead.session.number):
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

    def _fallback(self, lead: Lead) -> str:
        """Nothing leads elsewhere: a name of this turn, of its session's title, or of its folder."""
        for name in (*_names(lead.body), *_words(lead.body)):
            if name not in lead.tools and self._unit(name) is not None:
                return name
        from cocorecall.secrets import mask  # noqa: PLC0415 - loaded where text is shown

        session = lead.session
        title = next(_words(mask(session.title or "").text), "")
        folder = re.split(r"[/\\]", (session.cwd or "").rstrip("/\\"))[-1]
        return title or folder[:_LONGEST] or session.agent


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

"""The same thing said again becomes one entry; of two that contradict each other the newer one stands."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any, NamedTuple

from cocorecall.model import DreamCitation, Entry

SAME = 0.5
"""Share of their shingles (three words in a row) that two texts have in common to say the same (Jaccard)."""
SAME_SUBJECT = 0.75
"""Share of their words, values and polarity left aside, that two texts have in common to speak of the same."""
_OLD, _FRESH, _KNOWN = 0, 1, 2
"""Where an entry comes from: superseded in the block, gathered, standing in the block."""
_LEAST_SUBJECT = 2
"""Words that a subject needs: `It took 5 s` and `It took 9 s` speak of anything."""

_WORD = re.compile(r"[^\W_][\w.$'’-]*[\w$]|[^\W_]|\*")
_NUMBER = re.compile(r"(?<![\w.])\d+(?:[.,]\d+)*(?![\w])")
_SIZE = re.compile(r"\b(?:x-?small|small|medium|(?:[2-6]?x-?)?large|xs|xl|[2-6]xl)\b", re.IGNORECASE)
_WAREHOUSE = re.compile(r"\b(?:wh_\w+|\w+_wh)\b", re.IGNORECASE)
_NEGATIVE = re.compile(
    r"\b(?:never|not|no|don['’]?t|without|stop|won['’]?t|must not|no longer|cannot|can['’]t)\b", re.IGNORECASE
)
_ASIDE = frozenset(
    "a an and the of to in on at for by with is are was were be been it its this that these those i we you they our your my me us"
    " always never not no don't don’t do does did please again ever from now going forward time every then than so also ok okay yes good great right"
    " must should will won't won’t stop without longer only use uses used set sets let's lets keep prefer rather over instead have has had"
    " s ms sec seconds second minutes minute min hours hour h credits credit gb mb tb kb".split()
)


class _Traits(NamedTuple):
    words: tuple[str, ...]
    shingles: frozenset[tuple[str, ...]]
    subject: frozenset[str]
    values: frozenset[str]
    negative: bool


def traits_of(text: str) -> _Traits:
    """What two texts are compared by."""
    words = tuple(w.lower() for w in _WORD.findall(text))
    size = min(3, len(words))
    shingles = frozenset(words[k : k + size] for k in range(len(words) - size + 1))
    values = {m.lower() for p in (_NUMBER, _SIZE, _WAREHOUSE) for m in p.findall(text)}
    subject = frozenset(w for w in words if w not in _ASIDE and w not in values)
    return _Traits(words, shingles, subject, frozenset(values), _NEGATIVE.search(text) is not None)


@dataclass(slots=True)
class _Group:
    """Entries that say the same; the newest speaks for them."""

    lead: Entry
    traits: _Traits
    citations: dict[str, DreamCitation]
    superseded: list[_Group] = field(default_factory=list)
    fresh: int = 0


class Consolidated(NamedTuple):
    """What came of it.

    Attributes:
        merged: fresh entries that say again what another fresh one says.
    """

    entries: list[Entry]
    merged: int


def consolidate(known: Sequence[Entry], fresh: Iterable[Entry]) -> Consolidated:
    """One entry for each thing that is said.

    Args:
        known: what the block holds already.
        fresh: what was gathered, in any order.
    """
    fresh = list(fresh)
    moments = {
        (c.turn_id, c.date[:10]): c.date
        for e in fresh
        for c in e.citations
        if len(c.date) > len("2026-01-01")
    }
    ranked: list[tuple[tuple[str, int], Entry]] = []
    for entry in known:
        ranked.append((_when(entry, moments, _KNOWN), replace(entry, superseded=())))
        ranked += [(_when(old, moments, _OLD), old) for old in entry.superseded]
    ranked += [(_when(entry, moments, _FRESH), entry) for entry in fresh]
    # newest first; what the block says already goes before what says the same at the same moment
    ranked.sort(key=lambda pair: (pair[1].kind, pair[1].text))
    ranked.sort(key=lambda pair: pair[0], reverse=True)
    groups: list[_Group] = []
    for when, entry in ranked:
        _join(groups, when, entry)
    merged = sum(max(0, group.fresh - 1) for group in groups)
    return Consolidated([_entry(group) for group in _resolved(groups)], merged)


def _when(entry: Entry, moments: dict[tuple[str, str], str], rank: int) -> tuple[str, int]:
    """When an entry was last said. Of a day alone: its end, or of what was superseded its beginning."""
    dates = [moments.get((c.turn_id, c.date[:10]), c.date) for c in entry.citations]
    return max(d if len(d) > len("2026-01-01") else d + ("T" if rank == _OLD else "T~") for d in dates), rank


def _join(groups: list[_Group], when: tuple[str, int], entry: Entry) -> None:
    traits = traits_of(entry.text)
    for group in groups:
        if group.lead.kind == entry.kind and _same(group.traits, traits):
            for citation in entry.citations:
                group.citations.setdefault(citation.turn_id, citation)
            group.fresh += when[1] == _FRESH
            return
    group = _Group(entry, traits, {c.turn_id: c for c in entry.citations})
    group.fresh += when[1] == _FRESH
    groups.append(group)


def _same(one: _Traits, other: _Traits) -> bool:
    if one.words == other.words:
        return True
    if one.negative != other.negative or one.values != other.values:
        return False
    return _share(one.shingles, other.shingles) >= SAME


def _share(one: frozenset[Any], other: frozenset[Any]) -> float:
    return len(one & other) / len(one | other) if one or other else 0.0


def _resolved(groups: list[_Group]) -> list[_Group]:
    """The groups that stand, each with those that it contradicts and is newer than."""
    standing: list[_Group] = []
    for group in groups:  # newest first
        newer = next((s for s in standing if _contradict(s, group)), None)
        if newer is None:
            standing.append(group)
        else:
            newer.superseded.append(group)
    return standing


def _contradict(one: _Group, other: _Group) -> bool:
    if one.lead.kind != other.lead.kind or one.lead.kind == "schema correction":
        return False
    a, b = one.traits, other.traits
    if len(a.subject & b.subject) < _LEAST_SUBJECT or _share(a.subject, b.subject) < SAME_SUBJECT:
        return False
    return a.negative != b.negative or (a.values != b.values and bool(a.values) and bool(b.values))


def _entry(group: _Group) -> Entry:
    citations = sorted(group.citations.values(), key=lambda c: c.turn_id)
    citations.sort(key=lambda c: c.date[:10], reverse=True)
    return replace(
        group.lead,
        citations=tuple(DreamCitation(c.turn_id, c.date[:10]) for c in citations),
        superseded=tuple(_entry(old) for old in group.superseded),
        subject=tuple(sorted(group.traits.subject)),
    )

"""Which turns to compare, and the report about them."""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from itertools import groupby
from typing import NamedTuple

from cocorecall.errors import UsageError
from cocorecall.index.checking import CheckedSession, CheckingStore
from cocorecall.model import CheckedTurn, Progress, VerifyReport
from cocorecall.verification.verifier import Verifier

VERDICTS = ("verified", "changed", "moved", "missing", "unverifiable")
MOST_LISTED = 10_000
"""Turns that a report lists one by one, changed ones apart, which it lists all; the others are counted."""


class Scope(NamedTuple):
    """What to compare.

    Attributes:
        store: the index.
        name: `turn`, `session`, `all` or `cited`.
        groups: sessions, those of one transcript together.
        total: how many groups there are.
        every: whether verified turns are listed too.
        days: how far back citations go.
        forgotten: cited turns that the index no longer has.
    """

    store: CheckingStore
    name: str
    groups: Iterable[list[CheckedSession]]
    total: int
    every: bool = False
    days: int | None = None
    forgotten: int = 0


def one(store: CheckingStore, session_id: str, turn: int | None) -> Scope:
    """A session, or one turn of it.

    Raises:
        UsageError: the session has no such turn.
    """
    session = store.session(session_id, None if turn is None else frozenset({turn}))
    if session is None or (turn is not None and turn not in _numbers(store, session)):
        raise UsageError(f"Session {session_id} has no turn {turn}.", f"recall show {session_id} lists them.")
    return Scope(store, "session" if turn is None else "turn", [[session]], 1, every=True)


def whole(store: CheckingStore) -> Scope:
    """Every turn of the index."""
    groups = list(store.by_transcript())
    return Scope(store, "all", groups, len(groups))


def cited_turns(store: CheckingStore, since: str, days: int) -> Scope:
    """Every turn that a search cited from a moment on."""
    sessions: list[CheckedSession] = []
    forgotten = 0
    for session_id, cited in groupby(store.cited_since(since), key=lambda c: c[0]):
        wanted = frozenset(seq for _, seq in cited)
        session = store.session(session_id, wanted)
        present = _numbers(store, session) if session else frozenset()
        forgotten += len(wanted - present)
        if session and wanted & present:
            sessions.append(session._replace(wanted=wanted & present))
    sessions.sort(key=lambda s: (s.source_path, s.number))
    groups = [list(group) for _, group in groupby(sessions, key=lambda s: s.source_path)]
    return Scope(store, "cited", groups, len(groups), days=days, forgotten=forgotten)


def _numbers(store: CheckingStore, session: CheckedSession) -> frozenset[int]:
    return frozenset(mark.seq for mark in store.turns(session.number))


def report(scope: Scope, verifier: Verifier, progress: Callable[[Progress], None] | None) -> VerifyReport:
    """Compare, and count by verdict."""
    counts = Counter[str]()
    listed: list[CheckedTurn] = []
    not_listed = 0
    for turn in _checked(scope, verifier, counts, progress):
        if turn.verdict == "verified" and not scope.every:
            continue
        if turn.verdict == "changed" or len(listed) < MOST_LISTED:
            listed.append(turn)
        else:
            not_listed += 1
    return VerifyReport(
        scope=scope.name,
        days=scope.days,
        turns=counts.total(),
        counts={verdict: counts[verdict] for verdict in VERDICTS},
        transcripts_read=verifier.transcripts_read,
        forgotten=scope.forgotten,
        listed=tuple(listed),
        not_listed=not_listed,
    )


def _checked(
    scope: Scope, verifier: Verifier, counts: Counter[str], progress: Callable[[Progress], None] | None
) -> Iterator[CheckedTurn]:
    for done, group in enumerate(scope.groups, 1):
        with scope.store.unchanging():
            turns = list(verifier.check(group))
        for turn in turns:
            counts[turn.verdict] += 1
            yield turn
        if progress:
            progress(Progress(done, scope.total, counts.total()))

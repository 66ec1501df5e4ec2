"""One session's stored turns beside what its transcript says now.

A turn is found by its native id, else by its content and place, the way an import finds it; then the SHA-256
of its text is compared with the stored one, and the inputs of its tool calls with theirs. Memory follows the
number of the turns, not their size: of texts only those that differ are looked at, one at a time.
"""

from __future__ import annotations

import hashlib
from collections import deque
from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from typing import NamedTuple

from cocorecall.index.checking import CheckedSession, CheckingStore, TurnMark
from cocorecall.index.docs import turn_id
from cocorecall.index.writer import prepare
from cocorecall.model import CheckedTurn, Difference, Turn, Verdict

GONE = "source gone"
LEFT = "no longer in its transcript"
"""The two reasons of a missing turn."""

PREDECESSOR = "taken over from the predecessor's index, whose texts may differ"
_BEFORE, _AFTER = 30, 50
"""Characters before and behind the first difference that an excerpt shows."""
_EMPTY = hashlib.sha256(b"").hexdigest()


Mask = Callable[[str], str]
"""Gives a text as it may be shown; the same text where nothing in it is to be hidden."""


class Place(NamedTuple):
    """Where a transcript holds a turn now."""

    position: int
    line: int | None


class Comparison:
    """One session's stored turns while its transcript is read again."""

    def __init__(self, store: CheckingStore, session: CheckedSession, mask: Mask | None = None) -> None:
        self.session = session
        self._mask = mask
        self._store = store
        self._marks = store.turns(session.number)
        self._by_native: dict[str, deque[int]] = {}
        self._by_hash: dict[str, deque[int]] = {}
        for i, mark in enumerate(self._marks):
            names, key = (
                (self._by_native, mark.native_id) if mark.native_id else (self._by_hash, mark.text_hash)
            )
            names.setdefault(key, deque()).append(i)
        self._found: dict[int, Place] = {}
        self._differences: dict[int, tuple[Difference, Place]] = {}
        self._unmatched: dict[str, deque[Place]] = {}
        self._expected = 0
        self._position = 0
        self._waiting = {i for i, mark in enumerate(self._marks) if is_asked_for(session, mark)}

    @property
    def settled(self) -> bool:
        """Whether every turn asked for has been found, word for word."""
        return not self._waiting

    @property
    def any_found(self) -> bool:
        """Whether any of the session's turns has been found, word for word."""
        return bool(self._found)

    def take(self, turn: Turn) -> None:
        """Take the transcript's next turn."""
        position = self._position if turn.seq is None else max(turn.seq, self._position)
        self._position = position + 1
        place = Place(position, turn.line)
        text_hash = hashlib.sha256(turn.text.encode()).hexdigest()
        candidates = (
            self._by_native.get(turn.native_id) if turn.native_id else self._by_hash.get(text_hash)
        ) or ()
        exact = next((i for i in candidates if self._marks[i].text_hash == text_hash), None)
        if exact is not None:
            if isinstance(candidates, deque):
                candidates.remove(exact)
            self._match(exact, turn, place)
            return
        self._unmatched.setdefault(text_hash, deque()).append(place)
        near = next((i for i in candidates if i not in self._differences), None)
        near = self._at_expected_place(turn) if near is None else near
        if near is not None:
            self._note(near, turn, place)

    def _match(self, i: int, turn: Turn, place: Place) -> None:
        mark = self._marks[i]
        self._expected = i + 1
        self._waiting.discard(i)
        self._found[i] = place
        self._differences.pop(i, None)
        if not is_asked_for(self.session, mark):
            return
        true_length = turn.text_length or len(turn.text)
        if true_length != mark.text_length:
            self._differences[i] = (self._text_difference(mark, turn), place)
        else:
            found = calls_difference(self._store, mark, turn, self._mask)
            if found:
                self._differences[i] = (found, place)

    def _at_expected_place(self, turn: Turn) -> int | None:
        """The stored turn that should stand here, where turns have no ids of their own."""
        i = self._expected
        if turn.native_id or i >= len(self._marks):
            return None
        mark = self._marks[i]
        free = i not in self._found and i not in self._differences
        return i if free and mark.native_id is None and mark.role == turn.role else None

    def _note(self, i: int, turn: Turn, place: Place) -> None:
        """A turn that has another text now, unless its own is found yet."""
        mark = self._marks[i]
        self._expected = i + 1
        if is_asked_for(self.session, mark):
            self._differences[i] = (self._text_difference(mark, turn), place)

    def _text_difference(self, mark: TurnMark, turn: Turn) -> Difference:
        return difference(
            "text", self._store.text(mark.doc), turn.text,
            lengths=(mark.text_length, turn.text_length or len(turn.text)), mask=self._mask,
        )  # fmt: skip

    def results(self) -> Iterator[tuple[TurnMark, CheckedTurn]]:
        """What became of each turn asked for, in order."""
        for i, mark in enumerate(self._marks):
            if is_asked_for(self.session, mark):
                yield mark, self._result(i, mark)

    def _result(self, i: int, mark: TurnMark) -> CheckedTurn:
        place = self._found.get(i)
        if place is None and mark.text_hash != _EMPTY and self._unmatched.get(mark.text_hash):
            # the same words under another id: the agent wrote its transcript anew
            place = self._unmatched[mark.text_hash].popleft()
            self._differences.pop(i, None)
        changed = self._differences.get(i)
        if changed:
            if not mark.content_key:
                return checked(self.session, mark, "unverifiable", PREDECESSOR)
            what, place = changed
            return checked(self.session, mark, "changed", None, place, difference_=what)
        if place is None:
            if not mark.content_key:
                return checked(self.session, mark, "unverifiable", PREDECESSOR)
            return checked(self.session, mark, "missing", LEFT)
        by_line = place.line is not None and mark.source_line is not None
        stays = place.line == mark.source_line if by_line else place.position == mark.seq
        if stays or not mark.content_key:
            return checked(self.session, mark, "verified", None, place)
        return checked(self.session, mark, "moved", f"at another {'line' if by_line else 'number'}", place)


def calls_difference(
    store: CheckingStore, mark: TurnMark, turn: Turn, mask: Mask | None = None
) -> Difference | None:
    """Where the inputs of a turn's tool calls part; None where they are the same.

    What the predecessor stored of calls is not compared: it kept less of them.
    """
    if not mark.content_key or not (mark.has_calls or turn.calls):
        return None
    prepared = prepare(turn, 0)
    if prepared.content_key == mark.content_key:
        return None
    stored = _calls_text(store.calls(mark.doc))
    now = _calls_text(
        (c.name, p.decode() if p is not None else None)
        for c, p in zip(turn.calls, prepared.payloads, strict=True)
    )
    return difference("calls", stored, now, mask=mask) if stored != now else None


def _calls_text(calls: Iterable[tuple[str, str | None]]) -> str:
    return "\n".join(f"{name} {payload}" if payload is not None else name for name, payload in calls)


def difference(
    field: str,
    stored: str,
    source: str,
    *,
    lengths: tuple[int, int] | None = None,
    mask: Mask | None = None,
) -> Difference:
    """Where two texts part, with what stands there in each.

    Args:
        field: which text of the turn it is.
        stored: the text of the index.
        source: the text of the transcript.
        lengths: true lengths of both, where they were cut.
        mask: what the excerpts go through, before they are cut out: half a secret looks like none.
    """
    at = _first_difference(stored, source)
    shown = (mask(stored), mask(source)) if mask else (stored, source)
    centre = at if shown == (stored, source) else min(at, _first_difference(*shown))
    start = max(0, centre - _BEFORE)
    end = centre + _AFTER
    stored_length, source_length = lengths or (len(stored), len(source))
    return Difference(
        field=field,
        offset=at,
        line=stored.count("\n", 0, at) + 1,
        column=at - (stored.rfind("\n", 0, at) + 1) + 1,
        start=start,
        stored=shown[0][start:end],
        source=shown[1][start:end],
        stored_length=stored_length,
        source_length=source_length,
    )


def _first_difference(a: str, b: str) -> int:
    low, high = 0, min(len(a), len(b))
    while low < high:  # the beginnings up to `low` are alike
        middle = (low + high + 1) // 2
        if a[low:middle] == b[low:middle]:
            low = middle
        else:
            high = middle - 1
    return low


def checked(
    session: CheckedSession,
    mark: TurnMark,
    verdict: Verdict,
    reason: str | None,
    place: Place | None = None,
    *,
    path: str | None = None,
    difference_: Difference | None = None,
) -> CheckedTurn:
    """A verdict with the turn's citation."""
    return CheckedTurn(
        turn_id=turn_id(session.session_id, mark.seq),
        session_id=session.session_id,
        seq=mark.seq,
        verdict=verdict,
        source_path=session.source_path,
        source_line=mark.source_line,
        text_hash=mark.text_hash,
        reason=reason,
        found_path=path,
        found_line=place.line if place else None,
        found_seq=place.position if place else None,
        difference=difference_,
    )


def is_asked_for(session: CheckedSession, mark: TurnMark) -> bool:
    """Whether a turn is among those to compare."""
    return session.wanted is None or mark.seq in session.wanted


def relocated(comparison: Comparison, path: str) -> Iterator[tuple[int, CheckedTurn]]:
    """The turns that another file holds; those that it does not are left out.

    Nothing of a file that holds no turn word for word: it is another conversation.
    """
    if not comparison.any_found:
        return
    for mark, turn in comparison.results():
        if turn.verdict in ("verified", "moved"):
            yield mark.doc, replace(turn, verdict="moved", reason="in another file", found_path=path)
        elif turn.verdict == "changed":
            yield mark.doc, replace(turn, found_path=path)

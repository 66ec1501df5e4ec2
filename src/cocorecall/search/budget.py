"""An answer's budget, shared over its hits by what they are worth."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Protocol


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
NEARLY_WHOLE = 24
"""Tokens that two gap marks take: a text that lacks no more than this is shown whole first."""


def pack(items: Sequence[Packable], budget: int) -> list[int | None]:
    """Share a budget over ranked hits: tokens of text for each, or None for one that is left out.

    As many hits as fit with their smallest excerpts, best first: a turn that is shown in part can be
    followed up, one that is dropped cannot. What is left makes texts whole that lack little, then goes to
    the hits by value, none more than its whole text. The first hit is shown if its citation fits at all.
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
    _share_out(items, grants, _completed(items, grants, left))
    return grants


def _completed(items: Sequence[Packable], grants: list[int | None], left: int) -> int:
    """Make texts whole that lack little, best first; what is left then."""
    for n, item in enumerate(items):
        granted = grants[n]
        if granted is None:
            break
        lacks = item.full - granted
        if 0 < lacks <= min(NEARLY_WHOLE, left):
            grants[n] = item.full
            left -= lacks
    return left


def _share_out(items: Sequence[Packable], grants: list[int | None], left: int) -> None:
    """Give what is left by value; what one hit does not need goes to the others. Equally where none has value."""
    while left > 0:
        wanting = [n for n, g in enumerate(grants) if g is not None and g < items[n].full]
        if not wanting:
            return
        total = sum(items[n].value for n in wanting)
        before = left
        for n in wanting:
            granted = grants[n] or 0
            share = items[n].value / total if total > 0 else 1 / len(wanting)
            more = min(items[n].full - granted, max(1, int(before * share)), left)
            grants[n] = granted + more
            left -= more
            if left <= 0:
                return

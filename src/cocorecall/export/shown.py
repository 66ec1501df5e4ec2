"""The one seam through which every exported text goes, so that what must not leave can be masked there."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import orjson

from cocorecall.index.exporting import ArchivedSession, ArchivedTurn, StoredCall

Mask = Callable[[str], str]
"""Gives a text as it may be shown; the same text where nothing in it is to be hidden."""


def shown_session(session: ArchivedSession, mask: Mask | None) -> ArchivedSession:
    """A session as it may be shown: its title and summary are a transcript's words."""
    if mask is None:
        return session
    return session._replace(
        title=mask(session.title) if session.title else session.title,
        summary=mask(session.summary) if session.summary else session.summary,
    )


def shown_turn(turn: ArchivedTurn, mask: Mask | None) -> tuple[ArchivedTurn, bool]:
    """A turn as it may be shown, and whether anything in it was masked."""
    if mask is None:
        return turn, False
    shown = turn._replace(
        text=mask(turn.text), thinking=mask(turn.thinking), calls=tuple(_call(c, mask) for c in turn.calls)
    )
    return shown, shown != turn


def _call(call: StoredCall, mask: Mask) -> StoredCall:
    if call.payload is None or mask(call.payload) == call.payload:
        return call
    return call._replace(payload=orjson.dumps(_masked(orjson.loads(call.payload), mask)).decode())


def _masked(value: Any, mask: Mask) -> Any:
    """A JSON value with each of its texts as it may be shown."""
    if isinstance(value, str):
        return mask(value)
    if isinstance(value, list):
        return [_masked(item, mask) for item in value]
    if isinstance(value, dict):
        return {mask(key): _masked(item, mask) for key, item in value.items()}
    return value

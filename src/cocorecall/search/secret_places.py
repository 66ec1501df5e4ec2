"""Where the index holds credentials: by kind and turn, never their values."""

from __future__ import annotations

from collections import Counter
from collections.abc import Container, Iterable
from functools import cache
from pathlib import Path

import apsw

from cocorecall.index.texts import StoredText, TurnPlace, stored_texts, turn_place
from cocorecall.model import SecretPlace, SecretReport
from cocorecall.secrets import find_secrets


def find_places(
    connection: apsw.Connection, *, session: str | None = None, kinds: Container[str] | None = None
) -> SecretReport:
    """Look through all stored texts, or one session's.

    Args:
        connection: the index.
        session: id of a session; None: all.
        kinds: only these; None: all.
    """
    found = _counted(stored_texts(connection, session), kinds)
    exists = cache(lambda path: Path(path).exists())
    places = []
    for doc, counts in found.items():
        where = turn_place(connection, doc)
        fields = {kind: tuple(f for f in _FIELDS if (kind, f) in counts) for kind, _ in counts}
        places += [
            _place(where, kind, sum(counts[kind, f] for f in fields[kind]), fields[kind], exists(where.source_path))
            for kind in sorted(fields)
        ]  # fmt: skip
    places.sort(key=lambda p: (p.turn_id, p.kind))
    places.sort(key=lambda p: p.timestamp, reverse=True)
    return SecretReport(
        secrets=sum(p.count for p in places),
        turns=len({p.turn_id for p in places}),
        sessions=len({p.session_id for p in places}),
        kinds=_by_kind(places),
        places=tuple(places),
    )


_FIELDS = ("text", "thinking", "calls")


def _counted(
    texts: Iterable[StoredText], kinds: Container[str] | None
) -> dict[int, Counter[tuple[str, str]]]:
    """By turn: how many credentials of each kind each field holds."""
    found: dict[int, Counter[tuple[str, str]]] = {}
    for doc, field, text in texts:
        for secret in find_secrets(text):
            if kinds is None or secret.kind in kinds:
                found.setdefault(doc, Counter())[secret.kind, field] += 1
    return found


def _place(where: TurnPlace, kind: str, count: int, fields: tuple[str, ...], exists: bool) -> SecretPlace:  # noqa: FBT001 - one of many facts
    return SecretPlace(
        kind=kind,
        count=count,
        session_id=where.session_id,
        turn_id=where.turn_id,
        source_exists=exists,
        suggested_follow_up=f"recall show {where.turn_id}",
        speaker_role=where.speaker_role,
        timestamp=where.timestamp,
        source_path=where.source_path,
        source_line=where.source_line,
        fields=fields,
    )


def _by_kind(places: Iterable[SecretPlace]) -> dict[str, int]:
    """How many of each kind, most frequent first."""
    counts: Counter[str] = Counter()
    for place in places:
        counts[place.kind] += place.count
    return dict(sorted(counts.items(), key=lambda item: (-item[1], item[0])))

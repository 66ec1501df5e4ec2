"""`.cocoplus/lifecycle/meta.json`: which CocoPlus phase was in force when.

Form: `{"current_phase": "build", "phase_history": [{"phase": "spec", "completed_at": "…"}, …]}`; entries may
carry `started_at`, and older files a map from phase to such an entry.
"""

from __future__ import annotations

import json
from dataclasses import dataclass
from typing import Any

from cocorecall.extract.cocoplus.instants import instant
from cocorecall.model import Skipped

_STARTS = ("started_at", "entered_at", "start", "started")
_ENDS = ("completed_at", "ended_at", "end", "completed")


@dataclass(frozen=True, slots=True)
class PhaseChange:
    """A phase that was completed, or is under way.

    Attributes:
        completed_at: ISO 8601 UTC; None while it is under way.
        started_at: likewise; None where the file does not say.
    """

    phase: str
    completed_at: str | None
    started_at: str | None = None


@dataclass(frozen=True, slots=True)
class Lifecycle:
    """The phases of a project, completed ones in the order of their completion.

    Attributes:
        current: the phase in force now; None where the file does not say.
    """

    current: str | None = None
    history: tuple[PhaseChange, ...] = ()
    skipped: tuple[Skipped, ...] = ()


def parse_lifecycle(text: str) -> Lifecycle:
    """Read a meta.json. An entry without a phase or a readable time is reported and left out."""
    try:
        meta = json.loads(text)
    except (ValueError, RecursionError) as error:
        return Lifecycle(skipped=(Skipped(f"lifecycle is not JSON ({str(error)[:80]})"),))
    if not isinstance(meta, dict):
        return Lifecycle(skipped=(Skipped("lifecycle is not a JSON object"),))
    changes: list[PhaseChange] = []
    skipped: list[Skipped] = []
    for entry in _entries(meta.get("phase_history")):
        phase = entry.get("phase") or entry.get("name")
        start, end = (_time(entry, keys) for keys in (_STARTS, _ENDS))
        if not isinstance(phase, str) or not phase:
            skipped.append(Skipped("entry of the phase history without a phase"))
        elif start is None and end is None:
            skipped.append(Skipped(f"phase {phase!r} of the history without a readable time"))
        else:
            changes.append(PhaseChange(phase, end, start))
    current = meta.get("current_phase")
    changes.sort(
        key=lambda change: (change.completed_at is None, change.completed_at or change.started_at or "")
    )
    return Lifecycle(
        current if isinstance(current, str) and current else None, tuple(changes), tuple(skipped)
    )


def _entries(history: Any) -> list[dict[str, Any]]:
    if isinstance(history, dict):
        return [
            {"phase": phase, **(entry if isinstance(entry, dict) else {"completed_at": entry})}
            for phase, entry in history.items()
        ]
    return [entry for entry in history if isinstance(entry, dict)] if isinstance(history, list) else []


def _time(entry: dict[str, Any], keys: tuple[str, ...]) -> str | None:
    return next((found for key in keys if (found := instant(entry.get(key))) is not None), None)


def phase_at(lifecycle: Lifecycle, moment: str) -> str | None:
    """The phase in force at a moment (ISO 8601 UTC, as the index stores it).

    A phase is in force until it is completed, and from its start where the file says one; before the first known
    start it is `not_started`, after the last completion the current phase. None where the file says nothing.
    """
    starts = [change.started_at for change in lifecycle.history if change.started_at is not None]
    if lifecycle.history and len(starts) == len(lifecycle.history) and moment < min(starts):
        return "not_started"
    for change in lifecycle.history:
        if change.completed_at is None or moment < change.completed_at:
            return change.phase
    return lifecycle.current

"""How long agents keep their own transcripts: what they delete, the index alone still holds.

Claude Code deletes, when it starts, transcripts below its `projects` folder that were last written longer ago
than `cleanupPeriodDays` in its user settings says: 30 days where it is not set. A value of 0 deletes them all
(versions before 2.1.89) or is refused with an error (since); it never meant for ever. Facts from the agent's
documentation, its changelog and anthropics/claude-code#23710, #41800. Of Cortex Code no such limit is known.
"""

from __future__ import annotations

import os
from collections.abc import Mapping
from pathlib import Path
from typing import NamedTuple

from cocorecall.sources.transcript import load_json

CLAUDE_DAYS = 30
"""Claude Code's default."""
_MOST_BYTES = 1 << 20


class Retention(NamedTuple):
    """An agent's limit.

    Attributes:
        agent: its name.
        days: days after the last write of a transcript.
        setting: the file that sets it; None where it is the agent's default.
        roots: folders that the agent clears.
    """

    agent: str
    days: int
    setting: str | None
    roots: tuple[Path, ...]


def retentions(home: Path | None = None, environ: Mapping[str, str] = os.environ) -> list[Retention]:
    """The limits that agents have on this machine, of those known to delete.

    Args:
        home: the home folder; the user's own where None.
        environ: environment variables that move agents' folders.
    """
    configured = environ.get("CLAUDE_CONFIG_DIR")
    try:
        folder = Path(configured) if configured else (home or Path.home()) / ".claude"
    except RuntimeError:  # a user without a home folder
        return []
    settings = folder / "settings.json"
    days = _cleanup_days(settings)
    found = Retention(
        "claude",
        CLAUDE_DAYS if days is None else days,
        None if days is None else str(settings),
        (folder / "projects",),
    )
    return [found]


def _cleanup_days(settings: Path) -> int | None:
    """`cleanupPeriodDays`; None where it is not set, or the file cannot be read."""
    try:
        with settings.open("rb") as file:
            data = load_json(file.read(_MOST_BYTES).removeprefix(b"\xef\xbb\xbf"))
    except (OSError, ValueError):
        return None
    value = data.get("cleanupPeriodDays") if isinstance(data, dict) else None
    if not isinstance(value, int | float) or isinstance(value, bool) or not value >= 0:
        return None
    return int(min(value, 10**6))

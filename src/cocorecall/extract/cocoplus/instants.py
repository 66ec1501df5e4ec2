"""Times as CocoPlus's files write them."""

from __future__ import annotations

from typing import Any

from cocorecall.times import parse_instant


def instant(written: Any) -> str | None:
    """A written time as ISO 8601 UTC; without a zone it is this machine's local time. None for what is no time."""
    if isinstance(written, str):
        written = written.strip(" \t`*[]()_.,")
    if not isinstance(written, str | int | float) or isinstance(written, bool) or written == "":
        return None
    parsed = parse_instant(written)
    return parsed[0] if parsed else None

"""When the project was last consolidated, and the log of it: two small files that CocoPlus reads too.

`.cocoplus/.last-consolidation` holds one number, milliseconds since the epoch; `.cocoplus/lifecycle/consolidation-log.json`
is JSON lines with `ts`, `session_id`, `phases`, `status` (`requested`, `completed`, `failed`) and `trigger`. The Stop
hook reads the number each time a turn ends, so this module loads nothing but what every process has.
"""

from __future__ import annotations

import os
import time
from collections.abc import Mapping
from pathlib import Path
from typing import Any

LAST = ".last-consolidation"
LOG = "lifecycle/consolidation-log.json"
DUE_MS = 24 * 3_600_000
"""Age of the last consolidation from which on another one is due."""
AMBER_MS = 48 * 3_600_000
"""Age from which on `status` shows amber."""
_LONGEST_NUMBER = 40


def last_consolidation(home: Path | str) -> int | None:
    """Milliseconds since the epoch of the last consolidation; None where there was none, or nobody can tell."""
    try:
        with open(os.path.join(home, LAST), "rb") as file:
            return int(file.read(_LONGEST_NUMBER))
    except (OSError, ValueError):
        return None


def is_due(home: Path | str, now_ms: int) -> bool:
    """Whether a consolidation should be asked for: never done, a day ago, or at a time that has not come yet."""
    last = last_consolidation(home)
    return last is None or not 0 <= now_ms - last < DUE_MS


def mark_consolidation(home: Path | str, now_ms: int) -> None:
    """Note that one was asked for, or done; a reader sees the old number or the new one.

    Raises:
        OSError: the file cannot be written.
    """
    path = os.path.join(home, LAST)
    beside = f"{path}.{os.getpid()}.tmp"
    try:
        with open(beside, "w", encoding="ascii", newline="") as file:
            file.write(str(now_ms))
        os.replace(beside, path)
    except OSError:
        try:  # noqa: SIM105 - contextlib is not loaded yet
            os.unlink(beside)
        except OSError:
            pass
        raise


def append_log(home: Path | str, entry: Mapping[str, Any]) -> None:
    """Append one line to the log; a line that somebody left unfinished before it is ended first.

    Raises:
        OSError: the file cannot be written.
    """
    import json  # noqa: PLC0415 - not needed where nothing is due

    path = os.path.join(home, *LOG.split("/"))
    os.makedirs(os.path.dirname(path), mode=0o700, exist_ok=True)
    line = json.dumps(dict(entry), ensure_ascii=False, separators=(", ", ": ")) + "\n"
    with open(path, "ab+") as file:
        end = file.seek(0, os.SEEK_END)
        if end:
            file.seek(end - 1)
            if file.read(1) != b"\n":
                line = "\n" + line
        file.write(line.encode())  # one write: lines of two processes do not mix


def read_log(home: Path | str) -> list[dict[str, Any]]:
    """The entries of the log, oldest first; lines that are no JSON object are left out."""
    import json  # noqa: PLC0415 - as above

    try:
        with open(os.path.join(home, *LOG.split("/")), encoding="utf-8", errors="replace") as file:
            lines = file.read().split("\n")
    except OSError:
        return []
    out = []
    for line in lines:
        try:
            entry = json.loads(line)
        except (ValueError, RecursionError):
            continue
        if isinstance(entry, dict):
            out.append(entry)
    return out


def last_done_ms(home: Path | str) -> int | None:
    """Milliseconds since the epoch of the last consolidation that was done, not only asked for; None: never.

    The log tells it; where the log tells of none, asked for or done, the number does.
    """
    from datetime import datetime  # noqa: PLC0415 - not needed where nothing is due

    told = False
    last = None
    for entry in read_log(home):
        told = told or entry.get("status") in ("requested", "completed", "failed")
        if entry.get("status") == "completed":
            try:
                done = int(datetime.fromisoformat(str(entry.get("ts"))).timestamp() * 1000)
            except (ValueError, OverflowError, OSError):
                continue
            last = max(last or 0, done)
    return last if told else last_consolidation(home)


def freshness(home: Path | str, now_ms: int) -> str:
    """`green` where a consolidation was done within 48 hours, else `amber`, or `never`."""
    last = last_done_ms(home)
    if last is None:
        return "never"
    return "green" if now_ms - last <= AMBER_MS else "amber"


def unreadable_lines(home: Path | str) -> int:
    """How many lines of the log are no JSON object."""
    try:
        with open(os.path.join(home, *LOG.split("/")), "rb") as file:
            lines = [line for line in file.read().split(b"\n") if line.strip()]
    except OSError:
        return 0
    return len(lines) - len(read_log(home))


def now_ms() -> int:
    """Milliseconds since the epoch, now."""
    return time.time_ns() // 1_000_000

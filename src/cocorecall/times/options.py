"""The values of `--since` and `--until`."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta

from cocorecall.errors import UsageError
from cocorecall.times.instants import read_iso
from cocorecall.times.local import UNIT_MONTHS, UNIT_SECONDS, UNIT_SHORT, Bounds, before, local
from cocorecall.times.periods import scan

_FORMS = (
    "Use a date (2026-05-14, 2026-05, 2026), a time (2026-05-14T09:30), an age (30m, 3h, 7d, 2w, 6mo, 1y) "
    "or words (today, yesterday, monday, last week, May 2026)."
)


def parse_moment(text: str, now: datetime) -> datetime:
    """Read the value of `--since`: the start of what `parse_period` reads.

    Raises:
        UsageError: the text is no time; the hint shows the accepted forms.
    """
    return parse_period(text, now)[0]


def parse_period(text: str, now: datetime) -> tuple[datetime, datetime]:
    """Read the value of `--since` or `--until`: an aware UTC start and an exclusive end.

    What is written is as long as its precision: a year, a month, a day, a minute, a second. An age such as
    `7d`, `7 days` or `7 days ago` is the single instant that long before `now`, counted in local calendar
    time from a day on. Of what recurs (`may`, `monday`) the latest occurrence is meant.

    Args:
        text: `2026-05-14`, `2026-05`, `2026`, a date-time, a stamp, an age, `now`, or any expression of
            `find_periods`, in any case.
        now: the present, aware (or naive local time).

    Raises:
        UsageError: the text is no time; the hint shows the accepted forms.
    """
    written = " ".join(text.split())
    try:
        bounds = _read_age(written, now) or read_iso(written) or _read_words(written, now)
        if bounds is not None:
            return bounds[0].astimezone(UTC), bounds[1].astimezone(UTC)
    except (ValueError, OverflowError, OSError):  # no such day, or far outside the calendar
        pass
    raise UsageError(f"`{written[:40]}` is not a time.", _FORMS)


def _read_age(written: str, now: datetime) -> Bounds | None:
    """`7d`, `7 days`, `7 days ago`, `now`: an instant, so an empty period."""
    if written.lower() == "now":
        return now, now
    found = re.fullmatch(r"([0-9]{1,9})\s*([a-z]+)(?:\s+ago)?", written, re.IGNORECASE | re.ASCII)
    if found is None:
        return None
    name = found[2].lower()
    unit = UNIT_SHORT.get(name) or UNIT_SHORT.get(name.removesuffix("s")) or name.removesuffix("s")
    if unit not in UNIT_SECONDS and unit not in UNIT_MONTHS:
        return None
    if unit in {"second", "minute", "hour"}:
        then = now.astimezone(UTC) - timedelta(seconds=int(found[1]) * UNIT_SECONDS[unit])
    else:
        then = before(local(now), int(found[1]), unit)
    return then, then


def _read_words(written: str, now: datetime) -> Bounds | None:
    """Any expression of `find_periods` that is the whole text."""
    periods = scan(written, local(now), bare=True)
    if len(periods) == 1 and periods[0].span == (0, len(written)):
        return periods[0].start, periods[0].end
    return None

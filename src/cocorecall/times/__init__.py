"""Instants, moments and periods: reading the times that transcripts, options and questions speak of.

Three readers, from strict to lenient: `parse_instant` for the stamps of transcripts, `parse_moment` and
`parse_period` for `--since` and `--until`, `find_periods` for time expressions in a free-text question.
Everything that leaves this package is UTC; days, weeks and months are those of this machine's local time.
"""

from __future__ import annotations

from cocorecall.times.instants import format_instant, parse_instant
from cocorecall.times.options import parse_moment, parse_period
from cocorecall.times.periods import FAR_FUTURE, FAR_PAST, Period, find_periods

__all__ = [
    "FAR_FUTURE",
    "FAR_PAST",
    "Period",
    "find_periods",
    "format_instant",
    "parse_instant",
    "parse_moment",
    "parse_period",
]

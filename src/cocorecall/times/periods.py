"""Periods: the stretches of time that a question speaks of."""

from __future__ import annotations

import re
from dataclasses import dataclass
from datetime import UTC, datetime, timedelta
from typing import NamedTuple

from cocorecall.times import phrases
from cocorecall.times.local import add_months, days, local, monday
from cocorecall.times.phrases import Reading, Recurrence, Rule

FAR_PAST = datetime.min.replace(tzinfo=UTC)
FAR_FUTURE = datetime.max.replace(tzinfo=UTC)
"""The open end of a period such as `before May` or `since Monday`."""


@dataclass(frozen=True, slots=True)
class Period:
    """A stretch of time that a text speaks of.

    Attributes:
        start: first instant, aware, UTC; of the latest occurrence where it recurs.
        end: first instant after it.
        span: where the expression stands in the text, its preposition included.
        text: the expression as written.
        recurs: `year` for a month, date or season without a year, `week` for a bare weekday: every occurrence
            is meant, for a transcript may be years old. None: just `start` to `end`.
    """

    start: datetime
    end: datetime
    span: tuple[int, int]
    text: str
    recurs: Recurrence | None = None

    def contains(self, instant: datetime) -> bool:
        """Whether an aware instant lies within the period, or within one of its occurrences."""
        return self.distance_days(instant) == 0.0

    def distance_days(self, instant: datetime) -> float:
        """Days from an aware instant to the nearest edge of the period; 0.0 inside.

        For a period that recurs the distance is to the nearest occurrence, in whole local days.
        """
        if self.recurs is None:
            if self.start <= instant < self.end:
                return 0.0
            gap = self.start - instant if instant < self.start else instant - self.end
            return max(gap.total_seconds(), 1.0) / 86_400
        if self.recurs == "week":
            apart = (instant.astimezone().weekday() - self.start.astimezone().weekday()) % 7
            return float(min(apart, 7 - apart))
        first, last = _leap_day(self.start), _leap_day(self.end - timedelta(microseconds=1))
        day = _leap_day(instant)
        after_first, length = (day - first) % 366, (last - first) % 366
        return 0.0 if after_first <= length else float(min(after_first - length, 366 - after_first))


def _leap_day(instant: datetime) -> int:
    """The local day's place in a year that has a 29 February."""
    local = instant.astimezone()
    return datetime(2000, local.month, local.day).timetuple().tm_yday  # noqa: DTZ001 - a calendar day


def find_periods(query: str, now: datetime) -> list[Period]:
    """Find the time expressions of an English question, in the order in which they stand.

    Several of them are alternatives. `may`, `march` and other words that are not always a month count as one
    only with a day or year, after a preposition (`in may`), or capitalised inside a sentence. Any text gives
    a list; most give an empty one.

    Args:
        query: the question as typed.
        now: the present, aware (or naive local time): what `last week` is counted from.
    """
    if not phrases.has_hint(query):
        return []
    return scan(query, local(now), bare=False)


# --- reading a text by the rules ---------------------------------------------------------------------------

_LONGEST_LEAD = 40
"""Characters to the left of an expression in which what leads it is looked for."""

_OPENING = frozenset({"since", "after", "before", "until", "till"})


class _Found(NamedTuple):
    """A period with where its expression proper begins, and the preposition that leads it."""

    period: Period
    begins: int
    prep: str


def scan(text: str, now: datetime, *, bare: bool) -> list[Period]:
    """Every period of `text`, in order.

    Args:
        text: any text.
        now: the present, naive local time.
        bare: the text is nothing but a time, so no word needs to prove that it is one.
    """
    grammar = phrases.grammar()
    found: list[_Found] = []
    for rule in grammar.rules:
        for match in rule.pattern.finditer(text):
            lead = grammar.lead.search(text, max(0, match.start() - _LONGEST_LEAD), match.start())
            if lead is not None and (bare or rule.meant(match, (lead["prep"] or "").lower())):
                found.extend(_place(rule, match, lead, now))
    return [each.period for each in _join_ranges(text, _without_overlaps(found))]


def _place(rule: Rule, match: re.Match[str], lead: re.Match[str], now: datetime) -> list[_Found]:
    """The period of a match in its place, widened or opened by what leads it; empty if there is no such time."""
    prep = (lead["prep"] or "").lower()
    try:
        reading = rule.resolve(match, now)
        if reading is None:
            return []
        start, end = _widened(reading, (lead["wide"] or "").lower())
        bounds = _opened(prep, start.astimezone(UTC), end.astimezone(UTC))
    except (ValueError, OverflowError, OSError):  # 31 June; 9999 years ago; before a platform's 1970
        return []
    span = (lead.start(), match.end())
    recurs = reading.recurs if prep not in _OPENING else None
    return [_Found(Period(*bounds, span, match.string[slice(*span)], recurs), match.start(), prep)]


def _widened(reading: Reading, wide: str) -> tuple[datetime, datetime]:
    """`the week of`, `the weekend of` a day."""
    if not wide:
        return reading.start, reading.end
    first = monday(local(reading.start))
    return days(first, 7) if wide == "week" else days(first + timedelta(days=5), 2)


def _opened(prep: str, start: datetime, end: datetime) -> tuple[datetime, datetime]:
    if prep == "since":
        return start, FAR_FUTURE
    if prep == "after":
        return end, FAR_FUTURE
    if prep == "before":
        return FAR_PAST, start
    return (FAR_PAST, end) if prep in _OPENING else (start, end)


def _without_overlaps(found: list[_Found]) -> list[_Found]:
    """In order of the text; where two overlap, the one that begins first and reaches furthest."""
    kept: list[_Found] = []
    for each in sorted(found, key=lambda one: (one.period.span[0], -one.period.span[1])):
        if not kept or each.period.span[0] >= kept[-1].period.span[1]:
            kept.append(each)
    return kept


def _join_ranges(text: str, found: list[_Found]) -> list[_Found]:
    """Make one period of `from May to July`, `between 3 May and 5 May`, `May - July 2023`."""
    joined: list[_Found] = []
    for each in found:
        if joined and _is_range(text, joined[-1], each):
            joined[-1] = _range(text, joined[-1], each)
        else:
            joined.append(each)
    return joined


def _is_range(text: str, first: _Found, second: _Found) -> bool:
    link = text[first.period.span[1] : second.begins].lower().replace(" the ", " ").strip()
    if first.prep in {"from", "between"}:
        return link in {"to", "and", "until", "till", "through", "-", "–"}
    return first.prep in {"", "in", "on", "during"} and link in {"to", "through", "-", "–"}


def _range(text: str, first: _Found, second: _Found) -> _Found:
    begin, finish = first.period, second.period
    start = begin.start
    if begin.recurs == "year":  # `May to July 2023`: the year of the second is the first one's too
        start = add_months(local(start), 12 * (local(finish.end).year - local(start).year)).astimezone(UTC)
        if start >= finish.end:
            start = add_months(local(start), -12).astimezone(UTC)
    elif begin.recurs == "week" and start >= finish.end:
        start -= timedelta(days=7)
    span = (begin.span[0], finish.span[1])
    recurs = begin.recurs if begin.recurs == finish.recurs == "year" else None
    period = Period(min(start, finish.end), finish.end, span, text[slice(*span)], recurs)
    return _Found(period, first.begins, "")

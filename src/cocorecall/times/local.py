"""Arithmetic of the local calendar, on naive datetimes.

Calendar arithmetic comes first and conversion to UTC at the end; a naive datetime's own `astimezone` reads it
as local time, with the offset that was in force then.
"""

from __future__ import annotations

from datetime import datetime, timedelta

Bounds = tuple[datetime, datetime]


def local(instant: datetime) -> datetime:
    """The instant in this machine's local time, naive."""
    return instant.astimezone().replace(tzinfo=None)


def midnight(local: datetime) -> datetime:
    """The start of the day."""
    return local.replace(hour=0, minute=0, second=0, microsecond=0)


def monday(local: datetime) -> datetime:
    """The start of the ISO week."""
    return midnight(local) - timedelta(days=local.weekday())


def add_months(local: datetime, months: int) -> datetime:
    """Move by calendar months; the last day of a shorter month stands for the days it lacks."""
    year, month = divmod(local.year * 12 + local.month - 1 + months, 12)
    for day in (local.day, 30, 29, 28):
        try:
            return local.replace(year=year, month=month + 1, day=day)
        except ValueError:
            continue
    raise OverflowError(f"year {year}")


def months(year: int, month: int, count: int = 1) -> Bounds:
    """The start and exclusive end of `count` calendar months."""
    start = datetime(year, month, 1)  # noqa: DTZ001
    return start, add_months(start, count)


def days(start: datetime, count: int = 1) -> Bounds:
    """The start and exclusive end of `count` days."""
    return start, start + timedelta(days=count)


UNIT_SECONDS = {"second": 1, "minute": 60, "hour": 3600, "day": 86_400, "week": 604_800}
UNIT_MONTHS = {"month": 1, "quarter": 3, "year": 12}
UNIT_SHORT = {"s": "second", "sec": "second", "m": "minute", "min": "minute", "h": "hour", "hr": "hour"}
UNIT_SHORT |= {
    "d": "day",
    "w": "week",
    "wk": "week",
    "mo": "month",
    "mon": "month",
    "y": "year",
    "yr": "year",
}


def before(now: datetime, count: int, unit: str) -> datetime:
    """The local time `count` units before `now`."""
    if unit in UNIT_MONTHS:
        return add_months(now, -count * UNIT_MONTHS[unit])
    return now - timedelta(seconds=count * UNIT_SECONDS[unit])


def unit_around(local: datetime, unit: str) -> Bounds:
    """The day, ISO week, month, quarter or year that holds `local`."""
    if unit == "week":
        return days(monday(local), 7)
    if unit == "month":
        return months(local.year, local.month)
    if unit == "quarter":
        return months(local.year, (local.month - 1) // 3 * 3 + 1, 3)
    if unit == "year":
        return months(local.year, 1, 12)
    return days(midnight(local))

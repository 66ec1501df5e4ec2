"""The time stamps of transcripts: any shape in, one shape out."""

from __future__ import annotations

import re
from datetime import UTC, datetime, timedelta, timezone

from cocorecall.times.local import Bounds, days, months

_EPOCH = datetime(1970, 1, 1, tzinfo=UTC)

# Already in the index's own form, 29 February excepted: nothing to convert, so no datetime is built.
_CANONICAL = re.compile(
    r"(?!0000)[0-9]{4}-(?:(?:0[1-9]|1[0-2])-(?:0[1-9]|1[0-9]|2[0-8])|(?:0[13-9]|1[0-2])-(?:29|30)"
    r"|(?:0[13578]|1[02])-31)T(?:[01][0-9]|2[0-3]):[0-5][0-9]:[0-5][0-9]\.[0-9]{3}Z"
).fullmatch

# Extended and basic ISO 8601. Dashes in the time and before the milliseconds are what agents write into file
# names, where a colon is not allowed. Compiled on first use, for a search may never need it.
_ISO = (
    r"(?P<year>\d{4})(?P<dash>-?)(?P<month>\d\d)(?P=dash)(?P<day>\d\d)"
    r"(?:(?:[Tt]|\s+)(?P<hour>\d\d)(?P<colon>[:-]?)(?P<minute>\d\d)"
    r"(?:(?P=colon)(?P<second>\d\d)(?:[.,](?P<fraction>\d{1,18})|-(?P<millis>\d{3})(?=Z))?)?"
    r"\s*(?P<zone>[Zz]|UTC|GMT|(?P<sign>[+-])(?P<zone_hours>\d\d):?(?P<zone_minutes>\d\d)?)?)?"
)
_DECIMAL = r"-?\d{9,20}(?:\.\d{1,9})?"

# By size: seconds reach the year 5138 and 10^11 milliseconds are the year 1973, so that the ranges of
# plausible stamps do not touch.
_SECONDS_BELOW, _MILLIS_BELOW, _MICROS_BELOW, _NANOS_BELOW = 10**11, 10**14, 10**17, 10**20


def parse_instant(value: str | float) -> tuple[str, bool] | None:
    """Read a transcript's time stamp.

    Args:
        value: ISO 8601 with `Z`, an offset or no zone (extended or basic; a space for the `T`; dashes for the
            colons; any number of decimals), or the time since 1970 as a number or a string of at least nine
            digits, in seconds, milliseconds, microseconds or nanoseconds by its size.

    Returns:
        `("2026-11-30T18:00:00.000Z", zoned)`: the instant in UTC, cut to milliseconds, and whether the input
        named a zone. Without one it is this machine's local time; a number is always zoned. None for
        anything else, and for instants outside the years 1 to 9999.
    """
    if isinstance(value, str):
        if _CANONICAL(value):
            return value, True
        return _parse_text(value.strip())
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return _parse_number(value)


def format_instant(instant: datetime) -> str:
    """Write an aware datetime as the index stores it: ISO 8601, UTC, milliseconds (cut), `Z`."""
    return instant.astimezone(UTC).replace(tzinfo=None).isoformat(timespec="milliseconds") + "Z"


def _parse_text(text: str) -> tuple[str, bool] | None:
    if text[13:14] == ":":  # the usual shapes, four times faster than by pattern
        try:
            instant = datetime.fromisoformat(text)
            return format_instant(instant), instant.tzinfo is not None
        except (ValueError, OverflowError, OSError):
            pass
    found = re.fullmatch(_ISO, text, re.ASCII)
    if found is not None:
        named = _from_iso(found)
        return None if named is None else (format_instant(named), found["zone"] is not None)
    if re.fullmatch(_DECIMAL, text, re.ASCII):
        return _parse_number(int(text) if "." not in text else float(text))
    return None


def _from_iso(found: re.Match[str]) -> datetime | None:
    """The instant that a match of `_ISO` names, in UTC; None where there is no such time."""
    parts = [int(found[name] or 0) for name in ("year", "month", "day", "hour", "minute", "second")]
    year, month, day, hour, minute, second = parts
    micros = int(((found["fraction"] or found["millis"] or "") + "000000")[:6])
    try:
        local = datetime(year, month, day, hour, minute, second, micros)  # noqa: DTZ001 - zone follows
        if found["zone"] is None:
            return local.astimezone(UTC)
        return local.replace(tzinfo=_zone(found)).astimezone(UTC)
    except (ValueError, OverflowError, OSError):  # no such day; out of range; Windows before 1970
        return None


def _zone(found: re.Match[str]) -> timezone:
    if found["sign"] is None:
        return UTC
    offset = timedelta(hours=int(found["zone_hours"]), minutes=int(found["zone_minutes"] or 0))
    return timezone(-offset if found["sign"] == "-" else offset)


def _parse_number(value: float) -> tuple[str, bool] | None:
    size = abs(value)
    if not size < _NANOS_BELOW:  # also catches NaN and infinity
        return None
    if size < _SECONDS_BELOW:
        micros = round(value * 1_000_000)
    elif size < _MILLIS_BELOW:
        micros = round(value * 1_000)
    elif size < _MICROS_BELOW:
        micros = round(value)
    else:
        micros = int(value // 1_000)
    try:
        return format_instant(_EPOCH + timedelta(microseconds=micros)), True
    except OverflowError:
        return None


def read_iso(written: str) -> Bounds | None:
    """The bounds of a year, month, day, date-time or stamp, as long apart as it is precise.

    They are naive local time, but aware for a date-time or stamp. None for any other text.

    Raises:
        ValueError: there is no such day.
        OverflowError: the end lies beyond the calendar.
    """
    if re.fullmatch(r"[0-9]{4}", written):
        return months(int(written), 1, 12)
    if month := re.fullmatch(r"([0-9]{4})-([0-9]{2})", written):
        return months(int(month[1]), int(month[2]))
    found = re.fullmatch(_ISO, written, re.ASCII)
    if found is None:
        return _stamp_bounds(written)
    if found["hour"] is None:
        return days(datetime(int(found["year"]), int(found["month"]), int(found["day"])))  # noqa: DTZ001
    start = _from_iso(found)
    return None if start is None else (start, start + _precision(found))


def _stamp_bounds(written: str) -> Bounds | None:
    stamp = parse_instant(written)
    if stamp is None:
        return None
    start = datetime.fromisoformat(stamp[0])
    return start, start + timedelta(milliseconds=1)


def _precision(found: re.Match[str]) -> timedelta:
    if found["second"] is None:
        return timedelta(minutes=1)
    whole = found["fraction"] is None and found["millis"] is None
    return timedelta(seconds=1) if whole else timedelta(milliseconds=1)

"""Times as transcripts, options and questions write them."""

from __future__ import annotations

import json
import math
import os
import subprocess
import sys
import time
from collections.abc import Callable, Iterator
from datetime import UTC, datetime, timedelta, timezone
from pathlib import Path

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cocorecall.errors import UsageError
from cocorecall.times import (
    FAR_FUTURE,
    FAR_PAST,
    Period,
    find_periods,
    format_instant,
    parse_instant,
    parse_moment,
    parse_period,
)

NOW = datetime(2026, 12, 1, 10, 45, tzinfo=UTC)  # a Tuesday
_naive = datetime.fromisoformat  # hypothesis wants bounds without a zone
SOURCE = Path(__file__).parents[1] / "src"


def _set_zone(name: str | None) -> None:
    if not hasattr(time, "tzset"):
        pytest.skip("this platform cannot change its zone while running")
    if name is None:
        os.environ.pop("TZ", None)
    else:
        os.environ["TZ"] = name
    time.tzset()


@pytest.fixture
def zone() -> Iterator[Callable[[str | None], None]]:
    before = os.environ.get("TZ")
    yield _set_zone
    if hasattr(time, "tzset"):
        _set_zone(before)


@pytest.fixture
def utc(zone: Callable[[str | None], None]) -> None:
    zone("UTC")


# --- the stamps of transcripts --------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("value", "instant"),
    [
        ("2026-11-30T18:00:00.000Z", "2026-11-30T18:00:00.000Z"),
        ("2026-11-30T18:00:00Z", "2026-11-30T18:00:00.000Z"),
        ("2026-11-30t18:00:00z", "2026-11-30T18:00:00.000Z"),
        ("  2026-11-30T18:00:00.000Z\n", "2026-11-30T18:00:00.000Z"),
        ("2026-11-30T18:00Z", "2026-11-30T18:00:00.000Z"),
        ("2026-11-30T18:00:00.5Z", "2026-11-30T18:00:00.500Z"),
        ("2026-11-30T18:00:00,5Z", "2026-11-30T18:00:00.500Z"),
        ("2026-11-30T18:00:00.123999Z", "2026-11-30T18:00:00.123Z"),
        ("2026-11-30T18:00:00.123456789Z", "2026-11-30T18:00:00.123Z"),
        ("2026-11-30T18:00:00.123456+05:30", "2026-11-30T12:30:00.123Z"),
        ("2026-11-30 18:00:00 +0900", "2026-11-30T09:00:00.000Z"),
        ("2026-11-30 18:00:00 UTC", "2026-11-30T18:00:00.000Z"),
        ("2026-11-30T18:00:00-08", "2026-12-01T02:00:00.000Z"),
        ("2026-01-05T17-19-43Z", "2026-01-05T17:19:43.000Z"),
        ("2026-01-05T17-19-43-123Z", "2026-01-05T17:19:43.123Z"),
        ("20260105T171943Z", "2026-01-05T17:19:43.000Z"),
        ("2024-02-29T00:00:00.000Z", "2024-02-29T00:00:00.000Z"),
        (1_764_590_405, "2025-12-01T12:00:05.000Z"),
        (1_764_590_405.123, "2025-12-01T12:00:05.123Z"),
        (1_764_590_405_123, "2025-12-01T12:00:05.123Z"),
        (1_764_590_405_123.0, "2025-12-01T12:00:05.123Z"),
        (1_764_590_405_123_456, "2025-12-01T12:00:05.123Z"),
        (1_764_590_405_123_456_789, "2025-12-01T12:00:05.123Z"),
        ("1764590405", "2025-12-01T12:00:05.000Z"),
        ("1764590405.123", "2025-12-01T12:00:05.123Z"),
        ("1764590405123", "2025-12-01T12:00:05.123Z"),
        (0, "1970-01-01T00:00:00.000Z"),
        (-5, "1969-12-31T23:59:55.000Z"),
    ],
)
def test_a_zoned_stamp_is_the_same_instant_wherever_it_is_read(
    zone: Callable[[str | None], None], value: str | float, instant: str
) -> None:
    for place in ("UTC", "Asia/Tokyo", "America/New_York"):
        zone(place)
        assert parse_instant(value) == (instant, True)


@pytest.mark.parametrize(
    ("value", "in_tokyo", "in_new_york"),
    [
        ("2026-07-05T17:19:43", "2026-07-05T08:19:43.000Z", "2026-07-05T21:19:43.000Z"),
        ("2026-07-05 17:19:43.250000", "2026-07-05T08:19:43.250Z", "2026-07-05T21:19:43.250Z"),
        ("2026-07-05T17-19-43", "2026-07-05T08:19:43.000Z", "2026-07-05T21:19:43.000Z"),
        ("2026-07-05T17-19", "2026-07-05T08:19:00.000Z", "2026-07-05T21:19:00.000Z"),
        ("2026-01-05", "2026-01-04T15:00:00.000Z", "2026-01-05T05:00:00.000Z"),
    ],
)
def test_a_stamp_without_a_zone_is_local_time(
    zone: Callable[[str | None], None], value: str, in_tokyo: str, in_new_york: str
) -> None:
    zone("Asia/Tokyo")
    assert parse_instant(value) == (in_tokyo, False)
    zone("America/New_York")
    assert parse_instant(value) == (in_new_york, False)


@pytest.mark.parametrize(
    "value",
    [
        "",
        "yesterday",
        "12345",
        "2026",
        "2026-02-30T00:00:00.000Z",
        "2026-13-01T00:00:00.000Z",
        "2025-02-29T00:00:00.000Z",
        "2026-04-31T00:00:00.000Z",
        "2026-11-30T24:30:00.000Z",
        "2026-11-30T18:60:00.000Z",
        "0000-01-01T00:00:00.000Z",
        "0001-01-01T00:00:00+09:00",
        "9999-12-31T23:59:59-09:00",
        "2026-11-30T18:00:00+99:00",
        "2026-11-30T18:00:00.000Z and more",
        "２０２６-11-30T18:00:00Z",
        math.nan,
        math.inf,
        -math.inf,
        True,
        False,
        10**40,
        -(10**13) * 9,
        "9" * 5000,
    ],
)
def test_what_is_no_instant_is_none(value: str | float) -> None:
    assert parse_instant(value) is None


@pytest.mark.parametrize("value", [None, [], {}, b"2026-11-30T18:00:00.000Z"])
def test_json_values_of_other_types_are_none(value: object) -> None:
    assert parse_instant(value) is None  # type: ignore[arg-type]


@given(st.datetimes(min_value=_naive("0001-01-02"), max_value=_naive("9999-12-30"), timezones=st.just(UTC)))
@example(datetime(2024, 2, 29, tzinfo=UTC))
@example(datetime(2026, 12, 31, 23, 59, 59, 999_999, tzinfo=UTC))
def test_what_is_written_is_read_back(instant: datetime) -> None:
    written = format_instant(instant)
    assert parse_instant(written) == (written, True)
    assert parse_instant(instant.isoformat()) == (written, True)
    assert instant - datetime.fromisoformat(written) < timedelta(milliseconds=1)


@given(
    st.datetimes(min_value=_naive("1975-01-01"), max_value=_naive("2100-01-01"), timezones=st.just(UTC)),
    st.integers(-14 * 60, 14 * 60),
)
def test_every_spelling_of_an_instant_reads_alike(instant: datetime, offset_minutes: int) -> None:
    micros = (instant - datetime(1970, 1, 1, tzinfo=UTC)) // timedelta(microseconds=1)
    elsewhere = instant.astimezone(timezone(timedelta(minutes=offset_minutes)))
    spellings: list[str | float] = [
        elsewhere.isoformat(),
        elsewhere.isoformat(" "),
        elsewhere.strftime("%Y%m%dT%H%M%S.%f%z"),
        micros,
        str(micros),
        micros * 1000,
        micros / 1_000_000,
    ]
    assert {parse_instant(spelling) for spelling in spellings} == {(format_instant(instant), True)}


@given(st.text() | st.text("0123456789-:.TZ+ ", max_size=32) | st.floats() | st.integers())
def test_any_stamp_is_read_or_refused_in_one_form(value: str | float) -> None:
    read = parse_instant(value)
    if read is not None:
        assert parse_instant(read[0]) == (read[0], True)


def test_a_fresh_process_reads_zoned_stamps_alike_in_every_zone() -> None:
    program = (
        "import json, sys; from cocorecall.times import parse_instant;"
        "print(json.dumps([parse_instant(value) for value in json.load(sys.stdin)]))"
    )
    values = ["2026-11-30T18:00:00+02:00", 1_764_590_405, "2026-01-05T17-19-43Z"]
    answers = [
        subprocess.run(
            [sys.executable, "-c", program],
            input=json.dumps(values),
            env={**os.environ, "TZ": place, "PYTHONPATH": str(SOURCE)},
            capture_output=True,
            text=True,
            check=True,
        ).stdout
        for place in ("UTC", "Asia/Tokyo")
    ]
    assert answers[0] == answers[1]
    assert json.loads(answers[0])[0] == ["2026-11-30T16:00:00.000Z", True]


# --- the values of --since and --until -------------------------------------------------------------------


@pytest.mark.usefixtures("utc")
@pytest.mark.parametrize(
    ("text", "start", "end"),
    [
        ("2026-05-14", "2026-05-14T00:00:00", "2026-05-15T00:00:00"),
        ("2026-05", "2026-05-01T00:00:00", "2026-06-01T00:00:00"),
        ("2026-12", "2026-12-01T00:00:00", "2027-01-01T00:00:00"),
        ("2026", "2026-01-01T00:00:00", "2027-01-01T00:00:00"),
        ("2026-05-14T09:30", "2026-05-14T09:30:00", "2026-05-14T09:31:00"),
        ("2026-05-14 09:30:15", "2026-05-14T09:30:15", "2026-05-14T09:30:16"),
        ("2026-05-14T09:30:15+02:00", "2026-05-14T07:30:15", "2026-05-14T07:30:16"),
        ("2026-05-14T09:30:15.250Z", "2026-05-14T09:30:15.250000", "2026-05-14T09:30:15.251000"),
        ("1764590405123", "2025-12-01T12:00:05.123000", "2025-12-01T12:00:05.124000"),
        ("7d", "2026-11-24T10:45:00", "2026-11-24T10:45:00"),
        ("7 days", "2026-11-24T10:45:00", "2026-11-24T10:45:00"),
        ("7 days ago", "2026-11-24T10:45:00", "2026-11-24T10:45:00"),
        ("2w", "2026-11-17T10:45:00", "2026-11-17T10:45:00"),
        ("3h", "2026-12-01T07:45:00", "2026-12-01T07:45:00"),
        ("30m", "2026-12-01T10:15:00", "2026-12-01T10:15:00"),
        ("90 min", "2026-12-01T09:15:00", "2026-12-01T09:15:00"),
        ("45s", "2026-12-01T10:44:15", "2026-12-01T10:44:15"),
        ("6mo", "2026-06-01T10:45:00", "2026-06-01T10:45:00"),
        ("1y", "2025-12-01T10:45:00", "2025-12-01T10:45:00"),
        ("now", "2026-12-01T10:45:00", "2026-12-01T10:45:00"),
        ("today", "2026-12-01T00:00:00", "2026-12-02T00:00:00"),
        (" Yesterday ", "2026-11-30T00:00:00", "2026-12-01T00:00:00"),
        ("last week", "2026-11-23T00:00:00", "2026-11-30T00:00:00"),
        ("this week", "2026-11-30T00:00:00", "2026-12-07T00:00:00"),
        ("last month", "2026-11-01T00:00:00", "2026-12-01T00:00:00"),
        ("last quarter", "2026-07-01T00:00:00", "2026-10-01T00:00:00"),
        ("last year", "2025-01-01T00:00:00", "2026-01-01T00:00:00"),
        ("monday", "2026-11-30T00:00:00", "2026-12-01T00:00:00"),
        ("tuesday", "2026-12-01T00:00:00", "2026-12-02T00:00:00"),
        ("last tuesday", "2026-11-24T00:00:00", "2026-11-25T00:00:00"),
        ("fri", "2026-11-27T00:00:00", "2026-11-28T00:00:00"),
        ("may", "2026-05-01T00:00:00", "2026-06-01T00:00:00"),
        ("may 2023", "2023-05-01T00:00:00", "2023-06-01T00:00:00"),
        ("14 may", "2026-05-14T00:00:00", "2026-05-15T00:00:00"),
        ("Q3 2026", "2026-07-01T00:00:00", "2026-10-01T00:00:00"),
    ],
)
def test_a_period_is_as_long_as_it_is_written(text: str, start: str, end: str) -> None:
    bounds = (datetime.fromisoformat(start + "+00:00"), datetime.fromisoformat(end + "+00:00"))
    assert parse_period(text, NOW) == bounds
    assert parse_moment(text, NOW) == bounds[0]
    assert parse_moment(text, NOW).utcoffset() == timedelta(0)


def test_days_are_local_days(zone: Callable[[str | None], None]) -> None:
    zone("America/New_York")
    start, end = parse_period("2026-03-08", NOW)  # the clocks go forward: a day of 23 hours
    assert (start.hour, end.hour) == (5, 4)
    late = datetime(2026, 12, 1, 2, 0, tzinfo=UTC)  # still 30 November in New York
    assert parse_moment("today", late) == datetime(2026, 11, 30, 5, 0, tzinfo=UTC)


@pytest.mark.usefixtures("utc")
def test_months_ago_ends_on_the_last_day_of_a_short_month() -> None:
    assert parse_moment("1mo", datetime(2026, 3, 31, 12, tzinfo=UTC)) == datetime(2026, 2, 28, 12, tzinfo=UTC)


@pytest.mark.parametrize(
    "text",
    [
        "",
        "soon",
        "7",
        "7x",
        "2026-13",
        "2026-02-30",
        "0000",
        "99999999999d",
        "999999999y",
        "last week or so",
        "d7",
    ],
)
def test_what_is_no_time_is_refused_with_the_forms_that_are(text: str) -> None:
    with pytest.raises(UsageError) as refusal:
        parse_moment(text, NOW)
    assert f"`{text}`" in refusal.value.message
    for form in ("2026-05-14", "7d", "yesterday"):
        assert form in refusal.value.hint
        assert parse_moment(form, NOW) < NOW
    assert refusal.value.exit_code == 2


@given(st.text(max_size=40))
def test_any_option_is_a_time_or_a_usage_error(text: str) -> None:
    try:
        start, end = parse_period(text, NOW)
    except UsageError:
        return
    assert start <= end


# --- time expressions in a question -----------------------------------------------------------------------


def _bounds(periods: list[Period]) -> list[tuple[str, str]]:
    return [(period.start.strftime("%Y-%m-%d"), period.end.strftime("%Y-%m-%d")) for period in periods]


@pytest.mark.usefixtures("utc")
@pytest.mark.parametrize(
    ("query", "text", "start", "end"),
    [
        ("what broke in May 2023?", "in May 2023", "2023-05-01", "2023-06-01"),
        ("deploys of last week", "of last week", "2026-11-23", "2026-11-30"),
        ("what failed last month", "last month", "2026-11-01", "2026-12-01"),
        ("errors from yesterday", "from yesterday", "2026-11-30", "2026-12-01"),
        ("the day before yesterday we said", "the day before yesterday", "2026-11-29", "2026-11-30"),
        ("we met two days ago", "two days ago", "2026-11-29", "2026-11-30"),
        ("that was 3 weeks ago", "3 weeks ago", "2026-11-09", "2026-11-16"),
        ("a month ago", "a month ago", "2026-11-01", "2026-12-01"),
        ("a couple of years ago", "a couple of years ago", "2024-01-01", "2025-01-01"),
        ("decided on 7 May, 2023", "on 7 May, 2023", "2023-05-07", "2023-05-08"),
        ("decided on May 7th, 2023", "on May 7th, 2023", "2023-05-07", "2023-05-08"),
        ("the 7th of May 2023", "the 7th of May 2023", "2023-05-07", "2023-05-08"),
        ("run of 2026-05-14 failed", "of 2026-05-14", "2026-05-14", "2026-05-15"),
        ("in 2026-05 we", "in 2026-05", "2026-05-01", "2026-06-01"),
        ("this week's plan", "this week", "2026-11-30", "2026-12-07"),
        ("what happened in 2022", "in 2022", "2022-01-01", "2023-01-01"),
        ("in the summer of 2023", "in the summer of 2023", "2023-06-01", "2023-09-01"),
        ("goals for Q3 2026", "Q3 2026", "2026-07-01", "2026-10-01"),
        ("goals for 2026-Q3", "2026-Q3", "2026-07-01", "2026-10-01"),
        ("the second quarter of 2025", "the second quarter of 2025", "2025-04-01", "2025-07-01"),
        ("first week of June 2024", "first week of June 2024", "2024-06-01", "2024-06-08"),
        ("last week of June 2024", "last week of June 2024", "2024-06-24", "2024-07-01"),
        ("the weekend of 17 May 2023", "the weekend of 17 May 2023", "2023-05-20", "2023-05-22"),
        ("in the week of 2026-05-14", "in the week of 2026-05-14", "2026-05-11", "2026-05-18"),
        ("over the weekend it broke", "over the weekend", "2026-11-28", "2026-11-30"),
        ("early June 2023", "early June 2023", "2023-06-01", "2023-06-11"),
        ("by the end of June 2023", "by the end of June 2023", "2023-06-21", "2023-07-01"),
        ("last Monday", "last Monday", "2026-11-30", "2026-12-01"),
        ("last October", "last October", "2026-10-01", "2026-11-01"),
        ("last summer", "last summer", "2026-06-01", "2026-09-01"),
        ("from May to July 2023", "from May to July 2023", "2023-05-01", "2023-08-01"),
        ("from November to January 2024", "from November to January 2024", "2023-11-01", "2024-02-01"),
        (
            "between 2023-05-03 and 2023-05-05",
            "between 2023-05-03 and 2023-05-05",
            "2023-05-03",
            "2023-05-06",
        ),
    ],
)
def test_an_expression_is_found_with_its_bounds(query: str, text: str, start: str, end: str) -> None:
    (period,) = find_periods(query, NOW)
    assert period.text == text
    assert query[slice(*period.span)] == text
    assert _bounds([period]) == [(start, end)]
    assert period.recurs is None


@pytest.mark.usefixtures("utc")
@pytest.mark.parametrize(
    ("query", "inside", "outside"),
    [
        ("what did we decide in October", ["2026-10-05", "2019-10-31"], ["2026-11-01", "2019-09-30"]),
        ("on 14 May", ["2026-05-14", "2021-05-14"], ["2026-05-15"]),
        ("May 7th", ["2022-05-07"], ["2022-05-08", "2022-04-07"]),
        ("on 29 February", ["2024-02-29", "2020-02-29"], ["2023-02-28", "2023-03-01"]),
        ("in December", ["2026-12-31", "2020-12-01"], ["2027-01-01", "2026-11-30"]),
        ("in the winter", ["2026-12-24", "2026-01-24", "2024-02-28"], ["2026-03-01", "2026-11-30"]),
        ("first week of June", ["2020-06-07"], ["2020-06-08"]),
        ("on Monday", ["2026-11-30", "2026-11-23", "2023-05-01"], ["2026-11-29", "2026-12-01"]),
        ("between 3 May and 5 May", ["2020-05-04"], ["2020-05-06"]),
    ],
)
def test_without_a_year_every_year_is_meant(query: str, inside: list[str], outside: list[str]) -> None:
    (period,) = find_periods(query, NOW)
    for day in inside:
        assert period.contains(datetime.fromisoformat(day + "T12:00:00+00:00")), day
    for day in outside:
        assert not period.contains(datetime.fromisoformat(day + "T12:00:00+00:00")), day


@pytest.mark.usefixtures("utc")
@pytest.mark.parametrize(
    ("query", "start", "end"),
    [
        ("everything since Monday", datetime(2026, 11, 30, tzinfo=UTC), FAR_FUTURE),
        ("since 2023", datetime(2023, 1, 1, tzinfo=UTC), FAR_FUTURE),
        ("after May 2023", datetime(2023, 6, 1, tzinfo=UTC), FAR_FUTURE),
        ("before yesterday", FAR_PAST, datetime(2026, 11, 30, tzinfo=UTC)),
        ("until October", FAR_PAST, datetime(2026, 11, 1, tzinfo=UTC)),
    ],
)
def test_since_and_before_leave_one_end_open(query: str, start: datetime, end: datetime) -> None:
    (period,) = find_periods(query, NOW)
    assert (period.start, period.end, period.recurs) == (start, end, None)


@pytest.mark.parametrize(
    "query",
    [
        "it may fail",
        "May I ask why",
        "is it safe? May it stay",
        "this may break the build",
        "step 2 may fail",
        "in the last may be",
        "march to the sea",
        "fall back to the default",
        "spring boot error",
        "the second try of the first query",
        "a second opinion",
        "dec and hex",
        "the sun and the sat nav",
        "logs/2026/05/14/run.txt",
        "0f2026-05-14",
        "7f3d2026-05-14-9c1e",
        "version 2023.4.1",
        "port 2022",
        "in 2000 rows",
        "31.5 percent",
        "9999 years ago",
        "monitor the separate market summary",
        "",
        "why did dedupe_orders deadlock",
    ],
)
def test_ordinary_words_are_no_time(query: str) -> None:
    assert find_periods(query, NOW) == []


@pytest.mark.parametrize(
    "query",
    [
        "in may",
        "since may",
        "of march",
        "last may",
        "what did May bring",
        "may 2023",
        "7 may 2023",
        "may 7th",
        "May 7",
    ],
)
def test_may_is_a_month_where_it_is_written_as_one(query: str) -> None:
    (period,) = find_periods(query, NOW)
    assert period.text in query


@pytest.mark.usefixtures("utc")
def test_several_expressions_are_alternatives_in_their_order() -> None:
    periods = find_periods("deadlocks in October and last week, or on 2023-05-14", NOW)
    assert [period.text for period in periods] == ["in October", "last week", "on 2023-05-14"]


@pytest.mark.usefixtures("utc")
def test_distance_is_in_days_to_the_nearest_edge() -> None:
    (week,) = find_periods("last week", NOW)  # 23 to 29 November
    assert week.distance_days(datetime(2026, 11, 25, tzinfo=UTC)) == 0
    assert week.distance_days(datetime(2026, 11, 21, tzinfo=UTC)) == 2
    assert week.distance_days(datetime(2026, 12, 1, 12, tzinfo=UTC)) == 1.5
    (october,) = find_periods("in October", NOW)
    assert october.distance_days(datetime(2021, 11, 3, tzinfo=UTC)) == 3
    assert october.distance_days(datetime(2021, 9, 28, tzinfo=UTC)) == 3
    (january,) = find_periods("in January", NOW)
    assert january.distance_days(datetime(2021, 12, 30, tzinfo=UTC)) == 2
    (monday,) = find_periods("on Monday", NOW)
    assert monday.distance_days(datetime(2026, 11, 28, tzinfo=UTC)) == 2


_WORDS = st.lists(
    st.sampled_from(
        "in on of the since before until from to between and last this next a few couple two 3 7 31 2023 2026-05-14 "
        "2026-02-31 0000-00 week weekend month year days ago May may june Dec 29 February Monday fri Q3 first quarter "
        "summer fall early end yesterday tonight , . ? 9999 weeks years 1st".split()
    ),
    max_size=12,
).map(" ".join)


@given(
    _WORDS | st.text(max_size=60),
    st.datetimes(_naive("1971-01-01"), _naive("2200-01-01"), timezones=st.just(UTC)),
)
@example("ſept 5, ſunday, 5 ſept", NOW)
@example("last May next May since next year", datetime(2024, 2, 29, 12, tzinfo=UTC))
def test_any_question_gives_periods_that_hold_together(query: str, now: datetime) -> None:
    reached = 0
    for period in find_periods(query, now):
        assert reached <= period.span[0] < period.span[1] <= len(query)
        assert query[slice(*period.span)] == period.text
        assert period.start <= period.end
        if period.start not in {period.end, FAR_PAST}:
            assert period.contains(period.start)
        assert period.distance_days(now) >= 0
        reached = period.span[1]

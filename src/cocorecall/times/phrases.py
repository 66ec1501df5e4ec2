"""What English time expressions look like, and which stretch of the calendar each one names."""

from __future__ import annotations

import re
from collections.abc import Callable
from datetime import datetime, timedelta
from functools import cache
from typing import Literal, NamedTuple

from cocorecall.times.instants import read_iso
from cocorecall.times.local import (
    UNIT_MONTHS,
    UNIT_SECONDS,
    Bounds,
    add_months,
    before,
    days,
    midnight,
    monday,
    months,
    unit_around,
)

Recurrence = Literal["week", "year"]


class Reading(NamedTuple):
    """What a rule makes of an expression: local (naive) or aware bounds."""

    start: datetime
    end: datetime
    recurs: Recurrence | None = None


def _latest(now: datetime, occurrence: Callable[[int], Bounds]) -> Reading:
    """The latest yearly occurrence that has begun; 29 February may lie eight years back."""
    for year in range(now.year, now.year - 9, -1):
        try:
            start, end = occurrence(year)
        except ValueError:
            continue
        if start <= now:
            return Reading(start, end, "year")
    raise ValueError("no such day in any year")


def _in_year(now: datetime, year: str | None, occurrence: Callable[[int], Bounds]) -> Reading:
    return Reading(*occurrence(int(year))) if year else _latest(now, occurrence)


# --- the rules: a pattern and what it means --------------------------------------------------------------

_MONTHS = ("jan", "feb", "mar", "apr", "may", "jun", "jul", "aug", "sep", "oct", "nov", "dec")
_WEEKDAYS = ("mon", "tue", "wed", "thu", "fri", "sat", "sun")
_SEASONS = {"spring": 3, "summer": 6, "autumn": 9, "fall": 9, "winter": 12}  # northern, by first month
_NUMBERS = "zero one two three four five six seven eight nine ten eleven twelve".split()
_ORDINALS = ("first", "second", "third", "fourth")

_FRAGMENTS = {
    "<month>": r"\b(?P<month>jan(?:uary)?|feb(?:ruary)?|mar(?:ch)?|apr(?:il)?|may(?!\s+(?:be|have|not|also|or)\b)"
    r"|june?|july?|aug(?:ust)?|sept?(?:ember)?|oct(?:ober)?|nov(?:ember)?|dec(?:ember)?)\b\.?",
    "<weekday>": r"\b(?P<weekday>mon|tues?|wed|thu(?:rs?)?|fri|sat|sun|(?:mon|tues|wednes|thurs|fri|satur|sun)days?)\b",
    "<season>": r"\b(?P<season>spring|summer|autumn|fall|winter)\b",
    "<day>": r"\b(?P<day>[12][0-9]|3[01]|0?[1-9])(?P<suffix>st|nd|rd|th)?\b",
    "<year>": r"\b(?P<year>(?:19[7-9]|20[0-9])[0-9])\b(?![-.:/][0-9])",
    "<count>": r"\b(?P<count>[0-9]{1,4}|an?|one|two|three|four|five|six|seven|eight|nine|ten|eleven|twelve"
    r"|(?:a\s+)?couple(?:\s+of)?|(?:a\s+)?few|several)\b",
    "<unit>": r"\b(?P<unit>second|minute|hour|day|week|month|quarter|year)s?\b",
    "<nth>": r"\b(?P<nth>first|second|third|fourth|last)\b",
}

_Resolver = Callable[[re.Match[str], datetime], Reading | None]
_Evidence = Callable[[re.Match[str], str], bool]
"""Whether a match is meant as a time, given the preposition that leads it, or ""."""


def _iso_date(found: re.Match[str], _now: datetime) -> Reading | None:
    bounds = read_iso(found[0].replace("/", "-"))
    return None if bounds is None else Reading(*bounds)


def _calendar_day(found: re.Match[str], now: datetime) -> Reading | None:
    month, day = _month_number(found), int(found["day"])
    return _in_year(now, found["year"], lambda year: days(datetime(year, month, day)))  # noqa: DTZ001


def _calendar_month(found: re.Match[str], now: datetime) -> Reading | None:
    month = _month_number(found)
    return _in_year(now, found["year"], lambda year: months(year, month))


def _calendar_year(found: re.Match[str], now: datetime) -> Reading | None:
    return Reading(*months(int(found["year"]), 1, 12)) if int(found["year"]) <= now.year + 1 else None


def _part_of_year(found: re.Match[str], _now: datetime) -> Reading | None:
    return Reading(*months(int(found["year"]), {"e": 1, "m": 5, "l": 9}[found["part"][0].lower()], 4))


def _calendar_quarter(found: re.Match[str], now: datetime) -> Reading | None:
    name = found["quarter"].lower()
    number = int(name) if name.isdigit() else _ORDINALS.index(name) + 1
    return _in_year(now, found["year"], lambda year: months(year, number * 3 - 2, 3))


def _calendar_season(found: re.Match[str], now: datetime) -> Reading | None:
    first = _SEASONS[found["season"].lower()]
    return _in_year(now, found["year"], lambda year: months(year, first, 3))


def _week_of_month(found: re.Match[str], now: datetime) -> Reading | None:
    month, nth = _month_number(found), found["nth"].lower()

    def week(year: int) -> Bounds:
        start, end = months(year, month)
        return days(
            end - timedelta(days=7) if nth == "last" else start + timedelta(7 * _ORDINALS.index(nth)), 7
        )

    return _in_year(now, found["year"], week)


def _part_of_month(found: re.Match[str], now: datetime) -> Reading | None:
    month, part = _month_number(found), found["part"].lower()

    def third(year: int) -> Bounds:
        start, end = months(year, month)
        if part.startswith("mid"):
            return days(start + timedelta(days=10), 10)
        return (start + timedelta(days=20), end) if part.startswith(("late", "end")) else days(start, 10)

    return _in_year(now, found["year"], third)


def _relative(found: re.Match[str], now: datetime) -> Reading | None:
    """`last week`, `this month`, `next quarter`, `last Monday`, `this summer`, `last October`."""
    step = {"this": 0, "current": 0, "next": 1}.get(found["which"].lower(), -1)
    if found["weekday"]:
        return Reading(*days(_weekday_near(now, _weekday_number(found), step)))
    if found["month"] or found["season"]:
        first = _month_number(found) if found["month"] else _SEASONS[found["season"].lower()]
        return Reading(*_yearly_near(now, first, 1 if found["month"] else 3, step))
    unit = found["unit"].lower()
    if unit == "weekend":
        return Reading(*_weekend_near(now, step))
    if found["which"].lower() == "past":
        return Reading(before(now, 1, unit), now)
    if unit in UNIT_MONTHS:
        moved = add_months(now.replace(day=1), step * UNIT_MONTHS[unit])
    else:
        moved = now + timedelta(seconds=step * UNIT_SECONDS[unit])
    return Reading(*unit_around(moved, unit))


def _weekday_near(now: datetime, weekday: int, step: int) -> datetime:
    """Midnight of the weekday: the last before today, this ISO week's, or the next after today."""
    if step == 0:
        return monday(now) + timedelta(days=weekday)
    ahead = (weekday - now.weekday()) % 7
    return midnight(now) + timedelta(days=(ahead or 7) if step > 0 else ahead - 7)


def _weekend_near(now: datetime, step: int) -> Bounds:
    saturday = monday(now) + timedelta(days=5 + 7 * step)
    return days(saturday, 2)


def _yearly_near(now: datetime, first: int, count: int, step: int) -> Bounds:
    """A month or season: the last that is over, this year's, or the next to begin."""
    years = range(now.year - 2, now.year + 2)
    spans = [months(year, first, count) for year in years]
    if step < 0:
        return [span for span in spans if span[1] <= now][-1]
    if step > 0:
        return next(span for span in spans if span[0] > now)
    return next((span for span in spans if span[0] <= now < span[1]), spans[2])


def _last_few(found: re.Match[str], now: datetime) -> Reading | None:
    unit = found["unit"].lower()
    return Reading(before(now, max(_count(found)), unit), now)


def _ago(found: re.Match[str], now: datetime) -> Reading | None:
    """The day, week, month or year that lies so far back; `a few` spans what it may mean."""
    least, most = _count(found)
    unit = found["unit"].lower()
    earliest, latest = before(now, most, unit), before(now, least, unit)
    if unit in {"second", "minute", "hour"}:
        slack = timedelta(seconds=UNIT_SECONDS[unit])
        return Reading(earliest - slack, latest + slack)
    return Reading(unit_around(earliest, unit)[0], unit_around(latest, unit)[1])


def _count(found: re.Match[str]) -> tuple[int, int]:
    word = found["count"].lower()
    if word.isdigit():
        return int(word), int(word)
    if word in {"a", "an"}:
        return 1, 1
    if word in _NUMBERS:
        return _NUMBERS.index(word), _NUMBERS.index(word)
    return (2, 2) if "couple" in word else (2, 6)


def _named_day(found: re.Match[str], now: datetime) -> Reading | None:
    name, today = " ".join(found[0].lower().split()), midnight(now)
    if name.endswith("before yesterday"):
        return Reading(*days(today - timedelta(days=2)))
    if name in {"last night", "tonight"}:
        evening = today + timedelta(hours=18 if name == "tonight" else -6)
        return Reading(evening, evening + timedelta(hours=12))
    if name.startswith("this "):
        hour = {"morning": 0, "afternoon": 12, "evening": 18}[name[5:]]
        return Reading(
            today + timedelta(hours=hour), today + timedelta(hours=hour + (12 if hour == 0 else 6))
        )
    if name.endswith("weekend"):
        return Reading(*_weekend_near(now, 0 if now.weekday() >= _WEEKDAYS.index("sat") else -1))
    return Reading(*days(today - timedelta(days=1 if name == "yesterday" else 0)))


def _every_weekday(found: re.Match[str], now: datetime) -> Reading | None:
    ago = (now.weekday() - _weekday_number(found)) % 7
    return Reading(*days(midnight(now) - timedelta(days=ago)), "week")


def _month_number(found: re.Match[str]) -> int:
    return _MONTHS.index(found["month"][:3].lower()) + 1


def _weekday_number(found: re.Match[str]) -> int:
    return _WEEKDAYS.index(found["weekday"][:3].lower())


# --- what shows that words which could mean something else are meant as a time -----------------------------

_DATE_LEADS = frozenset("in on of since until till before after during from between by".split())
_YEAR_LEADS = frozenset("in since until till before after during from between year".split())
_COUNTED = (
    "rows|lines|tokens|records|files|turns|items|bytes|ms|milliseconds|seconds|char(?:acter)?s|tests|errors|times"
    "|sessions|messages|requests|users|events|entries|calls|steps|queries|tables|columns|documents|words|pages"
)
_ALSO_WORDS = frozenset({"may", "march", "august"})
_SHORT_MONTHS = frozenset({"june", "july"})


def _always(_match: re.Match[str], _prep: str) -> bool:
    return True


def _year_meant(match: re.Match[str], prep: str) -> bool:
    """`in 2022`, but not `in 2000 rows`."""
    counted = re.compile(rf"\s{{1,8}}(?:{_COUNTED})\b").match(match.string, match.end())
    return prep in _YEAR_LEADS and counted is None


def _quarter_meant(match: re.Match[str], prep: str) -> bool:
    return match["year"] is not None or prep in _DATE_LEADS


def _season_meant(match: re.Match[str], prep: str) -> bool:
    """`in summer`, but `in the spring`: Spring is also a framework, and fall a verb."""
    named = match["the"] is not None or match["season"].lower() not in {"spring", "fall"}
    return match["year"] is not None or (named and prep in _DATE_LEADS)


def _weekday_meant(match: re.Match[str], prep: str) -> bool:
    name = match["weekday"]
    return "day" in name.lower() or (prep in _DATE_LEADS and name.istitle())


def _relative_meant(match: re.Match[str], _prep: str) -> bool:
    """`last may`, but not `this may fail`."""
    return match["month"] is None or match["which"].lower() != "this" or match["month"].istitle()


def _day_meant(match: re.Match[str], prep: str) -> bool:
    """`May 7`, `7th may`, `on 7 may`, `may 7.`, but not `step 2 may fail`."""
    name = match["month"]
    if match["year"] or match["suffix"] or prep in _DATE_LEADS or name.istitle() or _only_a_month(name):
        return True
    ends_phrase = re.compile(r"\s{0,8}(?:$|[^\w\s])").match(match.string, match.end())
    return match[0].startswith(name) and ends_phrase is not None


def _month_meant(match: re.Match[str], prep: str) -> bool:
    """`in may`, `April`, `that May`, but not `it may` or `May I`: there, only the place tells."""
    name = match["month"]
    if match["year"] or prep in _DATE_LEADS or _only_a_month(name):
        return True
    before = match.string[max(0, match.start() - 8) : match.start()].rstrip()
    return name in {"May", "March", "August"} and before[-1:] not in {"", *".!?:\"'“"}


def _only_a_month(name: str) -> bool:
    """Whether the word is a month wherever it stands: neither `may` nor an abbreviation such as `dec`."""
    return name.lower() in _SHORT_MONTHS or (len(name) > len("sept") and name.lower() not in _ALSO_WORDS)


_RULES: tuple[tuple[str, _Resolver, _Evidence], ...] = (
    (
        (
            r"(?<![\w/-])[0-9]{4}(?P<dash>[-/])[0-9]{2}(?:(?P=dash)[0-9]{2}"
            r"(?:[T ][0-9]{2}:[0-9]{2}(?::[0-9]{2}(?:\.[0-9]+)?)?(?:Z|[+-][0-9]{2}:?[0-9]{2})?)?)?(?![\w/-])"
        ),
        _iso_date,
        _always,
    ),
    (r"<day>(?:\s+of)?\s+<month>(?:,?\s+<year>)?", _calendar_day, _day_meant),
    (r"<month>\s+<day>(?![:.][0-9])(?:,?\s+<year>)?", _calendar_day, _day_meant),
    (r"<month>(?:,?(?:\s+of)?\s+<year>)?", _calendar_month, _month_meant),
    (r"<year>", _calendar_year, _year_meant),
    (r"\b(?P<part>early|mid|late)[\s-]<year>", _part_of_year, _always),
    (r"\bq(?P<quarter>[1-4])\b(?:(?:-|,?\s+(?:of\s+)?)<year>)?", _calendar_quarter, _quarter_meant),
    (r"\b(?P<year>20[0-9]{2})[\s-]?q(?P<quarter>[1-4])\b", _calendar_quarter, _quarter_meant),
    (
        r"\b(?P<quarter>first|second|third|fourth)\s+quarter(?:\s+(?:of|in)\s+<year>)?",
        _calendar_quarter,
        _quarter_meant,
    ),
    (r"(?P<the>\bthe\s+)?<season>(?:,?(?:\s+of)?\s+<year>)?", _calendar_season, _season_meant),
    (r"<nth>\s+week\s+(?:of|in)\s+<month>(?:,?\s+<year>)?", _week_of_month, _always),
    (
        r"\b(?P<part>early|mid|late|beginning\s+of|start\s+of|middle\s+of|end\s+of)[\s-]+<month>(?:,?\s+<year>)?",
        _part_of_month,
        _always,
    ),
    (
        (
            r"\b(?P<which>last|past|previous|this|current|next)\s+"
            r"(?:(?P<unit>week|month|quarter|year|weekend)\b|<weekday>|<month>|<season>)"
        ),
        _relative,
        _relative_meant,
    ),
    (r"\b(?:last|past|previous)\s+<count>\s+<unit>", _last_few, _always),
    (r"<count>\s+<unit>\s+(?:ago|back)\b", _ago, _always),
    (
        (
            r"\b(?:day\s+before\s+yesterday|yesterday|today|tonight|last\s+night"
            r"|this\s+(?:morning|afternoon|evening)|(?:over|on|at)\s+the\s+weekend)\b"
        ),
        _named_day,
        _always,
    ),
    (r"<weekday>", _every_weekday, _weekday_meant),
)

# Every rule needs one of these; the names are looked for without what follows them, to compile in a moment.
_HINT = (
    r"\b(?:(?:19[7-9]|20[0-9])[0-9]\b|[0-9]{4}[-/][0-9]{2}\b|q[1-4]\b|tonight|today|yesterday|night|morning"
    r"|afternoon|evening|weekend|(?:second|minute|hour|day|week|month|quarter|year)s?\b"
    r"|(?:jan|feb|mar|apr|may|june?|july?|aug|sept?|oct|nov|dec|mon|tues?|wed|thur?s?|fri|sat|sun)\b"
    r"|(?:janua|februa|march|april|august|septem|octob|novem|decem)|(?:mon|tues|wednes|thurs|fri|satur|sun)day"
    r"|(?:spring|summer|autumn|fall|winter)\b)"
)
_LEAD = (
    r"(?:\b(?P<prep>since|after|before|until|till|from|between|in|on|during|of|by|at|over|around|within|year)\s+)?"
    r"(?:\bthe\s+)?(?:\b(?P<wide>week|weekend)\s+of\s+(?:the\s+)?)?$"
)


class Rule(NamedTuple):
    """One kind of expression: how it looks, what it names, and what shows that it is meant."""

    pattern: re.Pattern[str]
    resolve: _Resolver
    meant: _Evidence


class Grammar(NamedTuple):
    """The compiled rules.

    Attributes:
        lead: matches, up to the end it is given, what leads an expression: `since the`, `in the week of`.
        rules: every kind of expression.
    """

    lead: re.Pattern[str]
    rules: tuple[Rule, ...]


def has_hint(text: str) -> bool:
    """Whether any rule can match: most questions have no time in them, and need no grammar."""
    return re.search(_HINT, text, re.IGNORECASE | re.ASCII) is not None


@cache
def grammar() -> Grammar:
    """The grammar, compiled when the first text needs it."""
    return Grammar(
        lead=re.compile(_LEAD, re.IGNORECASE | re.ASCII),
        rules=tuple(Rule(_compile(pattern), resolve, meant) for pattern, resolve, meant in _RULES),
    )


def _compile(pattern: str) -> re.Pattern[str]:
    pattern = re.sub(r"(?<!\?P)<\w+>", lambda name: _FRAGMENTS[name[0]], pattern)
    return re.compile(pattern, re.IGNORECASE | re.ASCII)

"""Times that are not there, and whence they are taken. Robustness Y3, T1."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocorecall.model import Event, SessionHead, Turn
from cocorecall.sources.blocks import with_times

A, B = "2026-05-14T09:00:00.000Z", "2026-05-14T08:00:00.000Z"


def timed(
    times: list[str | None], start: str | None = None, mtime: float = 0.0
) -> list[tuple[str | None, str]]:
    turns = [Turn("user", str(n), timestamp=t) for n, t in enumerate(times)]
    events = with_times([SessionHead("s", "cortex", start_time=start), *turns], mtime)
    return [(e.timestamp, e.time_source) for e in events if isinstance(e, Turn)]


def test_own_before_after_session_and_file() -> None:
    assert timed([None, A, None, B, None]) == [
        (A, "after"),
        (A, "own"),
        (A, "before"),
        (B, "own"),
        (B, "before"),
    ]
    assert timed([None, None], start=A) == [(A, "session")] * 2
    assert timed([None], mtime=1_778_749_200.0) == [(A, "file")]


@pytest.mark.parametrize("mtime", [-1.0, 1e18])
def test_a_files_time_beyond_the_calendar_is_no_error(mtime: float) -> None:
    ((time, source),) = timed([None], mtime=mtime)
    assert source == "file"
    assert time in ("1970-01-01T00:00:00.000Z", "9999-12-31T23:59:59.000Z")


def test_a_time_without_a_zone_stays_marked_where_it_is_passed_on() -> None:
    turns = [Turn("user", "a"), Turn("user", "b", timestamp=A, zoned=False), Turn("user", "c")]
    events = with_times([SessionHead("s", "cortex"), *turns], 0.0)
    assert [e.zoned for e in events if isinstance(e, Turn)] == [False] * 3


def test_one_sessions_times_are_not_the_nexts() -> None:
    events: list[Event] = [
        SessionHead("one", "x"), Turn("user", "a", timestamp=A),
        SessionHead("two", "x", start_time=B), Turn("user", "b"),
    ]  # fmt: skip
    assert [(e.timestamp, e.time_source) for e in with_times(events, 0.0) if isinstance(e, Turn)] == [
        (A, "own"),
        (B, "session"),
    ]


@given(st.lists(st.sampled_from([None, A, B]), max_size=30))
def test_order_never_changes_and_no_time_is_missing(times: list[str | None]) -> None:
    turns = [Turn("user", str(n), timestamp=t) for n, t in enumerate(times)]
    out = [e for e in with_times([SessionHead("s", "x"), *turns], 0.0) if isinstance(e, Turn)]
    assert [t.text for t in out] == [t.text for t in turns]
    assert all(t.timestamp and t.time_source != "none" for t in out)

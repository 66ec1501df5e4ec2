"""How reports read: what is grouped, capped and said to do next."""

from __future__ import annotations

from dataclasses import replace

import pytest

from cocorecall.cli.import_command import summary
from cocorecall.cli.output import counted, cut, cut_path, shortened, size
from cocorecall.cli.status_command import retention, rows
from cocorecall.model import ImportReport, RetentionReport, SkippedInput, StatusReport

STATUS = StatusReport(
    project="/work/shop",
    index_path="/work/shop/.cocoplus/recall.db",
    index_bytes=1_234_567,
    wal_bytes=0,
    free_bytes=4096,
    schema_version=1,
    sessions=1200,
    turns=54_321,
    agents={"claude": 700, "cortex": 500},
    last_import="2026-11-30T12:00:00.000Z",
    newest_turn="2026-11-29T23:59:59.000Z",
    transcripts=1203,
    not_indexed=3,
    sessions_gone=1,
    turns_not_in_source=0,
    unreadable=(),
    unknown_records={"pulse": 7},
    citations=42,
    phase="build",
)


def test_what_was_skipped_is_grouped_by_reason_with_an_example() -> None:
    skipped = tuple(SkippedInput(f"/t/{i}.jsonl", "not a transcript of a known agent") for i in range(30))
    skipped += (SkippedInput("/t/x.jsonl", "not JSON", line=7, records=2),)
    lines = summary(ImportReport(transcripts=31, skipped=skipped)).splitlines()
    assert lines[3:] == [
        "Skipped records or files: 32",
        "  30 × not a transcript of a known agent, first in /t/0.jsonl",
        "  2 × not JSON, first in /t/x.jsonl:7",
    ]


def test_many_reasons_take_few_lines_and_the_rest_is_counted() -> None:
    skipped = tuple(SkippedInput(f"/t/{i}.jsonl", f"reason {i}") for i in range(50))
    lines = summary(ImportReport(transcripts=50, skipped=skipped)).splitlines()
    assert len(lines) <= 15
    assert lines[-1] == "  … and 42 more reasons: recall status"


def test_an_import_that_found_nothing_says_where_to_look() -> None:
    assert "recall sources" in summary(ImportReport()).splitlines()[-1]
    assert "recall sources" not in summary(ImportReport(transcripts=1))


def test_status_says_it_in_numbers_that_a_person_reads() -> None:
    told = dict(rows(STATUS))
    assert told["Size"] == "1.2 MB, log 0 B, free 4.1 kB"
    assert told["Sessions"] == "1,200 (claude 700, cortex 500)"
    assert told["Source gone"] == "1 session, kept"
    assert told["Not known"] == "pulse (7)"
    assert dict(rows(replace(STATUS, last_import=None)))["Last import"] == "never"


@pytest.mark.parametrize(
    ("n", "words"), [(0, "0 turns"), (1, "1 turn"), (2, "2 turns"), (1234567, "1,234,567 turns")]
)
def test_counts(n: int, words: str) -> None:
    assert counted(n, "turn") == words


@pytest.mark.parametrize(
    ("n", "words"), [(999, "999 B"), (1000, "1.0 kB"), (2_500_000, "2.5 MB"), (7_000_000_000, "7.0 GB")]
)
def test_sizes(n: int, words: str) -> None:
    assert size(n) == words


def test_what_is_shortened_is_counted_to_the_character() -> None:
    text = "x" * 5000
    short = shortened(text, 100)
    kept, mark = short.split(" [… ")
    assert len(short) <= 100
    assert mark == f"{5000 - len(kept):,} characters …]"
    assert shortened(text, 5000) == text


def test_titles_and_paths_keep_what_tells_most() -> None:
    assert cut("a  title\nof two lines", 30) == "a title of two lines"
    assert cut("a title that is too long", 10) == "a title t…"
    assert cut_path("/a/very/long/folder/file.jsonl", 12) == "…/file.jsonl"


def test_status_names_what_agents_delete_and_have_deleted() -> None:
    told = retention(RetentionReport("claude", 30, None, 5, ("a", "b", "c"), 1, ("d",)))
    assert told == (
        "claude deletes after 30 days (its default); due within 7 days: 5 sessions (a, b, c, …);"
        " the index keeps them; source gone: 1 session (d)"
    )
    assert retention(RetentionReport("cortex", None, None, 0, (), 2, ("e", "f"))) == (
        "cortex; source gone: 2 sessions (e, f)"
    )

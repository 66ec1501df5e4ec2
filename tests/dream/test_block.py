"""The managed block: what people wrote around it stays, byte for byte."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocorecall.dream.block import BEGIN, END, MemoryBlockError, parse

_FOREIGN = st.binary(max_size=200)
_LINES = st.lists(st.text(st.characters(exclude_characters="\r\n", exclude_categories=["Cs"]), max_size=30))


@given(_FOREIGN, _LINES)
def test_foreign_bytes_stay_and_a_second_write_changes_nothing(foreign: bytes, lines: list[str]) -> None:
    once = parse(foreign).with_lines(lines)
    again = parse(once)
    assert once.startswith(foreign)
    assert again.lines() == lines
    assert again.with_lines(again.lines()) == once


@pytest.mark.parametrize("end", ["\n", "\r\n"])
def test_text_above_and_below_is_kept_with_its_line_ends(end: str) -> None:
    data = end.join(["\ufeff# Ours", BEGIN, "old", END, "below, no final newline"]).encode()
    assert parse(data).with_lines(["new"]) == data.replace(b"old", b"new")


@pytest.mark.parametrize("marks", [[BEGIN], [END], [END, BEGIN], [BEGIN, END, BEGIN, END]])
def test_a_file_whose_markers_do_not_pair_is_refused(marks: list[str]) -> None:
    with pytest.raises(MemoryBlockError, match="marker"):
        parse("\n".join(marks).encode())


@pytest.mark.parametrize("line", ["two\nlines", END, f"  {BEGIN} "])
def test_a_line_that_would_break_the_block_is_refused(line: str) -> None:
    with pytest.raises(ValueError, match="marker"):
        parse(b"").with_lines([line])

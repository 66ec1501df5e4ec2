"""Base64 is neither stored nor searched; words beside it are. Robustness H2, E1, E4."""

from __future__ import annotations

import base64

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocorecall.model import MAX_TEXT
from cocorecall.sources.blocks import cut, read_content, storable, without_reminders

PNG = base64.b64encode(b"\x89PNG\r\n\x1a\n" + bytes(range(256)) * 20).decode()


@pytest.mark.parametrize(
    ("text", "left"),
    [
        (f"see data:image/png;base64,{PNG} here", "see [image/png, 5,128 bytes] here"),
        (f"data:image/svg+xml;charset=utf-8;base64,{PNG}", "[image/svg+xml, 5,128 bytes]"),
        (f'{{"mimeType": "image/png", "data": "{PNG}"}}', '{"mimeType": "image/png", "data": "[image/png, 5,128 bytes]"}'),
        ("data:text/plain;base64,SGVsbG8= is short", "data:text/plain;base64,SGVsbG8= is short"),
        ("the prefix iVBORw0KGgo tells a PNG", "the prefix iVBORw0KGgo tells a PNG"),
        ("x" * 5000, "x" * 5000),
    ],
)  # fmt: skip
def test_payloads_become_markers(text: str, left: str) -> None:
    assert storable(text) == left


def test_base64_in_lines_ends_before_the_next_words() -> None:
    lines = "\n".join(PNG[i : i + 76] for i in range(0, len(PNG), 76))
    assert storable(f"data:image/png;base64,{lines}\n\nDone here").endswith("bytes]\n\nDone here")


@given(st.text())
def test_what_is_stored_is_utf8_without_nul_and_else_unchanged(text: str) -> None:
    stored = storable(text)
    stored.encode()
    assert "\0" not in stored
    if "\0" not in text:
        assert stored == text


@given(st.text(max_size=10))
def test_lone_surrogates_are_replaced_and_pairs_joined(text: str) -> None:
    stored = storable(text + "\ud83d" + "-\ud83d\ude00")
    stored.encode()
    assert stored.endswith("\ufffd-😀")


def test_tags_without_end_take_no_time_to_speak_of() -> None:
    text = "<system-reminder>" * 60_000
    assert without_reminders(text) == text


def test_content_nested_beyond_reason_is_named() -> None:
    content: object = "deep"
    for _ in range(500):
        content = [{"type": "tool_result", "tool_use_id": "t", "content": content}]
    ((_, text),) = read_content(content).results
    assert text == "[content nested too deep]"


@pytest.mark.parametrize(
    ("content", "words"),
    [
        ({"rows": [["ORDERS", 3]]}, "ORDERS"),
        ([{"type": "table", "cells": ["ORDERS"]}], "ORDERS"),
        ([{"type": "resource", "resource": {"uri": "x", "text": "ORDERS"}}], "ORDERS"),
        ([{"type": "search_result", "content": [{"type": "text", "text": "ORDERS"}]}], "ORDERS"),
        (["ORDERS"], "ORDERS"),
        (42, "42"),
        ("", ""),
        (None, ""),
        ([], ""),
        ([{"type": "text", "text": ""}], ""),
    ],
)
def test_a_result_of_any_shape_can_be_searched(content: object, words: str) -> None:
    """Robustness P2, Y6."""
    ((_, text),) = read_content({"type": "tool_result", "tool_use_id": "t", "content": content}).results
    assert words in text
    assert bool(text) == bool(words)


def test_rows_beside_a_results_text_are_kept() -> None:
    block = {"type": "tool_result", "tool_result": {"content": "1 row(s) returned.", "sqldata": [{"ID": 7}]}}
    ((_, text),) = read_content(block).results
    assert text == '1 row(s) returned.\n\n{"ID":7}'


@pytest.mark.parametrize(
    ("block", "marker"),
    [
        ({"type": "image", "image": {"media_type": "image/png", "data": PNG}}, "[image/png, 5,128 bytes]"),
        ({"type": "image", "source": {"type": "url", "url": "https://example.org/x.png"}}, "[image]"),
        ({"type": "document", "source": {"type": "text", "data": "plain words"}}, "plain words"),
    ],
)
def test_media_in_every_shape(block: dict[str, object], marker: str) -> None:
    assert read_content([block]).texts == [marker]


def test_a_text_beyond_the_limit_says_how_long_it_was() -> None:
    """Robustness H1."""
    assert cut("é" * MAX_TEXT) == ("é" * MAX_TEXT, None)
    text, length = cut("é" * (MAX_TEXT + 5))
    assert (len(text), length) == (MAX_TEXT, MAX_TEXT + 5)

"""The error of a tool result, and the form in which it is found again."""

from __future__ import annotations

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocorecall.extract import error_of, normalize_error
from cocorecall.model import ToolResult, Turn


def error(text: str, status: str | None = None) -> str | None:
    return error_of(Turn("tool", text, results=(ToolResult("c", status),)))


@pytest.mark.parametrize(
    ("one", "other"),
    [
        (
            "002003 (42S02): SQL compilation error:\nObject 'A.B.C' does not exist or not authorized.",
            "002003 (42S02): SQL compilation error:  Object 'X.Y.ZED' does not exist or not authorized.",
        ),
        ("KeyError: 'amount'", "KeyError: 'total'"),
        ('File "src/a.py", line 31, in load', 'File "lib/b/c.py", line 7, in load'),
        ("invalid identifier BATCH.NO at line 3", "invalid identifier OTHER.NAME at line 88"),
        (
            "job 7f3a51e0-0000-4d26-91c5-d8e27b94f063 failed",
            "job 00000000-aaaa-4d26-91c5-d8e27b94f063 failed",
        ),
        ("took 12.5 s at 2026-10-01T10:00:00Z", "took 3 s at 2026-11-30 23:59"),
    ],
)
def test_the_same_error_has_one_form(one: str, other: str) -> None:
    assert normalize_error(one) == normalize_error(other)


@pytest.mark.parametrize(
    ("one", "other"),
    [
        ("002003 (42S02): SQL compilation error", "000904 (42000): SQL compilation error"),
        ("KeyError: 'amount'", "ValueError: 'amount'"),
        ("exit code 1", "exit code 137"),
    ],
)
def test_codes_and_types_tell_errors_apart(one: str, other: str) -> None:
    assert normalize_error(one) != normalize_error(other)


@given(
    st.one_of(
        st.text(max_size=300),
        st.lists(
            st.sampled_from(
                ["`", "'", "HTTP 404", "exit code 2", "E1234", "a/b.py", "DB.T", " ", "12", "0xff"]
            ),
            max_size=20,
        ).map("".join),
    )
)
def test_normalizing_twice_changes_nothing(text: str) -> None:
    once = normalize_error(text)
    assert normalize_error(once) == once


@pytest.mark.parametrize(
    ("text", "line"),
    [
        (
            "002003 (42S02): SQL compilation error:\nObject 'A.B' does not exist or not authorized.\nmore",
            "002003 (42S02): SQL compilation error:\nObject 'A.B' does not exist or not authorized.",
        ),
        (
            "Traceback (most recent call last):\n  File \"a.py\", line 1, in f\n    x\nKeyError: 'amount'\n",
            "KeyError: 'amount'",
        ),
        ("a.sh: line 12: snowsql: command not found", "a.sh: line 12: snowsql: command not found"),
        ("F.\n>       assert 1 == 2\nE       assert 1 == 2\n\na.py:9: AssertionError", "assert 1 == 2"),
        ("FAILED tests/test_a.py::test_b - KeyError", "FAILED tests/test_a.py::test_b - KeyError"),
        (
            "Compilation Error in model x (models/x.sql)\n  'mask' is undefined",
            "Compilation Error in model x (models/x.sql)",
        ),
        ("090105: Cannot perform SELECT.\nCall USE", "090105: Cannot perform SELECT."),
        ("fatal: not a git repository", "fatal: not a git repository"),
    ],
)
def test_the_essential_line_is_found_by_its_form(text: str, line: str) -> None:
    assert error(text) == line


def test_another_result_is_an_error_only_if_its_call_failed() -> None:
    assert error("\nno luck today\n") is None
    assert error("\nno luck today\n", "error") == "no luck today"
    assert error("12 rows", "success") is None
    assert error_of(Turn("user", "KeyError: 'amount'")) is None


@given(st.text(max_size=400), st.sampled_from([None, "success", "error"]))
def test_the_line_stands_in_the_result(text: str, status: str | None) -> None:
    found = error(text, status)
    assert found is None or found in text

"""Functions in program text: which an edit defines, changes or removes."""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import Any

from cocorecall.extract.names import function_name

_PYTHON = re.compile(r"^[ \t]*(?:async[ \t]+)?def[ \t]+([A-Za-z_]\w*)[ \t]*\(", re.MULTILINE)
_SQL = re.compile(
    r"\bCREATE\s+(?:OR\s+(?:REPLACE|ALTER)\s+)?(?:SECURE\s+|TEMP(?:ORARY)?\s+|AGGREGATE\s+|EXTERNAL\s+)*(?:FUNCTION|PROCEDURE)\s+"
    r"(?:IF\s+NOT\s+EXISTS\s+)?([\w$.\"]+)\s*\(",
    re.IGNORECASE,
)
_MACRO = re.compile(r"\{%-?\s*(?:macro|test|materialization)\s+([A-Za-z_]\w*)")
_TESTS = re.compile(r"test_|setup|teardown")

_OLD_KEYS = ("old_string", "old_str", "old_text", "oldText")
_NEW_KEYS = (
    "new_string",
    "new_str",
    "new_text",
    "newText",
    "content",
    "file_text",
    "contents",
    "insert_text",
)
_EDITORS = ("edit", "write", "create", "replace", "notebook", "patch")


def is_editor(tool: str) -> bool:
    """Whether a tool of this name changes files."""
    name = tool.lower().rpartition("__")[2]
    return any(word in name for word in _EDITORS)


def definitions(source: str) -> Iterator[tuple[str, str]]:
    """(canonical name, spelling) of functions that a piece of Python, SQL or dbt text defines, in order.

    Special methods and tests are left out: every file has them, none of them is a subject.
    """
    if "def " in source:
        for match in _PYTHON.finditer(source):
            if not match[1].startswith("__") and not _TESTS.match(match[1]):
                yield match[1], match[1]
    if "FUNCTION" in source or "PROCEDURE" in source or "function" in source or "procedure" in source:
        for match in _SQL.finditer(source):
            yield function_name(match[1]), match[1]
    if "{%" in source:
        for match in _MACRO.finditer(source):
            yield match[1], match[1]


def edits(payload: dict[str, Any]) -> Iterator[tuple[str, str, str]]:
    """(name, spelling, how) of the functions that an edit touches: `defined`, `edited` or `dropped`."""
    pairs = [payload, *(p for p in _list(payload.get("edits")) if isinstance(p, dict))]
    for pair in pairs:
        old = dict(definitions(_text(pair, _OLD_KEYS)))
        new = dict(definitions(_text(pair, _NEW_KEYS)))
        for name, spelling in new.items():
            yield name, spelling, "edited" if name in old else "defined"
        for name, spelling in old.items():
            if name not in new:
                yield name, spelling, "dropped"


def _list(value: Any) -> list[Any]:
    return value if isinstance(value, list) else []


def _text(payload: dict[str, Any], keys: tuple[str, ...]) -> str:
    return "\n".join(value for key in keys if isinstance(value := payload.get(key), str))

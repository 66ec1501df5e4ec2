"""Errors that turns report, and the form in which the same error is found again.

Groundwork of `recall fix`: two errors are the same when they agree but for numbers, names, paths and ids.
"""

from __future__ import annotations

import re

from cocorecall.model import Turn

MAX_ERROR = 500
"""Characters of the longest essential line."""

_SCOPE = 64 << 10
_LONGEST_NORMALIZED = 4000
_UUID = re.compile(r"\b[0-9a-f]{8}-(?:[0-9a-f]{4}-){3}[0-9a-f]{12}\b", re.IGNORECASE)
_TIME = re.compile(r"\b\d{4}-\d\d-\d\d(?:[T ]\d\d:\d\d(?::\d\d)?(?:\.\d+)?)?(?:Z|[+-]\d\d:?\d\d)?\b")
_PATH = re.compile(
    r"(?<![\w])(?:[A-Za-z]:)?(?:[\w.~-]*[/\\])+[\w.-]+|\b[\w-]+\.(?:py|sql|sh|ya?ml|json|js|ts|csv|parquet)\b"
)
_QUOTED = re.compile(r"'[^'\n]{1,300}'|\"[^\"\n]{1,300}\"|`[^`\n]{1,300}`|‘[^’\n]{1,300}’|“[^”\n]{1,300}”")
_DOTTED = re.compile(r"\b[A-Z_][A-Z0-9_$]*(?:\.[A-Z_][A-Z0-9_$]*)+\b")
_CODE = re.compile(
    r"(?<![\w.-])\d{6}(?: \([0-9A-Z]{5}\))?|\b(?:SQLSTATE|errno|exit code|exit status|HTTP)[ :=]*[0-9A-Z]{1,5}\b|\b[A-Z]{1,3}\d{3,5}\b"
)
_HEX = re.compile(r"\b0x[0-9a-f]+\b|\b[0-9a-f]{12,64}\b", re.IGNORECASE)
_NUMBER = re.compile(r"(?<![\w\x00])[-+]?\d[\d,]*(?:\.\d+)?(?![\w\x00])")
_KEPT = re.compile("\x00(\\d+)\x00")


def normalize_error(text: str) -> str:
    """The error without what differs between two occurrences of it, in lower case and on one line.

    Ids, times, paths, quoted and dotted names and numbers become `<…>`; error codes, SQLSTATEs and exception
    types stay. Normalizing twice changes nothing.
    """
    kept: list[str] = []

    def keep(match: re.Match[str]) -> str:
        kept.append(match[0])
        return f"\x00{len(kept) - 1}\x00"

    plain = text[:_LONGEST_NORMALIZED].replace("\x00", " ")
    for pattern, mark in ((_UUID, "<id>"), (_TIME, "<time>")):
        plain = pattern.sub(mark, plain)
    plain = _CODE.sub(keep, plain)
    for pattern, mark in (
        (_QUOTED, "<name>"),
        (_PATH, "<path>"),
        (_DOTTED, "<name>"),
        (_HEX, "<id>"),
        (_NUMBER, "<n>"),
    ):
        plain = pattern.sub(mark, plain)
    plain = _KEPT.sub(lambda match: kept[int(match[1])] if int(match[1]) < len(kept) else " ", plain)
    return " ".join(plain.lower().split())


# Most results report no error: a look for a few letters spares them the patterns.
_SIX_DIGITS = re.compile(r"[0-9][0-9]{5}")
_SHELL_WORDS = ("not found", "o such file", "ermission denied", "not recognized", "cannot stat", "rror: ", "ERROR", "fatal: ",
    "npm ERR!", "ModuleNotFoundError:")  # fmt: skip
_SHORT = 4000
_SNOWFLAKE = re.compile(r"^(?:0\d{5}: |.*?(?<!\d)\d{6} \([0-9A-Z]{5}\):?)[^\n]*", re.MULTILINE)
_TRACEBACK = "Traceback (most recent call last)"
_RAISED = re.compile(
    r"^(?:[\w.]+\.)?(?:[A-Z]\w*(?:Error|Exception|Warning|Interrupt|Exit|Iteration)|[A-Z]\w+)(?::[^\n]*)?$",
    re.MULTILINE,
)
_PYTEST = re.compile(
    r"^(?:E {3,}(?P<raised>\S[^\n]*)|(?P<failed>(?:FAILED|ERROR) \S+::\S+[^\n]*))$", re.MULTILINE
)
_DBT = re.compile(
    r"^\s*(?:\d\d:\d\d:\d\d\s+)?((?:Database|Compilation|Runtime|Parsing|Dependency) Error[^\n]*)",
    re.MULTILINE,
)
_SHELL = re.compile(
    r"^[^\n]*?(?:command not found|No such file or directory|Permission denied|not recognized as an internal or external command"
    r"|: not found|cannot stat|ModuleNotFoundError:|fatal: |npm ERR!|error: |Error: |ERROR: |ERROR )[^\n]*",
    re.MULTILINE,
)
_ONLY_ERROR = re.compile(r"^\s*(?:[\w.]+)?(?:Error|Exception|ERROR|error)\b[:\s][^\n]*")


def error_of(turn: Turn) -> str | None:
    """The essential line of the error that a tool result reports, verbatim; None where it reports none.

    Snowflake's coded errors, a Python traceback's last line, pytest's first failure, dbt's errors and the
    shell's messages are known by their form; any other result counts only if its call is marked as failed.
    """
    if not turn.results:
        return None
    text = turn.text[:_SCOPE]
    failed = any(result.status not in (None, "success", "ok", "completed") for result in turn.results)
    line = _by_form(text) or (_first_line(text) if failed else None)
    return line[:MAX_ERROR] if line else None


def _by_form(text: str) -> str | None:
    if _SIX_DIGITS.search(text) and (match := _SNOWFLAKE.search(text)):
        return _with_detail(text, match)
    if _TRACEBACK in text:
        after = text[text.rfind(_TRACEBACK) + len(_TRACEBACK) :]
        raised = [match[0] for match in _RAISED.finditer(after)]
        if raised:
            return raised[-1].strip()
    if ("\nE   " in text or "::" in text or text.startswith("E   ")) and (match := _PYTEST.search(text)):
        return (match["raised"] or match["failed"]).strip()
    if " Error" in text and (match := _DBT.search(text)):
        return match[1].strip()
    if (match := _ONLY_ERROR.match(text)) or (_may_be_shell(text) and (match := _SHELL.search(text))):
        return match[0].strip() or None
    return None


_PLACE = re.compile(r"error line \d+ at position \d+\s*$")


def _may_be_shell(text: str) -> bool:
    """Whether a short text holds any of the words that the shell's messages are known by."""
    return len(text) < _SHORT and any(word in text for word in _SHELL_WORDS)


def _with_detail(text: str, match: re.Match[str]) -> str:
    """The coded line; where it ends in a colon or in a place, the next line says what it was about."""
    end = match.end()
    if match[0].rstrip().endswith(":") or _PLACE.search(match[0]):
        following = re.compile(r"\s*\n[^\n]+").match(text, end)
        if following:
            end = following.end()
    return text[match.start() : end].strip()


def _first_line(text: str) -> str | None:
    return next((line.strip() for line in text.splitlines() if line.strip()), None)

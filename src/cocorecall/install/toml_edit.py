"""Our table in Codex's `config.toml`, between two marker lines; no other byte is touched.

The table is appended, which is right wherever the file ends, and the result is read back with `tomllib`:
it must say what the file said before plus our server, or nothing is written.
"""

from __future__ import annotations

import json
import re
import tomllib
from typing import Any

from cocorecall.install.entries import SERVER, is_our_server

_BEGIN = "# >>> cocorecall: written by `recall install codex`, taken out by `recall uninstall codex`"
_END = "# <<< cocorecall"
_BLOCK = re.compile(
    r"^# >>> cocorecall\b[^\n]*\n(?:.*?\n)??# <<< cocorecall[ \t]*(?:\r?\n|\Z)", re.MULTILINE | re.DOTALL
)
_HEADER = re.compile(rf"^[ \t]*\[mcp_servers\.{SERVER}\][ \t]*(?:#[^\n]*)?\n", re.MULTILINE)
_COMMAND = re.compile(r"^[ \t]*command[ \t]*=[^\r\n]*", re.MULTILINE)
_NEXT_HEADER = re.compile(r"^[ \t]*\[", re.MULTILINE)


class TomlTextError(ValueError):
    """The file is not TOML, or holds something that we could not edit without touching more than ours."""


def add_table(text: str, command: str) -> str:
    """The configuration with our server at its end; one that is there gets the new path.

    Raises:
        TomlTextError: the file is not TOML, defines `mcp_servers` in one line, or has our name for another.
    """
    data = _parsed(text)
    held = _server(data)
    if held is not None and not is_our_server(held):
        raise TomlTextError(f"[mcp_servers.{SERVER}] is there and does not run `recall mcp`")
    if held is not None and held.get("command") == command:
        return text
    after = _with_command(text, command) if held is not None else _appended(text, command)
    data_after = _parsed(after)
    if not _same_besides(data, data_after) or not is_our_server(_server(data_after)):
        raise TomlTextError("its `mcp_servers` cannot take a table behind it")
    return after


def _appended(text: str, command: str) -> str:
    newline = "\r\n" if "\r\n" in text else "\n"
    lines = (_BEGIN, f"[mcp_servers.{SERVER}]", f"command = {_quoted(command)}", 'args = ["mcp"]', _END)
    return text + (newline if text else "") + newline.join(lines) + newline


def _with_command(text: str, command: str) -> str:
    start, end, _ = _table_span(text)
    line = f"command = {_quoted(command)}"
    table = _COMMAND.sub(lambda _: line, text[start:end], count=1)
    return text[:start] + table + text[end:]


def remove_table(text: str) -> str:
    """The configuration without our table, whether its marker lines are still there or not.

    Raises:
        TomlTextError: the file is not TOML, or our table cannot be told from what is around it.
    """
    data = _parsed(text)
    held = _server(data)
    if held is None or not is_our_server(held):
        return text
    start, end, marked = _table_span(text)
    before = text[:start]
    if marked and (end == len(text) or before.endswith(("\n\n", "\n\r\n"))):
        before = before.removesuffix("\r\n" if "\r\n" in text[start:end] else "\n")
    left = before + text[end:]
    if _server(_parsed(left)) is not None or not _same_besides(data, _parsed(left)):
        raise TomlTextError(f"[mcp_servers.{SERVER}] cannot be told from what is around it")
    return left


def _table_span(text: str) -> tuple[int, int, bool]:
    """Where our table stands, and whether its marker lines are still about it."""
    marked = _BLOCK.search(text)
    if marked:
        return marked.start(), marked.end(), True
    header = _HEADER.search(text)
    if header is None:
        raise TomlTextError(f"`mcp_servers` holds {SERVER}, but not as a table of its own")
    following = _NEXT_HEADER.search(text, header.end())
    return header.start(), following.start() if following else len(text), False


def _parsed(text: str) -> dict[str, Any]:
    try:
        return tomllib.loads(text.removeprefix("\ufeff"))
    except (tomllib.TOMLDecodeError, RecursionError) as error:
        raise TomlTextError(f"it is not TOML: {error}") from error


def _server(data: dict[str, Any]) -> dict[str, Any] | None:
    servers = data.get("mcp_servers")
    held = servers.get(SERVER) if isinstance(servers, dict) else None
    return held if isinstance(held, dict) else None


def _same_besides(before: dict[str, Any], after: dict[str, Any]) -> bool:
    """Whether two configurations differ in nothing but our server; compared as text, for `nan` is not `nan`."""
    return repr(_without_server(before)) == repr(_without_server(after))


def _without_server(data: dict[str, Any]) -> dict[str, Any]:
    servers = data.get("mcp_servers")
    if not isinstance(servers, dict):
        return data
    left = {k: v for k, v in servers.items() if k != SERVER}
    rest = {k: v for k, v in data.items() if k != "mcp_servers"}
    return rest | ({"mcp_servers": left} if left else {})


def _quoted(text: str) -> str:
    """A TOML basic string; its escapes are JSON's, and DEL must be escaped too."""
    return json.dumps(text, ensure_ascii=False).replace("\x7f", "\\u007f")

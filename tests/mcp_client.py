"""Driving the MCP server as agents do: the SDK's own client over a real process, or lines of protocol."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, cast

import mcp_types as types
from anyio.from_thread import BlockingPortal, start_blocking_portal
from mcp import Client, StdioServerParameters

HOST_VARIABLES = ("COCORECALL_SESSION", "COCO_SESSION_ID", "CLAUDE_SESSION_ID")


class Asker:
    """A connected client, without `await`."""

    def __init__(self, portal: BlockingPortal, client: Client) -> None:
        self.portal = portal
        self.client = client

    def call(self, tool: str, meta: dict[str, Any] | None = None, **arguments: Any) -> types.CallToolResult:
        async def ask() -> types.CallToolResult:
            return await self.client.call_tool(tool, arguments, meta=cast("Any", meta))

        return self.portal.call(ask)

    def document(self, tool: str, **arguments: Any) -> dict[str, Any]:
        """The structured content of a call that must succeed; the SDK has held it against the schema."""
        result = self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        return dict(result.structured_content)

    def text(self, tool: str, **arguments: Any) -> str:
        result = self.call(tool, **arguments)
        assert not result.is_error, text_of(result)
        return text_of(result)

    def error(self, tool: str, **arguments: Any) -> str:
        result = self.call(tool, **arguments)
        assert result.is_error
        assert result.structured_content is None
        return text_of(result)

    def resource(self, uri: str) -> str:
        (content,) = self.portal.call(self.client.read_resource, uri).contents
        assert isinstance(content, types.TextResourceContents)
        return content.text


def text_of(result: types.CallToolResult) -> str:
    (block,) = result.content
    assert isinstance(block, types.TextContent)
    return block.text


@contextmanager
def connected(
    folder: Path, *options: str, roots: Callable[[], Sequence[Path]] | None = None, mode: str = "auto"
) -> Iterator[Asker]:
    """A client of `recall mcp`, run in a folder.

    Args:
        folder: the server's working directory.
        options: of the command.
        roots: gives the roots that the client offers; None: it offers none.
        mode: `auto` speaks the newest protocol, `legacy` the one with a handshake.
    """

    async def list_roots(context: Any) -> types.ListRootsResult:
        del context
        assert roots is not None
        listed = [{"uri": root.as_uri()} for root in roots()]
        return types.ListRootsResult.model_validate({"roots": listed})

    server = StdioServerParameters(
        command=sys.executable, args=["-m", "cocorecall", "mcp", *options], cwd=folder, env=server_environment()
    )  # fmt: skip
    client = Client(
        server, mode=cast("Any", mode), list_roots_callback=list_roots if roots else None, cache=None
    )
    with start_blocking_portal() as portal, portal.wrap_async_context_manager(client):
        yield Asker(portal, client)


def server_environment() -> dict[str, str]:
    return {k: v for k, v in os.environ.items() if k not in HOST_VARIABLES}


def start(folder: Path, *options: str) -> subprocess.Popen[str]:
    """The server as a bare process with pipes."""
    return subprocess.Popen(
        [sys.executable, "-m", "cocorecall", "mcp", *options], cwd=folder, env=server_environment(),
        stdin=subprocess.PIPE, stdout=subprocess.PIPE, stderr=subprocess.PIPE, text=True, encoding="utf-8",
    )  # fmt: skip


def request(number: int, method: str, **params: Any) -> dict[str, Any]:
    return {"jsonrpc": "2.0", "id": number, "method": method, "params": params}


HELLO = (
    request(0, "initialize", protocolVersion="2025-06-18", capabilities={}, clientInfo={"name": "t", "version": "1"}),
    {"jsonrpc": "2.0", "method": "notifications/initialized"},
)  # fmt: skip


def lines(*messages: dict[str, Any] | str) -> str:
    return "".join((m if isinstance(m, str) else json.dumps(m)) + "\n" for m in messages)


def tool_call(number: int, tool: str, **arguments: Any) -> dict[str, Any]:
    return request(number, "tools/call", name=tool, arguments=arguments)

"""A gentle end: what was asked before standard input closed is answered first, within a moment.

The SDK's server drops calls that are running when its input ends. `printf … | recall mcp` would get no answer.
"""

from __future__ import annotations

from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from typing import Any

import anyio
from mcp.shared.message import SessionMessage
from mcp_types import JSONRPCError, JSONRPCNotification, JSONRPCRequest, JSONRPCResponse

GRACE_SECONDS = 1.5
"""Clients kill a server that is still there two seconds after they closed its input."""


class _Open:
    """Requests that wait for their answers."""

    def __init__(self) -> None:
        self._ids: set[Any] = set()
        self._none = anyio.Event()

    def asked(self, message: Any) -> None:
        if isinstance(message, JSONRPCRequest):
            self._ids.add(message.id)
        elif isinstance(message, JSONRPCNotification) and message.method == "notifications/cancelled":
            self._settled((message.params or {}).get("requestId"))

    def answered(self, message: Any) -> None:
        if isinstance(message, JSONRPCResponse | JSONRPCError):
            self._settled(message.id)

    def _settled(self, name: Any) -> None:
        if isinstance(name, str | int):
            self._ids.discard(name)
        self._none.set()

    async def wait(self) -> None:
        while self._ids:
            self._none = anyio.Event()
            await self._none.wait()


@asynccontextmanager
async def answered_before_the_end(source: Any, sink: Any) -> AsyncIterator[tuple[Any, Any]]:
    """Streams for a server in place of the transport's; its input ends when its answers are out."""
    waiting = _Open()
    to_server, read = anyio.create_memory_object_stream[SessionMessage | Exception]()
    write, from_server = anyio.create_memory_object_stream[SessionMessage]()

    async def relay_in() -> None:
        async with to_server:
            async for item in source:
                if isinstance(item, SessionMessage):
                    waiting.asked(item.message)
                await to_server.send(item)
            with anyio.move_on_after(GRACE_SECONDS):
                await waiting.wait()

    async def relay_out() -> None:
        async with from_server, sink:
            async for item in from_server:
                await sink.send(item)
                waiting.answered(item.message)

    async with anyio.create_task_group() as relays:
        relays.start_soon(relay_in)
        relays.start_soon(relay_out)
        yield read, write

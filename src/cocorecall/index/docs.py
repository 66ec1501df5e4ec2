"""How turns are numbered in the index: `doc` = the session's number << 24 | the turn's `seq`."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    import apsw

SEQ_BITS = 24
"""Bits of a `doc` that hold the turn's `seq`: sessions of up to 16 million turns."""
MAX_SEQ = (1 << SEQ_BITS) - 1


def doc_range(number: int) -> tuple[int, int]:
    """First and last `doc` that a session's turns can have."""
    return number << SEQ_BITS, (number << SEQ_BITS) | MAX_SEQ


def turn_id(session_id: str, seq: int) -> str:
    """The turn's id: `<session id>:<seq>`."""
    return f"{session_id}:{seq}"


def load_payload(payload: str | None) -> Any:
    """A stored payload as a JSON value."""
    import orjson  # noqa: PLC0415 - most hits show no call

    return None if payload is None else orjson.loads(payload)


def rows(connection: apsw.Connection, sql: str, values: Sequence[Any] = ()) -> list[tuple[Any, ...]]:
    """All rows of a statement."""
    return connection.execute(sql, values).fetchall()


@contextlib.contextmanager
def transaction(connection: apsw.Connection) -> Iterator[None]:
    """All of it or nothing; SQLite itself has rolled back already where the disk was full."""
    connection.execute("BEGIN IMMEDIATE")
    try:
        yield
        connection.execute("COMMIT")
    except BaseException:
        if connection.in_transaction:
            connection.execute("ROLLBACK")
        raise

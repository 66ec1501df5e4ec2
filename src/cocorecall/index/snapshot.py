"""Reading an index that others may be writing to."""

from __future__ import annotations

import contextlib
from collections.abc import Iterator

import apsw


@contextlib.contextmanager
def unchanging(connection: apsw.Connection) -> Iterator[None]:
    """See the index as it is now, whatever an import writes meanwhile; keep it short, for logs grow under it."""
    connection.execute("BEGIN")
    try:
        yield
    finally:
        connection.execute("COMMIT")

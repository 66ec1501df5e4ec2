"""Sessions that the user had removed, so that no import brings them back.

They stand twice: in the index (`forgotten`) and in a small file beside it, so that the loss of either alone
forgets nothing. Both hold digests of the sessions' names and times, no name and no text.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from pathlib import Path

import apsw

from cocorecall.index.docs import rows
from cocorecall.project import Place, write_text

FILE = "forgotten.json"
COMPACTION_DUE = "compaction_due"
"""Line of `import_meta` that stands from the deletion until freed pages and the log are emptied."""
_ALL = "SELECT session_key, forgotten_at FROM forgotten"


def tombstone(agent: str, native_id: str) -> str:
    """What names a forgotten session: a digest of its agent and its id."""
    return hashlib.sha256(f"{agent}\n{native_id}".encode()).hexdigest()


def read(connection: apsw.Connection) -> dict[str, str]:
    """The index's tombstones: key to ISO time."""
    # an index of the first version holds names in the clear
    return {_hashed(str(key)): str(at) for key, at in rows(connection, _ALL)}


def _hashed(key: str) -> str:
    agent, newline, native_id = key.partition("\n")
    return tombstone(agent, native_id) if newline else key


def path_of(place: Place) -> Path:
    """The file beside the index."""
    return place.receipts / FILE


def read_file(place: Place) -> dict[str, str]:
    """The file's tombstones; none where it is missing or no JSON."""
    try:
        data = json.loads(path_of(place).read_text(encoding="utf-8"))
    except (OSError, ValueError, RecursionError):
        return {}
    entries = data.get("forgotten") if isinstance(data, dict) else None
    if not isinstance(entries, dict):
        return {}
    return {k: v for k, v in entries.items() if isinstance(k, str) and isinstance(v, str)}


def write_file(place: Place, stones: Mapping[str, str]) -> None:
    """Write the file.

    Raises:
        OSError: it cannot be written.
    """
    place.receipts.mkdir(mode=0o700, parents=True, exist_ok=True)
    write_text(
        path_of(place), json.dumps({"forgotten": dict(sorted(stones.items()))}, indent=2) + "\n", private=True
    )


def merge(connection: apsw.Connection, place: Place) -> dict[str, str]:
    """Bring index and file to the same state, nothing dropped from either; all tombstones."""
    stored = dict(rows(connection, _ALL))
    in_index, in_file = read(connection), read_file(place)
    stones = in_file | in_index
    if stored != stones:
        replace(connection, stones)
    if in_file != stones:
        write_file(place, stones)
    return stones


def replace(connection: apsw.Connection, stones: Mapping[str, str]) -> None:
    """Make these the index's tombstones."""
    with connection:
        connection.execute("DELETE FROM forgotten")
        connection.executemany("INSERT INTO forgotten VALUES (?, ?)", list(stones.items()))


def remove(connection: apsw.Connection, place: Place, key: str) -> None:
    """Take one tombstone away, here and there."""
    stones = {k: v for k, v in (read_file(place) | read(connection)).items() if k != key}
    write_file(place, stones)
    replace(connection, stones)


def compaction_is_due(connection: apsw.Connection) -> bool:
    """Whether a `forget` was cut short before it could empty freed pages and the log."""
    return bool(connection.execute("SELECT 1 FROM import_meta WHERE key = ?", (COMPACTION_DUE,)).fetchall())

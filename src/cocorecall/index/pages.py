"""Rows straight from the pages of a damaged database file, where SQLite finds no way to them any more.

A table's rows stand in leaf pages, each of which can be read by itself; what leads to them (the schema, inner
pages) may be gone. The layout is that of "Database File Format" in SQLite's documentation: chapters 1.3 (header),
1.6 (b-tree pages), 2.1 (records), 4.1 (write-ahead log).
"""

from __future__ import annotations

import struct
from collections.abc import Iterator
from pathlib import Path
from typing import BinaryIO

Value = str | bytes | int | float | None

_LEAF = 0x0D
_HEADER = 100
_DEFAULT_PAGE = 4096
_SIZES = (512, 1024, 2048, 4096, 8192, 16384, 32768, 65536)
_WAL_HEADER = 32
_FRAME_HEADER = 24
_INTEGERS = {1: 1, 2: 2, 3: 3, 4: 4, 5: 6, 6: 8}
_MAX_ROW = 64 << 20
"""Bytes of the longest row that is believed."""


class DamagedFile:
    """The pages of a database file, those of its write-ahead log in place of older ones."""

    def __init__(self, path: Path) -> None:
        self._file: BinaryIO = path.open("rb")
        header = self._file.read(_HEADER)
        size = int.from_bytes(header[16:18], "big")
        size = 65_536 if size == 1 else size
        self.page_size = size if size in _SIZES else _DEFAULT_PAGE
        reserved = header[20] if len(header) == _HEADER and header[20] < 64 else 0  # noqa: PLR2004 - a plausible few
        self._usable = self.page_size - reserved
        log = path.with_name(path.name + "-wal")
        self._log: BinaryIO | None = log.open("rb") if log.exists() else None
        self._in_log = _logged_pages(self._log, self.page_size) if self._log else {}
        newest = self.page(1)[:_HEADER]
        self._first_free = int.from_bytes(newest[32:36], "big") if newest.startswith(b"SQLite") else 0
        self.pages = max(path.stat().st_size // self.page_size, max(self._in_log, default=0))

    def close(self) -> None:
        """Close the files."""
        self._file.close()
        if self._log:
            self._log.close()

    def page(self, number: int) -> bytes:
        """A page, numbered from 1; empty where the file ends before."""
        offset = self._in_log.get(number)
        if offset is not None and self._log:
            self._log.seek(offset)
            return self._log.read(self.page_size)
        self._file.seek((number - 1) * self.page_size)
        return self._file.read(self.page_size)

    def rows(self) -> Iterator[tuple[int, list[Value]]]:
        """(rowid, values) of every row of any table that can be read, unused pages left out."""
        unused = self._unused()
        for number in range(1, self.pages + 1):
            if number not in unused:
                yield from self._rows_of(number)

    def _unused(self) -> set[int]:
        """Pages of the free list: they hold what was deleted."""
        found: set[int] = set()
        trunk = self._first_free
        while trunk and trunk not in found and trunk <= self.pages:
            found.add(trunk)
            page = self.page(trunk)
            if len(page) < self.page_size:
                break
            following, n = struct.unpack_from(">II", page)
            n = min(n, self.page_size // 4 - 2)
            found.update(struct.unpack_from(f">{n}I", page, 8))
            trunk = following
        return found

    def _rows_of(self, number: int) -> Iterator[tuple[int, list[Value]]]:
        page = self.page(number)
        start = _HEADER if number == 1 else 0
        if len(page) < self.page_size or page[start] != _LEAF:
            return
        cells = int.from_bytes(page[start + 3 : start + 5], "big")
        for k in range(min(cells, (self.page_size - start - 8) // 2)):
            at = int.from_bytes(page[start + 8 + 2 * k : start + 10 + 2 * k], "big")
            try:
                length, behind = _varint(page, at)
                rowid, behind = _varint(page, behind)
                if length > _MAX_ROW:
                    continue
                yield _signed(rowid), _record(self._payload(page, behind, length))
            except (IndexError, ValueError, struct.error):
                continue  # this cell is damaged; its neighbours need not be

    def _payload(self, page: bytes, at: int, length: int) -> bytes:
        most = self._usable - 35
        if length <= most:
            return page[at : at + length]
        least = (self._usable - 12) * 32 // 255 - 23
        local = least + (length - least) % (self._usable - 4)
        local = local if local <= most else least
        out = bytearray(page[at : at + local])
        following = int.from_bytes(page[at + local : at + local + 4], "big")
        while len(out) < length:
            if not 1 < following <= self.pages:
                raise ValueError(following)
            chained = self.page(following)
            out += chained[4 : 4 + min(self._usable - 4, length - len(out))]
            following = int.from_bytes(chained[:4], "big")
        return bytes(out)


def _logged_pages(log: BinaryIO, page_size: int) -> dict[int, int]:
    """Where the last committed version of each page stands in the log."""
    header = log.read(_WAL_HEADER)
    if len(header) < _WAL_HEADER or int.from_bytes(header[8:12], "big") != page_size:
        return {}
    salts = header[16:24]
    committed: dict[int, int] = {}
    pending: dict[int, int] = {}
    offset = _WAL_HEADER
    while len(frame := log.read(_FRAME_HEADER)) == _FRAME_HEADER and frame[8:16] == salts:
        number, size_after = struct.unpack_from(">II", frame)
        pending[number] = offset + _FRAME_HEADER
        if size_after:
            committed |= pending
            pending = {}
        offset += _FRAME_HEADER + page_size
        log.seek(offset)
    return committed


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """A variable-length integer and where it ends."""
    value = 0
    for k in range(8):
        byte = data[at + k]
        value = value << 7 | byte & 0x7F
        if byte < 0x80:  # noqa: PLR2004 - the highest bit says that more follows
            return value, at + k + 1
    return value << 8 | data[at + 8], at + 9


def _signed(value: int) -> int:
    return value - (1 << 64) if value >= 1 << 63 else value


def _record(payload: bytes) -> list[Value]:
    """A record's values.

    Raises:
        ValueError, IndexError: it is none.
    """
    header, at = _varint(payload, 0)
    kinds = []
    while at < header:
        kind, at = _varint(payload, at)
        kinds.append(kind)
    out: list[Value] = []
    at = header
    for kind in kinds:
        value, at = _value(payload, kind, at)
        out.append(value)
    if at != len(payload):
        raise ValueError(at)
    return out


def _value(payload: bytes, kind: int, at: int) -> tuple[Value, int]:
    if kind == 0:
        return None, at
    if kind in _INTEGERS:
        end = at + _INTEGERS[kind]
        return int.from_bytes(payload[at:end], "big", signed=True), end
    if kind == 7:  # noqa: PLR2004 - numbers of the format's table of serial types
        return struct.unpack_from(">d", payload, at)[0], at + 8
    if kind in (8, 9):
        return kind - 8, at
    if kind < 12:  # noqa: PLR2004
        raise ValueError(kind)
    end = at + (kind - 12) // 2
    if end > len(payload):
        raise ValueError(end)
    data = payload[at:end]
    return (data.decode() if kind % 2 else data), end

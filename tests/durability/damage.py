"""Damaging an index, as disks and crashes do."""

from __future__ import annotations

import random
from pathlib import Path

import apsw

PAGE = 4096


def overwrite_pages(index: Path, *, seed: int, pages: int, first: int = 1) -> None:
    """Write noise over some pages; numbered from 0, the first one left out."""
    rng = random.Random(seed)  # noqa: S311 - the same pages in every run
    count = index.stat().st_size // PAGE
    with index.open("r+b") as file:
        for page in rng.sample(range(first, count), min(pages, count - first)):
            file.seek(page * PAGE)
            file.write(rng.randbytes(PAGE))


def pages_of(index: Path, table: str) -> list[int]:
    """Numbers (from 0) of a table's leaf pages."""
    connection = apsw.Connection(str(index))
    try:
        rows = connection.execute(
            "SELECT pageno - 1 FROM dbstat WHERE name = ? AND pagetype = 'leaf'", (table,)
        )
        return [int(str(n)) for (n,) in rows]
    finally:
        connection.close()


def overwrite(index: Path, page: int) -> None:
    """Write zeros over one page, numbered from 0."""
    with index.open("r+b") as file:
        file.seek(page * PAGE)
        file.write(bytes(PAGE))


def is_sound(index: Path) -> bool:
    """Whether database and full text are as they should be, and in step."""
    connection = apsw.Connection(str(index))
    try:
        if connection.execute("PRAGMA integrity_check").fetchall() != [("ok",)]:
            return False
        connection.execute("INSERT INTO turn_words (turn_words) VALUES ('integrity-check')")
        apart = connection.execute(
            "SELECT (SELECT count(*) FROM turns WHERE doc NOT IN (SELECT id FROM turn_words_docsize)),"
            " (SELECT count(*) FROM turn_words_docsize WHERE id NOT IN (SELECT doc FROM turns))"
        ).fetchall()
    except apsw.CorruptError:
        return False
    else:
        return apart == [(0, 0)]
    finally:
        connection.close()

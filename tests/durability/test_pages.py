"""Rows straight from a database's pages: the same as SQLite's, and nothing that breaks on noise."""

from __future__ import annotations

from pathlib import Path

import apsw
from hypothesis import given, settings
from hypothesis import strategies as st

from cocorecall.index.pages import DamagedFile

VALUES = st.none() | st.integers(-(2**63), 2**63 - 1) | st.floats(allow_nan=False) | st.binary(max_size=9000) | st.text(
    st.characters(exclude_categories=["Cs"], exclude_characters="\0"), max_size=3000
)  # fmt: skip


def rows_of(path: Path) -> list[tuple[int, list[object]]]:
    file = DamagedFile(path)
    try:
        return [(rowid, list(values)) for rowid, values in file.rows()]
    finally:
        file.close()


@settings(max_examples=40)
@given(
    rows=st.dictionaries(st.integers(-(2**63), 2**63 - 1), st.tuples(VALUES, VALUES), max_size=20),
    page_size=st.sampled_from([512, 1024, 4096]),
)
def test_every_row_is_read_as_sqlite_reads_it(
    tmp_path: Path, rows: dict[int, tuple[object, object]], page_size: int
) -> None:
    path = tmp_path / "some.db"
    path.unlink(missing_ok=True)
    connection = apsw.Connection(str(path))
    connection.execute(f"PRAGMA page_size = {page_size}")
    connection.execute("CREATE TABLE t (a, b)")
    connection.executemany("INSERT INTO t (rowid, a, b) VALUES (?, ?, ?)", [(k, *v) for k, v in rows.items()])
    stored = {int(str(k)): [a, b] for k, a, b in connection.execute("SELECT rowid, a, b FROM t")}
    connection.close()
    read = {rowid: values for rowid, values in rows_of(path) if len(values) == 2}
    assert read == stored


def test_deleted_rows_and_older_versions_are_not_read(tmp_path: Path) -> None:
    path = tmp_path / "some.db"
    connection = apsw.Connection(str(path))
    for statement in ("PRAGMA journal_mode = WAL", "PRAGMA wal_autocheckpoint = 0", "CREATE TABLE t (a, b)"):
        connection.execute(statement).fetchall()
    connection.executemany("INSERT INTO t VALUES (?, ?)", [(k, "x" * 3000) for k in range(60)])
    connection.execute("PRAGMA wal_checkpoint(TRUNCATE)")
    connection.execute("DELETE FROM t WHERE a % 2")
    connection.execute("UPDATE t SET b = 'new' WHERE a = 10")
    connection.execute("BEGIN")
    connection.execute("UPDATE t SET b = 'not committed' WHERE a = 20")
    found = {values[0]: values[1] for _, values in rows_of(path) if len(values) == 2}
    connection.execute("ROLLBACK")
    connection.close()
    assert sorted(map(int, map(str, found))) == list(range(0, 60, 2))
    assert found[10] == "new"
    assert found[20] == "x" * 3000


@settings(max_examples=40)
@given(
    noise=st.binary(max_size=6000),
    head=st.sampled_from(
        [b"", b"SQLite format 3\0\x10\x00\x01\x01\x00", b"\x0d", bytes(100) + b"\x0d\0\0\0\xff"]
    ),
    log=st.binary(max_size=200),
)
def test_no_noise_breaks_the_reader(tmp_path: Path, noise: bytes, head: bytes, log: bytes) -> None:
    path = tmp_path / "noise.db"
    path.write_bytes((head + noise).ljust(8192, b"\x0d"))
    path.with_name("noise.db-wal").write_bytes(log)
    rows_of(path)

"""Kills real processes at random moments and counts what was lost: `python kill.py [--kills N] [--seed S]`.

Each round takes a project in a known state, starts one command as a process of its own, kills it (SIGKILL; on
Windows TerminateProcess) after a random part of the time that it takes undisturbed, and looks at the index as it
then is: sound, full text in step with the turns, every turn there that was committed before. Then the command runs
again, is killed again, and at last runs undisturbed: it must end where an undisturbed one ends.
"""

from __future__ import annotations

import argparse
import json
import os
import random
import shutil
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from dataclasses import dataclass, field
from pathlib import Path

import apsw

SESSIONS, TURNS = 60, 60
TURN = "Turn {k} of session {n}: we settle the merge key of ORDERS, table and tests, part {part}. "
RUN = "import sys; from cocorecall import Recall\nwith Recall.open(sys.argv[1]) as recall: {call}"


@dataclass
class Operation:
    """Something to kill.

    Attributes:
        code: what the process runs.
        prepare: brings a fresh copy of the stocked project into the state before it.
        least: turns that must be there whenever it is killed, given those before.
        after: turns when it has run to its end.
    """

    name: str
    call: str
    prepare: Callable[[Path], None]
    least: Callable[[int], int]
    after: int
    kills: int = 0
    hit: int = 0
    lost: int = 0
    faults: list[str] = field(default_factory=list)

    @property
    def command(self) -> list[str]:
        """What the process runs, before the project's path."""
        return [sys.executable, "-c", RUN.format(call=self.call)]


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--kills", type=int, default=50, help="kills of each operation")
    parser.add_argument("--seed", type=int, default=20261201)
    parser.add_argument("--only", help="one operation")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        operations = run(Path(folder), kills=options.kills, seed=options.seed, only=options.only)
    print(
        "| killed | kills | of these before its end | faults | lost turns |\n| --- | --- | --- | --- | --- |"
    )
    for op in operations:
        print(f"| {op.name} | {op.kills} | {op.hit} | {len(op.faults)} | {op.lost} |")
    for op in operations:
        for fault in op.faults:
            print(f"{op.name}: {fault}")
    print(f"\n{sum(o.kills for o in operations)} kills, {sum(o.lost for o in operations)} turns lost")
    sys.exit(any(op.faults or op.lost for op in operations))


def run(folder: Path, *, kills: int, seed: int, only: str | None = None) -> list[Operation]:
    """Kill each operation so many times; what happened."""
    stocked, work = folder / "stocked", folder / "work"
    stock(work)  # where it will be worked with: an index knows its transcripts by their paths
    shutil.copytree(work, stocked)
    found = [op for op in OPERATIONS if only in (None, op.name)]
    for op in found:
        rng = random.Random(f"{seed} {op.name}")
        usual = undisturbed(op, stocked, work)
        for _ in range((kills + 1) // 2):
            two_kills(op, stocked, work, [rng.uniform(0.0, usual * 1.05) for _ in range(2)])
    return found


def undisturbed(op: Operation, stocked: Path, work: Path) -> float:
    """Seconds that it takes."""
    fresh(stocked, work, op)
    start = time.perf_counter()
    finish(op, work)
    return time.perf_counter() - start


def fresh(stocked: Path, work: Path, op: Operation) -> None:
    shutil.rmtree(work, ignore_errors=True)
    shutil.copytree(stocked, work)
    op.prepare(work)


def finish(op: Operation, work: Path) -> None:
    done = subprocess.run([*op.command, str(work)], capture_output=True, text=True, check=False)
    if done.returncode:
        op.faults.append(f"the next run failed: {done.stderr.strip().splitlines()[-1:]}")


def two_kills(op: Operation, stocked: Path, work: Path, moments: list[float]) -> None:
    """Kill it, kill its next run, then let it end."""
    fresh(stocked, work, op)
    least = op.least(turns_in(work))
    for after in moments:
        process = subprocess.Popen(
            [*op.command, str(work)], stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
        )
        time.sleep(after)
        op.hit += process.poll() is None
        process.kill()
        process.wait()
        op.kills += 1
        op.faults += [f"killed after {after:.3f} s: {fault}" for fault in faults_of(work)]
        present = turns_in(work)
        op.lost += max(0, least - present)
        least = max(least, min(present, op.after))
    finish(op, work)
    at = f"killed after {moments[0]:.3f} and {moments[1]:.3f} s, and run again"
    op.faults += [f"{at}: {fault}" for fault in faults_of(work)]
    if turns_in(work) != op.after:
        op.lost += max(0, op.after - turns_in(work))
        op.faults.append(f"{at}: {turns_in(work)} turns, not {op.after}")


def index_of(work: Path) -> Path:
    return work / ".cocoplus" / "recall.db"


def faults_of(work: Path) -> list[str]:
    """What is wrong with the index."""
    index = index_of(work)
    if not index.exists() or not index.stat().st_size:
        return []
    if index.read_bytes()[:16] != b"SQLite format 3\0":
        return []  # still as it was damaged on purpose
    connection = apsw.Connection(str(index))
    try:
        found = [str(line) for (line,) in connection.execute("PRAGMA integrity_check") if line != "ok"]
        if connection.pragma("user_version"):
            connection.execute("INSERT INTO turn_words (turn_words) VALUES ('integrity-check')")
            apart = connection.execute(
                "SELECT (SELECT count(*) FROM turns WHERE doc NOT IN (SELECT id FROM turn_words_docsize))"
                " + (SELECT count(*) FROM turn_words_docsize WHERE id NOT IN (SELECT doc FROM turns))"
            ).fetchall()
            found += ["full text out of step"] if apart != [(0,)] else []
        left = [p.name for p in work.rglob("*.db") if p.name == "kept.db" and not sound_backup(p)]
        found += [f"{name} is no sound backup" for name in left]
        memory = work / ".cocoplus" / "memory" / "MEMORY.md"
        if memory.exists() and not memory.read_bytes().endswith(b"<!-- cocorecall:dream:end -->\n"):
            found.append("the memory file is cut")
    except apsw.Error as error:
        return [f"{type(error).__name__}: {error}"]
    else:
        return found
    finally:
        connection.close()


def sound_backup(path: Path) -> bool:
    connection = apsw.Connection(str(path), flags=apsw.SQLITE_OPEN_READONLY)
    try:
        return connection.execute("PRAGMA integrity_check").fetchall() == [("ok",)]
    finally:
        connection.close()


def turns_in(work: Path) -> int:
    if not index_of(work).exists() or not index_of(work).stat().st_size:
        return 0
    connection = apsw.Connection(str(index_of(work)))
    try:
        return int(str(connection.execute("SELECT count(*) FROM turns").fetchall()[0][0]))
    except (apsw.SQLError, apsw.NotADBError, apsw.CorruptError):  # not a table yet, or damaged on purpose
        return 0
    finally:
        connection.close()


# --- projects -----------------------------------------------------------------------------------------


def write_session(project: Path, name: str, number: int) -> None:
    records = [
        {"role": ("user", "assistant")[k % 2], "text": "".join(TURN.format(k=k, n=number, part=p) for p in range(8)),
         "timestamp": f"2026-11-{1 + number % 28:02d}T10:{k:02d}:00Z"}
        for k in range(TURNS)
    ]  # fmt: skip
    path = project / "transcripts" / f"{name}.json"
    path.write_text(json.dumps({"session_id": name, "turns": records}), encoding="utf-8")


def stock(project: Path) -> None:
    """A project with an index of `SESSIONS` sessions."""
    for folder in (".cocoplus", "cocoplus", "transcripts"):
        (project / folder).mkdir(parents=True)
    sources = {"sources": [{"path": "transcripts"}]}
    (project / "cocoplus" / "recall-sources.json").write_text(json.dumps(sources), encoding="utf-8")
    for n in range(SESSIONS):
        write_session(project, f"session-{n:03d}", n)
    subprocess.run(
        [sys.executable, "-c", RUN.format(call="recall.import_sources()"), str(project)], check=True
    )
    subprocess.run(
        [sys.executable, "-c", RUN.format(call="recall.backup(sys.argv[1] + '/earlier.db')"), str(project)],
        check=True,
    )


def more(project: Path) -> None:
    for n in range(SESSIONS):
        write_session(project, f"more-{n:03d}", n)


def preferences(project: Path) -> None:
    """More to remember than the memory file holds."""
    (project / "cocoplus.toml").write_text(f"[recall]\nmemory_lines = {SESSIONS // 2}\n", encoding="utf-8")
    for n in range(SESSIONS):
        turn = {
            "role": "user",
            "text": f"Always check T{n}_IN before you touch T{n}_OUT.",
            "timestamp": "2026-11-20T10:00:00Z",
        }
        path = project / "transcripts" / f"says-{n:03d}.json"
        path.write_text(json.dumps({"session_id": f"says-{n:03d}", "turns": [turn]}), encoding="utf-8")


def nothing(project: Path) -> None:
    del project


def without_index(project: Path) -> None:
    for path in (project / ".cocoplus").glob("recall.db*"):
        path.unlink()


def without_transcripts(project: Path) -> None:
    shutil.rmtree(project / "transcripts")
    (project / "transcripts").mkdir()


def damaged(project: Path) -> None:
    """The first page is gone, and the transcripts are too."""
    without_transcripts(project)
    with index_of(project).open("r+b") as file:
        file.write(os.urandom(4096))


def predecessors(project: Path) -> None:
    """The index as the JavaScript predecessor would have written it; its transcripts are gone."""
    connection = apsw.Connection(str(index_of(project)))
    sessions = connection.execute("SELECT id, start_time, end_time, source_path FROM sessions").fetchall()
    turns = connection.execute(
        "SELECT id, session_id, speaker_role, seq, summary, text_hash, tags, text FROM turns"
    ).fetchall()
    connection.close()
    without_index(project)
    without_transcripts(project)
    connection = apsw.Connection(str(index_of(project)))
    connection.execute(
        "CREATE TABLE sessions (id TEXT PRIMARY KEY, start_time TEXT, end_time TEXT, source_path TEXT);"
        "CREATE TABLE turns (id TEXT PRIMARY KEY, session_id TEXT, speaker_role TEXT, seq INTEGER, summary TEXT,"
        " text_hash TEXT, tags TEXT, text TEXT);"
    )
    with connection:
        connection.executemany("INSERT INTO sessions VALUES (?, ?, ?, ?)", sessions)
        connection.executemany("INSERT INTO turns VALUES (?, ?, ?, ?, ?, ?, ?, ?)", turns)
    connection.close()


def first_version(project: Path) -> None:
    """The index in the first schema; its transcripts are gone."""
    from cocorecall.index.schema import migrate  # noqa: PLC0415 - a look behind the door, for the test's sake
    from cocorecall.index.writer import IndexWriter  # noqa: PLC0415

    without_transcripts(project)
    index = index_of(project)
    newest = index.rename(project / "newest.db")
    connection = apsw.Connection(str(index))
    migrate(connection, 0, 1)
    connection.execute("ATTACH ? AS newest", (str(newest),))
    tables = connection.execute(
        "SELECT name FROM pragma_table_list WHERE schema = 'main' AND type = 'table' AND name NOT LIKE 'sqlite%'"
    ).fetchall()
    with connection:
        for (table,) in tables:
            names = ", ".join(str(row[1]) for row in connection.execute(f"PRAGMA main.table_info({table})"))
            connection.execute(
                f"INSERT OR REPLACE INTO main.{table} ({names}) SELECT {names} FROM newest.{table}"
            )
        IndexWriter(connection).rebuild_words(tags="tags")
    connection.execute("DETACH newest")
    connection.close()
    newest.unlink()


def all_before(before: int) -> int:
    return before


def operations() -> list[Operation]:
    """What is killed; add an operation here to have it killed too."""
    whole, ten = SESSIONS * TURNS, 10 * TURNS
    importing = "recall.import_sources()"
    return [
        Operation("first import", importing, without_index, lambda _: 0, whole),
        Operation("import of more", importing, more, all_before, 2 * whole),
        Operation("rebuild", "recall.import_sources(rebuild=True)", nothing, all_before, whole),
        Operation("migration from the predecessor", importing, predecessors, all_before, whole),
        Operation("migration from the first schema", importing, first_version, all_before, whole),
        Operation("recovery of a damaged index", importing, damaged, lambda _: 0, whole),
        Operation("forget ten sessions", "recall.forget(path='**/session-00*')", without_transcripts,
                  lambda before: before - ten, whole - ten),
        Operation("backup", "recall.backup(sys.argv[1] + '/kept.db', force=True)", without_transcripts, all_before,
                  whole),
        Operation("dream", f"{importing}; recall.dream(window='1000d')", preferences, all_before, whole + SESSIONS),
        Operation("restore", "recall.restore(sys.argv[1] + '/earlier.db')", without_transcripts, all_before, whole),
    ]  # fmt: skip


OPERATIONS = operations()


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Measure import and search on a generated corpus, beside the plain loop they are compared with.

    measure.py [--sessions 2000] [--folder DIR] [--repeat 5]

The plain loop reads the same files with orjson, hashes each text, and inserts rows and full text into
SQLite: what no importer can do without. Whole processes are timed from outside; the median is printed.
"""

from __future__ import annotations

import argparse
import hashlib
import json
import os
import resource
import shutil
import statistics
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path

import apsw
import orjson

from cocorecall import Recall
from corpus import write_corpus

WORDS = [
    "threshold backfill late", "why does the module keep its attribute", "class return self", "exception traceback",
    "classify_ticket", "import the module and return the value of the class attribute", "zyxomma",
    '"keyword arguments"', "iterator* protocol", "snowflake_sql_execute RAW.CORE.ORDERS",
]  # fmt: skip


def plain_loop(folder: Path, database: Path) -> float:
    """Seconds that reading, hashing and inserting take without anything else."""
    start = time.perf_counter()
    db = apsw.Connection(str(database))
    db.execute("PRAGMA journal_mode = WAL; PRAGMA synchronous = NORMAL")
    db.execute("CREATE TABLE turns (id TEXT PRIMARY KEY, session_id TEXT, text TEXT, hash TEXT)")
    db.execute(
        "CREATE VIRTUAL TABLE words USING fts5 (text, content = '', tokenize = 'porter unicode61 remove_diacritics 2')"
    )
    number = 0
    for path in sorted((folder / "projects").rglob("*.jsonl")):
        rows, words = [], []
        with path.open("rb") as lines:
            for seq, line in enumerate(lines):
                content = orjson.loads(line)["message"]["content"]
                blocks = (
                    [content]
                    if isinstance(content, str)
                    else [b.get("text") or b.get("content") or "" for b in content]
                )
                text = "\n\n".join(blocks)
                number += 1
                rows.append(
                    (f"{path.stem}:{seq}", path.stem, text, hashlib.sha256(text.encode()).hexdigest())
                )
                words.append((number, text))
        with db:
            db.executemany("INSERT INTO turns VALUES (?, ?, ?, ?)", rows)
            db.executemany("INSERT INTO words (rowid, text) VALUES (?, ?)", words)
    db.close()
    return time.perf_counter() - start


WITHOUT_FACETS = """
from cocorecall import Recall
from cocorecall.index.facet_import import FacetImport
FacetImport.begin = lambda self, size: None
FacetImport.go_on = lambda self: None
FacetImport.complete = lambda self: 0
Recall.open(".").import_sources()
"""


def run(project: Path, *args: str) -> tuple[float, float]:
    """(seconds, peak megabytes) of one `recall` process."""
    return timed(project, [sys.executable, "-m", "cocorecall", *args])


def timed(project: Path, command: list[str]) -> tuple[float, float]:
    """(seconds, peak megabytes) of one process."""
    before = time.perf_counter()
    process = subprocess.Popen(
        command,
        cwd=project,
        stdout=subprocess.DEVNULL,
        stderr=subprocess.DEVNULL,
    )
    _, status, usage = os.wait4(process.pid, 0)
    process.returncode = os.waitstatus_to_exitcode(status)
    seconds = time.perf_counter() - before
    if process.returncode:
        raise SystemExit(f"{' '.join(command)} ended with {process.returncode}")
    return seconds, usage.ru_maxrss / 1024


def median(repeat: int, measure: Callable[[], tuple[float, float]]) -> tuple[float, float]:
    runs = [measure() for _ in range(repeat)]
    return statistics.median(r[0] for r in runs), max(r[1] for r in runs)


def new_project(root: Path, corpus: Path) -> Path:
    project = root / "project"
    shutil.rmtree(project, ignore_errors=True)
    (project / ".cocoplus").mkdir(parents=True)
    (project / "cocoplus").mkdir()
    (project / "cocoplus" / "recall-sources.json").write_text(json.dumps([str(corpus / "projects")]))
    return project


def grow(corpus: Path, turn: int) -> None:
    """Append a turn to one session."""
    path = min((corpus / "projects").rglob("*.jsonl"))
    last = orjson.loads(path.read_bytes().splitlines()[-1])
    last["uuid"] = f"00000000-0000-4000-8000-{turn:012d}"
    last["type"], last["message"] = (
        "user",
        {"role": "user", "content": f"And one more question, number {turn}."},
    )
    with path.open("ab") as lines:
        lines.write(orjson.dumps(last) + b"\n")


def start_up_ms(project: Path) -> float:
    """Milliseconds that a search spends importing modules, by `-X importtime`."""
    command = [sys.executable, "-X", "importtime", "-m", "cocorecall", "search", "threshold"]
    lines = subprocess.run(
        command, cwd=project, capture_output=True, text=True, check=True
    ).stderr.splitlines()
    own = [line.split("|") for line in lines if line.startswith("import time:") and "self" not in line]
    return sum(int(parts[0].split(":")[1]) for parts in own) / 1000


def needles_first(project: Path, corpus: Path) -> float:
    needles = [json.loads(line) for line in (corpus / "needles.jsonl").read_text().splitlines()]
    with Recall.open(project) as recall:
        found = 0
        for needle in needles:
            hits = recall.search(needle["query"], record=False, limit=1).hits
            found += bool(hits) and hits[0].session_id == needle["session_id"]
    return found / len(needles)


def in_process(project: Path, corpus: Path) -> tuple[float, float, float]:
    """(median, 95th percentile, peak MB) in milliseconds of searches in one process."""
    needles = [json.loads(line)["query"] for line in (corpus / "needles.jsonl").read_text().splitlines()[:90]]
    times = []
    with Recall.open(project) as recall:
        for query in [*needles, *WORDS]:
            start = time.perf_counter()
            recall.search(query, record=False)
            times.append(1000 * (time.perf_counter() - start))
    times.sort()
    return (
        statistics.median(times),
        times[int(len(times) * 0.95)],
        resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024,
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--folder", type=Path, default=Path("/tmp/cocorecall-speed"))  # noqa: S108 - a scratch folder
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    corpus = args.folder / f"corpus-{args.sessions}"
    if not (corpus / "needles.jsonl").exists():
        write_corpus(corpus, args.sessions)
    rows: list[tuple[str, str]] = []

    def row(name: str, value: str) -> None:
        rows.append((name, value))
        print(f"| {name} | {value} |", flush=True)

    plain_runs, first_runs, bare_runs = [], [], []
    for _ in range(3 if args.sessions <= 5000 else 1):
        database = args.folder / "plain.db"
        for side in ("", "-wal", "-shm"):
            Path(f"{database}{side}").unlink(missing_ok=True)
        plain_runs.append(plain_loop(corpus, database))
        bare_runs.append(timed(new_project(args.folder, corpus), [sys.executable, "-c", WITHOUT_FACETS])[0])
        first_runs.append(run(new_project(args.folder, corpus), "import"))
    project = args.folder / "project"
    plain, first = statistics.median(plain_runs), statistics.median(f[0] for f in first_runs)
    row("plain loop", f"{plain:.2f} s")
    row(
        "first import",
        f"{first:.2f} s, {first / plain:.2f} times the plain loop, {max(f[1] for f in first_runs):.0f} MB",
    )
    bare = statistics.median(bare_runs)
    row("the same without facets", f"{bare:.2f} s: facets take {first / bare:.2f} times that")
    row("import, nothing changed", f"{median(args.repeat, lambda: run(project, 'import'))[0]:.3f} s")

    def grown(turn: int) -> tuple[float, float]:
        grow(corpus, turn)
        return run(project, "import")

    turns = iter(range(int(time.time()), int(time.time()) + 100))
    row("import, one session grown by a turn", f"{median(args.repeat, lambda: grown(next(turns)))[0]:.3f} s")
    searches = [median(args.repeat, lambda q=q: run(project, "search", q)) for q in WORDS]  # type: ignore[misc]
    row(
        "`recall search`, whole process, median of ten queries",
        f"{statistics.median(s[0] for s in searches):.3f} s",
    )
    row(
        "`recall search`, slowest of the ten",
        f"{max(s[0] for s in searches):.3f} s, {max(s[1] for s in searches):.0f} MB",
    )
    row(
        "modules of a search, `-X importtime`",
        f"{statistics.median(start_up_ms(project) for _ in range(5)):.0f} ms",
    )
    middle, slow, memory = in_process(project, corpus)
    row("search in process", f"median {middle:.1f} ms, p95 {slow:.1f} ms, {memory:.0f} MB")
    row("needles found first", f"{100 * needles_first(project, corpus):.1f} %")
    size = sum(f.stat().st_size for f in (project / ".cocoplus").glob("recall.db*"))
    row(
        "index size",
        f"{size / 1e6:.0f} MB for {sum(f.stat().st_size for f in corpus.rglob('*.jsonl')) / 1e6:.0f} MB",
    )


if __name__ == "__main__":
    main()

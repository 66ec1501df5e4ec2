#!/usr/bin/env python3
"""Measure the masking of secrets: recall on planted ones, false positives, and what it costs a search.

score.py                     the planted set and the look-alikes
score.py --texts DIR …       also every transcript (*.jsonl) and source file below some folders, each a turn
score.py --index PROJECT     also the turns of a project's index, and what its searches cost
"""

from __future__ import annotations

import argparse
import json
import os
import statistics
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import apsw

from cocorecall import Recall
from cocorecall.secrets import find_secrets
from planted import Turn, look_alikes, turns_with_secrets

SUFFIXES = frozenset(
    ".py .pyi .js .ts .md .rst .txt .json .yaml .yml .toml .cfg .ini .html .css .sh .sql .c .h".split()
)
QUERIES = [
    "threshold backfill late",
    "class return self",
    "exception traceback",
    "import the module",
    "keyword arguments",
]


def is_found(turn: Turn) -> bool:
    """Whether every character of what was planted is masked."""
    covered = {i for s in find_secrets(turn.text) for i in range(s.start, s.end)}
    return all(covered.issuperset(range(start, end)) for _, start, end in turn.planted)


def is_exact(turn: Turn) -> bool:
    """Whether nothing else is masked."""
    planted = {i for _, start, end in turn.planted for i in range(start, end)}
    return planted.issuperset(i for s in find_secrets(turn.text) for i in range(s.start, s.end))


def planted_recall(turns: list[Turn]) -> float:
    return sum(map(is_found, turns)) / len(turns)


def strings(value: Any) -> Iterator[str]:
    if isinstance(value, str):
        yield value
    elif isinstance(value, dict):
        for inner in value.values():
            yield from strings(inner)
    elif isinstance(value, list):
        for inner in value:
            yield from strings(inner)


def texts_below(folder: Path) -> Iterator[tuple[str, str]]:
    """(where, text): the messages of transcripts, a line each; other files whole."""
    for path in sorted(folder.rglob("*")):
        if not path.is_file() or path.is_symlink():
            continue
        if path.suffix == ".jsonl":
            for n, line in enumerate(path.read_text("utf-8", "replace").splitlines(), 1):
                yield f"{path}:{n}", _said(line)
        elif path.suffix in SUFFIXES:
            yield str(path), path.read_text("utf-8", "replace")


def _said(line: str) -> str:
    try:
        record = json.loads(line)
    except ValueError:
        return line
    return "\n\n".join(strings(record.get("message", record) if isinstance(record, dict) else record))


def scan(name: str, texts: Iterator[tuple[str, str]], *, show: bool) -> None:
    turns = size = 0
    spent = 0.0
    found: Counter[str] = Counter()
    hit = 0
    for where, text in texts:
        turns += 1
        size += len(text)
        start = time.perf_counter()
        secrets = find_secrets(text)
        spent += time.perf_counter() - start
        hit += bool(secrets)
        found.update(s.kind for s in secrets)
        if show:
            for s in secrets:
                print(
                    f"    {s.kind}: {where}: {text[max(0, s.start - 60) : s.start]!r} + {s.end - s.start} characters"
                )
    rate = 10_000 * hit / max(1, turns)
    print(f"| {name} | {turns:,} turns, {size / 1e6:.0f} MB | {hit:,} with a match, {rate:.2f} in 10,000 |"
          f" {size / 1e6 / max(spent, 1e-9):.0f} MB/s | {dict(found)}")  # fmt: skip


def cost(project: Path) -> None:
    """What masking adds to a search in process: processor time beyond the same search with `reveal`."""
    with Recall.open(project) as recall:
        for name, options in (("usual", {}), ("--full, no budget", {"full": True, "budget": None})):
            added = []
            for query in QUERIES:
                times: dict[bool, list[float]] = {True: [], False: []}
                for _ in range(15):
                    for reveal, taken in times.items():
                        start = time.process_time()
                        recall.search(query, record=False, reveal=reveal, **options)  # type: ignore[arg-type]
                        taken.append(1000 * (time.process_time() - start))
                added.append(min(times[False]) - min(times[True]))
            print(
                f"| masking adds to a search, {name} | median {statistics.median(added):.2f} ms, most {max(added):.2f} ms |"
            )


def index_texts(project: Path) -> Iterator[tuple[str, str]]:
    with Recall.open(project) as recall:
        path = recall.place.index_path
    for turn_id, text in apsw.Connection(os.fspath(path), flags=apsw.SQLITE_OPEN_READONLY).execute(
        "SELECT id, text FROM turns"
    ):
        yield str(turn_id), str(text)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--texts", type=Path, nargs="*", default=[])
    parser.add_argument("--index", type=Path)
    parser.add_argument("--show", action="store_true", help="where each match and each miss is")
    args = parser.parse_args()
    turns = list(turns_with_secrets())
    missed = [t for t in turns if not is_found(t)]
    print(f"| planted | {len(turns):,} turns | found in full {100 * planted_recall(turns):.2f} % |"
          f" nothing else masked {100 * sum(map(is_exact, turns)) / len(turns):.2f} % |")  # fmt: skip
    for turn in missed if args.show else ():
        print(f"    missed: {turn.planted[0][0]}: {turn.text!r}")
    for turn in (t for t in turns if args.show and not is_exact(t)):
        print(
            f"    more: {turn.planted[0]}: {[(s, turn.text[s.start : s.end][:60]) for s in find_secrets(turn.text)]}"
        )
    scan("look-alikes", ((str(n), text) for n, text in enumerate(look_alikes())), show=args.show)
    for folder in args.texts:
        scan(folder.name, texts_below(folder), show=args.show)
    if args.index:
        scan("index", index_texts(args.index), show=args.show)
        cost(args.index)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Write a deterministic corpus of invented agent sessions, in Claude Code's layout.

    corpus.py FOLDER --sessions 2000 [--seed 7]

Prose is taken from Python's own documentation topics and code from its standard library, so that words are
as frequent as in real text and no data from elsewhere is needed. Each session holds one *needle*: a
decision in words that no other session uses. FOLDER/needles.jsonl lists them as {"query", "session_id"}.
"""

from __future__ import annotations

import argparse
import inspect
import json
import random
import re
import textwrap
import uuid
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from pydoc_data.topics import topics  # type: ignore[import-not-found, unused-ignore]
from typing import Any

NEWEST = datetime(2026, 11, 30, 18, tzinfo=UTC)
MODULES = (
    "argparse ast collections csv decimal difflib logging pathlib pickle statistics tarfile threading zipfile"
)
TABLES = (
    "ORDERS CUSTOMERS INVOICES PAYMENTS SHIPMENTS EVENTS TICKETS REFUNDS SUPPLIERS INVENTORY LEADS".split()
)
FUNCTIONS = (
    "classify_ticket score_lead dedupe_orders mask_email parse_invoice forecast_usage route_case".split()
)
FIRST = (
    "amber brisk cobalt dusty eager fallow gentle hollow ivory jagged keen lucid mellow nimble opal".split()
)
SECOND = "anchor beacon cipher delta ember falcon garnet harbor islet jackal kernel lantern meadow".split()


def _sentences() -> list[str]:
    found = []
    for text in topics.values():
        for sentence in re.split(r"(?<=[.!?])\s+(?=[A-Z])", text):
            line = " ".join(sentence.split())
            if 40 < len(line) < 400:
                found.append(line)
    return found


def _code() -> list[str]:
    return [inspect.getsource(__import__(name)) for name in MODULES.split()]


class Writer:
    """Writes sessions one by one; every session depends on its number and the seed alone."""

    def __init__(self, folder: Path, seed: int) -> None:
        self.folder = folder
        self.seed = seed
        self.sentences = _sentences()
        self.code = _code()

    def session(self, number: int) -> tuple[dict[str, str], int]:
        """Write session `number`; its needle, and how many records it has."""
        rng = random.Random(f"{self.seed}/{number}")
        session_id = str(uuid.UUID(int=rng.getrandbits(128), version=4))
        words = f"{FIRST[number % len(FIRST)]}{number:05d}", f"{SECOND[number % len(SECOND)]}{number:05d}"
        function = rng.choice(FUNCTIONS)
        needle = (
            f"Decision: the {words[0]} {words[1]} rollout keeps {function}() at a threshold of 0.{rng.randint(50, 99)},"
            f" because the {rng.choice(TABLES).lower()} backfill is late by {rng.randint(2, 30)} hours."
        )
        cwd = f"/home/dev/work/{rng.choice(SECOND)}-{rng.choice(['pipeline', 'models', 'app'])}"
        folder = self.folder / "projects" / cwd.replace("/", "-")
        folder.mkdir(parents=True, exist_ok=True)
        lines = [json.dumps(r) for r in self._records(rng, session_id, cwd, number, needle)]
        (folder / f"{session_id}.jsonl").write_text("\n".join(lines) + "\n", encoding="utf-8")
        query = rng.choice(
            (f"{words[0]} {words[1]} threshold", f"why does {words[0]} {words[1]} keep {function}")
        )
        return {"query": query, "session_id": session_id}, len(lines)

    def _records(
        self, rng: random.Random, session_id: str, cwd: str, number: int, needle: str
    ) -> Iterator[dict[str, Any]]:
        clock = NEWEST - timedelta(minutes=37 * number)
        parent: str | None = None
        for kind, message in self._messages(rng, needle):
            clock += timedelta(seconds=rng.randint(3, 300))
            record = str(uuid.UUID(int=rng.getrandbits(128), version=4))
            yield {
                "parentUuid": parent, "isSidechain": False, "userType": "external", "cwd": cwd,
                "sessionId": session_id, "version": "2.0.14", "gitBranch": "main", "type": kind,
                "message": message, "uuid": record, "timestamp": clock.isoformat(timespec="milliseconds")[:23] + "Z",
            }  # fmt: skip
            parent = record

    def _messages(self, rng: random.Random, needle: str) -> Iterator[tuple[str, dict[str, Any]]]:
        length = max(6, int(rng.lognormvariate(3.4, 0.7)))
        needle_at = rng.randrange(1, length, 2)
        for k in range(length):
            if k % 2 == 0:
                yield "user", {"role": "user", "content": self._prose(rng, 1, 5)}
                continue
            text = self._prose(rng, 1, 8) + (f"\n\n{needle}" if k == needle_at else "")
            content: list[dict[str, Any]] = [{"type": "text", "text": text}]
            call = f"toolu_{rng.getrandbits(64):016x}"
            tool = self._tool(rng, cwd_file=rng.choice(SECOND)) if rng.random() < 0.55 else None
            if tool:
                content.append({"type": "tool_use", "id": call, "name": tool[0], "input": tool[1]})
            yield (
                "assistant",
                {
                    "id": f"msg_{call}",
                    "type": "message",
                    "role": "assistant",
                    "model": "m",
                    "content": content,
                },
            )
            if tool:
                yield (
                    "user",
                    {
                        "role": "user",
                        "content": [{"type": "tool_result", "tool_use_id": call, "content": tool[2]}],
                    },
                )

    def _tool(self, rng: random.Random, cwd_file: str) -> tuple[str, dict[str, str], str]:
        kind = rng.random()
        if kind < 0.45:
            left, right = rng.choice(TABLES), rng.choice(TABLES)
            sql = f"SELECT a.id, {rng.choice(FUNCTIONS)}(a.note)\nFROM RAW.CORE.{left} a\nJOIN RAW.CORE.{right} b USING (id)"
            rows = "\n".join(
                f"| {rng.randint(1, 10**6)} | {rng.random() * 1000:.2f} |" for _ in range(rng.randint(1, 25))
            )
            return "snowflake_sql_execute", {"sql": sql}, f"| ID | AMOUNT |\n| --- | --- |\n{rows}"
        if kind < 0.75:
            return "Read", {"file_path": f"src/{cwd_file}.py"}, self._source(rng, 800, 6000)
        return "Bash", {"command": f"pytest -q tests/test_{cwd_file}.py"}, self._source(rng, 200, 1500)

    def _prose(self, rng: random.Random, low: int, high: int) -> str:
        return " ".join(rng.choice(self.sentences) for _ in range(rng.randint(low, high)))

    def _source(self, rng: random.Random, low: int, high: int) -> str:
        source, length = rng.choice(self.code), rng.randint(low, high)
        start = rng.randrange(max(1, len(source) - length))
        return textwrap.dedent(source[start : start + length])


def write_corpus(folder: Path, sessions: int, seed: int = 7) -> tuple[int, int]:
    """Write a corpus; (records, bytes)."""
    folder.mkdir(parents=True, exist_ok=True)
    writer = Writer(folder, seed)
    records = 0
    with (folder / "needles.jsonl").open("w", encoding="utf-8") as needles:
        for number in range(sessions):
            needle, written = writer.session(number)
            records += written
            needles.write(json.dumps(needle) + "\n")
    return records, sum(f.stat().st_size for f in (folder / "projects").rglob("*.jsonl"))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--sessions", type=int, default=2000)
    parser.add_argument("--seed", type=int, default=7)
    args = parser.parse_args()
    records, size = write_corpus(args.folder, args.sessions, args.seed)
    print(f"{args.sessions:,} sessions, {records:,} records, {size / 1e6:.0f} MB in {args.folder}")


if __name__ == "__main__":
    main()

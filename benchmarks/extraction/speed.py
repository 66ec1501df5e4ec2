#!/usr/bin/env python3
"""How long extraction takes on a corpus of `benchmarks/speed/corpus.py` (Claude Code's layout).

    speed.py FOLDER [--limit SESSIONS] [--profile]

Parsing is not measured: turns are built first, session by session. Prints turns, facets and seconds of
extraction alone, with the statements that the grammar did not understand.
"""

from __future__ import annotations

import argparse
import cProfile
import json
import pstats
import time
from collections import Counter
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from cocorecall.extract import Extraction, Glossary, parse_glossary
from cocorecall.model import Entity, Facet, ToolCall, ToolResult, Turn

GLOSSARY = Path(__file__).parent / "glossary.md"


def turns_of(path: Path) -> Iterator[Turn]:
    for line in path.read_text(encoding="utf-8").splitlines():
        record = json.loads(line)
        content = record["message"]["content"]
        blocks = [{"type": "text", "text": content}] if isinstance(content, str) else content
        yield _turn(record["type"], record.get("cwd"), blocks)


def _turn(role: str, cwd: str | None, blocks: list[dict[str, Any]]) -> Turn:
    calls = tuple(ToolCall(b["name"], b["input"], b["id"]) for b in blocks if b["type"] == "tool_use")
    answered = [b for b in blocks if b["type"] == "tool_result"]
    if answered:
        results = tuple(ToolResult(b["tool_use_id"]) for b in answered)
        return Turn("tool", "\n\n".join(str(b["content"]) for b in answered), results=results, cwd=cwd)
    text = "\n\n".join(b["text"] for b in blocks if b["type"] == "text")
    return Turn(role, text, calls=calls, cwd=cwd)


def kind_of(facet: Facet) -> str:
    return facet.type if isinstance(facet, Entity) else type(facet).__name__


def run(folder: Path, limit: int, glossary: Glossary) -> None:
    extraction = Extraction(glossary, strategies=("retry-with-backoff", "two-stage-merge"))
    kinds: Counter[str] = Counter()
    seconds, turns, characters = 0.0, 0, 0
    for path in sorted(folder.rglob("*.jsonl"))[:limit]:
        if path.name == "needles.jsonl":
            continue
        session = list(turns_of(path))
        start = time.process_time()
        extractor = extraction.session()
        for seq, turn in enumerate(session):
            kinds.update(kind_of(facet) for facet in extractor.extract_turn(turn, seq))
        seconds += time.process_time() - start
        turns += len(session)
        characters += sum(len(turn.text) for turn in session)
    print(
        f"{turns:,} turns, {characters / 1e6:.1f} M characters, {sum(kinds.values()):,} facets: {seconds:.2f} s"
    )
    print(
        f"{seconds / max(1, turns) * 1e6:.1f} µs a turn; {extraction.sql.statements:,} statements, {extraction.sql.unparsed} unparsed"
    )
    print(", ".join(f"{kind} {count:,}" for kind, count in kinds.most_common()))


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("folder", type=Path)
    parser.add_argument("--limit", type=int, default=1_000_000)
    parser.add_argument("--profile", action="store_true")
    args = parser.parse_args()
    glossary = parse_glossary(GLOSSARY.read_text(encoding="utf-8"))
    if not args.profile:
        run(args.folder, args.limit, glossary)
        return
    profile = cProfile.Profile()
    profile.runcall(run, args.folder, args.limit, glossary)
    pstats.Stats(profile).sort_stats("cumtime").print_stats(70)


if __name__ == "__main__":
    main()

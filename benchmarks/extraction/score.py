#!/usr/bin/env python3
"""Precision and recall of extraction on labelled turns.

    score.py [--errors] [FILE …]

Without files: `held_back.jsonl`, `tuned.jsonl` and `fresh.jsonl` beside this script, each and together. A line is one turn:
{"session", "role", "text", "calls"?: [{"name", "payload"}], "cwd"?, "entities": [[type, name]], "decisions": [text]}.
Turns of one session stand in order and are read by one extractor. Exits 1 below the floors.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections import Counter
from pathlib import Path
from typing import Any

from cocorecall.extract import Extraction, Extractor, parse_glossary
from cocorecall.model import Entity, KeyDecision, ToolCall, ToolResult, Turn

HERE = Path(__file__).parent
ENTITY_PRECISION, ENTITY_RECALL, DECISION_PRECISION = 0.95, 0.85, 0.90
Counts = Counter[tuple[str, str]]
"""By (type, `right` | `wrong` | `missed`)."""


def turn_of(row: dict[str, Any]) -> Turn:
    calls = tuple(ToolCall(c["name"], c["payload"]) for c in row.get("calls", ()))
    results = (ToolResult(),) if row["role"] == "tool" else ()
    return Turn(role=row["role"], text=row["text"], calls=calls, results=results, cwd=row.get("cwd"))


def score(path: Path, *, show_errors: bool) -> Counts:
    extraction = Extraction(parse_glossary((HERE / "glossary.md").read_text(encoding="utf-8")))
    extractors: dict[str, Extractor] = {}
    counts: Counts = Counter()
    for number, line in enumerate(path.read_text(encoding="utf-8").splitlines()):
        row = json.loads(line)
        extractor = extractors.setdefault(row["session"], extraction.session())
        facets = extractor.extract_turn(turn_of(row), number)
        found = {(f.type, f.name) for f in facets if isinstance(f, Entity)}
        found |= {("decision", f.decision) for f in facets if isinstance(f, KeyDecision)}
        right = {(kind, name) for kind, name in row["entities"]} | {("decision", d) for d in row["decisions"]}
        for verdict, group in (("right", found & right), ("wrong", found - right), ("missed", right - found)):
            counts.update((kind, verdict) for kind, _ in group)
            if show_errors and verdict != "right":
                for kind, name in sorted(group):
                    print(f"{path.stem}:{number + 1} {verdict}: {kind} {name!r}")
    return counts


def shares(counts: Counts, kinds: set[str]) -> tuple[int, float, float]:
    """(labelled, precision, recall)."""
    right, wrong, missed = (sum(counts[k, v] for k in kinds) for v in ("right", "wrong", "missed"))
    return right + missed, right / max(1, right + wrong), right / max(1, right + missed)


def print_table(title: str, turns: int, counts: Counts) -> bool:
    """Print one table; whether the floors hold."""
    kinds = {kind for kind, _ in counts} - {"decision"}
    print(
        f"\n{title}, {turns} turns\n\n| type | labelled | precision | recall |\n| --- | ---: | ---: | ---: |"
    )
    for kind in (*sorted(kinds), "decision"):
        labelled, precision, recall = shares(counts, {kind})
        print(f"| {kind} | {labelled} | {precision:.3f} | {recall:.3f} |")
    labelled, precision, recall = shares(counts, kinds)
    print(f"| **all entities** | {labelled} | **{precision:.3f}** | **{recall:.3f}** |")
    _, decision_precision, _ = shares(counts, {"decision"})
    return (
        precision >= ENTITY_PRECISION and recall >= ENTITY_RECALL and decision_precision >= DECISION_PRECISION
    )


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("files", nargs="*", type=Path)
    parser.add_argument("--errors", action="store_true", help="list what is wrong and what is missed")
    args = parser.parse_args()
    files = args.files or [HERE / name for name in ("held_back.jsonl", "tuned.jsonl", "fresh.jsonl")]
    total: Counts = Counter()
    turns = 0
    for path in files:
        counts = score(path, show_errors=args.errors)
        size = len(path.read_text(encoding="utf-8").splitlines())
        print_table(path.stem, size, counts)
        total += counts
        turns += size
    sys.exit(0 if print_table("all", turns, total) else 1)


if __name__ == "__main__":
    main()

#!/usr/bin/env python3
"""Score retrieval on the coding sessions of this folder.

    coding.py [--half tune|validate|both] [--per-kind] [--misses] [--json]
    coding.py --counts      # the table of the datasheet

The sessions of a half are written in the agents' own layouts to a temporary project, imported, and searched through
the public library. `tune` may be looked at while ranking is changed; `validate` is only scored.
"""

from __future__ import annotations

import argparse
import json
import statistics
from collections import Counter, defaultdict
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from authoring import Session, read_session, write_session
from cocorecall import Recall
from scoring import (
    NOW,
    TABLE_HEAD,
    Question,
    empty_project,
    means,
    score_baselines,
    score_recall,
    table_row,
)

CODING = Path(__file__).parent / "coding"
HALVES = tuple(half for half in ("tune", "validate") if (CODING / half / "questions.jsonl").exists())
SOURCES = ("transcripts/cortex", "transcripts/claude/projects")
KINDS = "identifier error decision reversed paraphrase distractor howto value time who none".split()
WEAK = 0.5
"""A hit with a `match` above it claims to answer."""


def read_sessions(half: str) -> list[Session]:
    """The sessions of a half, in the order of their names."""
    return [read_session(path) for path in sorted((CODING / half).glob("*.txt"))]


def read_questions(half: str) -> list[dict[str, Any]]:
    """The questions of a half as they are written: id, question, answers (labels), kind."""
    lines = (CODING / half / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    return [json.loads(line) for line in lines if line.strip()]


def load(half: str, project: Path) -> list[Question]:
    """Write a half's transcripts into a project; its questions, answers as turn ids."""
    labels: dict[str, str] = {}
    for session in read_sessions(half):
        write_session(session, project / "transcripts")
        labels |= session.labels()
    return [
        Question(q["question"], frozenset(labels[a] for a in q["answers"]), q["kind"])
        for q in read_questions(half)
    ]


def counts_table() -> str:
    """How many sessions, turns and questions of each kind the halves hold, as the datasheet has it."""
    sessions = [read_sessions(half) for half in HALVES]
    kinds = [Counter(q["kind"] for q in read_questions(half)) for half in HALVES]
    rows = [
        ("", HALVES),
        ("---", ["---"] * len(HALVES)),
        ("sessions", map(len, sessions)),
        ("turns", (sum(len(s.turns) for s in half) for half in sessions)),
        ("questions", (half.total() for half in kinds)),
        *((kind, [half[kind] for half in kinds]) for kind in KINDS),
    ]
    return "\n".join(f"| {' | '.join([name, *map(str, cells)])} |" for name, cells in rows)


@dataclass(frozen=True)
class Scores:
    """What one half gave.

    Attributes:
        rows: the scores of each question that has an answer.
        best: the highest `match` of each question that has none; 0 where nothing was found.
        misses: for each question of which an answer is not among the first ten: what came instead.
    """

    half: str
    sessions: int
    turns: int
    questions: list[Question]
    baselines: dict[str, dict[str, float]]
    rows: list[tuple[Question, dict[str, float]]]
    best: list[float]
    misses: list[str]

    def silent(self) -> float:
        """Percent of the unanswerable questions without a hit that claims to answer."""
        return 100 * statistics.fmean(m <= WEAK for m in self.best)

    def by_kind(self) -> dict[str, dict[str, float]]:
        """Means of each kind of question that has answers."""
        groups: dict[str, list[dict[str, float]]] = defaultdict(list)
        for question, row in self.rows:
            groups[question.kind].append(row)
        return {kind: means(groups[kind]) for kind in KINDS if kind in groups}


def score(half: str, *, misses: bool = False) -> Scores:
    """Import a half and ask its questions."""
    with empty_project(*SOURCES) as project:
        questions = load(half, project)
        answered = [q for q in questions if q.evidence]
        with Recall.open(project, clock=lambda: NOW) as recall:
            report = recall.import_sources()
            rows = [(q, score_recall(recall, q)) for q in answered]
            return Scores(
                half,
                report.sessions_new,
                report.turns_new,
                questions,
                score_baselines(recall, answered),
                rows,
                [_best_match(recall, q) for q in questions if not q.evidence],
                [_miss(recall, q) for q, row in rows if row["R@10"] < 1] if misses else [],
            )


def _best_match(recall: Recall, question: Question) -> float:
    return max((h.match for h in recall.search(question.text, record=False).hits), default=0.0)


def _miss(recall: Recall, question: Question) -> str:
    lines = [f"{question.kind}: {question.text}"]
    for hit in recall.search(question.text, all=True, limit=3, budget=None, record=False).hits:
        mark = "+" if hit.turn_id in question.evidence else " "
        lines.append(f"  {mark} {hit.score:6.2f} {hit.field} {hit.speaker_role}: {hit.text[:120]!r}")
    for turn in sorted(question.evidence):
        shown = recall.show(turn).turns[0]
        lines.append(f"  = {turn} {shown.speaker_role}: {shown.text[:160]!r}")
    return "\n".join(lines)


def print_table(scores: Scores, *, per_kind: bool) -> None:
    """Print a half's table in Markdown."""
    counts = Counter(q.kind for q in scores.questions)
    print(f"\n{scores.half}: {scores.sessions} sessions, {scores.turns} turns, {counts.total()} questions\n")
    print(TABLE_HEAD)
    for name, baseline in scores.baselines.items():
        print(table_row(name, baseline))
    print(table_row("CocoRecall", means(row for _, row in scores.rows)))
    for kind, found in scores.by_kind().items() if per_kind else ():
        print(table_row(f"{kind} ({counts[kind]})", found))
    if scores.best:
        print(
            f"\nnothing answers ({len(scores.best)} questions):"
            f" {scores.silent():.0f} % without a hit of match above {WEAK}"
        )
    for miss in scores.misses:
        print(f"\n{miss}")


def as_json(halves: Iterable[Scores]) -> str:
    """Everything of every half as one JSON document."""
    document = {
        s.half: {
            "sessions": s.sessions,
            "turns": s.turns,
            "kinds": Counter(q.kind for q in s.questions),
            "baselines": s.baselines,
            "cocorecall": means(row for _, row in s.rows),
            "by_kind": s.by_kind(),
            "nothing_answers_silent": s.silent() if s.best else None,
            "misses": s.misses,
        }
        for s in halves
    }
    return json.dumps(document, indent=1, ensure_ascii=False)


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=["tune", "validate", "both"], default="both")
    parser.add_argument("--per-kind", action="store_true")
    parser.add_argument("--misses", action="store_true", help="for tuning: only look at the tune half")
    parser.add_argument("--json", action="store_true", help="every score, as one document")
    parser.add_argument("--counts", action="store_true", help="only count sessions, turns and questions")
    args = parser.parse_args()
    if args.counts:
        print(counts_table())
        return
    halves = HALVES if args.half == "both" else (args.half,)
    found = [score(half, misses=args.misses) for half in halves]
    if args.json:
        print(as_json(found))
    else:
        for scores in found:
            print_table(scores, per_kind=args.per_kind)


if __name__ == "__main__":
    main()

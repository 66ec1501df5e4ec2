#!/usr/bin/env python3
"""Score retrieval on the coding sessions of this folder.

    coding.py [--half tune|validate|both] [--per-kind] [--misses]

The sessions of a half are written in the agents' own layouts to a temporary project, imported, and searched through
the public library. `tune` may be looked at while ranking is changed; `validate` is only scored.
"""

from __future__ import annotations

import argparse
import json
import statistics
import tempfile
from collections import defaultdict
from pathlib import Path

from authoring import read_session, write_session
from cocorecall import Recall
from scoring import NOW, TABLE_HEAD, Question, means, score_baselines, score_recall, table_row

CODING = Path(__file__).parent / "coding"
HALVES = tuple(half for half in ("tune", "validate") if (CODING / half / "questions.jsonl").exists())


def load(half: str, project: Path) -> list[Question]:
    """Write a half's transcripts into a project; its questions, answers as turn ids."""
    labels: dict[str, str] = {}
    for path in sorted((CODING / half).glob("*.txt")):
        session = read_session(path)
        write_session(session, project / "transcripts")
        labels |= session.labels()
    lines = (CODING / half / "questions.jsonl").read_text(encoding="utf-8").splitlines()
    entries = [json.loads(line) for line in lines if line.strip()]
    return [Question(e["question"], frozenset(labels[a] for a in e["answers"]), e["kind"]) for e in entries]


def score(half: str, *, per_kind: bool, misses: bool) -> None:
    """Print a half's table."""
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder)
        (project / ".cocoplus").mkdir()
        (project / "cocoplus").mkdir()
        sources = ["transcripts/cortex", "transcripts/claude/projects"]
        (project / "cocoplus" / "recall-sources.json").write_text(json.dumps(sources), encoding="utf-8")
        questions = load(half, project)
        with Recall.open(project, clock=lambda: NOW) as recall:
            report = recall.import_sources()
            print(
                f"\n{half}: {report.sessions_new} sessions, {report.turns_new} turns, {len(questions)} questions\n"
            )
            _print_scores(recall, questions, per_kind=per_kind, misses=misses)


def _print_scores(recall: Recall, questions: list[Question], *, per_kind: bool, misses: bool) -> None:
    answered = [q for q in questions if q.evidence]
    rows = [score_recall(recall, q) for q in answered]
    print(TABLE_HEAD)
    for name, scores in score_baselines(recall, answered).items():
        print(table_row(name, scores))
    print(table_row("CocoRecall", means(rows)))
    if per_kind:
        by_kind: dict[str, list[dict[str, float]]] = defaultdict(list)
        for question, row in zip(answered, rows, strict=True):
            by_kind[question.kind].append(row)
        for kind in sorted(by_kind):
            print(table_row(f"{kind} ({len(by_kind[kind])})", means(by_kind[kind])))
    unanswered = [q for q in questions if not q.evidence]
    if unanswered:
        best = [
            max((h.match for h in recall.search(q.text, record=False).hits), default=0.0) for q in unanswered
        ]
        share = 100 * statistics.fmean(m <= 0.5 for m in best)
        print(
            f"\nnothing answers ({len(unanswered)} questions): {share:.0f} % without a hit of match above 0.5"
        )
    if misses:
        _print_misses(recall, answered, rows)


def _print_misses(recall: Recall, questions: list[Question], rows: list[dict[str, float]]) -> None:
    for question, row in zip(questions, rows, strict=True):
        if row["R@5"] < 1:
            print(f"\n{question.kind}: {question.text}  R@5 {row['R@5']:.2f}")
            for hit in recall.search(question.text, all=True, limit=3, budget=None, record=False).hits:
                mark = "+" if hit.turn_id in question.evidence else " "
                print(f"  {mark} {hit.score:6.2f} {hit.field} {hit.speaker_role}: {hit.text[:120]!r}")
            for turn in sorted(question.evidence):
                view = recall.show(turn)
                print(f"  = {turn} {view.turns[0].speaker_role}: {view.turns[0].text[:160]!r}")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--half", choices=[*HALVES, "both"], default="both")
    parser.add_argument("--per-kind", action="store_true")
    parser.add_argument("--misses", action="store_true", help="for tuning: only look at the tune half")
    args = parser.parse_args()
    for half in HALVES if args.half == "both" else (args.half,):
        score(half, per_kind=args.per_kind, misses=args.misses)


if __name__ == "__main__":
    main()

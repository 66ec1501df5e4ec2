#!/usr/bin/env python3
"""What each constant of the ranking is worth, and what pruning its first stage costs.

    ablation.py LOCOMO.json              # every part of the formula taken out, one at a time
    ablation.py --pruning [--sessions N] # the coding sessions among N generated ones, pruned and not

R@5, R@10, MRR on LoCoMo (one index a conversation) and on the tuning half of the coding sessions.
"""

from __future__ import annotations

import argparse
import json
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from cocorecall import Recall
from cocorecall.index.reader import IndexReader
from cocorecall.index.schema import open_for_reading
from cocorecall.search import ranking
from cocorecall.search.answer import Request, answer
from cocorecall.search.ranking import WEIGHTS, Weights
from coding import HALVES, SOURCES, load
from locomo import write_conversation
from scoring import NOW, Question, empty_project, means, score_ranking

WITHOUT: dict[str, dict[str, Any]] = {
    "as it is": {},
    "without the window (before, after)": {"before": (), "after": ()},
    "without the session's share": {"session_share": 0.0},
    "k1 1.2 instead of 0.9": {"k1": 1.2},
    "b 0.75 instead of 0.4": {"b": 0.75},
    "light words weigh in full": {"light": 1.0},
    "the turn before counts alike whether it asks or not": {"asked": 1.0, "told": 1.0},
    "parts of compound names count nothing": {"part": 0.0},
    "without recency": {"recency": 0.0},
    "recency 0.3": {"recency": 0.3},
    "without times named in the query": {"period": 0.0},
    "without speakers named in the query": {"speaker": 0.0},
    "questions count like answers": {"question": 1.0},
    "without kinds of answer (number, reason, time)": {"cue": 1.0, "time_cue": 1.0},
}


TUNING = ("tune",)
"""Constants are never chosen by what they do to the validation half."""


@contextmanager
def reader_of(root: Path) -> Iterator[IndexReader]:
    """Import a project and open its index."""
    with Recall.open(root, clock=lambda: NOW) as recall:
        recall.import_sources()
        connection = open_for_reading(recall.place.index_path)
    try:
        yield IndexReader(connection)
    finally:
        connection.close()


def rows(reader: IndexReader, questions: list[Question], weights: Weights) -> list[dict[str, float]]:
    """Scores of each question that has an answer."""
    out = []
    for question in questions:
        request = Request(question.text, mode="all", limit=20, budget=None, weights=weights)
        hits = answer(request, reader, now=NOW, phase=None).hits
        out.append(score_ranking(question, [h.turn_id for h in hits]))
    return out


def ablate(data: list[dict[str, object]]) -> None:
    """Print the ablation table."""
    scores: dict[str, list[dict[str, float]]] = {name: [] for name in WITHOUT}
    coding: dict[str, list[dict[str, float]]] = {name: [] for name in WITHOUT}
    for conversation in data:
        with empty_project("transcripts") as root:
            questions = write_conversation(conversation, root / "transcripts")
            _collect(root, questions, scores)
    for half in TUNING:
        with empty_project(*SOURCES) as root:
            questions = [q for q in load(half, root) if q.evidence]
            _collect(root, questions, coding)
    print(
        "| | LoCoMo R@5 | R@10 | MRR | coding R@5 | R@10 | MRR |\n| --- | --- | --- | --- | --- | --- | --- |"
    )
    for name in WITHOUT:
        cells = [means(part[name]) for part in (scores, coding)]
        print(
            f"| {name} | " + " | ".join(f"{c[k]:.1f}" for c in cells for k in ("R@5", "R@10", "MRR")) + " |"
        )


def _collect(root: Path, questions: list[Question], into: dict[str, list[dict[str, float]]]) -> None:
    with reader_of(root) as reader:
        for name, changes in WITHOUT.items():
            into[name] += rows(reader, questions, WEIGHTS._replace(**changes))


def pruning(sessions: int) -> None:
    """Print R@10 with the first stage pruned and not, among generated sessions."""
    sys.path.insert(0, str(Path(__file__).parents[1] / "speed"))
    from corpus import write_corpus  # noqa: PLC0415 - a script of the neighbouring folder

    bound = ranking.CANDIDATE_POSTINGS
    with empty_project(*SOURCES, "noise/projects") as root:
        questions = [q for half in HALVES for q in load(half, root) if q.evidence]
        write_corpus(root / "noise", sessions)
        with reader_of(root) as reader:
            print("| first stage | R@5 | R@10 | MRR |\n| --- | --- | --- | --- |")
            for name, postings in (("every match ranked", 1 << 40), (f"at most {bound:,} matches", bound)):
                ranking.CANDIDATE_POSTINGS = postings
                found = means(rows(reader, questions, WEIGHTS))
                print(f"| {name} | " + " | ".join(f"{found[k]:.1f}" for k in ("R@5", "R@10", "MRR")) + " |")


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path, nargs="?")
    parser.add_argument("--pruning", action="store_true")
    parser.add_argument("--sessions", type=int, default=2000)
    args = parser.parse_args()
    if args.pruning:
        pruning(args.sessions)
    elif args.data:
        ablate(json.loads(args.data.read_text(encoding="utf-8")))
    else:
        parser.error("give the path of LoCoMo's data, or --pruning")


if __name__ == "__main__":
    main()

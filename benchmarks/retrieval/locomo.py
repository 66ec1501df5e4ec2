#!/usr/bin/env python3
"""Score retrieval on LoCoMo conversations (Maharana et al., ACL 2024).

    locomo.py DATA.json [--pooled] [--per-category] [--json]

The data is CC BY-NC 4.0 and stays outside this repository: give the path of a copy. Each conversation becomes a
project of its own, each of its sessions a transcript in the predecessor's layout with the speakers as roles; with
--pooled all share one index. Questions of categories 1 to 4 that have evidence are asked.
"""

from __future__ import annotations

import argparse
import json
import re
from collections import defaultdict
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

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

CATEGORIES = (1, 2, 3, 4)
"""5 holds adversarial questions without an answer."""

Rows = list[dict[str, float]]


def write_conversation(conversation: dict[str, Any], folder: Path) -> list[Question]:
    """Write a conversation's sessions as transcripts; its questions, evidence as turn ids."""
    tag, talk = str(conversation["sample_id"]), conversation["conversation"]
    names: dict[str, str] = {}
    folder.mkdir(parents=True, exist_ok=True)
    for key in (k for k in talk if re.fullmatch(r"session_\d+", k)):
        start = datetime.strptime(talk[f"{key}_date_time"], "%I:%M %p on %d %B, %Y").replace(tzinfo=UTC)
        session_id = f"{tag}-{int(key[8:]):02d}"
        turns = []
        for n, said in enumerate(talk[key]):
            names[said["dia_id"]] = f"{session_id}:{n}"
            image = f" [image: {said['blip_caption']}]" if said.get("blip_caption") else ""
            at = (start + timedelta(minutes=n)).isoformat()
            turns.append({"role": said["speaker"], "text": said["text"] + image, "timestamp": at})
        document = {"session_id": session_id, "start_time": start.isoformat(), "turns": turns}
        (folder / f"{session_id}.json").write_text(json.dumps(document), encoding="utf-8")
    questions = []
    for asked in conversation["qa"]:
        references = [r for entry in asked.get("evidence", []) for r in re.findall(r"D\d+:\d+", entry)]
        evidence = frozenset(names[r] for r in references if r in names)
        if evidence and asked["category"] in CATEGORIES:
            questions.append(Question(asked["question"], evidence, f"category {asked['category']}"))
    return questions


def score(data: list[Any], *, pooled: bool) -> tuple[dict[str, dict[str, float]], dict[str, Rows]]:
    """Means of each baseline, and CocoRecall's scores of each question, by category."""
    rows: dict[str, Rows] = defaultdict(list)
    baselines: dict[str, list[tuple[dict[str, float], int]]] = defaultdict(list)
    for group in [data] if pooled else [[conversation] for conversation in data]:
        with empty_project("transcripts") as project:
            questions = [q for c in group for q in write_conversation(c, project / "transcripts")]
            with Recall.open(project, clock=lambda: NOW) as recall:
                recall.import_sources()
                for question in questions:
                    rows[question.kind].append(score_recall(recall, question))
                for name, scores in score_baselines(recall, questions).items():
                    baselines[name].append((scores, len(questions)))
    return {name: _weighted(parts) for name, parts in baselines.items()}, dict(sorted(rows.items()))


def _weighted(parts: list[tuple[dict[str, float], int]]) -> dict[str, float]:
    """The mean over all questions of means over each conversation's."""
    total = sum(n for _, n in parts)
    return {key: sum(scores[key] * n for scores, n in parts) / total for key in parts[0][0]}


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("data", type=Path)
    parser.add_argument("--pooled", action="store_true")
    parser.add_argument("--per-category", action="store_true")
    parser.add_argument("--json", action="store_true", help="every score, as one document")
    args = parser.parse_args()
    baselines, rows = score(json.loads(args.data.read_text(encoding="utf-8")), pooled=args.pooled)
    table = baselines | {"CocoRecall": means(row for part in rows.values() for row in part)}
    if args.per_category:
        table |= {f"{category} ({len(part)})": means(part) for category, part in rows.items()}
    if args.json:
        print(json.dumps(table, indent=1))
        return
    print(TABLE_HEAD)
    for name, scores in table.items():
        print(table_row(name, scores))


if __name__ == "__main__":
    main()

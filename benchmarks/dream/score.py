#!/usr/bin/env python3
"""Precision and recall of what the Dream Cycle gathers, on labelled turns.

    score.py [--errors] [FILE …]

Without files: `labelled.jsonl`, `held_back.jsonl` and `fresh.jsonl` beside this script. The patterns were written with the
first one; each of the others was read once before they were changed for it too (`../README.md` has those figures). A line is a session: {"turns": [record of the generic layout], "expect": [[kind, text]]}, where text is a
sentence as it stands in a turn, or of a `schema correction` the statement that then worked. The lines are written as
transcripts, imported, and gathered as `recall dream` does. Exits 1 below the floor of precision.
"""

from __future__ import annotations

import argparse
import json
import sys
import tempfile
from collections import Counter
from datetime import UTC, datetime, timedelta
from pathlib import Path

from cocorecall import Recall
from cocorecall.dream.gather import gather
from cocorecall.index.facets import FacetReader
from cocorecall.index.recent import RecentReader
from cocorecall.index.schema import open_for_reading
from cocorecall.model.dream import KINDS

HERE = Path(__file__).parent
FILES = tuple(HERE / f"{name}.jsonl" for name in ("labelled", "held_back", "fresh"))
PRECISION = 0.9
Counts = Counter[tuple[str, str]]
"""By (kind, `right` | `wrong` | `missed`)."""
Label = tuple[str, str, str]
"""Session, kind, text."""


def score(labelled: Path, *, show_errors: bool = False) -> Counts:
    """Gather from the sessions of a file and compare."""
    with tempfile.TemporaryDirectory() as folder:
        expected = _write(labelled, Path(folder))
        with Recall.open(folder) as recall:
            recall.import_sources()
            index = recall.place.index_path
        connection = open_for_reading(index)
        found = gather(RecentReader(connection, "2026-01-01"), FacetReader(connection)).signals
        connection.close()
    got = {(s.session_id, s.kind, s.sentence) for s in found}
    counts: Counts = Counter()
    for name, labels in (("right", got & expected), ("wrong", got - expected), ("missed", expected - got)):
        for session, kind, text in sorted(labels):
            counts[kind, name] += 1
            if show_errors and name != "right":
                print(f"{name}  {session}  {kind}: {text}")
    return counts


def _write(labelled: Path, folder: Path) -> set[Label]:
    for name in (".cocoplus", "cocoplus", "transcripts"):
        (folder / name).mkdir()
    (folder / "cocoplus" / "recall-sources.json").write_text(json.dumps(["transcripts"]), encoding="utf-8")
    expected = set()
    start = datetime(2026, 3, 2, 9, tzinfo=UTC)
    for n, line in enumerate(labelled.read_text(encoding="utf-8").splitlines()):
        row, session = json.loads(line), f"s{n:03d}"
        for k, turn in enumerate(row["turns"]):
            turn["timestamp"] = (start + timedelta(minutes=k)).isoformat()
        document = {"session_id": session, "turns": row["turns"]}
        (folder / "transcripts" / f"{session}.json").write_text(json.dumps(document), encoding="utf-8")
        expected |= {(session, kind, text) for kind, text in row["expect"]}
    return expected


def rates(counts: Counts, kinds: tuple[str, ...] = KINDS) -> tuple[float, float]:
    """(precision, recall) of some kinds together."""
    right, wrong, missed = (sum(counts[k, name] for k in kinds) for name in ("right", "wrong", "missed"))
    return right / max(1, right + wrong), right / max(1, right + missed)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("files", nargs="*", type=Path, default=FILES, metavar="FILE")
    parser.add_argument("--errors", action="store_true", help="print what is wrong or missed")
    options = parser.parse_args()
    found = {path: score(path, show_errors=options.errors) for path in options.files}
    print("| file | kind | right | wrong | missed | precision | recall |\n" + "| --- " * 7 + "|")
    for path, counts in found.items():
        for name, kinds in (*((k, (k,)) for k in KINDS), ("together", KINDS)):
            cells = [sum(counts[k, n] for k in kinds) for n in ("right", "wrong", "missed")]
            if any(cells):
                precision, recall = rates(counts, kinds)
                print(
                    f"| {path.stem} | {name} | {' | '.join(map(str, cells))} | {precision:.2f} | {recall:.2f} |"
                )
    sys.exit(any(rates(counts)[0] < PRECISION for counts in found.values()))


if __name__ == "__main__":
    main()

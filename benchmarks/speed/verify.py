#!/usr/bin/env python3
"""Measure `recall verify` and `recall export` on an indexed project whose sources are there.

    verify.py [--project DIR] [--repeat 5]

The default is the project that measure.py leaves. Whole processes are timed from outside; the median is printed.
"""

from __future__ import annotations

import argparse
import shutil
import statistics
import time
from pathlib import Path

from cocorecall import Recall
from measure import median, run


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--project", type=Path, default=Path("/tmp/cocorecall-speed/project"))  # noqa: S108 - a scratch folder
    parser.add_argument("--repeat", type=int, default=5)
    args = parser.parse_args()
    with Recall.open(args.project) as recall:
        report = recall.verify(all=True)
        hits = recall.search("threshold backfill late", record=False).hits
        turn, session = hits[0].turn_id, hits[0].session_id
        searches = timed_searches(recall)
    print(f"turns by verdict: {dict(report.counts)}")
    seconds, memory = median(args.repeat, lambda: run(args.project, "verify", "--all"))
    print(
        f"| `recall verify --all` | {report.turns / seconds:,.0f} turns a second ({report.turns:,} in {seconds:.1f} s), {memory:.0f} MB |"
    )
    for name, target in (("turn", turn), ("session", session)):
        seconds, _ = median(args.repeat, lambda t=target: run(args.project, "verify", t))  # type: ignore[misc]
        print(f"| `recall verify`, one {name} | {seconds:.3f} s |")
    print(
        f"| search in process, plain and with `--verify`, median | {searches[0]:.1f} ms, {searches[1]:.1f} ms |"
    )
    for form in ("jsonl", "markdown", "html"):
        folder = args.project / "export-of-benchmark"

        def export(form: str = form, folder: Path = folder) -> tuple[float, float]:
            shutil.rmtree(folder, ignore_errors=True)
            return run(args.project, "export", "--all", "--format", form, "--output", str(folder))

        seconds, memory = median(min(3, args.repeat), export)
        size = sum(f.stat().st_size for f in folder.iterdir())
        print(
            f"| `recall export --all --format {form}` | {seconds:.1f} s, {size / 1e6:.0f} MB, {memory:.0f} MB of memory |"
        )
        shutil.rmtree(folder)


WORDS = [
    "threshold backfill late",
    "class return self",
    "exception traceback",
    "classify_ticket",
    "keyword arguments",
]


def timed_searches(recall: Recall) -> tuple[float, float]:
    """Median milliseconds of searches without and with `verify`, in turn so that both meet the same machine."""
    times: dict[bool, list[float]] = {False: [], True: []}
    for query in WORDS * 5:
        for verify in (False, True):
            start = time.perf_counter()
            recall.search(query, record=False, verify=verify)
            times[verify].append(1000 * (time.perf_counter() - start))
    return statistics.median(times[False][2:]), statistics.median(times[True][2:])


if __name__ == "__main__":
    main()

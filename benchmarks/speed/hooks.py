#!/usr/bin/env python3
"""How long `recall hook stop` takes when nothing is due, as a whole process and beyond the bare interpreter.

    hooks.py [--project DIR] [--repeat 40]

DIR: a project with an index (a year of sessions, such as `measure.py` leaves behind); without it an empty one. The
program is started as a hook starts it: the console script beside this interpreter, or `-m cocorecall`.
"""

from __future__ import annotations

import argparse
import os
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

GIVEN = b'{"session_id": "s", "hook_event_name": "Stop", "stop_hook_active": false}'


def seconds(command: list[str], folder: Path) -> float:
    before = time.perf_counter()
    subprocess.run(command, cwd=folder, input=GIVEN, capture_output=True, check=True)
    return time.perf_counter() - before


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("--project", type=Path)
    parser.add_argument("--repeat", type=int, default=40)
    args = parser.parse_args()
    script = Path(sys.executable).with_name("recall")
    program = [str(script)] if script.exists() else [sys.executable, "-m", "cocorecall"]
    with tempfile.TemporaryDirectory() as scratch:
        project = args.project or Path(scratch)
        home = project / ".cocoplus"
        home.mkdir(exist_ok=True)
        (home / ".last-consolidation").write_text(str(time.time_ns() // 1_000_000))
        bare, stop = [], []
        for _ in range(args.repeat):  # in turns: what else the machine does falls on both
            bare.append(seconds([sys.executable, "-c", "pass"], project))
            stop.append(seconds([*program, "hook", "stop"], project))
    whole, empty = statistics.median(stop), statistics.median(bare)
    print("| | ms | aim |\n| --- | ---: | ---: |")
    print(f"| `recall hook stop`, nothing due, whole process | {1000 * whole:.0f} | 60 |")
    print(f"| the same beyond an empty Python process | {1000 * (whole - empty):.0f} | 25 |")
    print(f"({os.cpu_count()} cores, medians of {args.repeat})")


if __name__ == "__main__":
    main()

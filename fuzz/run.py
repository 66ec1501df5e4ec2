#!/usr/bin/env python3
"""Run the coverage-guided fuzzer over every target for a set time.

    run.py [--seconds 30] [TARGET ...]

Each target runs in a process of its own, from the seeds in `fuzz/corpus/TARGET/`; what it finds that is new goes to a
scratch folder. A crash is written to `fuzz/corpus/TARGET/`, where it becomes a test, and ends the run with exit code 1.
Needs atheris (`make fuzz` installs it).
"""

from __future__ import annotations

import argparse
import re
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
CORPUS = HERE / "corpus"
TARGETS = tuple(sorted(folder.name for folder in CORPUS.iterdir()))
"""A target has seeds, or the fuzzer would have nothing to begin with."""

CHILD = """
import sys
import atheris
sys.path.insert(0, sys.argv.pop(1))
name = sys.argv.pop(1)
with atheris.instrument_imports(include=["cocorecall", "targets"]):
    import targets
target = targets.TARGETS[name]
atheris.Setup(sys.argv, target)
atheris.Fuzz()
"""


def fuzz(target: str, seconds: int) -> tuple[int, bool]:
    """(executions, whether it crashed) of one target."""
    seeds = CORPUS / target
    seeds.mkdir(parents=True, exist_ok=True)
    with tempfile.TemporaryDirectory() as scratch:
        command = [
            sys.executable, "-c", CHILD, str(HERE), target, scratch, str(seeds), f"-max_total_time={seconds}",
            f"-artifact_prefix={seeds}/", "-max_len=4096", "-timeout=20", "-rss_limit_mb=2048", "-print_final_stats=1",
        ]  # fmt: skip
        done = subprocess.run(command, capture_output=True, text=True, errors="replace", check=False)
    found = re.search(r"stat::number_of_executed_units:\s*(\d+)", done.stderr)
    if done.returncode:
        sys.stderr.write(done.stderr[-4000:])
    return int(found[1]) if found else 0, done.returncode != 0


def main() -> None:
    parser = argparse.ArgumentParser(
        description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter
    )
    parser.add_argument("targets", nargs="*", default=TARGETS)
    parser.add_argument("--seconds", type=int, default=30, help="for each target")
    args = parser.parse_args()
    print("| target | executions | crashes |\n| --- | ---: | ---: |", flush=True)
    crashed = False
    for target in args.targets:
        executions, crash = fuzz(target, args.seconds)
        crashed = crashed or crash
        print(f"| {target} | {executions:,} | {crash:d} |", flush=True)
    sys.exit(crashed)


if __name__ == "__main__":
    main()

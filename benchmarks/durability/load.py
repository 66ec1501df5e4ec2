"""Five searching processes during an import, and during two at once: `python load.py [--sessions N]`.

Prints the errors (there should be none) and how long a search takes in a process that keeps its index open, with
nobody else about and under load.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
from pathlib import Path

from kill import RUN, TURNS, index_of, stock, write_session

SEARCH = """\
import json, sys, time
from cocorecall import Recall
queries = ["merge key of ORDERS", "settle table tests", "session 17 part 3", '"merge key"', "nothing of this kind"]
took = []
with Recall.open(sys.argv[1]) as recall:
    until = time.monotonic() + float(sys.argv[2])
    while time.monotonic() < until:
        start = time.perf_counter()
        recall.search(queries[len(took) % len(queries)])
        took.append(time.perf_counter() - start)
print(json.dumps(took))
"""


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--sessions", type=int, default=600, help="sessions to import under load")
    parser.add_argument("--seconds", type=float, default=20.0, help="how long the searches go on")
    options = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "work"
        stock(project)
        print(
            "| five searching processes | searches | median | p95 | errors |\n| --- | --- | --- | --- | --- |"
        )
        failed = row("alone (one process)", project, searches=1, imports=0, seconds=5)
        for imports in (1, 2):
            for n in range(options.sessions):
                write_session(project, f"load-{imports}-{n:04d}", n)
            name = "during an import" if imports == 1 else "during two imports at once"
            failed += row(name, project, searches=5, imports=imports, seconds=options.seconds)
        print(f"\n{sessions_in(project):,} sessions of {TURNS} turns in the end")
    sys.exit(bool(failed))


def row(name: str, project: Path, *, searches: int, imports: int, seconds: float) -> int:
    """Run it and print a line; how many processes failed."""
    code = RUN.format(call="recall.import_sources()")
    running = [subprocess.Popen([sys.executable, "-c", code, str(project)], stderr=subprocess.PIPE, text=True)
               for _ in range(imports)]  # fmt: skip
    searching = [
        subprocess.Popen([sys.executable, "-c", SEARCH, str(project), str(seconds)], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
        for _ in range(searches)
    ]  # fmt: skip
    took: list[float] = []
    errors = []
    for process in searching:
        out, error = process.communicate()
        took += json.loads(out) if not process.returncode else []
        errors += [error] if process.returncode else []
    for process in running:
        _, error = process.communicate()
        errors += [error] if process.returncode else []
    took.sort()
    middle, late = statistics.median(took), took[int(len(took) * 0.95)]
    print(f"| {name} | {len(took):,} | {middle * 1000:.0f} ms | {late * 1000:.0f} ms | {len(errors)} |")
    for error in errors:
        print(error.strip().splitlines()[-1:], file=sys.stderr)
    return len(errors)


def sessions_in(project: Path) -> int:
    import apsw  # noqa: PLC0415 - only to count

    connection = apsw.Connection(str(index_of(project)))
    try:
        return int(str(connection.execute("SELECT count(*) FROM sessions").fetchall()[0][0]))
    finally:
        connection.close()


if __name__ == "__main__":
    main()

"""Five searching processes during an import, and during two at once: `python load.py [--sessions N]`.

The corpus is that of `benchmarks/speed`. Prints the errors (there should be none) and how long a search takes in a
process that keeps its index open: with nobody else about, with four others, and with imports besides. A second import
waits ten seconds for the first, then says who holds the lock and ends: that is no error.
"""

from __future__ import annotations

import argparse
import json
import statistics
import subprocess
import sys
import tempfile
import time
from pathlib import Path

from kill import RUN, index_of

sys.path.append(str(Path(__file__).parents[1] / "speed"))

SEARCH = """\
import json, pathlib, sys, time
from cocorecall import Recall
queries = ["threshold backfill late", "why does the module keep its attribute", "exception traceback", "classify_ticket",
           '"keyword arguments"', "iterator* protocol", "zyxomma"]
took = []
with Recall.open(sys.argv[1]) as recall:
    while not pathlib.Path(sys.argv[1], "stop").exists():
        start = time.perf_counter()
        recall.search(queries[len(took) % len(queries)])
        took.append(time.perf_counter() - start)
print(json.dumps(took))
"""


GAVE_WAY = "Another import is running"


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.splitlines()[0] if __doc__ else None)
    parser.add_argument("--indexed", type=int, default=1000, help="sessions in the index before")
    parser.add_argument("--sessions", type=int, default=100, help="sessions to import under load")
    parser.add_argument(
        "--seconds", type=float, default=5.0, help="how long the searches go on without an import"
    )
    options = parser.parse_args()
    from corpus import Writer  # noqa: PLC0415 - found by the path above

    with tempfile.TemporaryDirectory() as folder:
        project = Path(folder) / "work"
        for name in (".cocoplus", "cocoplus", "projects"):
            (project / name).mkdir(parents=True)
        (project / "cocoplus" / "recall-sources.json").write_text('["projects"]', encoding="utf-8")
        writer, written = Writer(project, 7), 0

        def write(sessions: int) -> None:
            nonlocal written
            for number in range(written, written + sessions):
                writer.session(number)
            written += sessions

        write(options.indexed)
        subprocess.run(
            [sys.executable, "-c", RUN.format(call="recall.import_sources()"), str(project)], check=True
        )
        print("| | searches | median | p95 | errors |\n| --- | --- | --- | --- | --- |")
        failed = row("one searching process", project, searches=1, imports=0, seconds=options.seconds)
        failed += row("five", project, searches=5, imports=0, seconds=options.seconds)
        for imports, name in ((1, "five, during an import"), (2, "five, during two imports at once")):
            write(options.sessions)
            failed += row(name, project, searches=5, imports=imports, seconds=0)
        print(f"\n{sessions_in(project):,} of {written:,} sessions in the index")
        failed += sessions_in(project) != written
    sys.exit(bool(failed))


def row(name: str, project: Path, *, searches: int, imports: int, seconds: float) -> int:
    """Search until the imports have ended, or for some seconds, and print a line; how many processes failed."""
    stop = project / "stop"
    stop.unlink(missing_ok=True)
    searching = [
        subprocess.Popen([sys.executable, "-c", SEARCH, str(project)], stdout=subprocess.PIPE,
                         stderr=subprocess.PIPE, text=True)
        for _ in range(searches)
    ]  # fmt: skip
    time.sleep(1.0)  # until they are under way
    code = RUN.format(call="recall.import_sources()")
    running = [subprocess.Popen([sys.executable, "-c", code, str(project)], stderr=subprocess.PIPE, text=True)
               for _ in range(imports)]  # fmt: skip
    time.sleep(seconds)
    errors = [error for process in running for error in [process.communicate()[1]] if process.returncode]
    stop.touch()
    took: list[float] = []
    for process in searching:
        out, error = process.communicate()
        took += json.loads(out) if not process.returncode else []
        errors += [error] if process.returncode else []
    waited = [error for error in errors if GAVE_WAY in error]
    errors = [error for error in errors if GAVE_WAY not in error]
    took.sort()
    middle, late = statistics.median(took), took[int(len(took) * 0.95)]
    print(f"| {name} | {len(took):,} | {middle * 1000:.0f} ms | {late * 1000:.0f} ms | {len(errors)} |")
    for _ in waited:
        print("An import gave way to the other after ten seconds, as it should.", file=sys.stderr)
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

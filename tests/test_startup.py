"""What a search loads: module lists are stable where milliseconds are not."""

from __future__ import annotations

import subprocess
import sys

from projects import Project

THIRD_PARTY = {"apsw", "click", "orjson", "cocorecall"}
"""All that a search may load from outside the standard library."""

FORBIDDEN = {
    "asyncio", "cocorecall.extract", "cocorecall.index.importer", "cocorecall.sources", "dateutil", "filelock",
    "importlib.metadata", "mcp", "platformdirs", "rich", "sqlglot", "sqlite3", "textual", "tomllib", "unittest",
    "cocorecall.times.phrases", "cocorecall.cli.show_command", "cocorecall.cli.search_terminal", "concurrent.futures",
}  # fmt: skip

LIST_MODULES = (
    "import sys, atexit; sys.argv = ['recall', 'search', 'threshold']\n"
    "atexit.register(lambda: print('\\n'.join(sorted(sys.modules)), file=sys.stderr))\n"
    "from cocorecall.cli import main; main()"
)


def test_a_search_loads_only_what_it_needs(project: Project) -> None:
    project.session("one", ("user", "the threshold is 0.85"))
    with project.open() as recall:
        recall.import_sources()
    process = subprocess.run(
        [sys.executable, "-S", "-c", f"import sys; sys.path[:] = {sys.path!r}\n{LIST_MODULES}"],
        cwd=project.root, capture_output=True, text=True, check=True,
    )  # fmt: skip
    assert "[1] one:0" in process.stdout
    loaded = set(process.stderr.split())
    assert loaded & FORBIDDEN == set()
    top = {name.split(".")[0] for name in loaded} - set(sys.stdlib_module_names)
    assert {name for name in top if not name.startswith("_")} - THIRD_PARTY <= {"encodings", "sitecustomize"}

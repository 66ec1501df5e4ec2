"""What a command loads: module lists are stable where milliseconds are not."""

from __future__ import annotations

import subprocess
import sys

import pytest

from projects import Project

THIRD_PARTY = {"apsw", "click", "orjson", "cocorecall"}
"""All that a search may load from outside the standard library."""

FORBIDDEN = {
    "asyncio", "cocorecall.extract", "cocorecall.index.importer", "cocorecall.sources", "dateutil", "filelock",
    "importlib.metadata", "mcp", "pydantic", "cocorecall.mcp", "cocorecall.plain", "platformdirs", "rich", "sqlglot", "sqlite3", "textual", "tomllib", "unittest",
    "cocorecall.times.phrases", "cocorecall.cli.show_command", "cocorecall.cli.search_terminal", "concurrent.futures",
}  # fmt: skip

LIST_MODULES = (
    "import sys, atexit; sys.path[:] = {path!r}; sys.argv = {argv!r}\n"
    "atexit.register(lambda: print('\\n'.join(sorted(sys.modules)), file=sys.stderr))\n"
    "from cocorecall.cli import main; main()"
)


def run_listing(project: Project, *args: str) -> tuple[str, set[str]]:
    """Run a command in a process of its own; its output, and the modules that are loaded at its end."""
    program = LIST_MODULES.format(path=sys.path, argv=["recall", *args])
    process = subprocess.run(
        [sys.executable, "-S", "-c", program],
        cwd=project.root, capture_output=True, text=True, check=True, encoding="utf-8",
    )  # fmt: skip
    return process.stdout, set(process.stderr.split())


@pytest.fixture
def indexed(project: Project) -> Project:
    project.session("one", ("user", "the threshold is 0.85"))
    with project.open() as recall:
        recall.import_sources()
    return project


@pytest.mark.parametrize("options", [[], ["--json"], ["--all", "--explain"]])
def test_a_search_loads_only_what_it_needs(indexed: Project, options: list[str]) -> None:
    printed, loaded = run_listing(indexed, "search", "threshold", *options)
    assert "one:0" in printed
    assert loaded & FORBIDDEN == set()
    top = {name.split(".")[0] for name in loaded} - set(sys.stdlib_module_names)
    assert {name for name in top if not name.startswith("_")} - THIRD_PARTY <= {"encodings", "sitecustomize"}


@pytest.mark.parametrize(
    "args",
    [["--help"], ["--version"], ["import"], ["show", "one"], ["status"], ["sources"], ["verify", "one"],
     ["export", "one", "--output", "-"]],
)  # fmt: skip
def test_no_command_loads_what_only_a_terminal_needs(indexed: Project, args: list[str]) -> None:
    printed, loaded = run_listing(indexed, *args)
    assert printed
    assert loaded & {"rich", "cocorecall.cli.search_terminal", "cocorecall.cli.show_terminal"} == set()


def test_the_help_opens_no_index_and_imports_no_command(indexed: Project) -> None:
    _, loaded = run_listing(indexed, "--help")
    assert loaded & {"apsw", "orjson"} == set()
    assert [name for name in loaded if name.endswith("_command")] == []

"""The README is executable: each `console` command runs on the sample project."""

from __future__ import annotations

import json
import re
import shlex
import shutil
from pathlib import Path

import click
import pytest

from cli_run import recall_process

ROOT = Path(__file__).parents[1]
README = (ROOT / "README.md").read_text(encoding="utf-8")
BLOCKS = re.findall(r"```console\n(.*?)```", README, re.DOTALL)
COMMANDS = [
    line.removeprefix("$ ") for block in BLOCKS for line in block.splitlines() if line.startswith("$ ")
]


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    project = tmp_path_factory.mktemp("readme") / "demo"
    shutil.copytree(ROOT / "examples" / "demo", project)
    assert recall_process(project, "import").returncode == 0
    return project


def words_of(command: str) -> list[str]:
    """A command as a shell splits it; zsh would refuse a question mark outside of quotes."""
    words = shlex.split(command)
    assert "?" not in command
    return words


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_readme_runs(demo: Path, command: str) -> None:
    program, *args = words_of(command)
    assert program == "recall"
    process = recall_process(demo, *args)
    assert process.returncode == 0, process.stderr
    assert process.stdout.strip()


def test_the_readmes_answer_is_the_real_one(demo: Path) -> None:
    """Its hit; totals and follow-up move with the ranking."""
    command, shown = re.findall(r"```console\n\$ ([^\n]*)\n```\n\n```text\n(.*?)```", README, re.DOTALL)[0]
    answer = recall_process(demo, *words_of(command)[1:]).stdout
    citation, excerpt = shown.splitlines()[2:4]
    assert "\n" + citation.split(", next: ")[0] in answer
    assert f"\n{excerpt}\n" in answer


def test_the_readme_shows_commands() -> None:
    assert len(COMMANDS) > 15


SCHEMAS = dict(re.findall(r"^\| `cocorecall\.(\w+)/1` \| (.+) \|$", README, re.MULTILINE))


def keys_of(row: str) -> set[str]:
    return set(re.findall(r"`(\w+)`", row))


@pytest.mark.parametrize(
    "args",
    [
        ["search", "threshold"], ["show", "0d60"], ["import"], ["status"], ["facets", "functions"], ["timeline", "ORDERS"],
        ["fix", "002003"], ["premortems"],
    ],
)  # fmt: skip
def test_the_readme_names_the_keys_of_each_document(demo: Path, args: list[str]) -> None:
    document = json.loads(recall_process(demo, *args, "--json").stdout)
    assert document.pop("schema") == f"cocorecall.{args[0]}/1"
    of_items: set[str] = next(
        (set(document[k][0]) for k in ("values", "events", "repairs", "premortems") if document.get(k)),
        set(),
    )
    assert document.keys() | of_items == keys_of(SCHEMAS[args[0]])


def test_the_readme_names_the_keys_of_sources_and_results(demo: Path) -> None:
    document = json.loads(recall_process(demo, "sources", "--json").stdout)
    named = document["sources"][0].keys() | document.keys() - {"schema"}
    assert named == keys_of(SCHEMAS["sources"])
    process = recall_process(demo, "search", "threshold", "--explain", "--json")
    result = json.loads(process.stdout)["results"][0]
    table = README.split("`results` has:")[1].split("With `field")[0]
    assert not result.keys() - keys_of(table)


def test_the_readme_names_the_keys_of_dream(demo: Path, tmp_path: Path) -> None:
    project = tmp_path / "demo"
    shutil.copytree(demo, project)
    items = {"dream": "entries", "dream_status": "stores", "dream_log": "entries"}
    for args in (["dream", "--window", "2026-01-01"], ["dream", "status"], ["dream", "log"]):
        document = json.loads(recall_process(project, *args, "--json").stdout)
        name = document.pop("schema").split(".")[1].split("/")[0]
        assert document.keys() | document[items[name]][0].keys() == keys_of(SCHEMAS[name])


def test_the_readme_names_the_keys_of_forget(demo: Path, tmp_path: Path) -> None:
    project = tmp_path / "demo"
    shutil.copytree(demo, project)
    document = json.loads(recall_process(project, "forget", "0d60", "--yes", "--json").stdout)
    assert document.keys() - {"schema"} == keys_of(SCHEMAS["forget"])


def test_the_readme_names_every_option() -> None:
    """Of the commands that it describes option by option."""
    from cocorecall.cli.command import recall_command

    for name in ("search", "show", "import", "forget", "facets", "timeline", "fix", "premortems"):
        command = recall_command.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        options = {o for p in command.params if isinstance(p, click.Option) for o in p.opts}
        assert not [o for o in sorted(options) if f"`{o}" not in README and f" {o}" not in README]

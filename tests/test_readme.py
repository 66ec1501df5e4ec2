"""The README is executable: each `console` command runs on the sample project."""

from __future__ import annotations

import re
import shlex
import shutil
from pathlib import Path

import pytest

from cli_run import recall_process

ROOT = Path(__file__).parents[1]
BLOCKS = re.findall(r"```console\n(.*?)```", (ROOT / "README.md").read_text(encoding="utf-8"), re.DOTALL)
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
    """A command as a shell splits it; the README writes plain questions without quotes."""
    return shlex.split(command.replace("?", r"\?"))


@pytest.mark.parametrize("command", COMMANDS)
def test_a_command_of_the_readme_runs(demo: Path, command: str) -> None:
    program, *args = words_of(command)
    assert program == "recall"
    process = recall_process(demo, *args)
    assert process.returncode == 0, process.stderr
    assert process.stdout.strip()


def test_the_readme_shows_commands() -> None:
    assert len(COMMANDS) > 15

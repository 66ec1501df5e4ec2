"""How the process behaves: exit codes, streams, signals."""

from __future__ import annotations

import signal
import subprocess
import sys
from pathlib import Path

import pytest

from cli_run import recall_process
from projects import Project

posix = pytest.mark.skipif(sys.platform == "win32", reason="needs a POSIX shell")


def shell(project: Project, script: str) -> subprocess.CompletedProcess[str]:
    """Run a bash script in which `recall` is ours; its last line should print exit codes."""
    function = f'recall() {{ "{sys.executable}" -m cocorecall "$@"; }}\n'
    return subprocess.run(
        ["/bin/bash", "-c", function + script],
        cwd=project.root, capture_output=True, text=True, encoding="utf-8", check=False, timeout=60,
    )  # fmt: skip


@posix
@pytest.mark.parametrize(
    "command",
    ["show threshold", "search threshold", "search threshold --json", "--help", "status", "completion bash"],
)
def test_a_reader_that_goes_away_is_no_error(stocked: Project, command: str) -> None:
    """Robustness O2."""
    process = shell(stocked, f'recall {command} | true; echo "${{PIPESTATUS[0]}}"')
    assert (process.stdout, process.stderr) == ("0\n", "")


@posix
@pytest.mark.skipif(not Path("/dev/full").exists(), reason="no /dev/full")
def test_output_that_cannot_be_written_is_an_error(stocked: Project) -> None:
    process = shell(stocked, 'recall search threshold > /dev/full; echo "$?"')
    assert process.stdout == "1\n"
    assert process.stderr.startswith("recall: ")
    assert len(process.stderr.splitlines()) == 1


@posix
def test_closed_streams_swallow_the_output(stocked: Project) -> None:
    process = shell(stocked, 'recall status >&-; echo "$?"; recall nonsense 2>&-; echo "$?"')
    assert (process.stdout, process.stderr) == ("0\n2\n", "")


@pytest.mark.parametrize(("args", "code"), [(["show", "nowhere"], 2), (["search", "x", "--limit", "0"], 2)])
def test_debug_adds_the_traceback_and_keeps_the_exit_code(
    stocked: Project, args: list[str], code: int
) -> None:
    process = recall_process(stocked.root, *args, "--debug")
    assert "Traceback" in process.stderr
    assert process.stderr.splitlines()[-1].startswith("recall: ")
    assert process.returncode == code


def test_without_arguments_the_help_is_shown(tmp_path: Path) -> None:
    process = recall_process(tmp_path)
    assert process.returncode == 2
    assert process.stderr.startswith("Usage: recall")


def test_an_error_shows_control_characters_in_visible_form(stocked: Project) -> None:
    """Robustness O1: what is wrong may come from a transcript, or from a page that was pasted."""
    process = recall_process(stocked.root, "show", "\x1b[31mid\u202e")
    assert process.returncode == 2
    assert not set(process.stderr) & {"\x1b", "\u202e"}


@posix
def test_an_interrupted_import_leaves_no_traceback(project: Project) -> None:
    project.session("one", ("user", "hello"))
    interrupted = (
        "import os, signal, cocorecall.recall as r\n"
        "r.Recall.import_sources = lambda *a, **k: os.kill(os.getpid(), signal.SIGINT)\n"
        "from cocorecall.cli import main; main()"
    )
    process = subprocess.run(
        [sys.executable, "-c", interrupted, "import"],
        cwd=project.root, capture_output=True, text=True, check=False, timeout=60,
    )  # fmt: skip
    assert process.returncode == 128 + signal.SIGINT
    assert process.stderr == ""


@pytest.mark.parametrize(
    ("words", "completed"),
    [("recall sea", "search"), ("recall search --pha", "--phase"), ("recall sources de", "detect")],
)
def test_the_shell_completes(tmp_path: Path, words: str, completed: str) -> None:
    environ = {
        "_RECALL_COMPLETE": "bash_complete",
        "COMP_WORDS": words,
        "COMP_CWORD": str(len(words.split()) - 1),
    }
    process = recall_process(tmp_path, **environ)
    assert process.stdout == f"plain,{completed}\n"

"""What a person sees: each command with a terminal of a given width as its output."""

from __future__ import annotations

import contextlib
import os
import re
import subprocess
import sys
from dataclasses import dataclass

import pytest

from projects import Project

pty = pytest.importorskip("pty", reason="no pseudo-terminals here")
import fcntl  # noqa: E402 - where there is a pty, there are these
import struct  # noqa: E402
import termios  # noqa: E402

ESCAPES = re.compile(r"\x1b\[[0-9;]*[mK]")


@dataclass
class Screen:
    raw: str
    code: int

    @property
    def lines(self) -> list[str]:
        return ESCAPES.sub("", self.raw.replace("\r\n", "\n")).split("\n")

    @property
    def text(self) -> str:
        return "\n".join(self.lines)


def at_terminal(
    project: Project, *args: str, columns: int = 80, typed: str = "", environ: dict[str, str] | None = None
) -> Screen:
    leader, follower = pty.openpty()
    fcntl.ioctl(follower, termios.TIOCSWINSZ, struct.pack("HHHH", 24, columns, 0, 0))
    env = {
        k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS", "LESS", "PAGER", "COLORTERM")
    }
    env |= {"TERM": "xterm-256color", "PAGER": "cat"} | (environ or {})
    with subprocess.Popen(
        [sys.executable, "-m", "cocorecall", *args],
        cwd=project.root, env=env, stdin=follower, stdout=follower, stderr=follower, close_fds=True,
    ) as process:  # fmt: skip
        os.close(follower)
        if typed:
            os.write(leader, typed.encode())
        out = b""
        with contextlib.suppress(OSError):  # how Linux says that the other side has closed
            while chunk := os.read(leader, 65536):
                out += chunk
        os.close(leader)
        code = process.wait(timeout=60)
    return Screen(out.decode(), code)


LONG = (
    "The threshold stays. "
    + "Every sentence after it tells of precision and of what people have time for. " * 6
)


@pytest.fixture
def talkative(project: Project) -> Project:
    project.session(
        "a-session-whose-id-is-as-long-as-a-uuid",
        ("user", "Shall the threshold stay?"),
        ("assistant", LONG),
        title="A title that is too long for one line of a terminal of eighty columns, even when it stands alone",
    )
    with project.open() as recall:
        recall.import_sources()
    return project


@pytest.mark.parametrize("columns", [40, 80, 120])
def test_search_is_wrapped_at_words_and_fits_the_width(talkative: Project, columns: int) -> None:
    screen = at_terminal(talkative, "search", "threshold", "stays", columns=columns)
    assert screen.code == 0
    assert max(map(len, screen.lines)) <= columns
    assert not [line for line in screen.lines if line != line.rstrip()]
    assert " ".join(LONG.split()[:12]) in " ".join(screen.text.split())


def test_search_shows_the_citation_and_marks_matches(talkative: Project) -> None:
    screen = at_terminal(talkative, "search", "threshold", "stays")
    assert "a-session-whose-id-is-as-long-as-a-uuid:1" in screen.text
    assert "source ok" in screen.text
    assert "next: search for `" in screen.text
    assert "\x1b[1;33mthreshold\x1b[0m" in screen.raw


def test_highlights_stand_on_the_words_of_a_cut_excerpt(project: Project) -> None:
    """Text that looks like our own gap mark stands before the match."""
    filler = "Nothing to see in this sentence, which only takes room. " * 60
    project.session(
        "cut", ("assistant", f"{filler}[… 3 characters …] the needle lies here. {filler}needle again.")
    )
    with project.open() as recall:
        recall.import_sources()
    screen = at_terminal(project, "search", "needle", "--budget", "150")
    marked = re.findall(r"\x1b\[1;33m(.*?)\x1b\[0m", screen.raw)
    assert marked
    assert set(marked) == {"needle"}


@pytest.mark.parametrize("command", [["search", "threshold"], ["show", "a-session"], ["status"]])
def test_without_colour_no_escape_sequence_is_sent(talkative: Project, command: list[str]) -> None:
    screens = [
        at_terminal(talkative, *command, "--no-color"),
        at_terminal(talkative, *command, environ={"NO_COLOR": "1"}),
        at_terminal(talkative, *command, environ={"TERM": "dumb"}),
    ]
    assert not [screen for screen in screens if "\x1b" in screen.raw]
    assert {screen.text for screen in screens} == {at_terminal(talkative, *command).text}


def test_show_wraps_marks_and_counts(talkative: Project) -> None:
    screen = at_terminal(talkative, "show", "a-session", "--query", "precision", "--around", "0")
    assert "[… 1 turn …]" in screen.lines
    head = next(line for line in screen.lines if line.startswith("[1]*"))
    assert head.split(" · ")[2] == "a-session-whose-id-is-as-long-as-a-uuid:1"
    assert screen.raw.count("\x1b[1;33mprecision\x1b[0m") == 6
    body = screen.lines[screen.lines.index(head) + 1 :]
    assert max(map(len, body)) <= 80


def test_show_goes_through_the_pager_unless_told_not_to(talkative: Project) -> None:
    pager = {"PAGER": "sed s/^/paged:/"}
    assert "paged:" in at_terminal(talkative, "show", "a-session", environ=pager).text
    assert "paged:" not in at_terminal(talkative, "show", "a-session", "--no-pager", environ=pager).text


def test_a_call_is_shortened_with_the_count_of_what_is_left_out(project: Project) -> None:
    sql = "SELECT " + ", ".join(f"column_{i}" for i in range(100))
    call = {"name": "snowflake_sql_execute", "payload": {"sql": sql}}
    project.session("calls", {"role": "assistant", "text": "Running it.", "tool_calls": [call]})
    with project.open() as recall:
        recall.import_sources()
        (shown,) = recall.show("calls").turns[0].calls
    line = next(line for line in at_terminal(project, "show", "calls").lines if line.startswith("→ "))
    assert len(line) <= 80
    kept = line.removeprefix("→ snowflake_sql_execute ").split(" [… ")[0]
    assert shown.payload.startswith(kept)
    assert f"[… {len(shown.payload) - len(kept):,} characters …]" in line
    whole = at_terminal(project, "show", "calls", "--full").text
    assert "column_99" in whole


def test_transcripts_send_no_escape_sequence(project: Project) -> None:
    """Robustness O1."""
    hostile = "needle \x1b[2J\x1b]0;title\x07\x9b31m \u202edesrever\u202c\roverwritten"
    call = {"name": "bash\x1b[5m", "payload": {"command": hostile}}
    project.session(
        "bad",
        {"role": "assistant", "text": hostile, "tool_calls": [call]},
        title="\x1b[31mred",
        cwd="/\x1b[32m",
    )
    for command in (
        ["import"],
        ["search", "needle"],
        ["show", "bad"],
        ["status"],
        ["search", "needle", "--json"],
    ):
        screen = at_terminal(project, *command)
        assert screen.code == 0
        assert not set(screen.text.replace("\r", "")) & set("\x1b\x07\x9b\u202e\u202c"), command


def test_import_shows_progress_and_wipes_it(talkative: Project) -> None:
    screen = at_terminal(talkative, "import", "--rebuild")
    assert "1 of 1 transcript, " in screen.raw
    after = screen.raw.rpartition("\x1b[K")[2]
    assert after.startswith("Sessions: ")
    assert "1 of 1 transcript, " not in at_terminal(talkative, "import", "--rebuild", "--json").raw


@pytest.mark.parametrize(("answer", "code", "left"), [("n\n", 1, 1), ("y\n", 0, 0)])
def test_forget_asks(talkative: Project, answer: str, code: int, left: int) -> None:
    screen = at_terminal(talkative, "forget", "a-session", typed=answer)
    assert "2 turns)? [y/N]" in screen.text
    assert screen.code == code
    with talkative.open() as recall:
        assert recall.status().sessions == left


def test_a_masked_secret_is_marked_and_the_matches_round_it_stay_marked(project: Project) -> None:
    key = "AKIA" + "QX3RT7" + "BZ5KMN2PLW"
    project.session("keys", ("user", f"gravel {key} granite {key} gravel"))
    with project.open() as recall:
        recall.import_sources()
    raw = at_terminal(project, "search", "gravel", "granite").raw
    marked = re.findall(r"\x1b\[[0-9;]+m((?:gravel|granite|\[secret: aws-access-key\]))\x1b\[0m", raw)
    assert marked == ["gravel", "[secret: aws-access-key]", "granite", "[secret: aws-access-key]", "gravel"]
    assert key not in raw
    assert key not in at_terminal(project, "show", "keys", "--no-pager").raw

"""Prompts typed while the agent worked. Robustness P4."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import pytest

from test_claude import SESSION, assistant, result, session, text, use, user
from transcripts import Record, said, turns

PROMPT = "and mask the email column before loading"


def queued(minute: int | None, prompt: Any = PROMPT, **more: Any) -> Record:
    time = {} if minute is None else {"timestamp": f"2026-09-01T10:{minute:02d}:30.000Z"}
    attachment = {"type": "queued_command", "prompt": prompt, **more}
    return {"type": "attachment", "sessionId": SESSION, "attachment": attachment, **time}


def test_a_message_stays_whole_around_a_queued_prompt(tmp_path: Path) -> None:
    root = session(
        tmp_path,
        assistant(1, text("Loading."), message_id="a"),
        queued(1),
        assistant(2, use("t1", command="load"), message_id="a"),
        user(3, [result("t1", "ok")]),
    )
    assert said(root) == [("assistant", "Loading."), ("user", PROMPT), ("tool", "ok")]
    assert [c.call_id for c in turns(root)[0].calls] == ["t1"]


def test_a_queued_prompt_without_a_time_stands_where_the_file_has_it(tmp_path: Path) -> None:
    root = session(tmp_path, user(1, "Load"), assistant(2, text("Loading.")), queued(None), user(3, "thanks"))
    assert [t for _, t in said(root)] == ["Load", "Loading.", PROMPT, "thanks"]


@pytest.mark.parametrize("prompt", [[text(PROMPT)], f"<system-reminder>x</system-reminder>\n{PROMPT}"])
def test_a_queued_prompt_is_read_like_any_other(tmp_path: Path, prompt: Any) -> None:
    assert said(session(tmp_path, user(1, "Load"), queued(2, prompt)))[1:] == [("user", PROMPT)]


def test_a_queued_notification_is_no_prompt(tmp_path: Path) -> None:
    root = session(tmp_path, user(1, "Load"), queued(2, "done", commandMode="task-notification"))
    assert said(root) == [("user", "Load")]


@pytest.mark.parametrize("between", [1, 60])
def test_a_queued_prompt_and_its_record_are_one_turn(tmp_path: Path, between: int) -> None:
    work = [assistant(2, text(f"step {n}"), message_id=f"m{n}") for n in range(between)]
    root = session(tmp_path, user(1, "Load"), queued(1), *work, user(3, PROMPT, promptSource="queued"))
    assert [t for _, t in said(root)].count(PROMPT) == 1


def test_the_same_short_words_typed_again_much_later_are_said_twice(tmp_path: Path) -> None:
    work = [assistant(2, text(f"step {n}"), message_id=f"m{n}") for n in range(60)]
    root = session(tmp_path, user(1, "Load"), queued(1, "go on"), *work, user(59, "go on"))
    assert [t for _, t in said(root)].count("go on") == 2


def test_a_prompt_recorded_as_queued_does_not_split_the_message(tmp_path: Path) -> None:
    root = session(
        tmp_path,
        assistant(1, text("Loading."), message_id="a"),
        user(2, PROMPT, promptSource="queued"),
        assistant(3, text("Still loading."), message_id="a"),
    )
    assert said(root) == [("assistant", "Loading.\n\nStill loading."), ("user", PROMPT)]

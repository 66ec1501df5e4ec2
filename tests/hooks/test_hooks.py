"""Hooks as an agent runs them: fed what each host sends, garbage, and nothing; never in the way."""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from cli_run import recall_process
from cocorecall.hooks import EVENTS
from cocorecall.lifecycle import DUE_MS, LAST, LOG, last_consolidation, now_ms, read_log, unreadable_lines
from projects import Project

HOSTS: dict[str, Callable[[Project], dict[str, Any]]] = {
    "cortex": lambda p: {
        "session_id": "0d60", "transcript_path": str(p.transcripts / "0d60.json"), "cwd": str(p.root),
        "permission_mode": "default", "hook_event_name": "SessionEnd", "reason": "prompt_input_exit", "new_key": [1],
    },
    "claude": lambda p: {
        "session_id": "0d60", "transcript_path": str(p.transcripts / "0d60.jsonl"), "cwd": str(p.root),
        "hook_event_name": "SessionEnd", "reason": "clear",
    },
    "codex": lambda p: {
        "session_id": "0d60", "transcript_path": None, "cwd": str(p.root), "hook_event_name": "SessionEnd",
    },
    "cursor": lambda p: {
        "conversation_id": "0d60", "workspace_roots": [str(p.root)], "cwd": str(p.root), "hook_event_name": "sessionEnd",
    },
}  # fmt: skip
GARBAGE = [
    b"",
    b"   ",
    b"{",
    b"[1, 2]",
    b'"text"',
    b"\xff\xfe\0",
    b"\xef\xbb\xbf{}",
    b"[" * 50_000,
    b'{"cwd": 5}',
    b'{"cwd": "/no/such"}',
]


def hook(
    folder: Path, event: str, given: dict[str, Any] | bytes = b"", **environ: str
) -> subprocess.CompletedProcess[bytes]:
    data = given if isinstance(given, bytes) else json.dumps(given).encode()
    env = {k: v for k, v in os.environ.items() if k != "COCORECALL_HOOK"} | environ
    return subprocess.run(
        [sys.executable, "-m", "cocorecall", "hook", event], cwd=folder, env=env, input=data, capture_output=True,
        check=False, timeout=60,
    )  # fmt: skip


def indexed(project: Project, sessions: int) -> bool:
    """Whether the detached import has brought so many sessions in, waiting for it a while."""
    for _ in range(300):
        process = recall_process(project.root, "status", "--json")
        if process.returncode == 0 and json.loads(process.stdout)["sessions"] >= sessions:
            return True
        time.sleep(0.1)
    return False


@pytest.fixture
def quiet(project: Project) -> Project:
    """A project in which nothing is due."""
    (project.root / ".cocoplus" / LAST).write_text(str(now_ms()), encoding="ascii")
    return project


@pytest.mark.parametrize("host", HOSTS)
def test_the_end_of_a_session_brings_it_into_the_index(project: Project, host: str, tmp_path: Path) -> None:
    project.session("0d60", ("user", "The threshold is 0.85."))
    done = hook(tmp_path, "session-end", HOSTS[host](project))
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert indexed(project, 1)
    assert not (project.root / ".cocoplus" / "hook-errors.log").exists()


@pytest.mark.parametrize("event", EVENTS)
@pytest.mark.parametrize("given", GARBAGE, ids=range(len(GARBAGE)))
def test_garbage_disturbs_nobody(
    quiet: Project, event: str, given: bytes, monkeypatch: pytest.MonkeyPatch
) -> None:
    if event != "stop":  # the others may start an import, which is none of this test's business
        monkeypatch.setenv("COCORECALL_HOOK", "test")
        done = hook(quiet.root, event, given, COCORECALL_HOOK="test")
    else:
        done = hook(quiet.root, event, given)
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")


def test_what_is_no_json_is_logged_and_status_names_it(quiet: Project) -> None:
    hook(quiet.root, "stop", b"{ not json")
    hook(quiet.root, "stop", b"[]")
    lines = (quiet.root / ".cocoplus" / "hook-errors.log").read_text(encoding="utf-8").splitlines()
    assert ["not JSON" in lines[0], "no JSON object" in lines[1]] == [True, True]
    status = recall_process(quiet.root, "status").stdout
    assert "A hook failed" in status
    assert "no JSON object" in status.replace("\n  ", " ")


def test_the_log_keeps_its_newest_part(quiet: Project) -> None:
    log = quiet.root / ".cocoplus" / "hook-errors.log"
    log.write_text("2026-01-01T00:00:00.000Z somebody else\n" * 3_000, encoding="utf-8")
    hook(quiet.root, "stop", b"{")
    assert log.stat().st_size < 64 << 10
    assert "not JSON" in log.read_text(encoding="utf-8").splitlines()[-1]


@pytest.mark.parametrize("event", EVENTS)
def test_without_cocoplus_nothing_happens(tmp_path: Path, event: str) -> None:
    before = sorted(tmp_path.rglob("*"))
    done = hook(tmp_path, event, {"cwd": str(tmp_path), "session_id": "x"})
    assert (done.returncode, done.stdout, done.stderr) == (0, b"", b"")
    assert sorted(tmp_path.rglob("*")) == before


def test_stop_asks_once_a_day_for_a_consolidation(project: Project) -> None:
    home = project.root / ".cocoplus"
    for _ in range(3):
        assert hook(project.root, "stop", HOSTS["cortex"](project)).stdout == b""
    (entry,) = read_log(home)
    assert entry["status"] == "requested"
    assert entry["session_id"] == "0d60"
    assert entry["phases"] == ["orient", "gather", "consolidate", "prune"]
    assert entry["ts"].endswith("Z")
    last = last_consolidation(home)
    assert last is not None
    assert abs(now_ms() - last) < 600_000

    (home / LAST).write_text(str(now_ms() - DUE_MS - 1_000), encoding="ascii")
    hook(project.root, "stop")
    assert len(read_log(home)) == 2


@pytest.mark.parametrize("written", ["", "soon", "9" * 30, str(1 << 43), "-5"])
def test_a_number_that_cannot_be_right_blocks_nothing(project: Project, written: str) -> None:
    (project.root / ".cocoplus" / LAST).write_text(written, encoding="ascii")
    hook(project.root, "stop")
    assert len(read_log(project.root / ".cocoplus")) == 1


def test_the_log_survives_what_others_leave_in_it(project: Project) -> None:
    home = project.root / ".cocoplus"
    (home / LOG).parent.mkdir()
    (home / LOG).write_bytes(b'{"status": "completed"}\nnot json\n{"torn": ')
    hook(project.root, "stop")
    assert [e["status"] for e in read_log(home)] == ["completed", "requested"]
    assert unreadable_lines(home) == 2
    assert (home / LOG).read_bytes().startswith(b'{"status": "completed"}\nnot json\n{"torn": \n{')


def test_what_a_hook_started_starts_nothing(project: Project) -> None:
    project.session("s", ("user", "x"))
    for event in EVENTS:
        hook(project.root, event, HOSTS["claude"](project), COCORECALL_HOOK="import")
    assert sorted(p.name for p in (project.root / ".cocoplus").iterdir()) == []


def test_one_session_starts_one_import(project: Project) -> None:
    project.session("s", ("user", "x"))
    stamp = project.root / ".cocoplus" / "recall" / "hook-import"
    hook(project.root, "session-end", {"session_id": "a", "cwd": str(project.root)})
    first = stamp.stat().st_mtime_ns
    hook(project.root, "session-end", {"session_id": "a", "cwd": str(project.root)})
    assert stamp.stat().st_mtime_ns == first
    os.utime(stamp, (time.time() - 10, time.time() - 10))
    hook(project.root, "session-end", {"session_id": "a", "cwd": str(project.root)})
    hook(project.root, "session-start", {"session_id": "b", "cwd": str(project.root)})
    assert stamp.read_text(encoding="utf-8") == "a"
    assert stamp.stat().st_mtime_ns < first
    hook(project.root, "pre-compact", {"session_id": "a", "cwd": str(project.root)})
    assert stamp.stat().st_mtime_ns > first
    assert indexed(project, 1)


def test_two_sessions_that_end_at_once_are_both_indexed(project: Project) -> None:
    for name in ("a", "b", "c"):
        project.session(name, ("user", f"Session {name}."))
    running = [
        subprocess.Popen(
            [sys.executable, "-m", "cocorecall", "hook", "session-end"], cwd=project.root, stdin=subprocess.PIPE,
            stdout=subprocess.PIPE, stderr=subprocess.PIPE,
        )
        for _ in range(3)
    ]  # fmt: skip
    for name, process in zip(("a", "b", "c"), running, strict=True):
        out, err = process.communicate(json.dumps({"session_id": name}).encode(), timeout=60)
        assert (process.returncode, out, err) == (0, b"", b"")
    assert indexed(project, 3)
    assert not (project.root / ".cocoplus" / "hook-errors.log").exists()


def test_a_large_input_is_read_whole(quiet: Project, tmp_path: Path) -> None:
    given = {"prompt": "x" * (3 << 20), "cwd": str(quiet.root), "session_id": "large"}
    (quiet.root / ".cocoplus" / LAST).unlink()
    assert hook(tmp_path, "stop", given).returncode == 0
    assert read_log(quiet.root / ".cocoplus")[0]["session_id"] == "large"


def test_a_number_that_cannot_be_written_asks_for_nothing(project: Project) -> None:
    (project.root / ".cocoplus" / LAST).mkdir()
    for _ in range(2):
        hook(project.root, "stop")
    assert read_log(project.root / ".cocoplus") == []
    assert "recall hook stop" in (project.root / ".cocoplus" / "hook-errors.log").read_text(encoding="utf-8")


def test_an_index_of_a_newer_version_is_left_alone_and_logged(project: Project) -> None:
    project.session("s", ("user", "x"))
    assert recall_process(project.root, "import").returncode == 0
    connection = apsw.Connection(str(project.index))
    connection.execute("PRAGMA user_version = 99")
    connection.close()
    before = project.index.read_bytes()
    hook(project.root, "session-end", {"session_id": "s"})
    log = project.root / ".cocoplus" / "hook-errors.log"
    for _ in range(300):
        if log.exists() and log.read_text(encoding="utf-8"):
            break
        time.sleep(0.1)
    assert "written by a newer CocoRecall" in log.read_text(encoding="utf-8")
    assert project.index.read_bytes() == before


def test_a_failed_import_is_told_by_status(project: Project) -> None:
    (project.root / "cocoplus" / "recall-sources.json").write_text("{", encoding="utf-8")
    hook(project.root, "session-end", HOSTS["claude"](project))
    log = project.root / ".cocoplus" / "hook-errors.log"
    for _ in range(300):
        if log.exists() and log.read_text(encoding="utf-8"):
            break
        time.sleep(0.1)
    assert "recall hook import" in log.read_text(encoding="utf-8")
    assert "is not JSON" in log.read_text(encoding="utf-8")


def test_the_context_of_a_new_session_is_off_until_it_is_wanted(project: Project) -> None:
    project.session("s", ("user", "x"))
    assert recall_process(project.root, "import").returncode == 0
    claude, cursor = HOSTS["claude"](project), HOSTS["cursor"](project) | {"hook_event_name": "sessionStart"}
    assert hook(project.root, "session-start", claude).stdout == b""
    (project.root / "cocoplus.toml").write_text("[recall]\nsession_start_context = true\n", encoding="utf-8")
    document = json.loads(hook(project.root, "session-start", claude).stdout)
    context = document["hookSpecificOutput"]["additionalContext"]
    assert document["hookSpecificOutput"]["hookEventName"] == "SessionStart"
    assert "1 earlier session" in context
    assert "$recall" in context
    assert list(json.loads(hook(project.root, "session-start", cursor).stdout)) == ["additional_context"]


def test_what_lies_in_the_project_is_not_run(project: Project) -> None:
    for name in ("apsw", "orjson", "filelock", "cocorecall"):
        planted = f"open({str(project.root / 'ran')!r}, 'w')\n"
        (project.root / f"{name}.py").write_text(planted, encoding="utf-8")
    project.session("s", ("user", "x"))
    subprocess.run(
        [sys.executable, "-P", "-m", "cocorecall", "hook", "session-end"],
        cwd=project.root,
        input=b"",
        check=True,
        timeout=60,
    )
    for _ in range(300):
        if project.index.exists():
            break
        time.sleep(0.1)
    assert project.index.exists()
    assert not (project.root / "ran").exists()


def test_a_stop_hook_loads_next_to_nothing(quiet: Project) -> None:
    code = (
        "import sys; sys.argv = ['recall', 'hook', 'stop']\n"
        "from cocorecall.cli import _exit_code\n"
        "before = set(sys.modules); _exit_code()\n"
        "print(*sorted(m for m in sys.modules if m.split('.')[0] in ('click', 'apsw', 'orjson', 'datetime', 'json', 'subprocess')))"
    )
    done = subprocess.run(
        [sys.executable, "-I", "-c", code],
        cwd=quiet.root,
        input=b"",
        capture_output=True,
        check=True,
        timeout=60,
    )
    assert done.stdout.split() == []


# --- the queue ------------------------------------------------------------------------------------------


def queue(project: Project, *lines: dict[str, Any] | str) -> Path:
    path = project.root / ".cocoplus" / "v2-runtime-requests.jsonl"
    with path.open("a", encoding="utf-8") as file:
        file.writelines((line if isinstance(line, str) else json.dumps(line)) + "\n" for line in lines)
    return path


REQUEST = {"skill": "cocorecall/recall-import", "operation": "import", "ts": "2026-11-30T10:00:00Z"}


def queued(project: Project) -> dict[str, Any]:
    process = recall_process(project.root, "import", "--queued", "--json")
    assert process.returncode == 0, process.stderr
    report: dict[str, Any] = json.loads(process.stdout)
    return report


def test_a_queued_import_is_honoured_once_and_the_queue_left_alone(project: Project) -> None:
    project.session("s", ("user", "x"))
    path = queue(project, {"skill": "other/skill", "operation": "import"}, "garbage", REQUEST)
    before = path.read_bytes()
    report = queued(project)
    assert (report["requests"], report["sessions_new"]) == (1, 1)
    assert path.read_bytes() == before
    assert queued(project)["requests"] == 0
    assert recall_process(project.root, "import", "--queued").stdout == "No import is queued.\n"
    queue(project, REQUEST, REQUEST)
    assert queued(project)["requests"] == 2
    path.write_text(json.dumps(REQUEST) + "\n", encoding="utf-8")
    assert queued(project)["requests"] == 1  # a queue that was started anew


def test_the_scope_of_the_queue_covers_every_request(project: Project) -> None:
    project.session("old", ("user", "x"), days_ago=400)
    project.session("new", ("user", "y"), days_ago=1)
    queue(project, REQUEST | {"since": "2026-11-01"})
    assert queued(project)["sessions_new"] == 1
    queue(project, REQUEST | {"since": "2026-11-01"}, REQUEST)
    assert queued(project)["sessions_new"] == 1


def test_a_torn_request_waits_for_its_end(project: Project) -> None:
    path = queue(project)
    path.write_text(json.dumps(REQUEST)[:-5], encoding="utf-8")
    assert queued(project)["requests"] == 0
    path.write_text(json.dumps(REQUEST) + "\n", encoding="utf-8")
    assert queued(project)["requests"] == 1


# --- who asks -------------------------------------------------------------------------------------------


def test_the_asking_session_is_guessed_from_its_live_transcript(project: Project) -> None:
    folder = project.transcripts / "p"
    folder.mkdir()
    for name, age in (("live", 5), ("old", 5_000)):
        record = {
            "type": "user", "sessionId": name, "uuid": f"{name}-1", "cwd": str(project.root),
            "timestamp": f"2026-11-{29 if name == 'live' else 20}T10:00:00Z", "version": "2",
            "message": {"role": "user", "content": f"A marmalade question, {name}."},
        }  # fmt: skip
        path = folder / f"{name}.jsonl"
        path.write_text(json.dumps(record) + "\n", encoding="utf-8")
        os.utime(path, (time.time() - age, time.time() - age))
    assert recall_process(project.root, "import").returncode == 0
    plain = json.loads(recall_process(project.root, "search", "marmalade", "--json").stdout)
    assert len(plain["results"]) == 2
    process = recall_process(project.root, "search", "marmalade", "--json", CLAUDECODE="1")
    asked = json.loads(process.stdout)
    assert [r["session_id"] for r in asked["results"]] == ["old"]
    assert "seems to be asking" in asked["notes"][0]
    told = recall_process(project.root, "search", "marmalade", "--include-current", "--json", CLAUDECODE="1")
    assert len(json.loads(told.stdout)["results"]) == 2

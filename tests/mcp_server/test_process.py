"""The server as a process: what it writes, how it ends, who else is there, and whose index it opens."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
import subprocess
import sys
import time
import warnings
from pathlib import Path
from typing import Any

import pytest

from cli_run import recall_process
from cocorecall import Recall
from cocorecall.project import NOT_INITIALIZED
from mcp_client import HELLO, connected, lines, request, server_environment, start, tool_call
from projects import Project

TOOLS: dict[str, Any] = {
    "recall_search": {"query": "x"},
    "recall_show": {"id": "x"},
    "recall_timeline": {"name": "x"},
    "recall_facets": {},
    "recall_fix": {"error": "x"},
    "recall_premortems": {},
    "recall_status": {},
    "recall_import": {},
}


# --- what it writes ---


def test_every_line_of_its_output_is_one_message_whatever_goes_wrong(project: Project) -> None:
    project.session("one", ("user", "the \x1b[31mthreshold\u2028 is 0.85"))
    (project.transcripts / "broken.json").write_text('{"session_id": "b", "turns": [', encoding="utf-8")
    (project.transcripts / "odd.jsonl").write_bytes(b"\xff\xfe{}\n\x00\x00\n[1]\n")
    server = start(project.root)
    output, errors = server.communicate(
        lines(
            *HELLO,
            request(1, "ping"),
            "this is no JSON",
            "[1, 2]",
            tool_call(2, "recall_import"),
            tool_call(3, "recall_search", query=7),
            request(4, "tools/call", name="recall_search", arguments="threshold"),
            request(5, "no/such/method"),
            tool_call(6, "no_tool"),
            request(7, "tools/list"),
        ),
        timeout=60,
    )
    messages = [json.loads(line) for line in output.split("\n") if line]
    assert all(message["jsonrpc"] == "2.0" for message in messages)
    answers = {message["id"]: message for message in messages if "id" in message and "method" not in message}
    assert set(range(8)) <= set(answers)
    assert answers[1]["result"] == {}
    assert answers[2]["result"]["structuredContent"]["sessions_new"] == 1
    assert answers[2]["result"]["structuredContent"]["skipped"]
    assert answers[3]["result"]["isError"]
    assert "arguments" in answers[4]["error"]["message"]
    assert answers[5]["error"]["code"] == -32601
    assert "no_tool" in answers[6]["error"]["message"]
    assert errors == ""
    assert server.returncode == 0


def test_what_was_asked_before_the_input_closed_is_answered(project: Project) -> None:
    project.session("one", ("user", "the threshold is 0.85"))
    assert recall_process(project.root, "import").returncode == 0
    output, _ = start(project.root).communicate(
        lines(*HELLO, tool_call(1, "recall_search", query="threshold")), timeout=60
    )
    answer = next(m for m in map(json.loads, output.splitlines()) if m.get("id") == 1)
    assert "[1] one:0 user" in answer["result"]["content"][0]["text"]


# --- how it ends ---


def test_it_ends_when_its_client_dies(project: Project, tmp_path: Path) -> None:
    noted = tmp_path / "pid"
    client = (
        "import os, subprocess, sys\n"
        "server = subprocess.Popen([sys.executable, '-m', 'cocorecall', 'mcp'], stdin=subprocess.PIPE,"
        " stdout=subprocess.PIPE)\n"
        f"server.stdin.write({lines(*HELLO).encode()!r}); server.stdin.flush(); server.stdout.readline()\n"
        f"open({str(noted)!r}, 'w').write(str(server.pid))\n"
        "os._exit(9)\n"
    )
    subprocess.run(
        [sys.executable, "-c", client], cwd=project.root, env=server_environment(), check=False, timeout=60
    )
    assert _gone(int(noted.read_text(encoding="utf-8")))


def _gone(process: int) -> bool:
    for _ in range(200):
        try:
            os.kill(process, 0)
        except OSError:
            return True
        state = Path(f"/proc/{process}/stat")
        if state.exists() and state.read_text(encoding="utf-8").rpartition(")")[2].split()[0] == "Z":
            return True  # ended; whoever inherited it has not asked how
        time.sleep(0.05)
    return False


def test_a_cancelled_import_is_not_waited_for_and_keeps_what_it_committed(project: Project) -> None:
    for n in range(400):
        project.session(f"s{n:03}", ("user", f"turn {n} of the heron log"), ("assistant", "noted " * 200))
    server = start(project.root)
    assert server.stdin
    assert server.stdout
    call = tool_call(1, "recall_import")
    call["params"]["_meta"] = {"progressToken": "p"}
    server.stdin.write(lines(*HELLO, call))
    server.stdin.flush()
    while "notifications/progress" not in server.stdout.readline():
        pass
    cancel = {"jsonrpc": "2.0", "method": "notifications/cancelled", "params": {"requestId": 1}}
    server.stdin.write(lines(cancel, request(2, "ping")))
    server.stdin.flush()
    while (answer := json.loads(server.stdout.readline())).get("id") != 2:
        assert answer.get("id") != 1
    server.communicate(timeout=60)
    assert server.returncode == 0
    with Recall.open(project.root) as recall:
        recall.import_sources()
        assert recall.status().sessions == 400


def test_progress_of_an_import_is_told(project: Project) -> None:
    for n in range(60):
        project.session(f"s{n:02}", ("user", f"turn {n}"))
    told: list[tuple[float, float | None]] = []
    with connected(project.root) as asker:

        async def note(progress: float, total: float | None, message: str | None) -> None:
            del message
            told.append((progress, total))

        async def run() -> None:
            await asker.client.call_tool("recall_import", {}, progress_callback=note)

        asker.portal.call(run)
        assert told[-1] == (60, 60)
        assert len(told) > 1


# --- others ---


def test_two_servers_and_a_command_work_side_by_side(project: Project) -> None:
    project.session("one", ("user", "the threshold is 0.85"))
    assert recall_process(project.root, "import").returncode == 0
    with connected(project.root) as first, connected(project.root) as second:
        assert first.document("recall_search", query="threshold")["returned"] == 1
        assert second.document("recall_search", query="threshold")["returned"] == 1
        project.session("two", ("user", "the threshold is 0.9 now"))
        assert second.document("recall_import")["sessions_new"] == 1
        assert first.document("recall_search", query="threshold")["returned"] == 2
        project.session("three", ("user", "the threshold is gone"))
        assert recall_process(project.root, "import").returncode == 0
        for asker in (first, second):
            assert asker.document("recall_search", query="threshold")["returned"] == 3


def test_an_idle_server_holds_nothing_back(project: Project) -> None:
    """A reader that stays in a transaction lets the log grow for ever."""
    project.session("one", ("user", "the threshold is 0.85"))
    assert recall_process(project.root, "import").returncode == 0
    with connected(project.root) as asker:
        asker.document("recall_search", query="threshold")
        asker.document("recall_show", id="one")
        for tool, arguments in TOOLS.items():
            asker.call(tool, **arguments)
        with sqlite3.connect(project.index) as other:
            other.execute("CREATE TABLE elsewhere (x)")
            other.commit()
            busy, _, _ = other.execute("PRAGMA wal_checkpoint(TRUNCATE)").fetchone()
        assert busy == 0


@pytest.mark.skipif(os.name == "nt", reason="an open file cannot be replaced there")
def test_an_index_that_was_replaced_or_removed_is_noticed(project: Project) -> None:
    project.session("old", ("user", "the threshold is 0.85"))
    assert recall_process(project.root, "import").returncode == 0
    other = Project(project.root.parent / "other")
    other.session("new", ("user", "the threshold is 0.9"))
    assert recall_process(other.root, "import").returncode == 0
    with connected(project.root) as asker:
        found = asker.document("recall_search", query="threshold")["results"]
        assert [hit["session_id"] for hit in found] == ["old"]
        copy = project.index.with_name("restored")
        shutil.copy(other.index, copy)
        copy.replace(project.index)
        for side in ("recall.db-wal", "recall.db-shm"):
            project.index.with_name(side).unlink(missing_ok=True)
        found = asker.document("recall_search", query="threshold")["results"]
        assert [hit["session_id"] for hit in found] == ["new"]
        for path in project.index.parent.glob("recall.db*"):
            path.unlink()
        assert any(
            "recall import" in note for note in asker.document("recall_search", query="threshold")["notes"]
        )
        assert asker.document("recall_import")["sessions_new"] == 1
        found = asker.document("recall_search", query="threshold")["results"]
        assert [hit["session_id"] for hit in found] == ["old"]


# --- whose index ---


def test_without_a_project_each_tool_says_exactly_so(tmp_path: Path) -> None:
    with connected(tmp_path) as asker:
        listed = {tool.name for tool in asker.portal.call(asker.client.list_tools).tools}
        assert listed == set(TOOLS)
        for tool, arguments in TOOLS.items():
            assert asker.error(tool, **arguments) == NOT_INITIALIZED
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize("mode", ["auto", "legacy"])
def test_the_first_root_with_a_project_is_meant(tmp_path: Path, mode: str) -> None:
    projects = {}
    for name in ("red", "blue", "here"):
        projects[name] = Project(tmp_path / name)
        projects[name].session(name, ("user", "the threshold stands"))
        assert recall_process(projects[name].root, "import").returncode == 0
    (tmp_path / "plain").mkdir()
    (tmp_path / "red" / "src").mkdir()
    roots = [tmp_path / "plain", tmp_path / "red" / "src", tmp_path / "blue"]
    with connected(tmp_path / "here", roots=lambda: roots, mode=mode) as asker:

        def answering() -> list[str]:
            return [h["session_id"] for h in asker.document("recall_search", query="threshold")["results"]]

        assert answering() == ["red"]
        assert "red:0" in asker.resource("recall://session/red")
        del roots[1]
        if mode == "legacy":
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # protocols since 2026-07-28 ask for roots with each call
                asker.portal.call(asker.client.send_roots_list_changed)
            for _ in range(100):
                if answering() == ["blue"]:
                    break
        assert answering() == ["blue"]


def test_the_working_folder_stands_in_for_roots_without_a_project(project: Project, tmp_path: Path) -> None:
    project.session("one", ("user", "the threshold stands"))
    assert recall_process(project.root, "import").returncode == 0
    (tmp_path / "plain").mkdir()
    with connected(project.root, roots=lambda: [tmp_path / "plain"]) as asker:
        assert asker.document("recall_search", query="threshold")["returned"] == 1


def test_a_project_or_the_personal_index_can_be_named(
    project: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    project.session("one", ("user", "the threshold stands"))
    assert recall_process(project.root, "import").returncode == 0
    home = tmp_path / "home"
    home.mkdir()
    monkeypatch.setenv("COCORECALL_HOME", str(home))
    (home / "recall-sources.json").write_text(json.dumps([str(project.transcripts)]), encoding="utf-8")
    (tmp_path / "elsewhere").mkdir()
    with connected(tmp_path / "elsewhere", "--project", str(project.root)) as asker:
        assert asker.document("recall_search", query="threshold")["returned"] == 1
    with connected(project.root, "--global") as asker:
        assert asker.document("recall_status")["project"] is None
        assert asker.document("recall_import")["sessions_new"] == 1
        assert asker.document("recall_search", query="threshold")["returned"] == 1


def test_the_folder_of_the_client_is_what_here_means(tmp_path: Path) -> None:
    project = Project(tmp_path / "project")
    (project.root / "part").mkdir()
    project.session("inside", ("user", "the threshold stands"), cwd=str(project.root / "part"))
    project.session("outside", ("user", "the threshold falls"), cwd=str(tmp_path))
    assert recall_process(project.root, "import").returncode == 0
    with connected(tmp_path, roots=lambda: [project.root / "part"]) as asker:
        found = asker.document("recall_search", query="threshold", here=True)["results"]
        assert [hit["session_id"] for hit in found] == ["inside"]

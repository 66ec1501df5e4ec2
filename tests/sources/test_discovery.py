from __future__ import annotations

import json
import os
import sys
from pathlib import Path

import pytest

from cocorecall.sources import default_sources, formats
from cocorecall.sources.discovery import Unreadable, walk
from transcripts import found

posix_only = pytest.mark.skipif(sys.platform == "win32", reason="links and modes are different there")


def session(path: Path, name: str = "s1") -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    document = {"session_id": name, "turns": [{"role": "user", "text": "Hello"}]}
    path.write_text(json.dumps(document), encoding="utf-8")
    return path


def unreadable(root: Path) -> list[tuple[str, str]]:
    return [(i.path.name, i.reason) for i in walk(root, formats()) if isinstance(i, Unreadable)]


def test_folders_are_read_in_the_order_of_their_names(tmp_path: Path) -> None:
    for name in ("b/2.json", "a/1.json", "c/d/3.json", "0.json"):
        session(tmp_path / name)
    (tmp_path / "notes.txt").write_text("no transcript", encoding="utf-8")
    assert [t.path.name for t in found(tmp_path)] == ["0.json", "1.json", "2.json", "3.json"]


def test_a_source_can_be_one_file(tmp_path: Path) -> None:
    session(tmp_path / "other.json")
    assert [t.path.name for t in found(session(tmp_path / "one.json"))] == ["one.json"]


def test_a_directory_named_like_a_transcript_is_a_directory(tmp_path: Path) -> None:
    session(tmp_path / "trap.json" / "inner.json")
    assert [t.path.name for t in found(tmp_path)] == ["inner.json"]


@posix_only
def test_links_inside_are_read_once_loops_end_and_links_outside_are_reported(tmp_path: Path) -> None:
    """Robustness F2."""
    root = tmp_path / "root"
    session(root / "project" / "one.json")
    session(tmp_path / "outside" / "secret.json")
    (root / "again").symlink_to(root / "project")
    (root / "project" / "loop").symlink_to(root)
    (root / "way-out").symlink_to(tmp_path / "outside")
    (root / "broken.json").symlink_to(tmp_path / "nowhere")
    assert len(found(root)) == 1
    assert unreadable(root) == [("way-out", "link that leads out of the source")]


@posix_only
@pytest.mark.skipif(hasattr(os, "geteuid") and os.geteuid() == 0, reason="nothing is forbidden to root")
def test_a_forbidden_folder_is_reported(tmp_path: Path) -> None:
    session(tmp_path / "closed" / "one.json")
    (tmp_path / "closed").chmod(0)
    try:
        assert unreadable(tmp_path) == [("closed", "cannot be read: Permission denied")]
    finally:
        (tmp_path / "closed").chmod(0o700)


def test_where_agents_keep_their_transcripts(tmp_path: Path) -> None:
    project = default_sources(personal=False, home=tmp_path, environ={})
    assert [s.folder for s in project] == [tmp_path / ".snowflake" / "cortex" / "conversations"]
    moved = default_sources(personal=False, home=tmp_path, environ={"SNOWFLAKE_HOME": str(tmp_path / "sf")})
    assert [s.folder for s in moved] == [tmp_path / "sf" / "cortex" / "conversations"]
    assert default_sources(personal=True, home=tmp_path, environ={}) == []
    (tmp_path / ".claude" / "projects").mkdir(parents=True)
    assert [s.agent for s in default_sources(personal=True, home=tmp_path, environ={})] == ["claude"]


def test_adding_a_format_is_adding_a_module() -> None:
    assert [f.agent for f in formats()] == ["claude", "cortex", "export", "reference"]


@posix_only
def test_a_name_that_is_not_utf8_costs_only_itself(tmp_path: Path) -> None:
    session(tmp_path / "good.json")
    for name in (b"caf\xe9", b"caf\xe9.json"):
        path = Path(os.fsdecode(os.fsencode(tmp_path / "odd") + b"/" + name))
        session(path if path.suffix else path / "one.json")
    assert [t.path.name for t in found(tmp_path)] == ["good.json"]
    assert [name for name, _ in unreadable(tmp_path)] == ["caf\\udce9", "caf\\udce9.json"]


@posix_only
def test_a_link_to_itself_and_a_pipe_cost_only_themselves(tmp_path: Path) -> None:
    """Robustness F2."""
    session(tmp_path / "good.json")
    (tmp_path / "self.json").symlink_to(tmp_path / "self.json")
    os.mkfifo(tmp_path / "pipe.jsonl")
    assert [t.path.name for t in found(tmp_path)] == ["good.json"]
    assert unreadable(tmp_path) == [("pipe.jsonl", "not a regular file")]


@posix_only
def test_a_linked_file_outside_is_reported_and_one_inside_is_read_once(tmp_path: Path) -> None:
    """Robustness F2."""
    root = tmp_path / "root"
    session(root / "one.json")
    session(tmp_path / "secret.json")
    session(root / "store" / "blob")
    (root / "secret.json").symlink_to(tmp_path / "secret.json")
    (root / "again.json").symlink_to(root / "one.json")
    (root / "named.json").symlink_to(root / "store" / "blob")
    assert [t.path.name for t in found(root)] == ["named.json", "one.json"]
    assert unreadable(root) == [("secret.json", "link that leads out of the source")]


@posix_only
def test_a_source_can_be_a_link_itself(tmp_path: Path) -> None:
    session(tmp_path / "real" / "one.json")
    (tmp_path / "link").symlink_to(tmp_path / "real")
    assert [t.path for t in found(tmp_path / "link")] == [tmp_path / "link" / "one.json"]


def test_a_source_that_is_not_there_is_reported(tmp_path: Path) -> None:
    assert unreadable(tmp_path / "gone.json") == [("gone.json", "cannot be read: No such file or directory")]


def test_a_source_that_is_a_sidecar_is_its_pair(tmp_path: Path) -> None:
    for name in ("s.history.jsonl", "s.json", "other.json"):
        (tmp_path / name).write_text("{}", encoding="utf-8")
    (transcript,) = found(tmp_path / "s.json")
    assert [f.path.name for f in transcript.files] == ["s.history.jsonl", "s.json"]


def test_what_is_found_has_its_size_and_time(tmp_path: Path) -> None:
    stat = session(tmp_path / "one.json").stat()
    (transcript,) = found(tmp_path)
    assert transcript.files[0] == (str(tmp_path / "one.json"), stat.st_size, stat.st_mtime_ns)

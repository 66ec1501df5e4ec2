"""A process that dies between any two of its writes: the memory file is whole, and no entry is lost."""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
import sys
from pathlib import Path

import pytest

from projects import Project

PROGRAM = """
import os, signal, sys
at, when = int(sys.argv[2]), sys.argv[3]
calls = 0

def counted(function):
    def call(*args, **kwargs):
        global calls
        calls += 1
        if calls == at and when == "before":
            os.kill(os.getpid(), signal.SIGKILL)
        try:
            return function(*args, **kwargs)
        finally:
            if calls == at:
                os.kill(os.getpid(), signal.SIGKILL)
    return call

from datetime import UTC, datetime
from cocorecall import Recall
with Recall.open(sys.argv[1], clock=lambda: datetime(2026, 11, 30, 12, tzinfo=UTC)) as recall:
    for name in ("fsync", "replace", "chmod", "unlink"):
        setattr(os, name, counted(getattr(os, name)))
    recall.dream(window="60d")
print(calls)
"""
WORDS = "alpha bravo charlie delta echo foxtrot golf hotel".split()


def run(root: Path, at: int, when: str) -> subprocess.CompletedProcess[str]:
    return subprocess.run(
        [sys.executable, "-c", PROGRAM, str(root), str(at), when],
        capture_output=True,
        text=True,
        check=False,
        timeout=60,
    )


def entries(root: Path) -> list[str]:
    files = [root / ".cocoplus/memory/MEMORY.md", *(root / ".cocoplus/memory/archive").glob("*.md")]
    text = "\n".join(f.read_text(encoding="utf-8") for f in files)
    return [
        w for line in text.splitlines() if (m := re.match(r"- Always check the (\w+)", line)) for w in [m[1]]
    ]


@pytest.fixture(scope="module")
def overfull(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A memory file whose next dream adds an entry and moves others to the archive."""
    project = Project(tmp_path_factory.mktemp("killed") / "project")
    for n, word in enumerate(WORDS[:-1]):
        project.session(
            word, ("user", f"Always check the {word} table before you touch {word}."), days_ago=2 + n
        )
    with project.open() as recall:
        recall.import_sources()
        recall.dream(window="60d")
        project.session(
            WORDS[-1],
            ("user", f"Always check the {WORDS[-1]} table before you touch {WORDS[-1]}."),
            days_ago=1,
        )
        recall.import_sources()
    (project.root / "cocoplus.toml").write_text("[recall]\nmemory_lines = 14\n", encoding="utf-8")
    return project.root


@pytest.mark.skipif(os.name == "nt", reason="no SIGKILL")
def test_killed_between_any_two_writes_it_loses_nothing(overfull: Path, tmp_path: Path) -> None:
    memory = Path(".cocoplus/memory/MEMORY.md")
    old = (overfull / memory).read_bytes()
    shutil.copytree(overfull, tmp_path / "whole")
    done = run(tmp_path / "whole", 0, "before")
    assert done.returncode == 0, done.stderr
    new = (tmp_path / "whole" / memory).read_bytes()
    assert old != new
    assert sorted(entries(tmp_path / "whole")) == sorted(WORDS)
    writes = int(done.stdout)
    assert writes >= 4
    for at in range(1, writes + 1):
        for when in ("before", "after"):
            root = tmp_path / f"{at}-{when}"
            shutil.copytree(overfull, root)
            assert run(root, at, when).returncode == -9
            assert (root / memory).read_bytes() in (old, new)
            assert set(WORDS[:-1]) <= set(entries(root))
            assert run(root, 0, "before").returncode == 0
            assert (root / memory).read_bytes() == new
            assert sorted(entries(root)) == sorted(WORDS)
            log = (root / ".cocoplus/lifecycle/consolidation-log.json").read_text(encoding="utf-8")
            assert json.loads(log.splitlines()[-1])["status"] == "completed"

"""A few kills of each operation; `benchmarks/durability/kill.py` does hundreds."""

from __future__ import annotations

import sys
from pathlib import Path

import pytest

import kill


@pytest.mark.skipif(
    sys.platform == "win32", reason="a killed process may hold its files a moment longer there"
)
def test_nothing_committed_is_lost_when_a_process_is_killed(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(kill, "SESSIONS", 20)
    monkeypatch.setattr(kill, "TURNS", 20)
    monkeypatch.setattr(kill, "OPERATIONS", kill.operations())
    ran = kill.run(tmp_path, kills=2, seed=7)
    assert sum(op.kills for op in ran) == 2 * len(kill.OPERATIONS)
    assert [(op.name, op.faults, op.lost) for op in ran if op.faults or op.lost] == []

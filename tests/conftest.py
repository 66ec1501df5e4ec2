"""Fixtures of all tests."""

from __future__ import annotations

import os
import socket
from pathlib import Path
from typing import Any, Never

import pytest
from hypothesis import HealthCheck, settings

from cli_run import recall_process
from projects import Project

settings.register_profile(
    # a run of the checks must not depend on luck; on a developer's machine every run looks elsewhere
    "default",
    derandomize=os.environ.get("CI") == "true",
    deadline=None,
    suppress_health_check=[HealthCheck.function_scoped_fixture, HealthCheck.too_slow],
)
settings.load_profile("default")


@pytest.fixture(autouse=True)
def no_network(monkeypatch: pytest.MonkeyPatch) -> None:
    """Nothing that a test calls in its own process may speak to another machine."""
    connect = socket.socket.connect

    def denied(*args: Any, **_: Any) -> Never:
        raise AssertionError(f"a test reached for the network: {args[1:] or args}")

    def local_only(self: socket.socket, address: Any) -> None:
        if isinstance(address, tuple) and address[0] not in ("127.0.0.1", "::1", "localhost"):
            denied(self, address)
        connect(self, address)

    monkeypatch.setattr(socket.socket, "connect", local_only)
    monkeypatch.setattr(socket.socket, "sendto", denied)
    monkeypatch.setattr(socket, "gethostbyname", denied)


@pytest.fixture
def project(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Project:
    for name in (
        "COCORECALL_SESSION",
        "COCO_SESSION_ID",
        "CLAUDE_SESSION_ID",
        "CLAUDECODE",
        "COCORECALL_HOOK",
    ):
        monkeypatch.delenv(name, raising=False)
    return Project(tmp_path / "project")


@pytest.fixture
def stocked(project: Project) -> Project:
    project.session(
        "threshold",
        ("user", "Let us settle the threshold of classify_ticket."),
        (
            "assistant",
            "Decision: the threshold of classify_ticket is 0.85.\nPrecision matters more here.\nAgreed by all.",
        ),
        ("user", "Thanks. And the merge key?"),
        title="Ticket classifier",
    )
    project.session(
        "orders", ("user", "Why does dedupe_orders fail?"), ("assistant", "The merge key of orders moved.")
    )
    assert recall_process(project.root, "import").returncode == 0
    return project

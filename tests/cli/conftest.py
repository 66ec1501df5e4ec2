from __future__ import annotations

import pytest
from cli_run import recall_process
from projects import Project


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

"""The floors of precision and recall hold on the labelled turns that the repository ships."""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

SCORE = Path(__file__).parents[2] / "benchmarks" / "extraction" / "score.py"


def test_precision_and_recall_hold_their_floors() -> None:
    run = subprocess.run(
        [sys.executable, str(SCORE), "--errors"], capture_output=True, text=True, check=False
    )
    assert run.returncode == 0, run.stdout
    assert "all, 1" in run.stdout

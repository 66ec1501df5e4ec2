"""Running the command line as a process."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path


def recall_process(folder: Path, *args: str | bytes, **environ: str) -> subprocess.CompletedProcess[str]:
    """Run `recall` in a folder; output is read as UTF-8."""
    env = {k: v for k, v in os.environ.items() if k not in ("NO_COLOR", "COLUMNS")} | environ
    return subprocess.run(
        [sys.executable, "-m", "cocorecall", *args], cwd=folder, env=env, capture_output=True, text=True,
        encoding="utf-8", check=False, timeout=60,
    )  # fmt: skip

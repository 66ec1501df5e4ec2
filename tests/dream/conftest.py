"""Projects to dream in."""

from __future__ import annotations

import shutil
from pathlib import Path

import pytest

from cli_run import recall_process

DEMO = Path(__file__).parents[2] / "examples" / "demo"


@pytest.fixture(scope="module")
def imported_demo(tmp_path_factory: pytest.TempPathFactory) -> Path:
    folder = tmp_path_factory.mktemp("dream") / "demo"
    shutil.copytree(DEMO, folder)
    assert recall_process(folder, "import").returncode == 0
    return folder


@pytest.fixture
def demo(imported_demo: Path, tmp_path: Path) -> Path:
    folder = tmp_path / "demo"
    shutil.copytree(imported_demo, folder)
    return folder

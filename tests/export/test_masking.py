"""Secrets do not leave by an export unless asked for."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from cli_run import recall_process
from projects import Project

KEY = "AKIA" + "IOSFODNN7EXAMPLE"  # the key of AWS's own documentation


@pytest.mark.parametrize("form", ["jsonl", "markdown", "html"])
def test_secrets_are_masked_in_every_format(project: Project, form: str) -> None:
    project.session("s", ("user", f"The key is {KEY}, keep it."))
    assert recall_process(project.root, "import").returncode == 0
    for option, shown in (((), False), (("--reveal",), True)):
        process = recall_process(project.root, "export", "s", "--format", form, "--output", "-", *option)
        assert process.returncode == 0, process.stderr
        assert (KEY in process.stdout) is shown
        assert ("[secret: aws-access-key]" in process.stdout) is not shown


def test_a_masked_turn_is_not_imported_as_if_it_were_the_original(project: Project, tmp_path: Path) -> None:
    project.session("s", ("user", f"The key is {KEY}."), ("user", "Nothing secret here."))
    recall_process(project.root, "import")
    other = Project(tmp_path / "other")
    recall_process(project.root, "export", "s", "--output", str(other.transcripts / "s.recall.jsonl"))
    report = json.loads(recall_process(other.root, "import", "--json").stdout)
    assert report["turns_new"] == 1
    assert report["skipped"]

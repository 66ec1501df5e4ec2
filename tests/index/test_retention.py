"""What `status` says of transcripts that their agents delete (robustness R1)."""

from __future__ import annotations

import json
import os
from pathlib import Path

import pytest

from cocorecall.model import RetentionReport
from cocorecall.sources.retention import retentions
from projects import Project
from transcripts import write_lines

DAY = 86_400


@pytest.fixture
def home(project: Project, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Claude Code's folder, whose transcripts are the project's source."""
    folder = project.root / "claude-home"
    (folder / "projects" / "shop").mkdir(parents=True)
    monkeypatch.setenv("CLAUDE_CONFIG_DIR", str(folder))
    sources = project.root / "cocoplus" / "recall-sources.json"
    sources.write_text(json.dumps([str(folder / "projects"), str(project.transcripts)]), encoding="utf-8")
    return folder


def session(project: Project, home: Path, number: int, days_ago: float) -> str:
    name = f"00000000-0000-4000-8000-{number:012d}"
    record = {
        "type": "user", "uuid": name.replace("8000", "9000"), "sessionId": name, "cwd": "/w",
        "timestamp": "2026-09-01T10:00:00.000Z", "message": {"role": "user", "content": f"Question {number}"},
    }  # fmt: skip
    path = write_lines(home / "projects" / "shop" / f"{name}.jsonl", [record])
    at = project.now.timestamp() - days_ago * DAY
    os.utime(path, (at, at))
    return name


def status(project: Project) -> dict[str, RetentionReport]:
    with project.open() as recall:
        recall.import_sources()
        return {r.agent: r for r in recall.status().retention}


def test_sessions_that_fall_due_within_a_week_are_named_the_nearest_first(
    project: Project, home: Path
) -> None:
    names = [session(project, home, n, days) for n, days in enumerate((1, 22, 24, 29, 40))]
    report = status(project)["claude"]
    assert (report.days, report.setting, report.due) == (30, None, 3)
    assert report.due_sessions == (names[4], names[3], names[2])


def test_the_users_own_setting_counts(project: Project, home: Path) -> None:
    session(project, home, 0, 29)
    (home / "settings.json").write_text('{"cleanupPeriodDays": 365, "model": "x"}', encoding="utf-8")
    report = status(project)["claude"]
    assert (report.days, report.setting, report.due) == (365, str(home / "settings.json"), 0)


@pytest.mark.parametrize(
    ("settings", "days"),
    [("{}", 30), ("not JSON", 30), ('{"cleanupPeriodDays": "9"}', 30), ('{"cleanupPeriodDays": -1}', 30),
     ('{"cleanupPeriodDays": NaN}', 30), ('{"cleanupPeriodDays": 0}', 0), ('{"cleanupPeriodDays": 7.5}', 7),
     ('{"cleanupPeriodDays": 1e300}', 1_000_000), ("[]", 30), ('\ufeff{"cleanupPeriodDays": 5}', 5)],
)  # fmt: skip
def test_settings_of_any_shape(tmp_path: Path, settings: str, days: int) -> None:
    (tmp_path / ".claude").mkdir()
    (tmp_path / ".claude" / "settings.json").write_text(settings, encoding="utf-8")
    assert retentions(tmp_path, {})[0].days == days


def test_transcripts_that_the_agent_does_not_clear_are_not_due(project: Project, home: Path) -> None:
    name = session(project, home, 0, 40)
    path = home / "projects" / "shop" / f"{name}.jsonl"
    path.rename(project.transcripts / path.name)
    assert status(project)["claude"].due == 0


def test_sessions_whose_transcript_is_gone_are_named_and_kept(project: Project, home: Path) -> None:
    name = session(project, home, 0, 3)
    project.session("plain", ("user", "Something else"))
    assert status(project)["claude"].gone == 0
    (home / "projects" / "shop" / f"{name}.jsonl").unlink()
    report = status(project)
    assert (report["claude"].gone, report["claude"].gone_sessions) == (1, (name,))
    assert "reference" not in report
    with project.open() as recall:
        recall.import_sources(rebuild=True)
        assert recall.search("Question").hits[0].source_exists is False


@pytest.mark.usefixtures("home")
def test_an_agent_without_a_known_limit_is_named_only_for_what_is_gone(project: Project) -> None:
    path = project.session("plain", ("user", "Something else"))
    assert status(project) == {}
    path.unlink()
    assert status(project)["reference"] == RetentionReport("reference", None, None, 0, (), 1, ("plain",))

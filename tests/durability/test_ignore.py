"""Patterns that keep transcripts and sessions out."""

from __future__ import annotations

import json

import pytest

from cli_run import recall_process
from cocorecall.errors import SourceConfigError, UsageError
from cocorecall.sources.ignoring import Ignore
from projects import Project


@pytest.mark.parametrize(
    ("pattern", "path", "kept_out"),
    [
        ("**/secret-client/**", "/home/dana/secret-client/a.jsonl", True),
        ("**/secret-client/**", "/home/dana/secret-client/deep/er/a.jsonl", True),
        ("**/secret-client/**", "/home/dana/secret-clients/a.jsonl", False),
        ("**/secret-client", "/home/dana/secret-client/a.jsonl", True),
        ("secret-client", "/home/dana/secret-client/a.jsonl", True),
        ("*secret*", "/home/dana/-home-dana-secret-client/a.jsonl", True),
        ("*.history.jsonl", "/home/dana/x.history.jsonl", True),
        ("*.history.jsonl", "/home/dana/x.jsonl", False),
        ("/home/dana/*", "/home/dana/sub/a.jsonl", True),
        ("/home/dana/*.jsonl", "/home/dana/sub/a.jsonl", False),
        ("/home/dana/**/*.jsonl", "/home/dana/sub/b/a.jsonl", True),
        ("/home/dana/**/*.jsonl", "/home/dana/a.jsonl", True),
        ("dana/sub", "/home/dana/sub/a.jsonl", True),
        ("a?.jsonl", "/x/ab.jsonl", True),
        ("a[b].jsonl", "/x/ab.jsonl", False),
        ("a[b].jsonl", "/x/a[b].jsonl", True),
        ("session:abc", "/x/abc", False),
    ],
)
def test_a_pattern_names_files_and_folders(pattern: str, path: str, kept_out: bool) -> None:  # noqa: FBT001
    assert (Ignore([pattern]).path(path) is not None) is kept_out


@pytest.fixture
def two(project: Project) -> Project:
    project.session("open", ("user", "Open words."))
    project.session("client-x", ("user", "Words for the client."))
    return project


def set_ignore(project: Project, patterns: object) -> None:
    path = project.root / "cocoplus" / "recall-sources.json"
    content = json.loads(path.read_text(encoding="utf-8"))
    path.write_text(json.dumps(content | {"ignore": patterns}), encoding="utf-8")


@pytest.mark.parametrize("pattern", ["**/client-*", "session:client-x", "session:client-*"])
def test_what_a_pattern_names_is_left_out_and_counted(two: Project, pattern: str) -> None:
    set_ignore(two, [pattern])
    with two.open() as recall:
        report = recall.import_sources()
        assert (report.ignored, report.sessions_new) == (1, 1)
        assert recall.search("client", record=False).total_turns == 0
        assert recall.status().not_indexed == 0
    assert "Ignored: 1" in recall_process(two.root, "import", "--rebuild").stdout


def test_what_is_indexed_stays_until_it_is_forgotten(two: Project) -> None:
    with two.open() as recall:
        recall.import_sources()
        assert recall.ignore("**/client-*") == ("**/client-*",)
        recall.import_sources(rebuild=True)
        assert recall.search("client", record=False).total_turns == 1
        (problem,) = recall.status().problems
        assert "recall forget --path" in problem
        recall.forget(path="**/client-*")
        assert recall.status().problems == ()
        assert recall.search("client", record=False).total_turns == 0


def test_patterns_are_listed_added_and_taken_away(two: Project) -> None:
    assert recall_process(two.root, "sources", "ignore", "**/client-*").returncode == 0
    assert recall_process(two.root, "sources", "ignore", "**/client-*").returncode == 2
    assert "Ignored: **/client-*" in recall_process(two.root, "sources").stdout
    assert json.loads(recall_process(two.root, "sources", "--json").stdout)["ignore"] == ["**/client-*"]
    recall_process(two.root, "sources", "add", "elsewhere")
    assert "Ignored: **/client-*" in recall_process(two.root, "sources").stdout
    assert recall_process(two.root, "sources", "unignore", "**/client-*").returncode == 0
    assert recall_process(two.root, "sources", "unignore", "**/client-*").returncode == 2
    with two.open() as recall:
        assert recall.import_sources().sessions_new == 2


def test_a_bare_list_of_sources_becomes_an_object_with_both(two: Project) -> None:
    path = two.root / "cocoplus" / "recall-sources.json"
    path.write_text(json.dumps([str(two.transcripts)]), encoding="utf-8")
    with two.open() as recall:
        recall.ignore("session:client-x")
        assert [s.path for s in recall.sources()] == [str(two.transcripts)]
        assert recall.import_sources().ignored == 1


@pytest.mark.parametrize("patterns", ["**/x", [7], [""], {"a": 1}])
def test_patterns_that_make_no_sense_are_named(two: Project, patterns: object) -> None:
    set_ignore(two, patterns)
    with two.open() as recall, pytest.raises(SourceConfigError, match="ignore"):
        recall.import_sources()


def test_an_empty_pattern_is_refused(two: Project) -> None:
    with two.open() as recall, pytest.raises(UsageError):
        recall.ignore("  ")

from __future__ import annotations

import json
import subprocess
from pathlib import Path
from typing import Any

import pytest

from cli_run import recall_process
from projects import Project


def run(project: Project, *args: str | bytes, **environ: str) -> subprocess.CompletedProcess[str]:
    return recall_process(project.root, *args, **environ)


def document(process: subprocess.CompletedProcess[str]) -> dict[str, Any]:
    assert process.returncode == 0, process.stderr
    value = json.loads(process.stdout)
    assert isinstance(value, dict)
    return value


CHAPTER_8 = {
    "rank", "score", "field", "in_source", "session_id", "turn_id", "source_exists", "suggested_follow_up", "match",
    "matched", "missed", "session_matches", "latest_turn_id", "speaker_role", "timestamp", "seq", "agent", "title",
    "cwd", "phase_context", "source_path", "source_line", "text_hash", "text", "spans", "text_length", "highlights",
    "tags", "also_in",
}  # fmt: skip


def test_search_as_json_has_every_field(stocked: Project) -> None:
    answer = document(run(stocked, "search", "threshold", "0.85", "--json"))
    assert answer["schema"] == "cocorecall.search/1"
    assert {
        "query",
        "mode",
        "filters",
        "total_turns",
        "total_sessions",
        "returned",
        "budget",
        "tokens",
    } <= answer.keys()
    assert answer["returned"] == len(answer["results"])
    first = answer["results"][0]
    assert first.keys() >= CHAPTER_8
    assert (first["turn_id"], first["source_exists"], first["title"]) == (
        "threshold:1",
        True,
        "Ticket classifier",
    )


def test_search_in_plain_form_cites_every_hit(stocked: Project) -> None:
    printed = run(stocked, "search", "threshold").stdout
    assert "[1] threshold:" in printed
    assert "source ok, next: " in printed
    assert printed.startswith("1 of 1 session, 2 turns matched.")


def test_plain_and_json_name_the_same_hits(stocked: Project) -> None:
    answer = document(run(stocked, "search", "merge key threshold", "--json"))
    printed = run(stocked, "search", "merge key threshold").stdout
    assert [f"[{r['rank']}] {r['turn_id']} " in printed for r in answer["results"]] == [True] * answer[
        "returned"
    ]


def test_options_may_stand_before_or_behind_the_command(stocked: Project) -> None:
    before = run(stocked, "--json", "search", "threshold")
    assert before.stdout == run(stocked, "search", "threshold", "--json").stdout
    elsewhere = recall_process(
        stocked.root.parent, "--project", str(stocked.root), "search", "threshold", "--json"
    )
    assert elsewhere.stdout == before.stdout


def test_explain_prints_every_factor_and_word(stocked: Project) -> None:
    printed = run(stocked, "search", "threshold precision", "--explain").stdout
    assert "recency and phase" in printed
    assert "precision" in printed.split("How the scores came about:")[1]
    terms = document(run(stocked, "search", "threshold", "--explain", "--json"))["results"][0]["explanation"][
        "terms"
    ]
    assert {"term", "idf", "frequency", "own", "score"} == terms[0].keys()


def test_show_prints_turns_in_order_and_counts_what_it_leaves_out(stocked: Project) -> None:
    whole = run(stocked, "show", "threshold").stdout
    assert whole.index("[0] user") < whole.index("[1] assistant") < whole.index("[2] user")
    one = run(stocked, "show", "threshold:1").stdout
    assert "[… 1 turn …]" in one
    assert "Precision matters more here." in one
    lines = run(stocked, "show", "threshold", "-C", "0", "--query", "precision").stdout
    assert "[… 1 line …]\nPrecision matters more here.\n[… 1 line …]" in lines
    about = document(run(stocked, "show", "threshold", "--around", "0", "--query", "precision", "--json"))
    assert [t["seq"] for t in about["turns"]] == [1]


def test_show_marks_the_matches_of_the_query_that_led_there(stocked: Project) -> None:
    run(stocked, "search", "precision")
    shown = document(run(stocked, "show", "threshold", "--json"))
    assert shown["query"] == "precision"
    assert [t["matched"] for t in shown["turns"]] == [False, True, False]


def test_sources_status_and_forget(stocked: Project) -> None:
    assert "2 sessions, 5 turns" in run(stocked, "sources").stdout
    status = document(run(stocked, "status", "--json"))
    assert (status["sessions"], status["turns"], status["not_indexed"], status["problems"]) == (2, 5, 0, [])
    assert "Sessions     2 (reference 2)" in run(stocked, "status").stdout
    refused = run(stocked, "forget", "orders")
    assert (refused.returncode, "--yes" in refused.stderr) == (2, True)
    assert "Forgot orders: 2 turns" in run(stocked, "forget", "orders", "--yes").stdout
    assert document(run(stocked, "status", "--json"))["sessions"] == 1


def test_a_second_import_says_that_nothing_changed(stocked: Project) -> None:
    report = document(run(stocked, "import", "--json"))
    assert (report["sessions_unchanged"], report["transcripts_read"]) == (2, 0)
    assert "2 unchanged" in run(stocked, "import").stdout


@pytest.mark.parametrize(
    "command", [["search", "x"], ["show", "x"], ["import"], ["sources"], ["status"], ["forget", "x", "--yes"]]
)
def test_without_cocoplus_every_command_says_the_one_thing(tmp_path: Path, command: list[str]) -> None:
    process = recall_process(tmp_path, *command)
    assert process.returncode == 3
    assert process.stdout == ""
    assert process.stderr.splitlines()[0] == "CocoPlus is not initialized. Run `$pod init` first."
    assert list(tmp_path.iterdir()) == []


@pytest.mark.parametrize(
    ("args", "code", "said"),
    [
        (["search"], 2, "Say what to search for"),
        (["search", "-foo", "bar"], 2, "no option -foo. To search for it: recall search -- -foo"),
        (["search", "bar", "--foo"], 2, "recall search -- --foo"),
        (["search", "x", "--limt", "1"], 2, "but --limit"),
        (["serach", "x"], 2, "The nearest is: recall search."),
        (["search", "x", "--since", "whenever"], 2, "whenever"),
        (["show", "nowhere"], 2, "No session 'nowhere' is indexed"),
        (["show", "threshold", "--turn", "99"], 2, "no turn 99"),
        (["search", "x", "--budget", "0"], 2, "'--budget': 0 is not in the range x>=1"),
        (["sources", "lst"], 2, "recall sources --help"),
        (["sources", "remove", "/nowhere"], 2, "is not a source"),
        (["sources", "add", "/x", "--agent", "hal"], 2, "Known: "),
    ],
)
def test_errors_are_one_line_that_says_what_to_do(
    stocked: Project, args: list[str], code: int, said: str
) -> None:
    process = run(stocked, *args)
    assert process.returncode == code
    assert said in process.stderr
    assert "Traceback" not in process.stderr
    assert len(process.stderr.strip().splitlines()) == 1
    assert process.stdout == ""


@pytest.mark.parametrize(
    "query", [b"\xff\xfe", "\u202e", "🔥", "''", '"', "a" * 5000, "--", "NEAR(", "*", "\t"]
)
def test_no_query_is_an_error(stocked: Project, query: str | bytes) -> None:
    """Robustness Q1."""
    process = run(stocked, "search", "--", query)
    assert process.returncode in (0, 2)
    assert "Traceback" not in process.stderr
    assert process.returncode == 0 or not str(query).strip() or query == "--"


def test_control_characters_never_reach_a_pipe_raw(project: Project) -> None:
    """Robustness O1."""
    hostile = "needle \x1b[2J\x1b]0;title\x07 \u202edesrever\u202c \x9b31m end"
    project.session("bad", ("assistant", hostile), title="\x1b[31mred")
    run(project, "import")
    for args in (["search", "needle"], ["show", "bad"], ["show", "bad", "-C", "1", "--query", "needle"]):
        printed = run(project, *args).stdout
        assert "needle ␛[2J" in printed
        assert not set(printed) & set("\x1b\x07\x9b\u202e\u202c")
    answer = document(run(project, "search", "needle", "--json"))
    assert answer["results"][0]["text"] == hostile


@pytest.mark.parametrize("environ", [{"LC_ALL": "C", "PYTHONUTF8": "0"}, {"PYTHONIOENCODING": "cp1252"}])
def test_output_is_utf8_whatever_the_locale(project: Project, environ: dict[str, str]) -> None:
    """Robustness E2."""
    project.session("uni", ("assistant", "naïve 東京 😀 needle"))
    assert run(project, "import", **environ).returncode == 0
    assert "naïve 東京 😀 needle" in run(project, "search", "needle", **environ).stdout


def test_help_groups_every_command_a_line_each_and_shows_three_examples(stocked: Project) -> None:
    from cocorecall.cli.command import COMMANDS, GROUPS

    printed = run(stocked, "--help").stdout.splitlines()
    assert len(printed) <= 50
    assert sorted(" ".join(GROUPS.values()).split()) == sorted(COMMANDS)
    assert [line.split()[0] for line in printed if line[2:].startswith(tuple(f"{n} " for n in COMMANDS))] == [
        name for names in GROUPS.values() for name in names.split()
    ]
    assert max(map(len, printed)) <= 80
    assert sum(line.startswith("    recall ") for line in printed) == 3


@pytest.mark.parametrize("shell", ["bash", "zsh", "fish"])
def test_completion_scripts(stocked: Project, shell: str) -> None:
    assert "_RECALL_COMPLETE" in run(stocked, "completion", shell).stdout


def test_every_command_has_help_and_stands_in_the_readme() -> None:
    from cocorecall.cli.command import COMMANDS, recall_command

    readme = (Path(__file__).parents[2] / "README.md").read_text(encoding="utf-8")
    for name in COMMANDS:
        command = recall_command.get_command(None, name)  # type: ignore[arg-type]
        assert command is not None
        assert command.help
        assert f"recall {name}" in readme


def test_the_version_is_the_packages() -> None:
    import tomllib

    from cocorecall._version import __version__

    pyproject = tomllib.loads((Path(__file__).parents[2] / "pyproject.toml").read_text(encoding="utf-8"))
    assert pyproject["project"]["version"] == __version__

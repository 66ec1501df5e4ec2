"""Filters, facets, timeline and fix: only cited turns, verbatim, and nothing that was not asked for."""

from __future__ import annotations

import json
import shutil
from collections.abc import Iterator
from datetime import UTC, datetime, timedelta
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cli_run import recall_process
from cocorecall import Recall
from cocorecall.errors import UsageError
from cocorecall.model import CitedTurn, Repair
from cocorecall.search.excerpt import join_spans
from cocorecall.search.query import STOP_WORDS
from projects import Project

ROOT = Path(__file__).parents[2]
NOW = datetime(2026, 12, 1, tzinfo=UTC)
KINDS = (
    "functions", "entities", "outcomes", "metrics", "decisions", "strategies", "stages", "errors", "tools", "phases",
    "agents", "roles",
)  # fmt: skip


@pytest.fixture(scope="module")
def demo(tmp_path_factory: pytest.TempPathFactory) -> Iterator[Recall]:
    project = tmp_path_factory.mktemp("facets") / "demo"
    shutil.copytree(ROOT / "examples" / "demo", project)
    with Recall.open(project, clock=lambda: NOW) as recall:
        recall.import_sources()
        yield recall


def check(turn: CitedTurn, recall: Recall) -> None:
    """A cited turn is what its session says, to the character."""
    view = recall.show(turn.session_id, turn=turn.seq)
    whole = next(t for t in view.turns if t.turn_id == turn.turn_id)
    assert turn.text_hash == whole.text_hash
    assert turn.source_exists == Path(turn.source_path).exists()
    assert "search for `" in turn.suggested_follow_up
    if turn.field == "text":
        assert turn.text == join_spans(whole.text, turn.spans)
    else:
        payloads = " ".join(json.dumps(json.loads(c.payload), ensure_ascii=False) for c in whole.calls)
        for line in turn.text.splitlines():
            part = line.split("[…")[0].strip()
            assert json.dumps(part, ensure_ascii=False)[1:-1] in payloads or part in {
                c.name for c in whole.calls
            }


@pytest.mark.parametrize("kind", KINDS)
def test_every_value_of_the_demo_is_cited_and_its_filter_finds_it(demo: Recall, kind: str) -> None:
    report = demo.facets(kind, limit=None)
    assert report.total == len(report.values) > 0
    for value in report.values[:12]:
        check(value.newest, demo)
        assert value.turns >= value.sessions > 0
        if value.filter:
            process = recall_process(
                Path(demo.place.root or "."), "search", *_words(value.filter), "--json", "--all"
            )
            assert process.returncode == 0, process.stderr
            assert json.loads(process.stdout)["total_turns"] == value.turns, value.filter


def _words(options: str) -> list[str]:
    import shlex

    return shlex.split(options)


def test_the_overview_counts_what_each_kind_lists(demo: Recall) -> None:
    kinds = {k.kind: k for k in demo.facets().kinds}
    assert tuple(kinds) == KINDS
    for kind in KINDS:
        assert kinds[kind].values == demo.facets(kind).total


def test_an_unknown_kind_or_type_says_which_there_are(demo: Recall) -> None:
    with pytest.raises(UsageError, match="functions"):
        demo.facets("colours")
    with pytest.raises(UsageError, match="snowflake_object"):
        demo.facets("entities", type="snowflake")


def test_function_and_outcome_together_mean_that_functions_contract(demo: Recall) -> None:
    found = demo.search("", function=["classify_ticket"], outcome_type=["e2e"], all=True, budget=None)
    assert found.total_turns == len(found.hits) > 0
    for hit in found.hits:
        assert "classify_ticket" in hit.text
    assert not demo.search("", function=["mask_email"], outcome_type=["e2e"]).hits


def test_filters_combine_and_repeat(demo: Recall) -> None:
    either = demo.search("", metric=["auc", "accuracy"], all=True, budget=None)
    one = demo.search("", metric=["auc"], all=True, budget=None)
    other = demo.search("", metric=["accuracy"], all=True, budget=None)
    assert either.total_turns == len({h.turn_id for h in (*one.hits, *other.hits)})
    both = demo.search("", metric=["accuracy"], role=["tool"], all=True, budget=None)
    assert {h.speaker_role for h in both.hits} == {"tool"}
    inline = demo.search("metric:accuracy role:tool", all=True, budget=None)
    assert [h.turn_id for h in inline.hits] == [h.turn_id for h in both.hits]


def test_a_filter_alone_lists_newest_first(demo: Recall) -> None:
    found = demo.search("", entity=["ANALYTICS.CORE.ORDERS"], all=True, budget=None)
    times = [h.timestamp for h in found.hits]
    assert times == sorted(times, reverse=True)
    assert len(times) > 5


@pytest.mark.parametrize(
    ("filters", "near"),
    [
        ({"function": ["clasify_ticket"]}, "classify_ticket"),
        ({"entity": ["snowflake_object:ANALYTICS.CORE.ORDER"]}, "ANALYTICS.CORE.ORDERS"),
        ({"metric": ["acuracy"]}, "accuracy"),
        ({"stage": ["load-order"]}, "load-orders"),
        ({"outcome_type": ["e2"]}, "e2e"),
        ({"outcome_status": ["failed"]}, "fail"),
        ({"role": ["asistant"]}, "assistant"),
        ({"tool": ["snowflake_sql_exec"]}, "snowflake_sql_execute"),
        ({"agent": ["cortx"]}, "cortex"),
        ({"phase": ["bild"]}, "build"),
    ],
)
def test_an_unknown_value_finds_nothing_and_names_near_ones(
    demo: Recall, filters: dict[str, list[str]], near: str
) -> None:
    found = demo.search("", **filters)  # type: ignore[arg-type]
    assert not found.hits
    assert any("is indexed" in note and near in note for note in found.notes)


def test_a_timeline_is_in_time_order_and_holds_every_kind(demo: Recall) -> None:
    timeline = demo.timeline("score_lead", budget=None)
    assert timeline.total == len(timeline.events)
    times = [e.turn.timestamp for e in timeline.events]
    assert times == sorted(times)
    kinds = {e.kind for e in timeline.events}
    assert {"touched", "evaluated", "decided", "contracted", "feared"} <= kinds
    for event in timeline.events:
        check(event.turn, demo)


def test_a_timeline_keeps_its_budget_and_the_newest(demo: Recall) -> None:
    whole = demo.timeline("classify_ticket", budget=None)
    for budget in (150, 400, 1000):
        short = demo.timeline("classify_ticket", budget=budget)
        assert short.tokens <= budget
        assert short.total == whole.total
        newest = [e.turn.turn_id for e in whole.events[-len(short.events) :]]
        assert [e.turn.turn_id for e in short.events] == newest
        assert f"{short.total - len(short.events):,} earlier event" in Recall.render(short)


def test_an_unknown_name_has_near_ones(demo: Recall) -> None:
    timeline = demo.timeline("dedup_orders")
    assert not timeline.events
    assert "dedupe_orders" in timeline.near


def test_the_planted_repair_is_found(demo: Recall) -> None:
    report = demo.fix("002003", budget=None)
    assert (report.total, report.solved) == (2, 2)
    by_session = {r.error.session_id: r for r in report.repairs}
    repair = by_session["d43075cf-924e-420c-8467-76e4cdb171bc"]
    assert repair.failing and "ANALYTICS.CORE.ORDERS_RAW" in repair.failing.text  # noqa: PT018
    assert repair.succeeded and "ANALYTICS.STAGING.ORDERS_RAW" in repair.succeeded.text  # noqa: PT018
    for found in report.repairs:
        for turn in (found.failing, found.error, *found.changes, found.succeeded, found.outcome):
            if turn:
                check(turn, demo)


def test_an_error_is_found_by_its_message_with_other_names_in_it(demo: Recall) -> None:
    message = "002003 (42S02): SQL compilation error:\nObject 'SALES.PUBLIC.INVOICES' does not exist or not authorized."
    assert demo.fix(message).total == 2


def follow_ups(demo: Recall, query: str, **filters: Any) -> list[tuple[str, str]]:
    hits = demo.search(query, record=False, **filters).hits
    return [(h.session_id, h.suggested_follow_up.split("`")[1]) for h in hits]


@pytest.mark.parametrize(
    "query", ["threshold", "clustering key orders", "masking policy", "score_lead", "what failed in October?"]
)
def test_a_follow_up_leads_to_another_session_and_repeats_nothing(demo: Recall, query: str) -> None:
    asked = {w.strip("?").lower() for w in query.split()}
    for session, name in follow_ups(demo, query):
        assert name.lower() not in asked | STOP_WORDS
        others = demo.search(f'"{name}"', record=False).hits
        assert {h.session_id for h in others} - {session}, name


def test_a_follow_up_does_not_repeat_a_filter(demo: Recall) -> None:
    names = {name for _, name in follow_ups(demo, "", function=["classify_ticket"])}
    assert names
    assert "classify_ticket" not in names


# --- fix, on sessions made for it -----------------------------------------------------------------------


def tried(
    project: Project, session: str, *steps: tuple[str, dict[str, Any], str, bool], days: float = 5
) -> None:
    """A Claude Code session of calls with their results: (tool, input, result, failed)."""
    folder = project.transcripts / "p"
    folder.mkdir(exist_ok=True)
    at = project.now - timedelta(days=days)
    base = {"sessionId": session, "cwd": "/w", "version": "2"}
    lines: list[dict[str, Any]] = [
        base
        | {
            "type": "user",
            "uuid": f"{session}-q",
            "timestamp": at.isoformat(),
            "message": {"role": "user", "content": "go"},
        }
    ]
    for n, (tool, given_input, result, failed) in enumerate(steps):
        call_id = f"{session}-{n}"
        at += timedelta(minutes=1)
        lines += [
            base | {"type": "assistant", "uuid": f"{call_id}-a", "timestamp": at.isoformat(), "message": {
                "id": f"m-{call_id}", "role": "assistant",
                "content": [{"type": "tool_use", "id": call_id, "name": tool, "input": given_input}]}},
            base | {"type": "user", "uuid": f"{call_id}-r", "timestamp": at.isoformat(), "message": {
                "role": "user",
                "content": [{"type": "tool_result", "tool_use_id": call_id, "content": result, "is_error": failed}]}},
        ]  # fmt: skip
    (folder / f"{session}.jsonl").write_text(
        "".join(json.dumps(line) + "\n" for line in lines), encoding="utf-8"
    )


def repairs(project: Project, error: str) -> tuple[Repair, ...]:
    with project.open() as recall:
        recall.import_sources()
        return recall.fix(error, budget=None).repairs


GREP = "bash: rgrep: command not found"


def test_a_shell_error_with_the_change_that_cured_it(project: Project) -> None:
    tried(
        project,
        "a",
        (
            "Bash",
            {"command": "python -m pytest tests"},
            "ModuleNotFoundError: No module named 'pandas'",
            True,
        ),
        ("Bash", {"command": "ls"}, "src tests", False),
        ("Bash", {"command": "pip install pandas"}, "Successfully installed pandas-2.3", False),
        ("Bash", {"command": "python -m pytest tests -q"}, "3 passed", False),
    )
    (repair,) = repairs(project, "ModuleNotFoundError: No module named 'numpy'")
    assert repair.succeeded
    assert "pytest tests -q" in repair.succeeded.text
    assert [c.text.splitlines()[-1] for c in repair.changes] == ["pip install pandas"]
    assert repair.outcome
    assert repair.outcome.text == "3 passed"


def test_further_failures_are_counted_and_another_statement_does_not_cure(project: Project) -> None:
    failing = "SELECT AMOUNT, REGION FROM ANALYTICS.CORE.ORDERZ WHERE REGION = 'EU'"
    error = "002003 (42S02): SQL compilation error:\nObject 'ANALYTICS.CORE.ORDERZ' does not exist or not authorized."
    tried(
        project,
        "a",
        ("snowflake_sql_execute", {"sql": failing}, error, True),
        ("snowflake_sql_execute", {"sql": "SHOW WAREHOUSES"}, "3 rows", False),
        ("snowflake_sql_execute", {"sql": failing.replace("REGION =", "REGION <>")}, error, True),
        ("snowflake_sql_execute", {"sql": failing.replace("ORDERZ", "ORDERS")}, "2 row(s) returned.", False),
    )
    (repair,) = repairs(project, error)
    assert repair.attempts == 1
    assert repair.succeeded
    assert "ANALYTICS.CORE.ORDERS" in repair.succeeded.text


def test_a_session_that_never_solved_it_is_said_to_be_so(project: Project) -> None:
    tried(project, "open", ("Bash", {"command": "rgrep x src"}, GREP, True))
    tried(project, "other", ("Bash", {"command": "rgrep x src"}, "src/a.py:1:x", False), days=1)
    (repair,) = repairs(project, GREP)
    assert repair.succeeded is None
    assert "never solved" in recall_process(project.root, "fix", GREP).stdout


def test_solved_ones_come_first(project: Project) -> None:
    tried(project, "open", ("Bash", {"command": "rgrep x src"}, GREP, True), days=1)
    tried(
        project,
        "solved",
        ("Bash", {"command": "rgrep x src"}, GREP, True),
        ("Bash", {"command": "grep -r x src"}, "src/a.py:1:x", False),
        days=9,
    )
    assert [r.error.session_id for r in repairs(project, GREP)] == ["solved", "open"]


def test_what_a_reading_tool_returns_is_no_error(project: Project) -> None:
    tried(
        project, "a", ("Read", {"file_path": "/w/a.py"}, "raise ValueError: bad\nERROR: no\nfatal: x", False)
    )
    with project.open() as recall:
        recall.import_sources()
        assert recall.facets("errors").total == 0


@settings(max_examples=60)
@given(st.text(min_size=1, max_size=80))
def test_no_error_text_makes_fix_fail(demo: Recall, error: str) -> None:
    if not error.strip():
        with pytest.raises(UsageError):
            demo.fix(error)
        return
    report = demo.fix(error)
    assert report.tokens <= 1000 or len(report.repairs) == 1
    assert Recall.render(report).endswith("\n")


@settings(max_examples=60)
@given(st.text(min_size=1, max_size=40))
def test_no_name_makes_a_timeline_fail(demo: Recall, name: str) -> None:
    try:
        timeline = demo.timeline(name)
    except UsageError:
        assert not name.strip().strip("`")
    else:
        assert timeline.total >= len(timeline.events)


@settings(max_examples=60)
@given(
    st.sampled_from(["function", "entity", "metric", "stage", "outcome_type", "outcome_status", "tool"]),
    st.text(max_size=20),
)
def test_no_filter_value_makes_a_search_fail(demo: Recall, key: str, value: str) -> None:
    demo.search("", record=False, **{key: [value]})  # type: ignore[arg-type]

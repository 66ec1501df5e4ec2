from __future__ import annotations

import dataclasses
import json
from collections.abc import Callable, Iterator
from datetime import timedelta
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from cocorecall import Recall
from cocorecall.errors import UsageError
from cocorecall.model import Hit, Results
from cocorecall.search.excerpt import join_spans
from cocorecall.search.tokens import estimate_tokens
from projects import Project
from transcripts import write_lines

Search = Callable[..., Results]

PIPELINE = (
    ("user", "Why does the nightly load of ORDERS fail with 002003?"),
    ("assistant", "The table ANALYTICS.CORE.ORDERS_RAW was renamed; dedupe_orders still reads the old name."),
    ("user", "Fix it and keep the merge key."),
    ("assistant", "Done: dedupe_orders now reads ORDERS_LANDING, and the merge key stays order_id."),
)
THRESHOLD = (
    ("user", "Let us settle the threshold of classify_ticket."),
    (
        "assistant",
        "Decision: the threshold of classify_ticket is 0.85, since precision matters more than recall here.",
    ),
)


@pytest.fixture
def stocked(project: Project) -> Project:
    project.session("pipeline", *PIPELINE, days_ago=20, phase_context="build")
    project.session("threshold", *THRESHOLD, days_ago=9)
    project.session("chatter", ("user", "Good morning"), ("assistant", "Hello, how can I help?"), days_ago=3)
    return project


@pytest.fixture
def search(stocked: Project) -> Iterator[Search]:
    with stocked.open() as recall:
        recall.import_sources()
        yield recall.search


def hit_for(results: Results, turn_id: str) -> Hit:
    return next(h for h in results.hits if h.turn_id == turn_id)


def test_the_answering_turn_comes_first_with_its_citation(search: Search) -> None:
    hit = search("why did we set the threshold to 0.85?").hits[0]
    assert (hit.session_id, hit.turn_id, hit.seq) == ("threshold", "threshold:1", 1)
    assert hit.source_exists
    assert hit.suggested_follow_up.startswith("search for `")
    assert hit.text == THRESHOLD[1][1]


def test_a_deleted_source_hides_nothing(stocked: Project, search: Search) -> None:
    (stocked.transcripts / "threshold.json").unlink()
    hit = search("threshold 0.85").hits[0]
    assert hit.turn_id == "threshold:1"
    assert not hit.source_exists


def test_words_that_occur_nowhere_find_nothing_and_are_named(search: Search) -> None:
    results = search("zyxomma")
    assert (results.hits, results.total_turns) == ((), 0)
    assert [(w.word, w.turns) for w in results.words] == [("zyxomma", 0)]


@pytest.mark.parametrize(
    ("query", "found"), [("mergeLock", 0), ("mergeKey", 2), ("merge-key-lock", 0), ("key-merge", 2)]
)
def test_an_absent_name_is_found_by_all_of_its_parts_or_not_at_all(
    search: Search, query: str, found: int
) -> None:
    results = search(query, all=True)
    assert results.total_turns == found
    assert len(results.hits) == found
    assert results.words[0].turns == 0


def test_a_misspelt_word_is_answered_with_near_spellings(search: Search) -> None:
    assert "threshold" in search("threshhold").words[0].near


def test_a_partial_answer_says_what_it_misses(search: Search) -> None:
    results = search("threshold zyxomma", all=True)
    hit = hit_for(results, "threshold:1")
    assert (hit.matched, hit.missed) == (("threshold",), ("zyxomma",))
    assert 0 < hit.match < 1
    assert {w.word: w.sessions for w in results.words} == {"threshold": 1, "zyxomma": 0}


def test_one_turn_a_session_unless_all_are_asked_for(search: Search) -> None:
    diverse, every = search("dedupe_orders orders"), search("dedupe_orders orders", all=True)
    assert [h.session_id for h in diverse.hits] == ["pipeline"]
    assert len([h for h in every.hits if h.session_id == "pipeline"]) > 1
    assert diverse.total_turns == every.total_turns


def test_a_later_match_of_the_session_is_named(search: Search) -> None:
    hit = hit_for(search("dedupe_orders ORDERS_RAW", all=True), "pipeline:1")
    assert hit.session_matches == 2
    assert hit.latest_turn_id == "pipeline:3"


@pytest.mark.parametrize(
    ("query", "turn_id"),
    [
        ("ANALYTICS.CORE.ORDERS_RAW", "pipeline:1"),
        ("orders_landing", "pipeline:3"),
        ('"merge key stays"', "pipeline:3"),
        ("precis*", "threshold:1"),
        ("+dedupe_orders -landing", "pipeline:1"),
        ("002003", "pipeline:0"),
        ("CLASSIFY_TICKET precision", "threshold:1"),
    ],
)
def test_names_phrases_prefixes_and_signs(search: Search, query: str, turn_id: str) -> None:
    assert search(query).hits[0].turn_id == turn_id


def test_a_session_by_prefix_and_an_ambiguous_one(stocked: Project) -> None:
    stocked.session("threshold-again", ("user", "threshold once more"))
    with stocked.open() as recall:
        recall.import_sources()
        assert {h.session_id for h in recall.search("orders", session="pipe").hits} == {"pipeline"}
        with pytest.raises(UsageError, match="threshold-again"):
            recall.search("threshold", session="thr")
        with pytest.raises(UsageError):
            recall.search("threshold", session="nowhere")


def test_filters_narrow_and_inline_forms_mean_the_same(search: Search) -> None:
    by_option = search("orders", role=["assistant"], all=True)
    inline = search("orders role:assistant", all=True)
    assert {h.speaker_role for h in by_option.hits} == {"assistant"}
    assert [h.turn_id for h in by_option.hits] == [h.turn_id for h in inline.hits]
    assert search("threshold", since="7d").total_turns == 0
    assert search("threshold", until="2026-11-25").total_turns == 2
    assert {h.session_id for h in search("orders threshold", phase=["build"]).hits} == {"pipeline"}


def test_a_filter_alone_lists_the_newest_first(search: Search) -> None:
    results = search("role:assistant", all=True, budget=None)
    assert [h.turn_id for h in results.hits] == ["chatter:1", "threshold:1", "pipeline:3", "pipeline:1"]
    assert results.total_turns == 4


def test_a_filter_alone_names_each_session_once(search: Search) -> None:
    assert [h.turn_id for h in search("role:user").hits] == ["chatter:0", "threshold:0", "pipeline:2"]
    assert [h.turn_id for h in search("role:user", limit=2).hits] == ["chatter:0", "threshold:0"]


def test_what_recall_printed_is_found_only_when_asked_for(project: Project) -> None:
    """Robustness K4."""
    use = {
        "type": "tool_use",
        "tool_use": {"tool_use_id": "t1", "name": "bash", "input": {"command": "recall search zebra"}},
    }
    echo = {
        "type": "tool_result",
        "tool_result": {"tool_use_id": "t1", "content": "[1] other:3 the zebra threshold"},
    }
    rows = [
        {"role": "assistant", "id": "1", "content": [use]},
        {"role": "user", "id": "2", "content": [echo]},
    ]
    write_lines(project.transcripts / "asked.history.jsonl", rows)
    with project.open() as recall:
        recall.import_sources()
        assert recall.search("zebra threshold", role=["tool"]).total_turns == 0
        (hit,) = recall.search("zebra threshold", role=["tool"], echo=True).hits
        assert hit.echo


def test_here_means_sessions_that_worked_in_this_folder_or_below(
    project: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    """Robustness F4."""
    project.session(
        "inside", {"role": "user", "text": "some words", "cwd": str(project.root / "models" / "marts")}
    )
    project.session("outside", ("user", "other words"), cwd=str(project.root.parent))
    monkeypatch.chdir(project.root)
    with project.open() as recall:
        recall.import_sources()
        assert [h.session_id for h in recall.search("words", here=True).hits] == ["inside"]
        assert recall.search("words").total_turns == 2


def test_an_explanation_adds_up(search: Search) -> None:
    hit = search("threshold precision", explain=True).hits[0]
    explanation = hit.explanation
    assert explanation is not None
    factors = {f.name: f.value for f in explanation.factors}
    assert factors["words"] == pytest.approx(sum(t.score for t in explanation.terms))
    product = factors.pop("words") + factors.pop("session")
    for value in factors.values():
        product *= value
    assert hit.score == pytest.approx(product, abs=1e-3)


def test_the_same_call_twice_gives_the_same_bytes(stocked: Project) -> None:
    with stocked.open() as recall:
        recall.import_sources()

    def answer() -> str:
        with stocked.open() as recall:
            results = recall.search("orders threshold merge key", all=True)
            return Recall.render(results) + json.dumps([dataclasses.asdict(h) for h in results.hits])

    assert answer() == answer()


def test_citations_are_recorded_unless_asked_not_to(stocked: Project) -> None:
    with stocked.open() as recall:
        recall.import_sources()
        recall.search("threshold", record=False)
        assert recall.status().citations == 0
        shown = recall.search("threshold").hits
        assert recall.status().citations == len(shown)


def test_of_two_equal_turns_the_newer_comes_first(project: Project) -> None:
    project.session("old", ("user", "alpha beta gamma"), days_ago=400)
    project.session("new", ("user", "gamma beta alpha"), days_ago=2)
    with project.open() as recall:
        recall.import_sources()
        assert [h.session_id for h in recall.search("alpha beta").hits] == ["new", "old"]


def test_a_strong_old_match_stays_above_a_weak_new_one(project: Project) -> None:
    project.session("old", ("user", "The retention of the audit topic is ninety days."), days_ago=900)
    project.session(
        "new", ("user", "The retention of staff is another topic, said the long newsletter."), days_ago=1
    )
    with project.open() as recall:
        recall.import_sources()
        assert recall.search("audit retention ninety days").hits[0].session_id == "old"


def test_copies_of_a_turn_collapse_into_one_hit(project: Project) -> None:
    for name in ("one", "two", "three"):
        project.session(
            name, ("user", "The deploy window is Tuesday at nine."), ("user", f"Unlike words {name}")
        )
    with project.open() as recall:
        recall.import_sources()
        (hit,) = recall.search("deploy window").hits
        assert sorted((hit.session_id, *hit.also_in)) == ["one", "three", "two"]


def test_the_asking_session_is_left_out_and_said_to_be(
    stocked: Project, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("COCO_SESSION_ID", "threshold")
    with stocked.open() as recall:
        recall.import_sources()
        results = recall.search("threshold")
        assert "threshold" not in {h.session_id for h in results.hits}
        assert any("threshold" in note for note in results.notes)
        assert recall.search("threshold", include_current=True).hits[0].session_id == "threshold"


def test_a_call_is_found_by_its_input_and_shown_from_there(project: Project) -> None:
    sql = "SELECT warehouse_name FROM account_usage.metering_history"
    call = {"name": "snowflake_sql_execute", "input": {"sql": sql}}
    project.session("calls", {"role": "assistant", "text": "Let me look.", "tool_calls": [call]})
    with project.open() as recall:
        recall.import_sources()
        hit = recall.search("metering_history").hits[0]
        assert hit.field == "calls"
        assert sql in hit.text
        assert recall.search("look", tool=["snowflake_sql_execute"]).total_turns == 1


LONG = "\n\n".join(
    f"Paragraph {n} speaks of pipelines, tables and tests in plain words, number {n}." for n in range(400)
)


@pytest.mark.parametrize("budget", [60, 150, 400, 1000, 4000])
def test_the_budget_holds_for_the_plain_form(stocked: Project, budget: int) -> None:
    for n in range(30):
        stocked.session(f"long-{n}", ("assistant", f"{LONG}\n\nThe needle number {n} is here.\n\n{LONG}"))
    with stocked.open() as recall:
        recall.import_sources()
        for query in ("needle", "paragraph pipelines", "needle threshold orders"):
            results = recall.search(query, budget=budget)
            assert results.tokens == estimate_tokens(Recall.render(results))
            assert results.tokens <= max(budget, 60)
            if budget >= 150:
                assert results.hits


def test_excerpts_hold_the_match_and_mark_what_is_left_out(stocked: Project) -> None:
    stocked.session("long", ("assistant", f"{LONG}\n\nThe needle is here.\n\n{LONG}"))
    with stocked.open() as recall:
        recall.import_sources()
        hit = recall.search("needle").hits[0]
        assert "The needle is here." in hit.text
        assert len(hit.text) < 6000
        assert hit.text_length == len(LONG) * 2 + len("\n\nThe needle is here.\n\n")
        assert "characters …]" in hit.text


WORDS = st.sampled_from(
    "orders threshold merge key table 0.85 classify_ticket needle the why dedupe_orders".split()
)
QUERIES = st.one_of(st.text(max_size=60), st.lists(WORDS, min_size=1, max_size=6).map(" ".join))


@pytest.fixture(scope="module")
def shelf(tmp_path_factory: pytest.TempPathFactory) -> Project:
    project = Project(tmp_path_factory.mktemp("shelf") / "project")
    project.session("pipeline", *PIPELINE, days_ago=20)
    project.session("threshold", *THRESHOLD, days_ago=9)
    project.session("long", ("assistant", LONG), ("user", "So the needle is in the table?"))
    with project.open() as recall:
        recall.import_sources()
    return project


@given(query=QUERIES, every=st.booleans(), budget=st.sampled_from([None, 80, 300, 1000]))
@settings(max_examples=60)
def test_promises_of_every_hit(shelf: Project, query: str, every: bool, budget: int | None) -> None:  # noqa: FBT001
    with shelf.open() as recall:
        results = recall.search(query, all=every, budget=budget, record=False)
        assert budget is None or results.tokens <= budget
        for hit in results.hits:
            assert hit.suggested_follow_up
            stored = next(t for t in recall.show(hit.session_id).turns if t.turn_id == hit.turn_id)
            assert hit.text_hash == stored.text_hash
            if hit.field == "text":
                assert hit.text == join_spans(stored.text, hit.spans)
            for start, end in hit.highlights:
                assert any(a <= start and end <= b for a, b in hit.spans)
        full = [not h.missed for h in results.hits]
        assert full == sorted(full, reverse=True)


def test_an_unrelated_session_drops_no_full_match_below_a_partial_one(stocked: Project) -> None:
    with stocked.open() as recall:
        recall.import_sources()
        before = recall.search("threshold classify_ticket", all=True).hits[0].turn_id
    stocked.session(
        "noise", *[("user", f"threshold threshold of something else {n}") for n in range(40)], days_ago=0
    )
    stocked.now += timedelta(minutes=1)
    with stocked.open() as recall:
        recall.import_sources()
        assert recall.search("threshold classify_ticket", all=True).hits[0].turn_id == before


def test_an_empty_index_says_what_waits(stocked: Project) -> None:
    with stocked.open() as recall:
        results: Any = recall.search("threshold")
        assert results.hits == ()
        assert "3 transcripts wait" in results.notes[0]


def test_an_index_that_an_import_left_empty_says_what_waits(project: Project) -> None:
    """Robustness U4."""
    with project.open() as recall:
        recall.import_sources()
        assert "hold no transcripts" in recall.search("threshold").notes[0]
        project.session("one", ("user", "the threshold"))
        assert "1 transcript waits" in recall.search("threshold").notes[0]

"""What turns touch: derived from the index itself, the same however it came about, and gone when forgotten."""

from __future__ import annotations

import hashlib
import json
import shutil
import sys
from collections.abc import Callable
from pathlib import Path
from typing import Any

import apsw
import pytest

from cli_run import recall_process
from cocorecall.index import facet_import
from projects import Project

SQL = "CREATE OR REPLACE FUNCTION core.score_lead(x INT) RETURNS INT AS 'x + 1'"
MIGRATIONS = Path(facet_import.__file__).with_name("migrations")
TABLES = (
    "function_touches", "evaluation_results", "outcome_contracts", "strategy_usage", "key_decisions", "entities",
    "errors", "premortems",
)  # fmt: skip


def call(tool: str, **payload: Any) -> dict[str, Any]:
    return {"role": "assistant", "text": "", "tool_calls": [{"name": tool, "input": payload}]}


def sql(statement: str) -> dict[str, Any]:
    return call("snowflake_sql_execute", sql=statement)


def read(project: Project, *args: str) -> dict[str, Any]:
    process = recall_process(project.root, *args, "--json")
    assert process.returncode == 0, process.stderr
    document: dict[str, Any] = json.loads(process.stdout)
    return document


def values(project: Project, *args: str) -> set[str]:
    return {v["value"] for v in read(project, "facets", *args, "--all")["values"]}


def rows(project: Project) -> dict[str, list[tuple[Any, ...]]]:
    connection = apsw.Connection(str(project.index))
    facts = {t: sorted(connection.execute(f"SELECT * FROM {t}").fetchall(), key=repr) for t in TABLES}
    facts["tags"] = connection.execute("SELECT doc, tags FROM turns ORDER BY doc").fetchall()
    facts["entity_tags"] = connection.execute("SELECT id, entity_tags FROM sessions ORDER BY id").fetchall()
    connection.close()
    return facts


@pytest.fixture
def busy(project: Project) -> Project:
    """A project with something of everything, in several sessions."""
    project.session(
        "leads",
        ("user", "We decided to score leads nightly in ANALYTICS.CORE.LEADS."),
        sql(SQL),
        ("tool", "Function SCORE_LEAD successfully created."),
        ("assistant", "AUC = 0.781 on the test set, precision = 0.36."),
        sql("SELECT score_lead(1) FROM ANALYTICS.CORE.LEADS"),
        ("tool", "002003 (42S02): SQL compilation error:\nObject 'X' does not exist or not authorized."),
        ("user", "See OPS-412 and config/leads.yml; AI_COMPLETE is too slow."),
    )
    project.session("orders", sql("MERGE INTO ANALYTICS.CORE.ORDERS o USING s ON o.ORDER_ID = s.ORDER_ID"
                                  " WHEN MATCHED THEN UPDATE SET AMOUNT = s.AMOUNT"),
                    ("assistant", "score_lead is not used here."))  # fmt: skip
    return project


def test_an_index_of_the_first_schema_is_read_for_facets_without_any_source(project: Project) -> None:
    connection = apsw.Connection(str(project.index))
    connection.execute((MIGRATIONS / "0001_initial.sql").read_text(encoding="utf-8"))
    connection.execute("PRAGMA user_version = 1")
    connection.execute(
        "INSERT INTO sessions (id, start_time, end_time, source_path, number, native_id, agent, turn_count, entity_tags)"
        " VALUES ('old', '2026-01-01T10:00:00.000Z', '2026-01-01T10:00:00.000Z', '/gone/old.json', 1, 'old', 'cortex', 2, 'SAID')"
    )
    for seq, text in enumerate(("Now the function.", "AUC = 0.781 at last.")):
        connection.execute(
            "INSERT INTO turns (id, session_id, speaker_role, seq, text_hash, doc, timestamp, time_source, chars, text_length,"
            " content_key, text, tags) VALUES (?, 'old', 'assistant', ?, ?, ?, '2026-01-01T10:00:00.000Z', 'own', 9, 9, x'00', ?, ?)",
            (f"old:{seq}", seq, hashlib.sha256(text.encode()).hexdigest(), (1 << 24) | seq, text, "said" if seq else ""),
        )  # fmt: skip
    connection.execute(
        "INSERT INTO tool_calls (session_id, name, payload, turn_id, doc) VALUES ('old', 'sql_execute', ?, 'old:0', ?)",
        (json.dumps({"sql": SQL}), 1 << 24),
    )
    connection.execute(
        "INSERT INTO function_touches (session_id, function_name) VALUES ('old', 'stated_before')"
    )
    connection.execute("INSERT INTO import_meta VALUES ('turns', '2'), ('sessions', '1'), ('chars', '18')")
    connection.close()

    assert "score_lead" in values(project, "functions")
    hit = read(project, "search", "--function", "score_lead")["results"][0]
    assert (hit["turn_id"], hit["source_exists"]) == ("old:0", False)
    assert read(project, "search", "--metric", "auc")["results"][0]["tags"] == ["said", "evaluation"]
    assert read(project, "search", "--function", "stated_before")["total_turns"] == 2
    assert read(project, "show", "old")["session"]["entity_tags"][0] == "SAID"


def test_an_interrupted_import_is_caught_up_by_the_next(busy: Project) -> None:
    read(busy, "import")
    before = rows(busy)
    connection = apsw.Connection(str(busy.index))
    connection.execute("DELETE FROM entities; UPDATE sessions SET facets_pending = 1")
    for table in TABLES:
        connection.execute(f"DELETE FROM {table}")
    connection.close()
    assert read(busy, "import")["transcripts_read"] == 0
    assert rows(busy) == before


@pytest.mark.parametrize("interpreter", [sys.executable, "/no/such/python"])
def test_a_second_process_finds_the_same_as_the_first(
    busy: Project, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, interpreter: str
) -> None:
    """And where it cannot be started, nothing is missing."""
    other = Project(tmp_path / "other")
    for file in busy.transcripts.iterdir():
        shutil.copy2(file, other.transcripts)
    with busy.open() as recall:
        alone = recall.import_sources()
    monkeypatch.setattr(facet_import, "LARGE_IMPORT", 0)
    monkeypatch.setattr(sys, "executable", interpreter)
    with other.open() as recall:
        shared = recall.import_sources()
    assert rows(busy) == rows(other)
    assert (alone.sql_statements, shared.sql_statements) == (3, 3)


def test_a_grown_session_keeps_its_facets_once(busy: Project) -> None:
    read(busy, "import")
    before = rows(busy)
    path = busy.transcripts / "leads.json"
    document = json.loads(path.read_text(encoding="utf-8"))
    document["turns"].append({"role": "user", "text": "And `refresh_scores()` as well.",
                              "timestamp": document["turns"][-1]["timestamp"]})  # fmt: skip
    path.write_text(json.dumps(document), encoding="utf-8")
    read(busy, "import")
    after = rows(busy)
    added = set(after["entities"]) - set(before["entities"])
    assert {row[0] for row in added} == {"refresh_scores"}
    assert len(after["entities"]) == len(before["entities"]) + 1
    read(busy, "import", "--rebuild")
    assert rows(busy) == after


def test_a_term_that_the_glossary_gains_is_found_in_old_turns(busy: Project) -> None:
    read(busy, "import")
    assert "Test Set" not in values(busy, "entities")
    glossary = busy.root / ".cocoplus/grove/language/glossary.md"
    glossary.parent.mkdir(parents=True)
    glossary.write_text("## Test Set\n\n**Definition:** What is held back.\n", encoding="utf-8")
    read(busy, "import")
    hits = read(busy, "search", "--entity", "data_concept:test set")["results"]
    assert "leads:3" in {h["turn_id"] for h in hits}
    glossary.write_text("## Other\n\n**Definition:** Not that.\n", encoding="utf-8")
    read(busy, "import")
    hits = read(busy, "search", "--entity", "data_concept:test set")["results"]
    assert "leads:3" not in {h["turn_id"] for h in hits}


def test_forgetting_takes_the_facets_too(busy: Project) -> None:
    read(busy, "import")
    assert recall_process(busy.root, "forget", "leads", "--yes").returncode == 0
    assert not [row for found in rows(busy).values() for row in found if "leads" in row]
    assert not values(busy, "functions")
    assert "ANALYTICS.CORE.ORDERS" in values(busy, "entities")


def test_facets_that_the_transcript_states_are_kept_beside_those_found(project: Project) -> None:
    project.session(
        "s",
        ("user", "Nothing is named here."),
        outcome_contracts=[{"function_name": "f", "outcome_type": "e2e", "status": "pass"}],
        key_decisions=["Ship it on Friday."],
    )
    read(project, "import")
    assert (
        read(project, "search", "--function", "f", "--outcome-type", "e2e")["results"][0]["session_id"] == "s"
    )
    read(project, "import", "--rebuild")
    assert read(project, "search", "--function", "f")["total_turns"] == 1
    connection = apsw.Connection(str(project.index))
    assert connection.execute("SELECT decision FROM key_decisions").fetchall() == [("Ship it on Friday.",)]


AWKWARD_SQL: dict[str, Callable[[], str]] = {
    "a megabyte": lambda: "INSERT INTO T VALUES " + ", ".join(f"({n}, 'x')" for n in range(80_000)),
    "another dialect": lambda: "SELECT TOP 5 [Order Id] FROM dbo.[Orders] WITH (NOLOCK) WHERE x =* y",
    "Jinja": lambda: (
        "SELECT {{ cols | join(', ') }} FROM {{ ref('stg_orders') }} {% if x %} WHERE a = 1 {% endif %}"
    ),
    "deep": lambda: "SELECT " + "(" * 5_000 + "1" + ")" * 5_000,
    "no end": lambda: "SELECT 'unclosed FROM t; CREATE TABLE \"half",
    "binary": lambda: "\x01\x02 SELECT \ud800 FROM \u202e t",
}


@pytest.mark.parametrize("name", AWKWARD_SQL)
def test_awkward_sql_costs_only_itself(project: Project, name: str) -> None:
    statement = AWKWARD_SQL[name]().encode("utf-8", "replace").decode()
    project.session("s", sql(statement), sql("SELECT good_function(1) FROM ANALYTICS.CORE.FINE"))
    report = read(project, "import")
    assert report["sql_statements"] >= 2
    assert "ANALYTICS.CORE.FINE" in values(project, "entities")
    assert "good_function" in values(project, "functions")


def test_statements_that_the_grammar_refuses_are_counted(project: Project) -> None:
    project.session("s", sql("SELECT * FRUM nothing WHERE ((("), sql("SELECT 1"))
    report = read(project, "import")
    assert (report["sql_statements"], report["sql_unparsed"]) == (2, 1)

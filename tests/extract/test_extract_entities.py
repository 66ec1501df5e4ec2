"""Which names a turn mentions: their types, canonical forms and spellings."""

from __future__ import annotations

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocorecall.extract import Extraction, Extractor, parse_glossary
from cocorecall.extract.names import file_name, function_name, object_name
from cocorecall.model import Entity, FunctionTouch, ToolCall, ToolResult, Turn


def entities(
    text: str, role: str = "assistant", extractor: Extractor | None = None, **fields: Any
) -> set[tuple[str, str]]:
    facets = (extractor or Extractor()).extract_turn(Turn(role, text, **fields), 0)
    return {(f.type, f.name) for f in facets if isinstance(f, Entity)}


def names(text: str, kind: str, **fields: Any) -> set[str]:
    return {name for found, name in entities(text, **fields) if found == kind}


def sql(statement: str) -> tuple[ToolCall, ...]:
    return (ToolCall("snowflake_sql_execute", {"sql": statement}),)


@pytest.mark.parametrize(
    ("spelling", "canonical"),
    [
        ("raw.core.orders", "RAW.CORE.ORDERS"),
        ('RAW."CORE".Orders', "RAW.CORE.ORDERS"),
        ('RAW.LANDING."Event Types"', 'RAW.LANDING."Event Types"'),
        ('"orders"', '"orders"'),
    ],
)
def test_an_object_has_one_canonical_name(spelling: str, canonical: str) -> None:
    assert object_name(spelling) == canonical


def test_a_function_is_one_with_and_without_its_schema() -> None:
    assert {function_name(n) for n in ("score_lead", "CRM.ML.SCORE_LEAD", "SCORE_LEAD")} == {"score_lead"}
    assert function_name("getUserProfile") == "getUserProfile"


def test_a_file_below_the_working_folder_is_relative_to_it() -> None:
    assert file_name("/srv/app/src/a.py", "/srv/app") == "src/a.py"
    assert file_name(r"C:\Work\App\src\a.py", "c:/work/app") == "src/a.py"
    assert file_name("/srv/application/a.py", "/srv/app") == "/srv/application/a.py"


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("RAW.CORE.ORDERS is late", {"RAW.CORE.ORDERS"}),
        ("see MARTS.ORDERS, please.", {"MARTS.ORDERS"}),
        ("the warehouse LOAD_WH is busy", {"LOAD_WH"}),
        ("the `load_wh` warehouse", {"LOAD_WH"}),
        ("role ANALYST and the ANALYTICS database", {"ANALYST", "ANALYTICS"}),
        ("{{ ref('stg_orders') }}", {"STG_ORDERS"}),
        ("{{ source('shop', 'orders') }}", {"SHOP.ORDERS"}),
        ("a SQL view, JSON tables, O.AMOUNT, README.MD, v1.2 and e.g. U.S. data", set()),
        ("the warehouse SMALL", set()),
        ("os.environ.PATH and self.CONFIG.VALUE", set()),
    ],
)
def test_objects_in_prose(text: str, expected: set[str]) -> None:
    assert names(text, "snowflake_object") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("classify_ticket() is slow", {"classify_ticket"}),
        ("`load(batch)` fails", {"load"}),
        ("ANALYTICS.ML.SCORE_LEAD(x) is a UDF", {"score_lead"}),
        ("the macro `cents_to_euros`", {"cents_to_euros"}),
        ("len(), COUNT(*), iff(), ref(), os.path.join(), str.split()", set()),
        ("row(s), file(s) and a word (in brackets)", set()),
        ("KeyError() and DataFrame()", set()),
    ],
)
def test_functions_in_prose(text: str, expected: set[str]) -> None:
    assert names(text, "function") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("AI_CLASSIFY instead of CLASSIFY_TEXT", {"AI_CLASSIFY", "CORTEX.CLASSIFY_TEXT"}),
        ("snowflake.cortex.complete('m', x)", {"CORTEX.COMPLETE"}),
        ("a Cortex Search service and two semantic views", {"Cortex Search", "Semantic Views"}),
        ("the task is complete; AI_BUDGET is ours", set()),
    ],
)
def test_cortex_features(text: str, expected: set[str]) -> None:
    assert names(text, "cortex_feature") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("002003 (42S02): SQL compilation error", {"002003", "42S02"}),
        ("error code 000904, SQLSTATE 42000", {"000904", "42000"}),
        ("090105: Cannot perform SELECT", {"090105"}),
        ("it raised ValueError, then snowflake.errors.ProgrammingError", {"ValueError", "ProgrammingError"}),
        ("KeyboardInterrupt ends it", {"KeyboardInterrupt"}),
        ("1002003 (items) and Error alone, 404 (HTTP)", set()),
    ],
)
def test_error_codes(text: str, expected: set[str]) -> None:
    assert names(text, "error_code") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("see models/staging/stg_orders.sql:27", {"models/staging/stg_orders.sql"}),
        ("README.md and ./dbt_project.yml", {"README.md", "dbt_project.yml"}),
        (r"C:\work\a.py fails", {"C:/work/a.py"}),
        ("Node.js, np.log, df.head(), e.g. *.sql and .py files", set()),
        ('File "/usr/lib/python3.11/json/decoder.py", line 3', set()),
    ],
)
def test_files(text: str, expected: set[str]) -> None:
    assert names(text, "file") == expected


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("OPS-412 blocks PR #31", {"OPS-412", "#31"}),
        ("UTF-8, SHA-256, ISO-8601, COVID-19, GPT-4, RFC-2119 and #5 on the list", set()),
        ("x-OPS-12 or OPS-12-b or OPS-007", set()),
    ],
)
def test_tickets(text: str, expected: set[str]) -> None:
    assert names(text, "ticket") == expected


def test_a_link_loses_the_full_stop_after_it_and_hides_its_parts() -> None:
    assert entities("Look at (https://ex.com/a_(b)/c.py?x=1).") == {("url", "https://ex.com/a_(b)/c.py?x=1")}


def test_glossary_terms_and_aliases_are_one_concept() -> None:
    glossary = parse_glossary("## Golden Set\n**Aliases:** holdout tickets\n")
    found = (
        Extraction(glossary)
        .session()
        .extract_turn(Turn("user", "two golden sets, one holdout ticket; gilded setup"), 3)
    )
    assert [(f.name, f.spelling, f.turn_seq) for f in found if isinstance(f, Entity)] == [
        ("Golden Set", "golden sets", 3)
    ]
    alias = Extraction(glossary).session().extract_turn(Turn("user", "our holdout tickets"), 0)
    assert [f.name for f in alias if isinstance(f, Entity)] == ["Golden Set"]


def test_a_large_glossary_finds_the_same() -> None:
    many = (
        "".join(f"## Concept {word}\n" for word in "abcdefghijklmnopqrstuvwxyz") + "## Golden Set\n## Churn\n"
    )
    session = Extraction(parse_glossary(many)).session()
    found = session.extract_turn(Turn("user", "(golden sets) and churns, concept q; unconcept r"), 0)
    assert {f.name for f in found if isinstance(f, Entity)} == {"Golden Set", "Churn", "Concept q"}
    assert session.extract_turn(Turn("user", "nothing of it"), 1) == []


def test_what_sql_used_is_known_by_its_short_name_afterwards() -> None:
    session = Extraction().session()
    session.extract_turn(Turn("assistant", "", calls=sql("SELECT order_id FROM raw.core.orders")), 0)
    assert entities("`orders` misses an order_id", extractor=session) == {
        ("snowflake_object", "RAW.CORE.ORDERS"),
        ("data_concept", "ORDER_ID"),
    }


def test_a_short_name_that_fits_two_objects_is_none() -> None:
    session = Extraction().session()
    session.extract_turn(Turn("assistant", "", calls=sql("SELECT 1 FROM a.b.orders, c.d.orders")), 0)
    assert entities("`orders` is late", extractor=session) == set()


def test_the_spelling_of_the_turn_is_kept() -> None:
    facets = Extractor().extract_turn(Turn("assistant", "", calls=sql("SELECT 1 FROM raw.core.Orders")), 0)
    assert [(f.name, f.spelling) for f in facets if isinstance(f, Entity)] == [
        ("RAW.CORE.ORDERS", "raw.core.Orders")
    ]


def test_results_of_readers_are_other_peoples_text() -> None:
    session = Extraction().session()
    session.extract_turn(Turn("assistant", "", calls=(ToolCall("Read", {"file_path": "a.py"}, "c1"),)), 0)
    answer = Turn("tool", "raise ValueError  # RAW.CORE.ORDERS", results=(ToolResult("c1"),))
    assert session.extract_turn(answer, 1) == []


def test_an_echo_has_no_facets_and_a_summary_no_decisions() -> None:
    text = "Decision: keep RAW.CORE.ORDERS."
    assert Extractor().extract_turn(Turn("assistant", text, echo=True), 0) == []
    assert entities(text, kind="summary") == {("snowflake_object", "RAW.CORE.ORDERS")}
    assert all(isinstance(f, Entity) for f in Extractor().extract_turn(Turn("user", text, kind="summary"), 0))


def touches(*calls: ToolCall, text: str = "") -> list[tuple[str, str | None]]:
    facets = Extractor().extract_turn(Turn("assistant", text, calls=calls), 7)
    assert all(f.turn_seq == 7 for f in facets if isinstance(f, FunctionTouch))
    return [(f.function_name, f.how) for f in facets if isinstance(f, FunctionTouch)]


def test_functions_are_touched_by_sql() -> None:
    assert touches(*sql("SELECT ml.score(x) FROM t")) == [("score", "called")]
    assert touches(*sql("CREATE FUNCTION ML.SCORE(x INT) RETURNS INT AS 'x'")) == [("score", "created")]
    assert touches(*sql("DROP FUNCTION IF EXISTS ML.SCORE(INT)")) == [("score", "dropped")]
    assert touches(*sql("CALL ops.rebuild('x')")) == [("rebuild", "called")]
    assert touches(*sql("SELECT COUNT(*), AI_CLASSIFY(a, ['b']) FROM t")) == []


def test_functions_are_touched_by_edits() -> None:
    write = ToolCall(
        "Write", {"file_path": "a.py", "content": "def load(x):\n    pass\n\ndef test_load():\n    pass"}
    )
    edit = ToolCall(
        "edit",
        {"file_path": "a.py", "old_string": "def load(x):\ndef gone():", "new_string": "def load(x, y):"},
    )
    macro = ToolCall("write", {"path": "m.sql", "content": "{% macro mask(c) %}x{% endmacro %}"})
    udf = ToolCall("write", {"path": "u.sql", "content": "create or replace function a.b.F_X(y int)"})
    assert touches(write) == [("load", "defined")]
    assert touches(edit) == [("load", "edited"), ("gone", "dropped")]
    assert touches(macro) == [("mask", "defined")]
    assert touches(udf) == [("f_x", "defined")]


def test_a_fenced_statement_defines_but_does_not_call() -> None:
    fenced = "```sql\nCREATE FUNCTION f_a(x INT) RETURNS INT AS 'x';\nSELECT g_b(1);\n```"
    assert touches(text=fenced) == [("f_a", "defined")]
    assert names(fenced, "function") == {"f_a", "g_b"}


_texts = st.text(max_size=300) | st.lists(
    st.sampled_from(
        "RAW.CORE.ORDERS `orders` f_x() ( . _ - ` ``` ```sql SELECT FROM ; ' \" $$ {{ }} ref('a') {% OPS-1 AI_EMBED cortex"
        " Error ValueError 002003 (42S02) a/b.py:3 http://x.y İ ß \n | --- accuracy = 0.9 golden set we decided to".split(
            " "
        )
    ),
    max_size=40,
).map(" ".join)
_payloads = st.recursive(
    st.none() | st.booleans() | st.integers() | _texts,
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(
            st.sampled_from(["sql", "command", "file_path", "content", "old_string", "edits", "url"]),
            inner,
            max_size=4,
        )
    ),
    max_leaves=6,
)
_turns = st.builds(
    lambda role, text, name, payload, answered: Turn(
        role, text, calls=(ToolCall(name, payload, "c"),), results=(ToolResult("c"),) if answered else ()
    ),
    st.sampled_from(["user", "assistant", "tool", "Mira"]),
    _texts,
    st.sampled_from(["sql_execute", "Bash", "Edit", "read", "mcp__x__write"]),
    _payloads,
    st.booleans(),
)


@given(st.lists(_turns, max_size=3))
def test_any_turns_are_read_without_an_error_and_twice_alike(turns: list[Turn]) -> None:
    glossary = parse_glossary("## Golden Set\n")
    both = []
    for _ in range(2):
        session = Extraction(glossary, ["two-step"], ["f_x"]).session(cwd="/srv")
        both.append([session.extract_turn(turn, seq) for seq, turn in enumerate(turns)])
    assert both[0] == both[1]


def _strings(value: Any) -> list[str]:
    if isinstance(value, str):
        return [value]
    inner = value.values() if isinstance(value, dict) else value if isinstance(value, list) else []
    return [text for item in inner for text in _strings(item)]


@given(_turns)
def test_every_spelling_stands_in_the_turn(turn: Turn) -> None:
    places = [turn.text, *_strings(turn.calls[0].payload)]
    for facet in Extraction(parse_glossary("## Golden Set\n")).session().extract_turn(turn, 0):
        if isinstance(facet, Entity) and facet.spelling is not None:
            assert any(facet.spelling in place for place in places), facet
            assert facet.name
            json.dumps(facet.name)


@pytest.mark.parametrize(
    ("text", "names"),
    [
        ("Grant select on analytics.core.orders to the analysts.", {"ANALYTICS.CORE.ORDERS"}),
        ("The table stg_orders is empty, the schema raw_sales is not.", {"STG_ORDERS", "RAW_SALES"}),
        ("Load it into table raw.sales.orders first.", {"RAW.SALES.ORDERS"}),
        ("The table below shows it; a view from above; the table of contents.", set()),
        ("See table notes_old.md, view my_func(x), and import os.path.join.", set()),
    ],
)
def test_lower_case_names_count_behind_what_they_are(text: str, names: set[str]) -> None:
    facets = Extractor().extract_turn(Turn("user", text), 0)
    assert {f.name for f in facets if isinstance(f, Entity) and f.type == "snowflake_object"} == names

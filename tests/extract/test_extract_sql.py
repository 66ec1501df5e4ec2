"""What statements read, write, create, drop, call, and which columns they name."""

from __future__ import annotations

import logging
import subprocess
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cocorecall.extract.sql import MAX_PARSED, SqlReader, StatementFacts, statement_facts
from cocorecall.extract.sql_scan import statements, without_templates


def facts(script: str) -> StatementFacts:
    found = SqlReader().read(script)
    assert len(found) == 1
    return found[0]


def test_a_merge_writes_its_target_and_reads_its_source() -> None:
    found = facts(
        "MERGE INTO raw.core.orders t USING raw.land.batch s ON t.id = s.id WHEN MATCHED THEN UPDATE SET t.amount = s.total"
        " WHEN NOT MATCHED THEN INSERT (id, amount) VALUES (s.id, s.total)"
    )
    assert (found.written, found.read) == (("raw.core.orders",), ("raw.land.batch",))
    assert set(found.columns) == {"id", "amount", "total"}


def test_aliases_and_common_tables_are_no_names_of_the_project() -> None:
    found = facts(
        "WITH x AS (SELECT a AS b FROM db.s.t) SELECT x.b, c * 2 AS c, COUNT(*) AS n FROM x GROUP BY 1 HAVING n > 1"
    )
    assert found.read == ("db.s.t",)
    assert set(found.columns) == {"a", "c"}


@pytest.mark.parametrize(
    ("statement", "group", "name"),
    [
        ("CREATE OR REPLACE TRANSIENT TABLE a.b.c (x INT)", "created", "a.b.c"),
        ("CREATE TABLE IF NOT EXISTS c CLONE d", "read", "d"),
        (
            "CREATE OR REPLACE TASK a.b.t WAREHOUSE = wh SCHEDULE = '1 MINUTE' AS INSERT INTO c SELECT * FROM d",
            "created",
            "a.b.t",
        ),
        (
            "CREATE OR REPLACE TASK a.b.t WAREHOUSE = wh SCHEDULE = '1 MINUTE' AS INSERT INTO c SELECT * FROM d",
            "read",
            "wh",
        ),
        ("CREATE STREAM s ON TABLE t", "created", "s"),
        ("DROP VIEW IF EXISTS a.v", "dropped", "a.v"),
        ("ALTER TABLE a.b SWAP WITH a.c", "written", "a.b"),
        ("TRUNCATE TABLE IF EXISTS a.b", "written", "a.b"),
        ("DELETE FROM a.b WHERE x = 1", "written", "a.b"),
        ("UPDATE a.b SET x = 1", "written", "a.b"),
        ("COPY INTO a.b FROM @stages.files/2026/", "read", "stages.files"),
        ("USE WAREHOUSE wh", "read", "wh"),
        ("DESCRIBE TASK a.t", "read", "a.t"),
        ("GRANT SELECT ON TABLE a.b TO ROLE r", "read", "r"),
        ("SHOW TABLES IN SCHEMA a.b", "read", "a.b"),
        ("CALL a.p(1)", "called", "a.p"),
        ("ALTER FUNCTION f(INT) RENAME TO g", "altered", "f"),
        ("ALTER SCHEMA a.b RENAME TO a.c", "created", "a.c"),
    ],
)
def test_what_a_statement_does(statement: str, group: str, name: str) -> None:
    assert name in getattr(facts(statement), group)


def test_a_script_is_cut_at_its_semicolons_and_a_body_is_read_too() -> None:
    script = "SELECT ';' FROM a; -- b;\nCREATE PROCEDURE p() RETURNS INT LANGUAGE SQL AS $$BEGIN DELETE FROM x.y; END$$; CALL p()"
    found = SqlReader().read(script)
    assert [f.read for f in found if f.read] == [("a",)]
    assert [f.written for f in found if f.written] == [("x.y",)]
    assert [f.defined for f in found if f.defined] == [("p",)]


def test_templates_do_not_hide_the_sql_around_them() -> None:
    found = facts(
        "{{ config(materialized='table') }} select p.x, {{ cents('p.y') }} as y from {{ ref('z') }} p join db.s.t using (k)"
        " {% if is_incremental() %} where p.d > '{{ var(\"d\") }}' {% endif %}"
    )
    assert found.parsed
    assert found.read == ("db.s.t",)
    assert {"x", "k", "d"} <= set(found.columns)


def test_what_the_grammar_refuses_is_read_by_its_words_and_counted() -> None:
    reader = SqlReader()
    found = reader.read("SELECT FROM WHERE raw.core.t; INSERT INTO a.b SELECT ( FROM c.d")
    assert [f.parsed for f in found] == [False, False]
    assert found[1].written == ("a.b",)
    assert "c.d" in found[1].read
    assert (reader.statements, reader.unparsed) == (2, 2)


def test_a_statement_beyond_the_grammars_size_is_still_read() -> None:
    found = facts(
        "SELECT * FROM a.b.c WHERE x IN (" + ", ".join(f"'{n:09}'" for n in range(MAX_PARSED // 10)) + ")"
    )
    assert not found.parsed
    assert found.read == ("a.b.c",)


@pytest.mark.parametrize(
    "text",
    ["(" * 50_000, "'" * 99_999, "/*" * 50_000, "$$" * 50_001, "a." * 50_000, "{{" * 50_000, "f(" * 40_000],
)
def test_hostile_sql_ends(text: str) -> None:
    assert all(isinstance(f, StatementFacts) for f in SqlReader().read("SELECT " + text))


_SHAPES = [
    "SELECT a.id, db.s.rate(a.note), AI_CLASSIFY(b, ['x']):labels[0]::string FROM r.c.t a JOIN x b USING (id)",
    "select datediff(day, a.s, b.e) d, dateadd('hour', 1, ts), extract(year from d2) from t a, u b where a.x is distinct from b.y",
    "select interval '3 days', date '2026-01-01', x:foo.bar::int, $1, $2:col from @st/path/x.csv (file_format => 'f') t",
    "select * from table(db.s.tf(1, 'x')) t, lateral flatten(input => t.items) f where f.value:price > 10",
    'select "Odd Name", count(*) over (partition by region order by sold) from a.b."C d" qualify row_number() over (order by z desc) = 1',
    "insert overwrite into a.b select * exclude (c) rename (d as e) from c.d at(offset => -60)",
    "delete from a.b using c.d where a.b.id = c.d.id",
    "update a.b t set x = s.y from c.d s where t.id = s.id",
    "select case when k = 'a' then v else 0 end as w, system$typeof(v) from s.o pivot(sum(amount) for month in ('JAN','FEB'))",
]


@pytest.mark.parametrize("statement", _SHAPES)
def test_a_statement_read_by_its_shape_says_the_same(statement: str) -> None:
    reader = SqlReader()
    assert reader.read(statement)[0] == statement_facts(statement)
    other = statement.replace(" a.", " other.")
    assert reader.read(other)[0] == statement_facts(other)


def test_statements_of_one_shape_keep_their_own_names() -> None:
    reader = SqlReader()
    first, second = (
        reader.read(f"SELECT {c} FROM {t} WHERE {c} > 3")[0] for c, t in (("x", "a.b"), ("y", "c.d"))
    )
    assert (first.read, first.columns) == (("a.b",), ("x",))
    assert (second.read, second.columns) == (("c.d",), ("y",))


def test_the_grammar_is_silent(caplog: pytest.LogCaptureFixture) -> None:
    with caplog.at_level(logging.DEBUG):
        SqlReader().read("CALL x(); CREATE TASK t AS SELECT 1; ALTER SESSION SET a = 1")
    assert caplog.records == []


def test_sqlglot_is_loaded_by_the_first_statement_only() -> None:
    code = (
        "import sys; from cocorecall.extract import Extractor; from cocorecall.model import Turn, ToolCall;"
        "e = Extractor(); e.extract_turn(Turn('user', 'we decided to keep `a.b` at 0.9'), 0); assert 'sqlglot' not in sys.modules;"
        "e.extract_turn(Turn('assistant', '', calls=(ToolCall('sql_execute', {'sql': 'SELECT 1'}),)), 1);"
        "assert 'sqlglot' in sys.modules"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


@given(st.text(max_size=200) | st.text(alphabet="SELECTFROM abc.,;()'\"$-/*{}%\n", max_size=200))
def test_any_text_is_read_without_an_error(text: str) -> None:
    reader = SqlReader()
    assert len(reader.read(text)) == reader.statements >= reader.unparsed


@given(st.text(alphabet="ab ;'\"$-/*\n", max_size=100))
def test_cutting_loses_nothing_but_semicolons_and_blanks(text: str) -> None:
    kept = "".join("".join(statements(text)).split())
    assert len("".join(text.split())) - text.count(";") <= len(kept) <= len("".join(text.split()))


@given(st.text(max_size=100))
def test_text_without_templates_stays(text: str) -> None:
    if "{" not in text:
        assert without_templates(text) == text

"""What a SQL statement reads, writes, creates and drops, which functions it calls, which columns it names.

Statements are parsed by sqlglot in the Snowflake dialect, imported with the first statement. What it cannot
parse, and what is longer than `MAX_PARSED`, is read by the words around the names (`sql_scan`), and counted.
"""

from __future__ import annotations

import re
from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from typing import Any

from cocorecall.extract.names import object_name
from cocorecall.extract.sql_scan import (
    PLACEHOLDER,
    QUIET,
    SCAN_WORDS,
    Names,
    bodies,
    scan,
    statements,
    without_templates,
)
from cocorecall.extract.vocabulary import SQL_FUNCTIONS, SQL_KEYWORDS, is_sql_word

MAX_PARSED = 64 << 10
"""Characters of the longest statement that goes through the grammar."""

MAX_SCANNED = 1 << 20
"""Characters of a script that are read at all."""

_MAX_STATEMENTS = 500
_MAX_DEPTH = 3
_MAX_NESTING = 200


@dataclass(frozen=True, slots=True)
class StatementFacts:
    """What one statement says, each name as spelled there, in order of appearance.

    Attributes:
        called: functions and procedures that are called; built-in ones are left out.
        defined: functions and procedures that are created.
        altered: functions and procedures that are altered.
        discarded: functions and procedures that are dropped.
        columns: columns; a column that is only an alias of the same statement is left out.
        parsed: whether the grammar understood it.
    """

    read: tuple[str, ...] = ()
    written: tuple[str, ...] = ()
    created: tuple[str, ...] = ()
    dropped: tuple[str, ...] = ()
    called: tuple[str, ...] = ()
    defined: tuple[str, ...] = ()
    altered: tuple[str, ...] = ()
    discarded: tuple[str, ...] = ()
    columns: tuple[str, ...] = ()
    parsed: bool = True

    @property
    def objects(self) -> tuple[str, ...]:
        """All objects, what the statement changes first."""
        return (*self.created, *self.written, *self.dropped, *self.read)


class SqlReader:
    """Reads scripts, remembering the statements it saw last.

    Statements that differ in names and values only are one to the grammar: they are remembered by their shape.

    Attributes:
        statements: how many statements were read.
        unparsed: how many of them the grammar did not understand.
    """

    def __init__(self, remembered: int = 4096) -> None:
        self._facts: OrderedDict[str, StatementFacts] = OrderedDict()
        self._remembered = remembered
        self.statements = 0
        self.unparsed = 0

    def read(self, script: str) -> list[StatementFacts]:
        """The facts of each statement of a script; Jinja templates are tolerated. Never raises."""
        return list(self._read(without_templates(script[:MAX_SCANNED]), 0))

    def _read(self, script: str, depth: int) -> Iterator[StatementFacts]:
        for number, statement in enumerate(statements(script)):
            if number == _MAX_STATEMENTS:
                return
            facts = self._facts_of(statement)
            self.statements += 1
            self.unparsed += not facts.parsed
            yield facts
            if depth < _MAX_DEPTH:
                for body in bodies(statement):
                    yield from self._read(body, depth + 1)

    def _facts_of(self, statement: str) -> StatementFacts:
        shape, names = shape_of(statement)
        facts = self._remembered_facts(shape)
        if facts.parsed and names:
            return _named(facts, names)
        # A word that only the grammar's context tells from a name (`EXCLUDE`) is not in the shape.
        return self._remembered_facts(statement) if names else facts

    def _remembered_facts(self, statement: str) -> StatementFacts:
        facts = self._facts.get(statement)
        if facts is None:
            facts = self._facts[statement] = statement_facts(statement)
            if len(self._facts) > self._remembered:
                self._facts.popitem(last=False)
        else:
            self._facts.move_to_end(statement)
        return facts


_SHAPED = re.compile(r"\s*\(?\s*(?:SELECT|WITH|INSERT|UPDATE|DELETE|MERGE)\b", re.IGNORECASE)
_PIECES = re.compile(
    QUIET + r'|(?P<quoted>"(?:[^"]|"")*")|(?P<word>[A-Za-z_][\w$]*)|(?P<number>(?<!\$)\d[\w.]*)', re.DOTALL
)
_ANY_STRING = "'1 day'"
"""Stands for every string: also what an interval takes."""


def shape_of(statement: str) -> tuple[str, dict[str, str]]:
    """The statement with its names replaced by numbered ones and its values by a constant; what the names were.

    Only for queries and changes of rows, whose grammar no name can influence; any other statement is returned
    as it is, without names.
    """
    if len(statement) > MAX_PARSED or not _SHAPED.match(statement):
        return statement, {}
    grammar = grammar_words()
    slots: dict[str, str] = {}
    names: dict[str, str] = {}

    def plain(match: re.Match[str]) -> str:
        kind = match.lastgroup
        if kind is None:
            return _ANY_STRING if match[0][0] in "'$" else " "
        if kind == "number":
            return "1"
        spelling = match[0]
        key = spelling if kind == "quoted" else spelling.upper()
        if key in grammar or key.startswith("SYSTEM$") or PLACEHOLDER in spelling:
            return spelling
        slot = slots.get(key)
        if slot is None:
            slot = slots[key] = f'"n{len(slots)}_"' if kind == "quoted" else f"n{len(slots)}_"
            names[slot] = spelling
        return slot

    return _PIECES.sub(plain, statement), names


@cache
def grammar_words() -> frozenset[str]:
    """Words that mean something to the grammar or the scan, wherever they stand."""
    from sqlglot.dialects.snowflake import Snowflake  # noqa: PLC0415

    keywords = {word for key in Snowflake.Tokenizer.KEYWORDS for word in key.upper().split()}
    functions = {name.upper() for name in Snowflake.Parser.FUNCTIONS}
    parsers = {name.upper() for name in Snowflake.Parser.FUNCTION_PARSERS}
    return frozenset(keywords | functions | parsers | SCAN_WORDS | SQL_KEYWORDS | SQL_FUNCTIONS | _DATE_PARTS)


_DATE_PARTS = frozenset(
    """
    YEAR YEARS Y YY YYYY QUARTER QUARTERS QTR MONTH MONTHS MON WEEK WEEKS DAY DAYS D HOUR HOURS HH MINUTE MINUTES MI
    SECOND SECONDS SEC MILLISECOND MILLISECONDS MS MICROSECOND NANOSECOND DOW DOY DAYOFWEEK DAYOFWEEKISO DAYOFYEAR
    WEEKISO WEEK_ISO YEAROFWEEK EPOCH EPOCH_SECOND EPOCH_MILLISECOND TIMEZONE_HOUR TIMEZONE_MINUTE
    """.split()
)


def _named(facts: StatementFacts, names: dict[str, str]) -> StatementFacts:
    """The facts of a shape with the statement's own names put back."""

    def back(spellings: tuple[str, ...]) -> tuple[str, ...]:
        return tuple(
            ".".join([names.get(part, part) for part in spelling.split(".")]) for spelling in spellings
        )

    return StatementFacts(
        back(facts.read), back(facts.written), back(facts.created), back(facts.dropped), back(facts.called),
        back(facts.defined), back(facts.altered), back(facts.discarded), back(facts.columns), facts.parsed,
    )  # fmt: skip


def statement_facts(statement: str) -> StatementFacts:
    """The facts of one statement. Never raises."""
    names = scan(statement)
    tree = _parsed(statement)
    read, called, columns = (names.read, names.called, {}) if tree is None else _tree_names(tree, names)
    return StatementFacts(
        read=tuple(read),
        written=tuple(names.written),
        created=tuple(names.created),
        dropped=tuple(names.dropped),
        called=tuple(called),
        defined=tuple(names.defined),
        altered=tuple(names.altered),
        discarded=tuple(names.discarded),
        columns=tuple(columns),
        parsed=tree is not None,
    )


def _parsed(statement: str) -> Any | None:
    """The syntax tree; None where the grammar refuses, or keeps the text as an unread command."""
    if len(statement) > MAX_PARSED or _too_deep(statement):
        return None
    import logging  # noqa: PLC0415 - with the grammar: nothing that only searches loads either

    import sqlglot  # noqa: PLC0415
    from sqlglot import exp  # noqa: PLC0415

    log = logging.getLogger("sqlglot")
    was_disabled, log.disabled = log.disabled, True
    try:
        tree = sqlglot.parse_one(statement, read="snowflake")
    except Exception:  # noqa: BLE001 - whatever a grammar does on hostile text costs this statement only
        return None
    finally:
        log.disabled = was_disabled
    return None if isinstance(tree, exp.Command | exp.Column) else tree


def _too_deep(statement: str) -> bool:
    """Whether brackets nest so deep that a recursive grammar would spend its stack on them."""
    if statement.count("(") + statement.count("[") + statement.count("{") < _MAX_NESTING:
        return False
    depth = 0
    for character in statement:
        if character in "([{":
            depth += 1
            if depth > _MAX_NESTING:
                return True
        elif character in ")]}" and depth:
            depth -= 1
    return False


def _tree_names(tree: Any, names: Names) -> tuple[dict[str, None], dict[str, None], dict[str, None]]:
    """What the grammar knows better than the scan: objects read, functions called, columns."""
    from sqlglot import exp  # noqa: PLC0415

    nodes = _Nodes(tree, exp)
    common = {cte.alias.upper() for cte in nodes.common}
    read = {name: None for name in names.read if name.upper() not in common}
    changed = (
        *names.created,
        *names.written,
        *names.dropped,
        *names.defined,
        *names.altered,
        *names.discarded,
    )
    known = {object_name(name) for name in (*changed, *read)}
    for table in nodes.tables:
        name = ".".join(_spelled(part) for part in table.parts if isinstance(part, exp.Identifier))
        canonical = object_name(name)
        if name and canonical not in known and name.upper() not in common and PLACEHOLDER not in name:
            known.add(canonical)
            read[name] = None
    return read, _calls(nodes.calls, exp), _columns(nodes, exp)


class _Nodes:
    """The nodes of a tree that name something, gathered in one walk: walking is what costs."""

    def __init__(self, tree: Any, exp: Any) -> None:
        self.common: list[Any] = []
        self.tables: list[Any] = []
        self.calls: list[Any] = []
        self.aliases: set[str] = set()
        self.columns: list[Any] = []
        groups = {
            exp.CTE: self.common, exp.Table: self.tables, exp.Anonymous: self.calls,
            exp.Column: self.columns, exp.ColumnDef: self.columns, exp.Schema: self.columns, exp.Join: self.columns,
        }  # fmt: skip
        for node in tree.dfs():
            group = groups.get(type(node))
            if group is not None:
                group.append(node)
            elif type(node) is exp.Alias:
                self.aliases.add(node.alias.upper())


def _spelled(identifier: Any) -> str:
    return f'"{identifier.name}"' if identifier.args.get("quoted") else str(identifier.name)


def _calls(calls: list[Any], exp: Any) -> dict[str, None]:
    """Functions that are not Snowflake's own, with the schema they are called by."""
    called: dict[str, None] = {}
    for call in calls:
        name = call.this if isinstance(call.this, str) else _spelled(call.this)
        if is_sql_word(name) or PLACEHOLDER in name:
            continue
        parent = call.parent
        qualifier = (
            _dotted(parent.this, exp) if isinstance(parent, exp.Dot) and parent.expression is call else []
        )
        called[".".join([*qualifier, name])] = None
    return called


def _dotted(node: Any, exp: Any) -> list[str]:
    if isinstance(node, exp.Dot):
        return [*_dotted(node.this, exp), *_dotted(node.expression, exp)]
    return [_spelled(node)] if isinstance(node, exp.Identifier) else []


def _columns(nodes: _Nodes, exp: Any) -> dict[str, None]:
    """Columns that exist outside the statement: not its own aliases, parameters and templates."""
    found: dict[str, None] = {}
    for node in nodes.columns:
        for name in _named_by(node, nodes.aliases, exp):
            if PLACEHOLDER not in name and not name.upper().startswith("METADATA$"):
                found[name] = None
    return found


def _named_by(node: Any, aliases: set[str], exp: Any) -> list[str]:
    if isinstance(node, exp.Schema):
        return [_spelled(part) for part in node.expressions if isinstance(part, exp.Identifier)]
    if isinstance(node, exp.Join):
        return [_spelled(part) for part in node.args.get("using") or () if isinstance(part, exp.Identifier)]
    if not isinstance(node.this, exp.Identifier):
        return []
    if isinstance(node, exp.ColumnDef):
        return [] if isinstance(node.parent, exp.UserDefinedFunction) else [_spelled(node.this)]
    hidden = node.name.upper() in aliases and not _aliased_to_itself(node, exp)
    return [] if hidden else [_spelled(node.this)]


def _aliased_to_itself(column: Any, exp: Any) -> bool:
    """`amount * 2 AS amount`: the alias repeats the name of a column that exists."""
    alias = column.find_ancestor(exp.Alias, exp.Select)
    return isinstance(alias, exp.Alias) and alias.alias.upper() == column.name.upper()

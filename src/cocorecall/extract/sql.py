"""What a SQL statement reads, writes, creates and drops, which functions it calls, which columns it names.

Statements are parsed by sqlglot in the Snowflake dialect, imported with the first statement. What it cannot
parse, and what is longer than `MAX_PARSED`, is read by the words around the names (`sql_scan`), and counted.
"""

from __future__ import annotations

from collections import OrderedDict
from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

from cocorecall.extract.names import object_name
from cocorecall.extract.sql_scan import PLACEHOLDER, Names, bodies, scan, statements, without_templates
from cocorecall.extract.vocabulary import SQL_FUNCTIONS, is_sql_word

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
            facts = self._remembered_facts(statement)
            self.statements += 1
            self.unparsed += not facts.parsed
            yield facts
            if depth < _MAX_DEPTH:
                for body in bodies(statement):
                    yield from self._read(body, depth + 1)

    def _remembered_facts(self, statement: str) -> StatementFacts:
        facts = self._facts.get(statement)
        if facts is None:
            facts = self._facts[statement] = statement_facts(statement)
            if len(self._facts) > self._remembered:
                self._facts.popitem(last=False)
        else:
            self._facts.move_to_end(statement)
        return facts


def statement_facts(statement: str) -> StatementFacts:
    """The facts of one statement. Never raises."""
    names = scan(statement)
    tree = _parsed(statement)
    if tree is None:
        return _facts(names, tuple(names.read), tuple(names.called), (), parsed=False)
    return _facts(names, _tables(tree, names), _called(tree, names), _columns(tree, names), parsed=True)


def _facts(
    names: Names, read: tuple[str, ...], called: tuple[str, ...], columns: tuple[str, ...], *, parsed: bool
) -> StatementFacts:
    return StatementFacts(
        read=read,
        written=tuple(names.written),
        created=tuple(names.created),
        dropped=tuple(names.dropped),
        called=called,
        defined=tuple(names.defined),
        altered=tuple(names.altered),
        discarded=tuple(names.discarded),
        columns=columns,
        parsed=parsed,
    )


def _parsed(statement: str) -> Any | None:
    """The syntax tree; None where the grammar refuses, or keeps the text as an unread command."""
    if len(statement) > MAX_PARSED or statement.count("(") > MAX_PARSED // 8 or _too_deep(statement):
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
    return None if tree.find(exp.Command) else tree


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


def _spelled(identifier: Any) -> str:
    return f'"{identifier.name}"' if identifier.args.get("quoted") else str(identifier.name)


def _tables(tree: Any, names: Names) -> tuple[str, ...]:
    """The objects that are read: what the scan saw, and tables that only the grammar finds."""
    from sqlglot import exp  # noqa: PLC0415

    common = {cte.alias.upper() for cte in tree.find_all(exp.CTE)}
    known = {
        object_name(name)
        for group in (names.created, names.written, names.dropped, names.defined, names.altered, names.discarded)
        for name in group
    }
    read = {
        name: None
        for name in names.read
        if object_name(name) not in common and not any(name.endswith(p) for p in _aliases(tree))
    }
    known |= {object_name(name) for name in read}
    for table in tree.find_all(exp.Table):
        parts = [_spelled(part) for part in table.parts if isinstance(part, exp.Identifier)]
        name = ".".join(parts)
        if not name or PLACEHOLDER in name or (len(parts) == 1 and parts[0].upper() in common):
            continue
        if object_name(name) not in known and not isinstance(table.this, exp.Func):
            known.add(object_name(name))
            read[name] = None
    return tuple(read)


def _aliases(_tree: Any) -> tuple[str, ...]:
    return ()


def _called(tree: Any, names: Names) -> tuple[str, ...]:
    from sqlglot import exp  # noqa: PLC0415

    called: dict[str, None] = {}
    for call in tree.find_all(exp.Anonymous):
        name = call.this if isinstance(call.this, str) else _spelled(call.this)
        if is_sql_word(name) or PLACEHOLDER in name:
            continue
        parts = [name]
        if isinstance(call.parent, exp.Dot) and call.parent.expression is call:
            parts = [_spelled(part) for part in call.parent.find_all(exp.Identifier) if part.depth <= call.depth + 1]
            parts = [*_qualifier(call.parent.this), name]
        called[".".join(parts)] = None
    called.update({name: None for name in names.called if name in names.called and tree.key == "command"})
    return tuple(called)


def _qualifier(node: Any) -> list[str]:
    from sqlglot import exp  # noqa: PLC0415

    if isinstance(node, exp.Dot):
        return [*_qualifier(node.this), *_qualifier(node.expression)]
    return [_spelled(node)] if isinstance(node, exp.Identifier) else []


def _columns(tree: Any, names: Names) -> tuple[str, ...]:
    return ()

"""SQL text without a grammar: cut it into statements, take templates out, read names by the words before them.

This reads any text, in any dialect, in linear time. `cocorecall.extract.sql` asks it for what a statement
does to which object, and, where the grammar gives up, for everything else.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from cocorecall.extract.vocabulary import SQL_KEYWORDS, WAREHOUSE_SIZES, is_sql_word

# An open end counts as closed by the end of the text, so that no text is scanned twice.
QUIET = (
    r"'(?:[^'\\]|\\.|'')*(?:'|\Z)"  # a string
    r"|\$\$.*?(?:\$\$|\Z)"  # a dollar-quoted body
    r"|--[^\n]*|//[^\n]*"
    r"|/\*.*?(?:\*/|\Z)"
)
"""What of SQL holds no names: strings, dollar-quoted bodies, comments."""

_QUIET = re.compile(QUIET, re.DOTALL)
_STOPS = re.compile(QUIET + r'|"(?:[^"]|"")*(?:"|\Z)|(?P<end>;)', re.DOTALL)
_JINJA_OPENS = re.compile(r"\{[{%#]")
_JINJA_CLOSES = {"{{": "}}", "{%": "%}", "{#": "#}"}
_SILENT_JINJA = re.compile(r"-?\s*config\s*\(")
_IDENTIFIER = r'(?:"(?:[^"]|"")*"|[A-Za-z_][\w$]*)'
_TOKENS = re.compile(rf"(?P<name>@?{_IDENTIFIER}(?:\.{_IDENTIFIER})*)|(?P<mark>[(),=;])")

_NO_NAMES = SQL_KEYWORDS | WAREHOUSE_SIZES

PLACEHOLDER = "jinja_value_"
"""What stands for a template's value, so that the SQL around it still parses."""

_MODIFIERS = frozenset(
    """
    OR REPLACE ALTER TEMP TEMPORARY TRANSIENT SECURE RECURSIVE EXTERNAL DYNAMIC MATERIALIZED LOCAL GLOBAL VOLATILE
    ICEBERG HYBRID EVENT SEMANTIC AGGREGATE FILE MASKING CORTEX SEARCH IF NOT EXISTS
    """.split()
)
_OBJECTS = frozenset(
    """
    TABLE TABLES VIEW VIEWS SCHEMA DATABASE WAREHOUSE ROLE STREAM TASK STAGE PIPE SEQUENCE FORMAT SHARE SERVICE POLICY
    """.split()
)
_ROUTINES = frozenset("FUNCTION PROCEDURE".split())
_NOT_A_CALL_AFTER = frozenset(
    "INTO TABLE VIEW FUNCTION PROCEDURE EXISTS JOIN WITH AS REFERENCES KEY UPDATE FROM RECURSIVE".split()
)
_FROM_INSIDE = frozenset("EXTRACT TRIM SUBSTRING POSITION OVERLAY".split())


@dataclass(slots=True)
class Names:
    """Names of one statement by what it does to them, each as spelled, in order, without repetition."""

    read: dict[str, None] = field(default_factory=dict)
    written: dict[str, None] = field(default_factory=dict)
    created: dict[str, None] = field(default_factory=dict)
    dropped: dict[str, None] = field(default_factory=dict)
    called: dict[str, None] = field(default_factory=dict)
    defined: dict[str, None] = field(default_factory=dict)
    altered: dict[str, None] = field(default_factory=dict)
    discarded: dict[str, None] = field(default_factory=dict)


def without_templates(text: str) -> str:
    """Replace Jinja by what lets the SQL around it parse: a value by a placeholder, the rest by blanks."""
    if "{{" not in text and "{%" not in text and "{#" not in text:
        return text
    pieces: list[str] = []
    done = values = 0
    never_closed: set[str] = set()
    for match in _JINJA_OPENS.finditer(text):
        opening = match[0]
        if match.start() < done or opening in never_closed:
            continue
        end = text.find(_JINJA_CLOSES[opening], match.end())
        if end < 0:
            never_closed.add(opening)  # then none that opens later closes either
            continue
        pieces.append(text[done : match.start()])
        done = end + 2
        if opening == "{{" and not _SILENT_JINJA.match(text, match.end()):
            values += 1
            pieces.append(f"{PLACEHOLDER}{values}")
        else:
            pieces.append(" ")
    return "".join([*pieces, text[done:]])


def statements(text: str) -> Iterator[str]:
    """The statements of a script, without their semicolons; empty ones are left out."""
    start = 0
    for match in _STOPS.finditer(text):
        if match["end"]:
            yield from _not_empty(text[start : match.start()])
            start = match.end()
    yield from _not_empty(text[start:])


def _not_empty(statement: str) -> Iterator[str]:
    stripped = statement.strip()
    if stripped:
        yield stripped


def bodies(statement: str) -> Iterator[str]:
    """The dollar-quoted bodies of a statement that creates a routine in SQL, their outer BEGIN and END cut."""
    if "$$" not in statement or re.search(
        r"\bLANGUAGE\s+(?:PYTHON|JAVASCRIPT|JAVA|SCALA)", statement, re.IGNORECASE
    ):
        return
    for match in _QUIET.finditer(statement):
        if match[0].startswith("$$"):
            yield re.sub(
                r"^\s*(?:DECLARE\b.*?)?\bBEGIN\b",
                "",
                match[0][2:].removesuffix("$$"),
                flags=re.IGNORECASE | re.DOTALL,
            )


def scan(statement: str) -> Names:
    """Read the names of one statement by the words around them. Never raises; linear in the text's length."""
    quiet = _QUIET.sub(" ", statement)
    return _Scanner([(m["name"] or m["mark"], m["name"] is not None) for m in _TOKENS.finditer(quiet)]).run()


class _Scanner:
    """One walk over the tokens of a statement; each rule looks at the words next to the one it stands on."""

    def __init__(self, tokens: list[tuple[str, bool]]) -> None:
        self.tokens = tokens
        self.words = [token.upper() for token, _ in tokens]
        self.names = Names()
        self.claimed: set[int] = set()
        self.openers: list[str] = []
        self.tables_made = {
            self.words[i]
            for i in range(len(tokens) - 2)
            if tokens[i][1] and self.words[i + 1] == "AS" and self.words[i + 2] == "("
        }
        self.first = self.words[0] if tokens else ""

    def run(self) -> Names:
        for at, word in enumerate(self.words):
            if word == "(":
                self.openers.append(self.words[at - 1] if at else "")
            elif word == ")" and self.openers:
                self.openers.pop()
            elif self.tokens[at][1]:
                self._read_word(at, word)
        return self.names

    def _read_word(self, at: int, word: str) -> None:
        rule = _RULES.get(word)
        if rule is not None:
            rule(self, at)
        elif word.startswith("@") and len(word) > 1:
            self._claim(at, self.names.read)
        elif self._word(at + 1) == "(" and at not in self.claimed:
            self._call(at)

    def _word(self, at: int) -> str:
        return self.words[at] if 0 <= at < len(self.words) else ""

    def _claim(self, at: int, into: dict[str, None]) -> None:
        """Take the token as a name, unless it is a word of SQL, a template's value or a common table."""
        if at >= len(self.tokens) or not self.tokens[at][1]:
            return
        name, word = self.tokens[at][0], self.words[at]
        if word in _NO_NAMES or word in self.tables_made or PLACEHOLDER in name:
            return
        self.claimed.add(at)
        into[name.removeprefix("@")] = None

    def _call(self, at: int) -> None:
        name = self.tokens[at][0]
        if self._word(at - 1) in _NOT_A_CALL_AFTER or self._word(at - 1) == ")" or PLACEHOLDER in name:
            return
        if not is_sql_word(name) and self.words[at] not in self.tables_made and not name.startswith('"'):
            self.names.called[name] = None

    def _object_after(self, at: int) -> tuple[str, int]:
        """Skip modifiers; the kind of object that is named next, and where its name stands."""
        while self._word(at) in _MODIFIERS:
            at += 1
        kind = self._word(at)
        at += 1
        while self._word(at) in {"IF", "NOT", "EXISTS", "IN", "ALL", "FUTURE"}:
            at += 1
        return kind, at

    def create(self, at: int) -> None:
        kind, name = self._object_after(at + 1)
        self._claim_kind(kind, name, self.names.created, self.names.defined)

    def drop(self, at: int) -> None:
        kind, name = self._object_after(at + 1)
        self._claim_kind(kind, name, self.names.dropped, self.names.discarded)

    def alter(self, at: int) -> None:
        if self._word(at - 1) == "OR":
            return
        kind, name = self._object_after(at + 1)
        self._claim_kind(kind, name, self.names.written, self.names.altered)

    def _claim_kind(self, kind: str, name: int, objects: dict[str, None], routines: dict[str, None]) -> None:
        if kind in _OBJECTS:
            self._claim(name, objects)
        elif kind in _ROUTINES:
            self._claim(name, routines)

    def rename(self, at: int) -> None:
        """`RENAME TO name`, of objects only: a column's new name follows `RENAME COLUMN`."""
        if self._word(at + 1) == "TO" and not self.names.altered:
            self._claim(at + 2, self.names.created)

    def describe(self, at: int) -> None:
        kind, name = self._object_after(at + 1)
        if kind in _OBJECTS:
            self._claim(name, self.names.read)

    def use(self, at: int) -> None:
        if at == 0:
            self._claim(2 if self._word(1) in _OBJECTS else 1, self.names.read)

    def truncate(self, at: int) -> None:
        if at == 0:
            _, name = self._object_after(at + 1) if self._word(1) == "TABLE" else ("", 1)
            self._claim(name, self.names.written)

    def into(self, at: int) -> None:
        if self._word(at - 1) in {"INSERT", "MERGE", "COPY", "OVERWRITE"}:
            self._claim(at + 1, self.names.written)

    def update(self, at: int) -> None:
        if self._word(at - 1) not in {"THEN", "FOR", "ON", "OR"}:
            self._claim(at + 1, self.names.written)

    def source(self, at: int) -> None:
        if (self.openers and self.openers[-1] in _FROM_INSIDE) or self._word(at - 1) == "DISTINCT":
            return  # EXTRACT(day FROM x), a IS DISTINCT FROM b
        if self._word(at - 1) == "DELETE":
            self._claim(at + 1, self.names.written)
        elif self._word(at + 2) != "(":
            self._claim(at + 1, self.names.read)

    def using(self, at: int) -> None:
        if self.first == "MERGE":
            self._claim(at + 1, self.names.read)

    def after(self, at: int) -> None:
        """`CLONE name`, `SWAP WITH name`."""
        self._claim(at + 1, self.names.read)

    def kind_in(self, at: int) -> None:
        """`IN SCHEMA name`, `ON TABLE name`, `TO ROLE name`."""
        kind, name = self._object_after(at + 1)
        if kind in _OBJECTS and self.first in {"GRANT", "REVOKE", "SHOW", "LIST", "LS"}:
            self._claim(name, self.names.read)

    def warehouse(self, at: int) -> None:
        if self._word(at + 1) == "=":
            self._claim(at + 2, self.names.read)

    def call(self, at: int) -> None:
        name = at + 1
        if name < len(self.tokens) and self.tokens[name][1] and not is_sql_word(self.words[name]):
            self.claimed.add(name)
            self.names.called[self.tokens[name][0]] = None

    def from_or_revoke(self, at: int) -> None:
        (self.kind_in if self.first == "REVOKE" else self.source)(at)


_RULES = {
    "CREATE": _Scanner.create,
    "DROP": _Scanner.drop,
    "UNDROP": _Scanner.create,
    "ALTER": _Scanner.alter,
    "DESCRIBE": _Scanner.describe,
    "DESC": _Scanner.describe,
    "USE": _Scanner.use,
    "TRUNCATE": _Scanner.truncate,
    "INTO": _Scanner.into,
    "UPDATE": _Scanner.update,
    "FROM": _Scanner.from_or_revoke,
    "JOIN": _Scanner.source,
    "USING": _Scanner.using,
    "RENAME": _Scanner.rename,
    "CLONE": _Scanner.after,
    "IN": _Scanner.kind_in,
    "ON": _Scanner.kind_in,
    "TO": _Scanner.kind_in,
    "WAREHOUSE": _Scanner.warehouse,
    "CALL": _Scanner.call,
}

SCAN_WORDS = _MODIFIERS | _OBJECTS | _ROUTINES | _NOT_A_CALL_AFTER | _FROM_INSIDE | frozenset(_RULES)
"""Words that the scan goes by."""

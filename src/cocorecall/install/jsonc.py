"""Reading JSON with comments so that it can be edited without rewriting it.

`scan` yields a tree of offsets into the text: every object, array and scalar with its place, its comma and
the whitespace in front of it. Accepted is JSON as settings files have it: a byte order mark, `//` and
`/* */` comments, trailing commas (the JSONC of VS Code and Cursor). Refused is what no such reader accepts.
"""

from __future__ import annotations

import json
import re
from bisect import bisect_left
from dataclasses import dataclass
from typing import Any, Literal, NamedTuple

DEEPEST = 200
"""Nesting that is still read; settings files have a handful of levels."""

_TOKEN = re.compile(
    r"""
    (?P<space>[ \t\r\n]+)
  | (?P<line>//[^\r\n]*)
  | (?P<block>/\*.*?\*/)
  | (?P<string>"[^"\\\r\n]*(?:\\.[^"\\\r\n]*)*")
  | (?P<mark>[{}\[\],:])
  | (?P<word>[-+.\w]+)
    """,
    re.VERBOSE | re.DOTALL,
)
_WORD = re.compile(r"true|false|null|-?(?:0|[1-9][0-9]*)(?:\.[0-9]+)?(?:[eE][-+]?[0-9]+)?")


class JsonTextError(ValueError):
    """The text is not JSON with comments; `offset` is where it stops being so."""

    def __init__(self, reason: str, offset: int) -> None:
        super().__init__(reason)
        self.reason = reason
        self.offset = offset


@dataclass(frozen=True, slots=True)
class Child:
    """A member of an object or an item of an array.

    Attributes:
        key: the member's name; None for an item.
        start: offset of its first character (a member's key).
        value: its value.
        lead: offset where the whitespace directly in front of it begins: the end of the bracket, comma or
            comment before it.
        below_comment: what stands before that whitespace is a `//` comment, which a line break must end.
        comma: offset of the comma behind it; None where there is none.
    """

    key: str | None
    start: int
    value: Node
    lead: int
    below_comment: bool
    comma: int | None = None

    @property
    def end(self) -> int:
        """Offset behind its last character."""
        return self.value.end


@dataclass(frozen=True, slots=True)
class Node:
    """A value and its place in the text.

    Attributes:
        comments: a comment stands directly inside this object or array.
    """

    kind: Literal["object", "array", "scalar"]
    start: int
    end: int
    children: tuple[Child, ...] = ()
    comments: bool = False

    def member(self, key: str) -> Child | None:
        """The member of that name.

        Raises:
            JsonTextError: the name stands there twice; readers differ in which one they take.
        """
        found = [c for c in self.children if c.key == key]
        if len(found) > 1:
            raise JsonTextError(f'"{key}" stands twice in one object', found[1].start)
        return found[0] if found else None


def scan(text: str) -> Node:
    """The tree of a JSON text.

    Raises:
        JsonTextError: the text is not JSON with comments, or is nested too deeply.
    """
    return _Scanner(text).document()


def value_of(text: str, node: Node) -> Any:
    """The Python value of a node of this text.

    Raises:
        JsonTextError: a string holds an escape that JSON does not have.
    """
    if node.kind == "object":
        return {c.key: value_of(text, c.value) for c in node.children}
    if node.kind == "array":
        return [value_of(text, c.value) for c in node.children]
    return _decoded(text, node.start, node.end)


def _decoded(text: str, start: int, end: int) -> Any:
    try:
        return json.loads(text[start:end], strict=False)
    except ValueError as error:
        raise JsonTextError(f"{text[start:end][:40]} is not JSON", start) from error


class _Token(NamedTuple):
    kind: str
    start: int
    end: int
    lead: int
    below_comment: bool


class _Scanner:
    """A recursive descent over the tokens, comments noted in passing."""

    def __init__(self, text: str) -> None:
        self._text = text
        self._comments: list[int] = []
        self._tokens = self._tokenize()
        self._at = 0

    def document(self) -> Node:
        node = self._value(0)
        token = self._tokens[self._at]
        if token.kind != "end":
            raise JsonTextError("there is more behind the end of the document", token.start)
        return node

    def _tokenize(self) -> list[_Token]:
        text, tokens = self._text, []
        at = lead = 1 if text.startswith("\ufeff") else 0
        below = False
        while at < len(text):
            match = _TOKEN.match(text, at)
            if match is None:
                raise JsonTextError(f"unexpected {text[at]!r}", at)
            kind, end = match.lastgroup or "", match.end()
            if kind in ("line", "block"):
                self._comments.append(at)
                lead, below = end, kind == "line"
            elif kind != "space":
                tokens.append(_Token(text[at] if kind == "mark" else kind, at, end, lead, below))
                lead, below = end, False
            at = end
        tokens.append(_Token("end", at, at, lead, below))
        return tokens

    def _take(self, kind: str | None = None) -> _Token:
        token = self._tokens[self._at]
        if token.kind == "end" and kind != "end":
            raise JsonTextError("the text ends too early", token.start)
        if kind is not None and token.kind != kind:
            raise JsonTextError(
                f"expected {kind}, found {self._text[token.start : token.end][:40]}", token.start
            )
        self._at += 1
        return token

    def _value(self, depth: int) -> Node:
        token = self._take()
        if depth > DEEPEST:
            raise JsonTextError(f"nested deeper than {DEEPEST} levels", token.start)
        if token.kind == "{":
            return self._container(token, "}", depth)
        if token.kind == "[":
            return self._container(token, "]", depth)
        if token.kind == "word" and not _WORD.fullmatch(self._text, token.start, token.end):
            raise JsonTextError(f"unexpected {self._text[token.start : token.end][:40]}", token.start)
        if token.kind not in ("string", "word"):
            raise JsonTextError(f"unexpected {token.kind}", token.start)
        return Node("scalar", token.start, token.end)

    def _container(self, opening: _Token, closing: str, depth: int) -> Node:
        children: list[Child] = []
        while self._tokens[self._at].kind != closing:
            child = self._child(closing, depth)
            children.append(child)
            if child.comma is None:
                break
        end = self._take(closing).end
        return Node(
            "object" if closing == "}" else "array",
            opening.start,
            end,
            tuple(children),
            self._commented(opening.start, end, children),
        )

    def _child(self, closing: str, depth: int) -> Child:
        first, key = self._tokens[self._at], None
        if closing == "}":
            self._take("string")
            key = _decoded(self._text, first.start, first.end)
            self._take(":")
        value = self._value(depth + 1)
        comma = self._take().start if self._tokens[self._at].kind == "," else None
        return Child(key, first.start, value, first.lead, first.below_comment, comma)

    def _commented(self, start: int, end: int, children: list[Child]) -> bool:
        """Whether a comment stands between `start` and `end` but inside no child's value."""
        inside = self._comments[bisect_left(self._comments, start) : bisect_left(self._comments, end)]
        return any(not any(c.value.start <= at < c.value.end for c in children) for at in inside)

"""What each tool takes: one class a tool, one line an argument.

The classes are the tools' input schemas, check what a client sends, and name the argument that is wrong. A
filter of `Recall.search` is a line of `Search` with the same name: nothing else needs to know of it.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Mapping
from typing import Annotated, Any, TypeVar

from pydantic import BaseModel, BeforeValidator, ConfigDict, Field, ValidationError

from cocorecall.errors import UsageError

LEAST_BUDGET, MOST_BUDGET = 200, 20_000
"""Tokens: less holds no citation with its quotation; more is refused by clients."""


def _as_list(value: Any) -> Any:
    """A single name where a list is wanted: what models send, too."""
    return [value] if isinstance(value, str) else value


Names = Annotated[list[str], BeforeValidator(_as_list), Field(max_length=50)]


def _names(description: str) -> Any:
    return Field(default_factory=list, description=description)


def _budget(default: int, least: int = LEAST_BUDGET) -> Any:
    return Field(
        default=default, ge=least, le=MOST_BUDGET, description="Most tokens of the answer; what is cut is counted."
    )  # fmt: skip


_CURSOR = Field(default=None, max_length=200, description="`next_cursor` of the answer before, to go on.")


class Arguments(BaseModel):
    """Arguments of a tool; every answer has a budget."""

    model_config = ConfigDict(extra="forbid")

    budget: int = _budget(1000)


class Paged(Arguments):
    """Arguments of a tool whose answer can be continued."""

    cursor: str | None = _CURSOR


class Search(Paged):
    """Arguments of `recall_search`."""

    query: str = Field(
        default="", max_length=2000,
        description='Words (any may match), "a phrase", prefix*, +must, -without; anything else is literal.',
    )  # fmt: skip
    all: bool = Field(default=False, description="Every matching turn, not only the best of each session.")
    session: str | None = Field(default=None, description="Only this session: its id, or a beginning of it.")
    limit: int | None = Field(default=None, ge=1, le=200, description="At most so many hits.")
    full: bool = Field(default=False, description="Whole turns instead of excerpts.")
    verify: bool = Field(default=False, description="Look whether each hit's source still holds it.")
    echo: bool = Field(default=False, description="Find also earlier answers of this tool in transcripts.")
    include_current: bool = Field(default=False, description="Find also turns of the session that is asking.")
    role: Names = _names("user, assistant, tool, system, or a speaker's name.")
    agent: Names = _names("cortex, claude, …")
    phase: Names = _names("Sessions of this CocoPlus phase: spec, plan, build, test, review, shipped.")
    tool: Names = _names("Turns that call this tool.")
    path: Names = _names("Transcripts whose path holds this, or matches it as a glob pattern.")
    function: Names = _names("Turns that call, define, change, name or prove this function.")
    entity: Names = _names("Turns that mention this: NAME or type:NAME, as recall_facets lists them.")
    metric: Names = _names("Turns that state a value of this metric.")
    outcome_type: Names = _names(
        "Turns about a contract of this type: e2e, reference, spec, differential, unit."
    )
    outcome_status: Names = _names("Turns about a contract that stands so: pass, fail, stale, absent.")
    stage: Names = _names("Pre-mortems of this stage.")
    since: str | None = Field(default=None, description="From then on: 2026-05-14, 7d, yesterday, …")
    until: str | None = Field(default=None, description="Up to the end of then.")
    here: bool = Field(
        default=False, description="Only sessions that worked in the client's folder or below it."
    )


class Show(Paged):
    """Arguments of `recall_show`."""

    id: str = Field(
        min_length=1, max_length=500,
        description="A session's id or a beginning of it, or a turn's id (SESSION:NUMBER), as search prints it.",
    )  # fmt: skip
    turn: int | None = Field(default=None, ge=0, description="Only the turn of this number.")
    around: int | None = Field(
        default=None,
        ge=0,
        le=1000,
        description="Only the matching turns, or the named one, and so many on each side.",
    )
    lines: int | None = Field(
        default=None, ge=0, le=1000, description="Only so many lines on each side of a match."
    )
    query: str | None = Field(
        default=None,
        max_length=2000,
        description="What matches; else the last query that cited this session.",
    )
    thinking: bool = Field(default=False, description="With the model's reasoning.")
    budget: int = _budget(3000)


class Timeline(Paged):
    """Arguments of `recall_timeline`."""

    name: str = Field(
        min_length=1, max_length=300,
        description="A function, table, column, file or other name; the last part of a dotted name will do.",
    )  # fmt: skip
    budget: int = _budget(1000, 300)


class Facets(Paged):
    """Arguments of `recall_facets`."""

    kind: str | None = Field(
        default=None, max_length=50,
        description="functions, entities, outcomes, metrics, decisions, strategies, stages, errors, tools, phases,"
        " agents or roles; without it, an overview.",
    )  # fmt: skip
    type: str | None = Field(
        default=None, max_length=100, description="Only values of this type: snowflake_object, …"
    )
    like: str | None = Field(default=None, max_length=200, description="Only values that hold this text.")


class Fix(Paged):
    """Arguments of `recall_fix`."""

    error: str = Field(
        min_length=1, max_length=4000, description="The error as it was printed, or its number."
    )
    budget: int = _budget(1500, 1000)


class Premortems(Paged):
    """Arguments of `recall_premortems`."""

    stage: str | None = Field(default=None, max_length=200, description="Only of this stage.")
    status: str | None = Field(
        default=None, max_length=200, description="Only those whose prevention status holds this."
    )
    budget: int = _budget(1000, 500)


class Status(Arguments):
    """Arguments of `recall_status`."""


class Import(Arguments):
    """Arguments of `recall_import`."""

    since: str | None = Field(
        default=None, description="Only sessions that started after then: 2026-05-14, 7d, yesterday, …"
    )


# --- checking ------------------------------------------------------------------------------------------

A = TypeVar("A", bound=Arguments)


def checked(tool: str, kind: type[A], given: Mapping[str, Any] | None) -> A:
    """The arguments that a client sent; null means that one is not given.

    Raises:
        UsageError: an argument is wrong, missing or unknown; the message names it.
    """
    try:
        return kind.model_validate({k: v for k, v in (given or {}).items() if v is not None})
    except ValidationError as error:
        known = ", ".join(kind.model_fields)
        problems = [_problem(e["type"], e["loc"], e["msg"]) for e in error.errors(include_url=False)]
        raise UsageError("; ".join(problems) + ".", f"{tool} takes: {known}.") from error


def _problem(kind: str, place: tuple[int | str, ...], message: str) -> str:
    name = str(place[0])[:60] if place else "arguments"
    if kind == "missing":
        return f"Argument `{name}` is missing"
    if kind == "extra_forbidden":
        return f"There is no argument `{name}`"
    return f"Argument `{name}`: {message[:1].lower()}{message[1:]}"


def input_schema(kind: type[Arguments]) -> dict[str, Any]:
    """The JSON Schema of a tool's arguments, without what tells a client nothing."""
    schema = kind.model_json_schema()
    properties = {name: _tidied(value) for name, value in schema["properties"].items()}
    required = {"required": schema["required"]} if "required" in schema else {}
    return {"type": "object", "properties": properties, **required, "additionalProperties": False}


def _tidied(schema: dict[str, Any]) -> dict[str, Any]:
    """An argument's schema; one that may be left out needs no null."""
    out = {k: v for k, v in schema.items() if k not in ("title", "anyOf")}
    for choice in schema.get("anyOf", ()):
        if choice.get("type") != "null":
            out = {**choice, **out}
    if out.get("default", ...) is None:
        del out["default"]
    return out


# --- cursors -------------------------------------------------------------------------------------------


def _fingerprint(tool: str, arguments: Paged) -> str:
    asked = arguments.model_dump(exclude={"cursor", "budget"}, exclude_defaults=True)
    return hashlib.sha256(json.dumps([tool, asked], sort_keys=True).encode()).hexdigest()[:8]


def new_cursor(tool: str, arguments: Paged, position: str) -> str:
    """A cursor that goes on at a position of this tool's answer to these arguments."""
    return f"{position}-{_fingerprint(tool, arguments)}"


def cursor_position(tool: str, arguments: Paged) -> list[int]:
    """The numbers of the cursor's position; empty at the beginning.

    Raises:
        UsageError: the cursor is another question's, or none of ours.
    """
    if arguments.cursor is None:
        return []
    position, _, fingerprint = arguments.cursor.partition("-")
    numbers = position.split(".")
    if not all(n.isascii() and n.isdigit() and len(n) <= 12 for n in numbers):  # noqa: PLR2004 - far beyond any
        raise UsageError("Argument `cursor` is no cursor of this tool.", _FROM_ANSWER)
    if fingerprint != _fingerprint(tool, arguments):
        raise UsageError("Argument `cursor` belongs to other arguments.", _FROM_ANSWER)
    return [int(n) for n in numbers]


_FROM_ANSWER = "Take `next_cursor` of the answer before, and repeat its arguments."

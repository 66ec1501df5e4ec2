"""What facets, timeline, fix and premortems return: facts of turns, each with its citation."""

from __future__ import annotations

from dataclasses import dataclass

from cocorecall.model.results import Span


@dataclass(frozen=True, slots=True)
class CitedTurn:
    """A part of a turn, verbatim, with its citation.

    Attributes:
        text: `spans` of the field's text joined by gap marks.
        field: which text that is: `text`, or `calls` for the inputs of the turn's tool calls.
        spans: half-open character offsets into that text.
        text_length: characters of the whole text of that field.
        secrets: credentials masked in `text`.
        timestamp: ISO 8601 UTC.
        suggested_follow_up: never empty.
    """

    session_id: str
    turn_id: str
    source_exists: bool
    suggested_follow_up: str
    seq: int
    speaker_role: str
    timestamp: str
    agent: str
    title: str | None
    source_path: str
    source_line: int | None
    in_source: bool
    text_hash: str
    field: str
    text: str
    spans: tuple[Span, ...]
    text_length: int
    secrets: int = 0


@dataclass(frozen=True, slots=True)
class FacetKind:
    """A kind of facet, for the overview.

    Attributes:
        kind: the word that `recall facets` takes: `functions`, `entities`, `outcomes`, …
        values: how many different values the index holds.
        turns: how many turns carry one.
    """

    kind: str
    values: int
    turns: int


@dataclass(frozen=True, slots=True)
class FacetValue:
    """One value to filter by.

    Attributes:
        value: the name, metric, decision, …
        type: the entity's type, the outcome's type, the role that decided; None where there is none.
        filter: the option of `recall search` that selects its turns; None where none does.
        turns: turns that carry it.
        sessions: sessions they lie in.
        newest: the newest turn that carries it.
    """

    value: str
    type: str | None
    filter: str | None
    turns: int
    sessions: int
    newest: CitedTurn


@dataclass(frozen=True, slots=True)
class FacetReport:
    """What there is to filter by.

    Attributes:
        kind: the kind asked for; None for the overview.
        type: the type asked for.
        total: values that there are, before any cut.
        kinds: the overview; empty where one kind was asked for.
        values: most used first.
    """

    kind: str | None
    type: str | None
    total: int
    kinds: tuple[FacetKind, ...]
    values: tuple[FacetValue, ...]


@dataclass(frozen=True, slots=True)
class TimelineEvent:
    """One thing that happened to a function or object.

    Attributes:
        kind: `touched`, `evaluated`, `decided`, `contracted`, `feared`, `failed`, or, where nothing else is
            known of the name, `mentioned`.
        what: the particulars: `created`, `accuracy = 0.91`, `e2e pass`, the stage that was feared for, …
        turn: the turn that says so.
    """

    kind: str
    what: str
    turn: CitedTurn


@dataclass(frozen=True, slots=True)
class Timeline:
    """Everything indexed about one name, oldest first.

    Attributes:
        name: as asked.
        names: the (type, canonical name) pairs it means; empty where the index does not know it.
        near: names like it, where it is not known.
        total: events that there are, before any cut.
        events: the newest of them that the budget holds, in time order.
        budget: most tokens of the plain form; None: no limit.
        tokens: estimated tokens of the plain form.
    """

    name: str
    names: tuple[tuple[str, str], ...]
    near: tuple[str, ...]
    total: int
    budget: int | None
    tokens: int
    events: tuple[TimelineEvent, ...]


@dataclass(frozen=True, slots=True)
class Repair:
    """Where an error came before, and what ended it.

    Attributes:
        failing: the call that failed; None where the transcript shows none.
        error: the turn that reports the error.
        succeeded: the call that then worked; None where the session never solved it.
        outcome: the result of that call.
        attempts: calls between the failing and the succeeding one that failed again.
        changes: the edits between them, the last ones, in order.
    """

    failing: CitedTurn | None
    error: CitedTurn
    succeeded: CitedTurn | None
    outcome: CitedTurn | None
    attempts: int
    changes: tuple[CitedTurn, ...] = ()


@dataclass(frozen=True, slots=True)
class FixReport:
    """The answer to `recall fix`.

    Attributes:
        error: as asked.
        normalized: the form in which the same error is found again.
        total: occurrences in the index, before any cut.
        solved: of these, how many were followed by a call that worked.
        repairs: solved ones first, newest first.
        notes: what the reader should know, one sentence each.
    """

    error: str
    normalized: str
    total: int
    solved: int
    budget: int | None
    tokens: int
    repairs: tuple[Repair, ...]
    notes: tuple[str, ...] = ()


@dataclass(frozen=True, slots=True)
class PreMortemView:
    """One pre-mortem, cited.

    Attributes:
        failure_scenario: what was feared, verbatim; None where its section does not say.
        prevention_status: as written.
        operator_acknowledgment: as written.
        turn: the section as a turn of agent `cocoplus`; `in_source` tells whether PROGRESS.md still holds it.
    """

    stage_id: str
    timestamp: str | None
    failure_scenario: str | None
    prevention_status: str | None
    operator_acknowledgment: str | None
    turn: CitedTurn


@dataclass(frozen=True, slots=True)
class PreMortemReport:
    """The answer to `recall premortems`.

    Attributes:
        total: pre-mortems that the index holds, before filters.
        premortems: newest first.
        near: stages or statuses like the one asked for, where none is equal to it.
    """

    stage: str | None
    status: str | None
    total: int
    premortems: tuple[PreMortemView, ...]
    near: tuple[str, ...] = ()

"""Answers that are not searches: what there is to filter by, what happened to a name, what was feared."""

from __future__ import annotations

import shlex
from collections.abc import Sequence
from dataclasses import replace

from cocorecall.errors import UsageError
from cocorecall.index.facets import KINDS, Counted, Event
from cocorecall.index.reader import IndexReader
from cocorecall.model import (
    FacetKind,
    FacetReport,
    FacetValue,
    PreMortemReport,
    PreMortemView,
    Timeline,
    TimelineEvent,
)
from cocorecall.search.cite import Citer
from cocorecall.search.render_evidence import render_event, render_timeline
from cocorecall.search.tokens import estimate_tokens

VALUE_ROOM = 40
"""Tokens of the excerpt of a facet's newest turn."""
EVENT_ROOM = 55
"""Tokens of the excerpt of an event."""
_NAMED = ("functions", "entities")
_LONGEST_NAME = 300


def report_facets(
    reader: IndexReader, kind: str | None, *, of_type: str | None, like: str | None, limit: int | None
) -> FacetReport:
    """What there is to filter by; see `Recall.facets`.

    Raises:
        UsageError: there is no such kind, or no such type.
    """
    facets = reader.facets
    if kind is None:
        kinds = tuple(FacetKind(*size) for size in facets.sizes())
        return FacetReport(None, None, sum(k.values for k in kinds), kinds, ())
    kind = _kind(kind)
    if of_type and of_type.lower() not in {t.lower() for t in facets.types(kind)}:
        known = ", ".join(facets.types(kind)) or "none"
        raise UsageError(f"No {kind} have the type {of_type!r}.", f"Types: {known}.")
    total, counted = facets.values(kind, of_type=of_type, like=like, limit=limit)
    citer = Citer(reader)
    values = tuple(_value(kind, c, citer) for c in counted if c.doc is not None)
    return FacetReport(kind, of_type, total, (), values)


def _kind(wanted: str) -> str:
    for kind in KINDS:
        if wanted.lower() in (kind, kind.removesuffix("s"), kind.removesuffix("ies") + "y"):
            return kind
    raise UsageError(f"There is no facet {wanted!r}.", f"Facets: {', '.join(KINDS)}.")


def _value(kind: str, counted: Counted, citer: Citer) -> FacetValue:
    focus = [counted.value, counted.value.rpartition(".")[2]]
    newest = citer.cite(counted.doc or 0, focus=focus, room=VALUE_ROOM)
    value = citer.plain(counted.value) or ""
    option = _filter(kind, counted) if value == counted.value else None
    return FacetValue(value, citer.plain(counted.type), option, counted.turns, counted.sessions, newest)


def _filter(kind: str, counted: Counted) -> str | None:
    """The options of a search that select a value's turns, as a shell takes them."""
    option = KINDS[kind].filter
    value = counted.value
    if option is None:
        return None
    if kind == "entities":
        return f"{option} {shlex.quote(f'{counted.type}:{value}')}"
    if kind == "outcomes":
        words = (counted.type or "").split()
        parts = [f"--function {shlex.quote(value)}"]
        parts += [f"--outcome-type {shlex.quote(' '.join(words[:-1]))}"] if words[:-1] else []
        return " ".join([*parts, f"--outcome-status {shlex.quote(words[-1])}"])
    return f"{option} {shlex.quote(value)}"


# --- timeline ------------------------------------------------------------------------------------------


def compose_timeline(reader: IndexReader, name: str, *, budget: int | None, limit: int | None) -> Timeline:
    """Everything indexed about one name; see `Recall.timeline`.

    Raises:
        UsageError: the name is empty.
    """
    name = name.strip().strip("`")
    if not name or len(name) > _LONGEST_NAME:
        raise UsageError(
            "Say whose timeline: recall timeline NAME.", "NAME is a function, table, column, file, …"
        )
    facets = reader.facets
    found = list(dict.fromkeys(n for kind in _NAMED for n in facets.resolve(kind, name)))
    if not found:
        near = tuple(dict.fromkeys(n for kind in _NAMED for n in facets.near(kind, name)))[:3]
        return _priced(Timeline(name, (), near, 0, budget, 0, ()))
    names = tuple((kind, n) for n in found for kind in facets.entity_types(n) or ["function"])
    words = sorted({n.rpartition(".")[2].strip('"').lower() for n in found} | {name.lower()})
    events = _merged(facets.events(found, words))
    citer = Citer(reader, [name, *found])
    draft = Timeline(name, names, (), len(events), budget, 0, ())
    newest = events if limit is None else events[-limit:]
    return _within(draft, newest, citer, [name, *found, *words])


def _merged(events: list[Event]) -> list[Event]:
    """Several values that one turn states are one event."""
    out: list[Event] = []
    for event in events:
        last = out[-1] if out else None
        if last and (last.kind, last.doc) == (event.kind, event.doc) == ("evaluated", event.doc):
            out[-1] = last._replace(what=f"{last.what}, {event.what}", focus=f"{last.focus}\n{event.focus}")
        else:
            out.append(event)
    return out


def _within(draft: Timeline, events: list[Event], citer: Citer, focus: Sequence[str]) -> Timeline:
    """The newest events that the budget holds, in time order."""
    kept: list[TimelineEvent] = []
    room = None if draft.budget is None else draft.budget - estimate_tokens(render_timeline(draft)) - 30
    for event in reversed(events):
        turn = citer.cite(event.doc, focus=[*_passages(event), *focus], room=EVENT_ROOM)
        composed = TimelineEvent(event.kind, citer.plain(event.what) or "", turn)
        if room is not None:
            room -= estimate_tokens(render_event(composed)) + 2
            if room < 0 and kept:
                break
        kept.append(composed)
    return _priced(replace(draft, events=tuple(reversed(kept))))


def _passages(event: Event) -> list[str]:
    return event.focus.split("\n") if event.kind == "evaluated" else [event.focus] if event.focus else []


def _priced(timeline: Timeline) -> Timeline:
    return replace(timeline, tokens=estimate_tokens(render_timeline(timeline)))


# --- pre-mortems ---------------------------------------------------------------------------------------


def report_premortems(reader: IndexReader, stage: str | None, status: str | None) -> PreMortemReport:
    """What was feared before stages ran; see `Recall.premortems`."""
    facets = reader.facets
    everything = facets.premortems(None)
    stages = facets.resolve("stages", stage) if stage else None
    rows = everything if stages is None else facets.premortems(stages)
    if status:
        rows = [r for r in rows if status.lower() in (r.prevention_status or "").lower()]
    near: tuple[str, ...] = ()
    if stage and not stages:
        near = facets.near("stages", stage)
    elif status and not rows:
        near = tuple(dict.fromkeys(r.prevention_status for r in everything if r.prevention_status))[:5]
    citer = Citer(reader, [*filter(None, [stage])])
    views = [
        PreMortemView(
            r.stage_id,
            r.timestamp,
            citer.plain(r.failure_scenario),
            citer.plain(r.prevention_status),
            citer.plain(r.operator_acknowledgment),
            citer.cite(r.doc, focus=[*filter(None, [r.failure_scenario])], field="text"),
        )
        for r in rows
    ]
    return PreMortemReport(stage, status, len(everything), tuple(views), near)

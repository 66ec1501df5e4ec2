"""Answers that are lists: events of a name, values to filter by, repairs of an error, pre-mortems.

Each is filled entry by entry until the budget is reached; the cursor says how many entries were shown.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable
from dataclasses import dataclass, replace
from typing import Any

from cocorecall.documents import document
from cocorecall.errors import UsageError
from cocorecall.mcp.answers import (
    FLAG,
    MOST_DOCUMENT,
    Answer,
    document_tokens,
    one_line_each,
    quoting_document,
    warned,
)
from cocorecall.mcp.quoting import Part, Quote, fenced, reads_like_an_instruction
from cocorecall.model import (
    CitedTurn,
    FacetKind,
    FacetReport,
    FacetValue,
    FixReport,
    PreMortemReport,
    PreMortemView,
    Repair,
    Timeline,
    TimelineEvent,
)
from cocorecall.recall import Recall
from cocorecall.wording import counted, day_and_minute, one_line, shortened

_DOCUMENT_TOKENS = 400
_LONGEST_FIELD = 400
"""Characters of a free field, such as what was feared: the turn behind it has the rest."""
_LONGEST_NAME = 120


@dataclass(slots=True)
class Entry:
    """One entry of a list.

    Attributes:
        item: as the document has it.
        parts: as the text has it.
        flagged: turns quoted here that read like an instruction.
    """

    item: Any
    parts: list[Part]
    flagged: list[str]


@dataclass(frozen=True, slots=True)
class List:
    """What a list is cut from.

    Attributes:
        schema: its name.
        report: the whole report.
        key: the report's field that holds the entries.
        total: entries that there are, without those that the report left out.
        skipped: how many of them earlier pages showed.
        newest_last: the entries are chosen from the first on, and printed the other way round.
    """

    schema: str
    report: Any
    key: str
    total: int
    skipped: int
    newest_last: bool = False

    def printed(self, kept: list[Entry]) -> list[Entry]:
        """Entries in the order in which they are printed."""
        return kept[::-1] if self.newest_last else kept


def listed(
    found: List, head: list[Part], entries: Iterable[Entry], *, budget: int, cursor: Callable[[int], str]
) -> Answer:
    """As many entries as the budget holds.

    Args:
        found: the list.
        head: what stands before the entries.
        entries: in the order in which they are chosen, from the first that was not shown yet.
        budget: most tokens of the text.
        cursor: gives the cursor that leaves out so many entries.

    Raises:
        UsageError: the budget holds no entry.
    """
    document_room = max(MOST_DOCUMENT, budget) - _DOCUMENT_TOKENS
    kept: list[Entry] = []
    text = _text(found, head, kept, cursor)
    for entry in entries:
        document_room -= document_tokens(document(entry.item))
        longer = _text(found, head, [*kept, entry], cursor)
        if Recall.estimate_tokens(longer) > budget or document_room < 0:
            break
        kept.append(entry)
        text = longer
    else:
        entry = None
    if not kept and entry is not None:
        needed = Recall.estimate_tokens(longer) + 10
        raise UsageError("Not even one entry fits within `budget`.", f"It takes {needed} tokens.")
    content = document(replace(found.report, **{found.key: tuple(e.item for e in found.printed(kept))}))
    content |= {"budget": budget, "tokens": Recall.estimate_tokens(text)}
    return Answer(
        quoting_document(
            found.schema, content, flagged=_flagged(kept), next_cursor=_next(found, kept, cursor)
        ),
        text,
    )


def _text(found: List, head: list[Part], kept: list[Entry], cursor: Callable[[int], str]) -> str:
    parts: list[Part] = [warned(_flagged(kept)), *head]
    parts += [part for entry in found.printed(kept) for part in entry.parts]
    following = _next(found, kept, cursor)
    if following:
        parts.append(f"\n\n{found.total - found.skipped - len(kept):,} more: cursor {following}")
    return fenced(parts)


def _next(found: List, kept: list[Entry], cursor: Callable[[int], str]) -> str | None:
    following = found.skipped + len(kept)
    return cursor(following) if kept and following < found.total else None


def _flagged(kept: list[Entry]) -> list[str]:
    return list(dict.fromkeys(turn for entry in kept for turn in entry.flagged))


def _cited(lead: str, turn: CitedTurn) -> tuple[list[Part], list[str]]:
    """A citation line behind a lead, the excerpt quoted; and the turn's id where the excerpt is to be flagged."""
    flagged = _if_flagged(turn.text, turn)
    line = f"{lead}{one_line(Recall.citation_line(turn))}{FLAG if flagged else ''}\n"
    return [line, Quote(turn.text)], flagged


def _if_flagged(text: str, turn: CitedTurn) -> list[str]:
    return [turn.turn_id] if reads_like_an_instruction(text) else []


def _name(text: str) -> Quote:
    return Quote(shortened(one_line(text), _LONGEST_NAME), inline=True)


# --- timeline ------------------------------------------------------------------------------------------


def timeline_answer(timeline: Timeline, skipped: int, *, budget: int, cursor: Callable[[int], str]) -> Answer:
    """The newest events that were not shown yet, in time order."""
    newest_first = list(reversed(timeline.events))[skipped:]
    timeline = replace(timeline, names=timeline.names[:20])
    found = List("timeline", timeline, "events", timeline.total, skipped, newest_last=True)
    head: list[Part] = []
    if not timeline.names:
        head = [f"Nothing is indexed about {one_line(timeline.name)}."]
        head += [" Near: ", _name(", ".join(timeline.near))] if timeline.near else []
    else:
        names = ", ".join(f"{name} ({kind})" for kind, name in timeline.names[:6])
        head = [_name(names), f": {counted(timeline.total, 'event')}, oldest first."]
    return listed(found, head, map(_event, newest_first), budget=budget, cursor=cursor)


def _event(event: TimelineEvent) -> Entry:
    event = replace(event, what=shortened(event.what, _LONGEST_NAME))
    what: list[Part] = [_name(event.what)] if event.what.strip() else []
    cited, flagged = _cited("\n", event.turn)
    lead = f"\n\n{day_and_minute(event.turn.timestamp)} {event.kind} "
    return Entry(event, [lead, *what, *cited], flagged or _if_flagged(event.what, event.turn))


# --- facets --------------------------------------------------------------------------------------------


def facets_answer(report: FacetReport, skipped: int, *, budget: int, cursor: Callable[[int], str]) -> Answer:
    """The overview; or the values of one kind, most used first."""
    if report.kind is None:
        found = List("facets", report, "kinds", len(report.kinds), skipped)
        head: list[Part] = ["Kinds of facets; recall_facets with `kind` lists the values of one.\n"]
        return listed(found, head, map(_kind, report.kinds[skipped:]), budget=budget, cursor=cursor)
    found = List("facets", report, "values", report.total, skipped)
    of_type = f" of type {one_line(report.type)}" if report.type else ""
    if not report.total:
        head = [f"No {report.kind}{of_type} are indexed."]
    else:
        head = [
            f"{report.total:,} {report.kind}{of_type}, most used first. `filter` selects its turns in a search.\n"
        ]
    return listed(found, head, map(_value, report.values[skipped:]), budget=budget, cursor=cursor)


def _kind(kind: FacetKind) -> Entry:
    line = f"\n{kind.kind}: {counted(kind.values, 'value')} in {counted(kind.turns, 'turn')}"
    return Entry(kind, [line], [])


def _value(value: FacetValue) -> Entry:
    """A value with its counts; of its newest turn only the citation, so that a list is short."""
    newest = replace(value.newest, text="", spans=())
    value = replace(value, value=shortened(value.value, _LONGEST_FIELD), newest=newest)
    kind = f" ({one_line(value.type)})" if value.type else ""
    gone = "" if newest.source_exists else ", SOURCE GONE"
    line = (
        f": {counted(value.turns, 'turn')} in {counted(value.sessions, 'session')},"
        f" newest {newest.timestamp[:10]} [{one_line(newest.turn_id)}]{gone}"
    )
    flagged = _if_flagged(value.value, newest)
    line += FLAG if flagged else ""
    return Entry(value, ["\n", _name(value.value + kind), line], flagged)


# --- repairs of an error -------------------------------------------------------------------------------


def fix_answer(report: FixReport, skipped: int, *, budget: int, cursor: Callable[[int], str]) -> Answer:
    """Where the error came before, and what ended it; solved ones first."""
    found = List("fix", report, "repairs", report.total, skipped)
    notes = one_line_each("\n".join(report.notes))
    if not report.total:
        head: list[Part] = ["No error like this is indexed: ", _name(report.normalized), "\n" + notes]
    else:
        head = [
            f"{counted(report.total, 'occurrence')}, {report.solved:,} followed by a call that worked.\n{notes}"
        ]
    return listed(found, head, map(_repair, report.repairs[skipped:]), budget=budget, cursor=cursor)


def _repair(repair: Repair) -> Entry:
    parts: list[Part] = [f"\n\n{repair.error.timestamp[:10]} "]
    parts.append("solved" if repair.succeeded else "never solved in this session")
    flagged: list[str] = []
    again = f" after {counted(repair.attempts, 'more failure')}" if repair.attempts else ""
    for label, turn in (
        ("failed: ", repair.failing),
        ("error: ", repair.error),
        *(("changed: ", change) for change in repair.changes),
        (f"worked{again}: ", repair.succeeded),
        ("result: ", repair.outcome),
    ):
        if turn is not None:
            cited, marked = _cited("\n" + label, turn)
            parts += cited
            flagged += marked
    return Entry(repair, parts, flagged)


# --- pre-mortems ---------------------------------------------------------------------------------------


def premortems_answer(
    report: PreMortemReport, skipped: int, *, budget: int, cursor: Callable[[int], str]
) -> Answer:
    """What was feared before stages ran, newest first."""
    meant = len(report.premortems)
    found = List("premortems", report, "premortems", meant, skipped)
    head: list[Part] = [f"{meant:,} of {counted(report.total, 'pre-mortem')}."]
    if not meant and report.near:
        head += [" Known: ", _name(", ".join(report.near))]
    entries = map(_premortem, report.premortems[skipped:])
    return listed(found, head, entries, budget=budget, cursor=cursor)


def _premortem(fear: PreMortemView) -> Entry:
    """A pre-mortem by its fields, which are verbatim; its turn is only cited."""
    fear = replace(
        fear,
        stage_id=shortened(fear.stage_id, _LONGEST_NAME),
        failure_scenario=_field(fear.failure_scenario),
        prevention_status=_field(fear.prevention_status),
        operator_acknowledgment=_field(fear.operator_acknowledgment),
        turn=replace(fear.turn, text="", spans=()),
    )
    lines = [f"Stage: {fear.stage_id}"] + [
        f"{label}: {value or '(not said)'}"
        for label, value in (
            ("Feared", fear.failure_scenario),
            ("Prevention", fear.prevention_status),
            ("Operator", fear.operator_acknowledgment),
        )
    ]
    body = "\n".join(lines)
    flagged = _if_flagged(body, fear.turn)
    when = day_and_minute(fear.timestamp) + " " if fear.timestamp else ""
    line = f"\n\n{one_line(when)} {one_line(Recall.citation_line(fear.turn))}{FLAG if flagged else ''}\n"
    return Entry(fear, [line, Quote(body)], flagged)


def _field(text: str | None) -> str | None:
    return None if text is None else shortened(text, _LONGEST_FIELD)

"""The plain forms of facets, timeline, fix and premortems: what a pipe gets, and what budgets count."""

from __future__ import annotations

from cocorecall.model import (
    CitedTurn,
    FacetReport,
    FixReport,
    PreMortemReport,
    Repair,
    Timeline,
    TimelineEvent,
)
from cocorecall.terminal import visible

_INDENT = "    "


def render_timeline(timeline: Timeline) -> str:
    """Events in time order, a citation line and an excerpt each."""
    if not timeline.names:
        near = f" Near: {', '.join(timeline.near)}." if timeline.near else ""
        return visible(f"Nothing is indexed about `{timeline.name}`.{near}") + "\n"
    names = ", ".join(f"{name} ({kind})" for kind, name in timeline.names[:6])
    more = f" and {len(timeline.names) - 6} more" if len(timeline.names) > 6 else ""  # noqa: PLR2004 - as above
    lines = [f"{names}{more}: {_count(timeline.total, 'event')}."]
    left_out = timeline.total - len(timeline.events)
    if left_out and timeline.events:
        lines.append(f"[… {_count(left_out, 'earlier event')} …] --budget 4000 shows more.")
    lines += [render_event(event) for event in timeline.events]
    return visible("\n\n".join(lines)) + "\n"


def render_event(event: TimelineEvent) -> str:
    """One event: when, what, where it is said, and the words."""
    what = f"{event.kind} {event.what}".rstrip()
    return f"{event.turn.timestamp[:16].replace('T', ' ')} {what}\n{cited(event.turn)}"


def cited(turn: CitedTurn) -> str:
    """A citation line and the excerpt under it."""
    return f"{citation(turn)}\n{turn.text}"


def citation(turn: CitedTurn) -> str:
    """Turn id, who, whether the source is there, and the follow-up's name."""
    marks = ["source ok" if turn.source_exists else "SOURCE GONE"]
    if not turn.in_source:
        marks.append("no longer in source")
    if turn.field == "calls":
        marks.append("calls")
    name = turn.suggested_follow_up.removeprefix("search for `").split("`")[0]
    return f"[{turn.turn_id}] {turn.speaker_role}, {', '.join(marks)}, next: {name}"


def render_facets(report: FacetReport) -> str:
    """Kinds with their sizes; or the values of one kind, most used first."""
    if report.kind is None:
        width = max((len(k.kind) for k in report.kinds), default=0)
        lines = [
            f"{k.kind:<{width}}  {_count(k.values, 'value')} in {_count(k.turns, 'turn')}"
            for k in report.kinds
        ]
        return visible("\n".join([*lines, "", "Values of one: recall facets functions"])) + "\n"
    if not report.values:
        return f"No {report.kind} are indexed.\n"
    of_type = f" of type {report.type}" if report.type else ""
    lines = [f"{report.total:,} {report.kind}{of_type}" + _shown(len(report.values), report.total)]
    for value in report.values:
        kind = f" ({value.type})" if value.type and not report.type else ""
        lines.append(
            f"{' '.join(value.value.split())}{kind}: {_count(value.turns, 'turn')} in {_count(value.sessions, 'session')},"
            f" newest {value.newest.timestamp[:10]} [{value.newest.turn_id}]"
            + ("" if value.newest.source_exists else " SOURCE GONE")
        )
    option = next((v.filter for v in report.values if v.filter), None)
    if option:
        lines.append(f"To see the turns: recall search {option}")
    return visible("\n".join(lines)) + "\n"


def _shown(shown: int, total: int) -> str:
    return f", {shown} of them:" if shown < total else ":"


def render_premortems(report: PreMortemReport) -> str:
    """Each pre-mortem with what was feared, how it stands, and where that is written."""
    if not report.premortems:
        asked = " like that" if report.stage or report.status else ""
        near = f" Known: {', '.join(report.near)}." if report.near else ""
        return visible(f"No pre-mortem{asked} is indexed ({report.total:,} in all).{near}") + "\n"
    blocks = [f"{len(report.premortems):,} of {_count(report.total, 'pre-mortem')}."]
    for fear in report.premortems:
        when = f", {fear.timestamp[:16].replace('T', ' ')}" if fear.timestamp else ""
        lines = [f"Stage {fear.stage_id}{when}  {citation(fear.turn)}"]
        for label, value in (
            ("Feared", fear.failure_scenario),
            ("Prevention", fear.prevention_status),
            ("Operator", fear.operator_acknowledgment),
        ):
            lines.append(f"{_INDENT}{label}: {value or '(not said)'}")
        blocks.append("\n".join(lines))
    return visible("\n\n".join(blocks)) + "\n"


def render_fix(report: FixReport) -> str:
    """Where the error came before, and what ended it."""
    if not report.total:
        lines = [f"No error like this is indexed: {report.normalized}", *report.notes]
        return visible("\n".join(lines)) + "\n"
    head = f"{_count(report.total, 'occurrence')}, {report.solved:,} followed by a call that worked."
    if len(report.repairs) < report.total:
        head += f" Shown: {len(report.repairs):,}."
    blocks = ["\n".join([head, *report.notes])]
    blocks += [render_repair(n, repair) for n, repair in enumerate(report.repairs, 1)]
    return visible("\n\n".join(blocks)) + "\n"


def render_repair(number: int, repair: Repair) -> str:
    """One occurrence: what failed, the error, what was changed, what then worked."""
    when = repair.error.timestamp[:10]
    lines = [f"({number}) {when} " + ("solved" if repair.succeeded else "never solved in this session")]
    if repair.failing:
        lines.append(f"failed: {cited(repair.failing)}")
    lines.append(f"error: {cited(repair.error)}")
    lines += [f"changed: {cited(change)}" for change in repair.changes]
    if repair.succeeded:
        again = f" after {_count(repair.attempts, 'more failure')}" if repair.attempts else ""
        lines.append(f"worked{again}: {cited(repair.succeeded)}")
    if repair.outcome:
        lines.append(f"result: {cited(repair.outcome)}")
    return "\n".join(lines)


def _count(n: int, noun: str) -> str:
    return f"{n:,} {noun}" if n == 1 else f"{n:,} {noun}s"

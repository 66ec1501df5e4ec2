"""A session as `show` presents it: turns in order, matches marked, lines and turns round them chosen."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import replace

from cocorecall.errors import UsageError
from cocorecall.index.reader import IndexReader
from cocorecall.index.sessions import SessionStore, StoredTurn
from cocorecall.model import CallView, SessionView, Span, TurnView
from cocorecall.search.masking import MaskedText
from cocorecall.search.matches import find_matches
from cocorecall.search.query import Unit, parse_query
from cocorecall.secrets import mask


def compose_view(
    store: SessionStore,
    reader: IndexReader,
    session_id: str,
    *,
    turn: int | None,
    query: str | None,
    around: int | None,
    before: int | None,
    after: int | None,
    thinking: bool,
    reveal: bool = False,
) -> SessionView:
    """The view of a session; see `Recall.show` for the arguments.

    Raises:
        UsageError: the session has no such turn.
    """
    session = store.info(session_id)
    stored = store.turns(session_id)
    calls = store.calls(session_id)
    query = query or store.last_query(session_id)
    units = [(u, 1.0) for u in parse_query(query, reader.stems).units] if query else []
    lines = None if before is None and after is None else (before or 0, after or 0)
    views = [
        _view(t, calls.get(t.doc, []), units, reader, thinking=thinking, lines=lines, reveal=reveal)
        for t in stored
    ]
    if lines is not None:
        views = [v for v in views if v.matched]
    keep = _kept(views, turn, around)
    if turn is not None and not keep:
        raise UsageError(
            f"Session {session_id} has no turn {turn}.", f"Its turns go from 0 to {_last(stored)}."
        )
    shown, omitted_after = _with_omissions(stored, [views[i] for i in keep])
    shared, shared_with = store.shared(session_id)
    if not reveal:
        session = replace(
            session, title=_line(session.title), cwd=_line(session.cwd), git_branch=_line(session.git_branch),
            summary=_line(session.summary), entity_tags=tuple(mask(t).text for t in session.entity_tags),
        )  # fmt: skip
        query = _line(query)
    return SessionView(session, query, tuple(shown), omitted_after, shared, shared_with)


def _line(text: str | None) -> str | None:
    return mask(text).text if text else text


def _last(stored: list[StoredTurn]) -> int:
    return stored[-1].seq if stored else 0


def _view(
    turn: StoredTurn,
    calls: list[CallView],
    units: Sequence[tuple[Unit, float]],
    reader: IndexReader,
    *,
    thinking: bool,
    lines: tuple[int, int] | None,
    reveal: bool,
) -> TurnView:
    matches = find_matches(turn.text, units, reader.stems) if units else []
    places = [(m.start, m.end) for m in matches]
    body = MaskedText("" if reveal else turn.text)
    text = turn.text if reveal else body.text
    highlights = _disjoint(body.spans(p for p in places if not body.touches(p)))
    in_calls = (
        not matches and any(find_matches(c.payload, units, reader.stems) for c in calls) if units else False
    )
    reasoning = turn.thinking if thinking else ""
    hidden = len(body.secrets)
    if not reveal:
        reasoning, in_thinking = _masked(reasoning)
        calls, hidden_in_calls = _masked_calls(calls)
        hidden += in_thinking + hidden_in_calls
    return TurnView(
        turn_id=turn.turn_id,
        seq=turn.seq,
        speaker_role=turn.speaker_role,
        timestamp=turn.timestamp,
        time_source=turn.time_source,
        text=text,
        spans=_lines_round(text, body.spans(places), *lines) if lines else ((0, len(text)),),
        highlights=tuple(highlights),
        matched=bool(matches) or in_calls,
        text_hash=turn.text_hash,
        text_length=turn.text_length,
        in_source=turn.in_source,
        source_line=turn.source_line,
        kind=turn.kind,
        echo=turn.echo,
        tags=turn.tags if reveal else tuple(mask(t).text for t in turn.tags),
        calls=tuple(calls),
        thinking=reasoning,
        secrets=hidden,
        not_stored=max(0, turn.text_length - len(turn.text)),
    )


def _masked(text: str) -> tuple[str, int]:
    """A text with its credentials masked, and how many there were."""
    masked = mask(text)
    return masked.text, sum(masked.counts.values())


def _masked_calls(calls: list[CallView]) -> tuple[list[CallView], int]:
    """Calls with the credentials of their inputs masked, and how many there were."""
    masked = [_masked(call.payload) for call in calls]
    return [replace(c, payload=p) for c, (p, _) in zip(calls, masked, strict=True)], sum(n for _, n in masked)


def _disjoint(spans: list[Span]) -> list[Span]:
    out: list[Span] = []
    for start, end in sorted(spans):
        if out and start < out[-1][1]:
            out[-1] = (out[-1][0], max(out[-1][1], end))
        else:
            out.append((start, end))
    return out


def _kept(views: list[TurnView], turn: int | None, around: int | None) -> list[int]:
    """Places of the turns to show."""
    if turn is None and around is None:
        return list(range(len(views)))
    centres = [i for i, v in enumerate(views) if (v.matched if turn is None else v.seq == turn)]
    reach = around or 0
    return sorted({j for i in centres for j in range(max(0, i - reach), min(len(views), i + reach + 1))})


def _with_omissions(stored: list[StoredTurn], views: list[TurnView]) -> tuple[list[TurnView], int]:
    """The views with counts of the turns left out before each, and after the last."""
    place = {t.seq: i for i, t in enumerate(stored)}
    out: list[TurnView] = []
    done = -1
    for view in views:
        here = place[view.seq]
        out.append(replace(view, omitted_before=here - done - 1))
        done = here
    return out, len(stored) - done - 1


def _lines_round(text: str, places: Sequence[Span], before: int, after: int) -> tuple[Span, ...]:
    """The lines of a text with matches, and some before and after each, as grep shows them."""
    starts = [0, *(i + 1 for i, c in enumerate(text) if c == "\n")]
    lines: set[int] = set()
    for start, end in places:
        first, last = _line_of(starts, start), _line_of(starts, max(start, end - 1))
        lines.update(range(max(0, first - before), min(len(starts), last + after + 1)))
    spans: list[Span] = []
    for line in sorted(lines):
        end = starts[line + 1] if line + 1 < len(starts) else len(text)
        if spans and spans[-1][1] == starts[line]:
            spans[-1] = (spans[-1][0], end)
        else:
            spans.append((starts[line], end))
    return tuple(spans)


def _line_of(starts: list[int], at: int) -> int:
    return bisect_right(starts, at) - 1

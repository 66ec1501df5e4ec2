"""One query to one answer: plan, rank, collapse copies, cut to the budget, cite."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import replace
from datetime import datetime
from pathlib import Path
from typing import TYPE_CHECKING, Any, NamedTuple

from cocorecall.index.docs import MAX_SEQ, turn_id
from cocorecall.index.filters import Filters
from cocorecall.index.reader import IndexReader, TurnRow, TurnText
from cocorecall.model import Explanation, Hit, Results, WordReport
from cocorecall.search.excerpt import Excerpt, Match, make_excerpt, pack, whole
from cocorecall.search.follow_up import FollowUp, Lead
from cocorecall.search.matches import find_matches, passages
from cocorecall.search.query import Query, parse_query
from cocorecall.search.ranking import WEIGHTS, Context, Plan, Ranked, Scorer, Weights, candidates, plan
from cocorecall.search.render import FOOTER, render_plain
from cocorecall.search.spelling import near_spellings
from cocorecall.search.tokens import estimate_tokens

if TYPE_CHECKING:
    from cocorecall.search.masking import Masking
    from cocorecall.times import Period

DEFAULT_BUDGET = 1000
FULL_LIMIT = 5
"""Hits of an answer with whole turns, where neither limit nor budget is given."""
LEAST_TOKENS = 60
"""Fewest tokens that a hit takes, citation included: bounds how many hits a budget can hold."""
CONTEXT_HITS = 10
"""Hits beyond the matching turns themselves that an answer may hold: turns between them."""
MAX_COLLAPSED = 64
"""How many times more candidates than hits are looked at where copies collapse."""
EMPTY_HASH = "e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855"
"""SHA-256 of no text."""
PERIOD_FADE_DAYS = 5.0
"""Outside a time that the query names, its lift halves every so many days: what happened is told later."""


class Request(NamedTuple):
    """What is asked, with options and inline filters already put together.

    Attributes:
        mode: `session-diverse`, `all` or `session`.
        shown_filters: the filters as the answer repeats them.
        notes: what the answer must say besides.
        skip: how many of the best hits to leave out, since an earlier answer showed them.
        weights: the constants of the ranking; a benchmark takes them out one by one.
        reveal: show credentials as they are.
    """

    query: str
    mode: str = "session-diverse"
    limit: int | None = None
    budget: int | None = DEFAULT_BUDGET
    full: bool = False
    explain: bool = False
    filters: Filters = Filters()
    shown_filters: tuple[tuple[str, Any], ...] = ()
    notes: tuple[str, ...] = ()
    skip: int = 0
    weights: Weights = WEIGHTS
    reveal: bool = False


def answer(request: Request, reader: IndexReader, *, now: datetime, phase: str | None) -> Results:
    """Answer one query. Deterministic in request, index and clock."""
    return _masked_query(_answer(request, reader, now, phase), request)


def _masked_query(results: Results, request: Request) -> Results:
    """The answer with what repeats the query masked where that holds a credential."""
    masking = _masking(request)
    if masking.query == request.query:
        return results
    words = tuple(replace(w, word=masking.word(w.word), near=()) for w in results.words)
    return _priced(replace(results, query=masking.query, words=words))


def _masking(request: Request) -> Masking:
    from cocorecall.search.follow_up import LOOKED_AT  # noqa: PLC0415 - beside the next one
    from cocorecall.search.masking import Masking  # noqa: PLC0415 - only where there is text to show

    return Masking(request.query, reveal=request.reveal, names_in=LOOKED_AT)


def _answer(request: Request, reader: IndexReader, now: datetime, phase: str | None) -> Results:
    query, context = _understand(request, reader, now, phase)
    if not query.units:
        return _listing(request, query, reader, now)
    planned = plan(query, reader, request.weights)
    empty = _results(request, query)
    if not planned.matching:
        return _priced(replace(empty, words=_word_reports(planned, reader)))
    turns, sessions = reader.count(planned.matching, request.filters)
    if not turns:
        return _priced(replace(empty, words=_word_reports(planned, reader)))
    scorer = Scorer(planned, reader, context, request.weights)
    chosen = _choose(request, query, planned, scorer=scorer, reader=reader, total=turns)
    any_full = any(c.ranked.full for c in chosen)
    draft = replace(
        empty,
        total_turns=turns,
        total_sessions=sessions,
        words=() if any_full or request.skip else _word_reports(planned, reader),
    )
    composer = _Composer(request, planned, scorer, reader)
    # a turn between matching ones that only calls tools has no words to show
    found = [f for f in map(composer.found, chosen) if f.body.strip()]
    return _within_budget(draft, found, composer, request)


def _results(request: Request, query: Query) -> Results:
    """An answer without hits yet."""
    return Results(
        query=request.query,
        mode=request.mode,
        filters=dict(request.shown_filters),
        total_turns=0,
        total_sessions=0,
        returned=0,
        budget=request.budget,
        tokens=0,
        hits=(),
        notes=_notes(request, query),
    )


def _notes(request: Request, query: Query) -> tuple[str, ...]:
    notes = list(request.notes)
    if query.unsearchable and not query.units:
        notes.append("The query holds no letter or digit to search for.")
    return tuple(notes)


def _priced(results: Results) -> Results:
    """The answer with what its plain form costs, in estimated tokens."""
    return replace(results, returned=len(results.hits), tokens=estimate_tokens(render_plain(results)))


def _word_reports(planned: Plan, reader: IndexReader) -> tuple[WordReport, ...]:
    return tuple(
        WordReport(
            t.unit.shown,
            t.df,
            reader.sessions_with(t.expression) if t.present else 0,
            () if t.present else near_spellings(t.unit.shown, reader),
        )
        for t in planned.required
    )


def _listing(request: Request, query: Query, reader: IndexReader, now: datetime) -> Results:
    """The answer to filters without words: the turns that meet them, newest first."""
    empty = _results(request, query)
    if not request.filters.narrow or query.unsearchable:
        return _priced(empty)
    turns, sessions = reader.count_filtered(request.filters)
    planned = plan(query, reader)
    scorer = Scorer(planned, reader, Context(now))
    diverse = request.mode == "session-diverse"
    wanted = request.skip + _most_hits(request, turns)
    most = min(turns, 2 * wanted)
    docs = reader.newest(request.filters, most, one_a_session=diverse)
    chosen = _distinct(scorer.unranked(docs), diverse=diverse)
    composer = _Composer(request, planned, scorer, reader)
    draft = replace(empty, total_turns=turns, total_sessions=sessions)
    found = [composer.found(c) for c in chosen[request.skip : wanted]]
    return _within_budget(draft, found, composer, request)


def _understand(
    request: Request, reader: IndexReader, now: datetime, phase: str | None
) -> tuple[Query, Context]:
    periods = _periods(request.query, now)
    query = parse_query(request.query, reader.stems, optional_spans=tuple(p.span for p in periods))
    query = query._replace(units=query.units or parse_query(request.query, reader.stems).units)

    def nearness(instant: datetime) -> float:
        return float(max(2.0 ** (-p.distance_days(instant) / PERIOD_FADE_DAYS) for p in periods))

    named = {s for s in map(str.lower, reader.speakers()) if s not in _ROLES and s in query.words}
    return query, Context(now, phase, nearness if periods else None, frozenset(named) | _role_asked(query))


_ROLES = ("user", "assistant", "tool", "system")
_ROLE_NAMES = {
    "user": "user",
    "person": "user",
    "assistant": "assistant",
    "agent": "assistant",
    "model": "assistant",
}
_SAY = frozenset(
    "said say says asked ask asks wanted want wants decided decide told tell preferred prefer insisted".split()
)


def _role_asked(query: Query) -> frozenset[str]:
    """Roles that the query asks about as speakers: "what did the user say", not "the user table"."""
    words = query.words
    return frozenset(
        role
        for n, word in enumerate(words)
        if (role := _ROLE_NAMES.get(word)) and not _SAY.isdisjoint(words[n + 1 : n + 3])
    )


_TIME_WORDS = frozenset(
    "yesterday today week weeks weekend month months year years day days ago since before after during until jan feb"
    " mar apr jun jul aug sep sept oct nov dec january february march april may june july august september october"
    " november december monday tuesday wednesday thursday friday saturday sunday spring summer autumn fall winter"
    " quarter tonight morning".split()
)


def _periods(text: str, now: datetime) -> list[Period]:
    lowered = text.lower()
    if _TIME_WORDS.isdisjoint(lowered.replace(",", " ").replace("?", " ").split()) and not any(
        c.isdigit() for c in lowered
    ):
        return []
    from cocorecall.times import find_periods  # noqa: PLC0415 - most queries name no time

    return find_periods(text, now)


# --- candidates to hits --------------------------------------------------------------------------------


class Chosen(NamedTuple):
    """A ranked turn that the answer may show, and where else the same words stand."""

    ranked: Ranked
    also_in: tuple[str, ...]


def _choose(
    request: Request, query: Query, planned: Plan, *, scorer: Scorer, reader: IndexReader, total: int
) -> list[Chosen]:
    """The turns to show, best first: copies collapsed, one a session unless all are wanted.

    Where copies used up the candidates (boilerplate that stands in a thousand sessions), more are fetched.
    """
    wanted = request.skip + _most_hits(request, total)
    at_least = wanted + 6
    while True:
        docs = candidates(query, planned, reader, request.filters, at_least=at_least)
        ranked = scorer.rank(docs, _keeper(query, request.filters, reader))
        chosen = _distinct(ranked, diverse=request.mode == "session-diverse")
        if len(chosen) >= wanted or len(docs) < at_least or at_least > MAX_COLLAPSED * wanted:
            return chosen[request.skip : wanted]
        at_least *= 4


def _most_hits(request: Request, total: int) -> int:
    """How many hits limit and budget can show."""
    most = total + CONTEXT_HITS
    if request.limit is not None:
        most = min(most, request.limit)
    elif request.full and request.budget is None:
        most = min(most, FULL_LIMIT)
    if request.budget is not None:
        most = min(most, request.budget // LEAST_TOKENS + 1)
    return most


def _keeper(query: Query, filters: Filters, reader: IndexReader) -> Callable[[TurnRow], bool]:
    """Tells whether a turn beside a candidate may be a hit too."""
    if query.without or any(u.must for u in query.units):
        return lambda _: False
    if filters.narrow or filters.without_session:
        return lambda turn: reader.meets(turn.doc, filters)
    return lambda turn: filters.echo or not turn.echo


def _distinct(ranked: list[Ranked], *, diverse: bool) -> list[Chosen]:
    first: dict[str, Ranked] = {}
    also: dict[str, set[str]] = {}
    sessions: set[int] = set()
    for item in ranked:
        # turns of calls alone have no text; they are not copies of each other
        key = item.turn.text_hash if item.turn.text_hash != EMPTY_HASH else str(item.turn.doc)
        if key in first:
            also[key].add(item.session.session_id)
        elif not (diverse and item.session.number in sessions):
            sessions.add(item.session.number)
            first[key] = item
            also[key] = set()
    return [Chosen(r, tuple(sorted(also[k] - {r.session.session_id}))) for k, r in first.items()]


class _Found(NamedTuple):
    """A turn with the field that matched best and the places of the matches in it."""

    chosen: Chosen
    turn: TurnText
    field: str
    body: str
    matches: tuple[Match, ...]


_NAMING_FILTERS = ("function", "entity", "metric", "stage")
"""Filters whose values a follow-up must not repeat."""


class _Composer:
    """Turns chosen turns into cited hits."""

    def __init__(self, request: Request, planned: Plan, scorer: Scorer, reader: IndexReader) -> None:
        self._request = request
        self._planned = planned
        self._scorer = scorer
        self._reader = reader
        self._units = [(t.unit, t.idf) for t in planned.terms]
        named = [v for name, values in request.shown_filters if name in _NAMING_FILTERS for v in values]
        asked = {s for t in planned.terms for s in t.unit.stems}
        asked |= {s for value in named for u in parse_query(value, reader.stems).units for s in u.stems}
        self._named = [part for v in named for part in (v.partition(":")[2] or v, v.rpartition(".")[2])]
        self._follow_up = FollowUp(reader, asked, planned.totals.turns)
        self._masking = _masking(request)

    def found(self, chosen: Chosen) -> _Found:
        """Look where in the turn the words stand; the field that holds most of their weight is shown."""
        turn = self._reader.turn_text(chosen.ranked.turn.doc)
        if not self._units:
            return self._listed(chosen, turn)
        best = ("text", turn.text, self._matches(turn.text))
        others = [("calls", self._reader.calls_text(turn.doc)), ("tags", ", ".join(turn.said_tags))]
        for name, body in others if chosen.ranked.holds else []:
            matches = self._matches(body) if body else []
            if _weight(matches) > _weight(best[2]) + 1e-9:
                best = (name, body, matches)
        field, body, matches = best
        return _Found(
            chosen, turn, field if matches or chosen.ranked.holds else "context", body, tuple(matches)
        )

    def _listed(self, chosen: Chosen, turn: TurnText) -> _Found:
        """A turn that meets the filters: shown where it names what they ask for, or from its beginning."""
        matches = passages(turn.text, self._named)
        if matches or (turn.text.strip() and not self._named):
            return _Found(chosen, turn, "text", turn.text, tuple(matches))
        calls = self._reader.calls_text(turn.doc)
        in_calls = passages(calls, self._named)
        if in_calls or not turn.text.strip():
            return _Found(chosen, turn, "calls", calls, tuple(in_calls))
        return _Found(chosen, turn, "text", turn.text, ())

    def _matches(self, body: str) -> list[Match]:
        return find_matches(body, self._units, self._reader.stems)

    def _lead(self, found: _Found) -> Lead:
        tools = self._reader.entities.tools_of(found.turn.doc) if found.field == "calls" else frozenset()
        body = self._masking.names_of(found.body)
        return Lead(found.turn.doc, body, found.chosen.ranked.session, tools)

    def hit(self, rank: int, found: _Found, excerpt: Excerpt) -> Hit:
        """A turn with its excerpt, cited."""
        ranked, turn, session = found.chosen.ranked, found.turn, found.chosen.ranked.session
        detail = self._scorer.detail(ranked)
        masking = self._masking
        shown = masking.excerpt(found.body, excerpt)
        count, latest = self._reader.session_match_summary(
            self._planned.matching, session.number, self._request.filters
        )
        return Hit(
            rank=rank,
            score=round(ranked.score, 4),
            field=found.field,
            in_source=turn.in_source,
            session_id=session.session_id,
            turn_id=turn.turn_id,
            source_exists=Path(session.source_path).exists(),
            suggested_follow_up=self._follow_up.sentence(self._lead(found)),
            match=round(ranked.match, 4),
            matched=tuple(masking.word(u.shown) for u in detail.matched),
            missed=tuple(masking.word(u.shown) for u in detail.missed),
            session_matches=count,
            latest_turn_id=turn_id(session.session_id, latest & MAX_SEQ) if count else turn.turn_id,
            speaker_role=ranked.turn.role,
            timestamp=ranked.turn.timestamp,
            time_source=turn.time_source,
            seq=turn.seq,
            agent=session.agent,
            title=masking.line(session.title),
            cwd=masking.line(session.cwd),
            phase_context=session.phase_context,
            source_path=session.source_path,
            source_line=turn.source_line,
            text_hash=turn.text_hash,
            text=shown.text,
            spans=excerpt.spans,
            text_length=turn.text_length if found.field in ("text", "context") else len(found.body),
            highlights=shown.highlights,
            tags=tuple(filter(None, map(masking.line, turn.tags))),
            also_in=tuple(
                sorted({*found.chosen.also_in, *self._reader.copies(turn.doc)} - {session.session_id})
            ),
            kind=ranked.turn.kind,
            echo=turn.echo,
            explanation=Explanation(
                detail.factors, tuple(replace(t, term=masking.word(t.term)) for t in detail.terms)
            )
            if self._request.explain
            else None,
            masked=shown.masked,
        )


def _weight(matches: Sequence[Match]) -> float:
    return sum({m.term: m.weight for m in matches}.values())


# --- the budget ----------------------------------------------------------------------------------------


class _Item(NamedTuple):
    """A turn's claim on the budget, as `pack` reads it."""

    fixed: int
    full: int
    floor: int
    value: float


def _within_budget(draft: Results, found: list[_Found], composer: _Composer, request: Request) -> Results:
    """Fill in the hits, cut so that the plain form keeps the budget."""
    if request.budget is None:
        hits = [composer.hit(n, f, whole(f.body, f.matches)) for n, f in enumerate(found, request.skip + 1)]
        return _priced(_with_hits(draft, hits))
    items = [_item(n, f, full=request.full) for n, f in enumerate(found, request.skip + 1)]
    room = (
        request.budget - estimate_tokens(render_plain(replace(draft, returned=len(found)))) - _FOOTER_TOKENS
    )
    while True:
        cut = [(f, _cut(f, g)) for f, g in zip(found, pack(items, room), strict=True) if g is not None]
        # where not even a few words fit beside the marks, the room is better spent on the hits above
        shown = [(f, e) for f, e in cut if e.spans] or cut[:1]
        hits = [composer.hit(n, f, e) for n, (f, e) in enumerate(shown, request.skip + 1)]
        results = _priced(_with_hits(draft, hits))
        if results.tokens <= request.budget or not hits:
            return results
        room -= max(1, results.tokens - request.budget)


def _with_hits(draft: Results, hits: Sequence[Hit]) -> Results:
    masked = sum(hit.secrets for hit in hits)
    if not masked:
        return replace(draft, hits=tuple(hits))
    from cocorecall.search.masking import note  # noqa: PLC0415 - loaded by then

    return replace(draft, hits=tuple(hits), notes=(*draft.notes, note(masked)))


_FOOTER_TOKENS = estimate_tokens("\n\n" + FOOTER)
_FLOOR = 42
"""Tokens of the shortest excerpt that is worth its citation line: about a sentence and two gap marks."""
_SAMPLE = 800
"""Characters of a text that are priced to know about how long it is."""
_NAME_TOKENS = 9
"""What a citation line spends on its follow-up and its marks, before they are known."""


def _item(rank: int, found: _Found, *, full: bool) -> _Item:
    turn = found.chosen.ranked.turn
    line = f"[{rank}] {found.turn.turn_id} {turn.role} {turn.timestamp[:10]} source ok, next: "
    size = _size(found.body)
    floor = size if full else min(size, _FLOOR)
    return _Item(estimate_tokens(line) + _NAME_TOKENS, size, floor, found.chosen.ranked.score)


def _size(body: str) -> int:
    """Tokens of a whole text; of a long one about, from its beginning: it will be cut in any case."""
    if len(body) <= _SAMPLE:
        return estimate_tokens(body)
    return estimate_tokens(body[:_SAMPLE]) * len(body) // _SAMPLE


def _cut(found: _Found, grant: int) -> Excerpt:
    return make_excerpt(found.body, found.matches, budget=grant, cost=estimate_tokens)

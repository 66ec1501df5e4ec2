"""Which turns answer a query best: windowed BM25F, in two stages.

    score(turn)  = relevance × (1 + RECENCY·2^(−age/HALF_LIFE) + PHASE·[session's phase is the current one])
                   × PERIOD lift × SPEAKER lift × QUESTION × CUE × SUMMARY factors
    relevance    = Σ over units u:  idf(u) · tf(u)·(k1 + 1) / (tf(u) + k1·(1 − b + b·L/L̄))
                   + SESSION_SHARE · the same sum over the whole session as one document
    idf(u)       = ln(1 + (N − df + ½) / (df + ½)), times LIGHT for words that say little anywhere
    tf(u)        = Σ over the turn and its neighbours: share · Σ over fields: weight · count
    L            = length in characters, windowed with the same shares; L̄ its mean over the index

BM25 is Robertson & Zaragoza, "The Probabilistic Relevance Framework: BM25 and Beyond" (2009); BM25F, its
form for weighted fields, Robertson, Zaragoza & Taylor (2004). The window is ours: a conversation answers
in the turn after the question, so a turn inherits a share of what is said around it.

A *unit* is a word, a name, a phrase or a prefix of the query (`search.query`). A compound name that is not
there as a whole still earns PART of what its parts are worth.

**Full matches first**: turns that hold every unit come before turns that hold some, whatever the scores.

**Two stages.** FTS5's bm25 picks CANDIDATE_TURNS turns and the best turn of CANDIDATE_SESSIONS sessions;
only these and their neighbours are scored by the formula. The first stage looks at no more than
CANDIDATE_POSTINGS matches: rare units choose the candidates, frequent ones only score them, and where all
are frequent the newest matches are the candidates. Turns that hold every unit are candidates always.

What each constant is worth is measured by `benchmarks/retrieval/ablation.py`; the table stands in
`benchmarks/README.md`.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Sequence
from datetime import datetime
from itertools import pairwise
from typing import NamedTuple

from cocorecall.analysis import CUE_ASKS, CUE_NUMBER, CUE_REASON, CUE_TIME
from cocorecall.index.docs import SEQ_BITS, doc_range
from cocorecall.index.filters import Filters
from cocorecall.index.reader import IndexReader, SessionRow, Totals, TurnRow, neighbours
from cocorecall.model import Factor, TermScore
from cocorecall.search.query import Query, Unit, quoted


class Weights(NamedTuple):
    """Every constant of the formula, so that a benchmark can take one out.

    Attributes:
        k1: how soon more of the same word stops counting. Tuned on LoCoMo's tuning half (design, chapter 7).
        b: how much length is held against a turn.
        before: shares of the one, two, three turns before.
        after: shares of the one, two, three turns after.
        session_share: weight of the session as one document.
        light: factor on the idf of LIGHT_WORDS, which are rare by chance in a small index.
        asked: factor on the share of the turn before where that turn asks: the answer takes over its words.
        told: the same where it does not ask.
        part: worth of a compound name's parts, where the name itself is missing.
        recency: most that a turn of today gains.
        half_life_days: age at which half of that is left.
        phase: what a session of the project's current phase gains.
        period: what a turn from a time named in the query gains.
        speaker: what a turn of a speaker named in the query gains.
        question: factor of a turn that only asks.
        cue: factor of a turn that says the kind of thing asked for: a number, a reason.
        time_cue: the same for a time.
        summary: factor of text that a compaction wrote.
    """

    k1: float = 0.9
    b: float = 0.4
    before: tuple[float, ...] = (0.6, 0.3, 0.2)
    after: tuple[float, ...] = (0.4, 0.2, 0.1)
    session_share: float = 0.3
    light: float = 0.5
    asked: float = 1.3
    told: float = 0.85
    part: float = 0.3
    recency: float = 0.05
    half_life_days: float = 30.0
    phase: float = 0.03
    period: float = 1.5
    speaker: float = 0.6
    question: float = 0.9
    cue: float = 1.2
    time_cue: float = 1.3
    summary: float = 0.6


WEIGHTS = Weights()

CANDIDATE_TURNS = 40
QUESTION_TURNS = 60
CANDIDATE_SESSIONS = 25
CANDIDATE_POSTINGS = 12_000
"""Matches that the first stage ranks; FTS5's bm25 takes about a microsecond for each."""
FULL_TURNS = 200
"""Turns with every unit that are candidates, newest first, where a unit is frequent: bm25 itself reads every
match of each unit, wherever it is asked to begin."""
WHOLE_SESSION = 400
"""Turns of a session up to which all of it is read for the session's share; beyond, the windows only."""
LITERAL_POSTINGS = 5_000
"""Newest matches that are looked through for a literal such as `C++` or `.env`."""
PREFIX_WORDS = 150
"""Words that a prefix may begin and still be looked up one by one."""
MAX_UNITS = 32
"""Units that a query is ranked by; of more (a pasted stack trace) the rarest."""


CONTEXT_UNITS = 3
"""Units from which on a query is a question rather than a look-up (two are enough where it is worded as
one): then a turn between matching turns may answer it without holding a word of it, as a hit of field
`context`."""

LIGHT_WORDS = frozenset(
    "another anything ask become begin call change come currently decide describe different even ever everything"
    " feel find first give go good happen keep kind know last likely look lot many mean mention much need new"
    " next part plan really recently say see seem set show somebody someone something soon specific start still"
    " take talk tell thing think try type use want way well work".split()
)
"""Words of questions that carry little content; an idf taken from a few hundred turns does not know that."""

_ASKING = frozenset(
    "what why how when where which who whose did does do is are was were has have would".split()
)
_OF_TIME = frozenset("day date month year time".split())
_OF_NUMBER = frozenset("many much long often old large big far".split())
_OF_REASON = frozenset(("reason", "rationale"))


def _asks(query: Query) -> bool:
    """Whether the query is worded as a question."""
    return query.text.rstrip().endswith("?") or (query.words[:1] != () and query.words[0] in _ASKING)


def _kind_asked_for(query: Query) -> int:
    """The bit of the kind of thing that a question asks for (`analysis.cues`), or 0."""
    words = query.words
    pairs = set(pairwise(words))
    if (
        words[:1] == ("when",)
        or words[:2] == ("since", "when")
        or any(("what", w) in pairs for w in _OF_TIME)
    ):
        return CUE_TIME
    if any(("how", w) in pairs for w in _OF_NUMBER):
        return CUE_NUMBER
    if words[:1] == ("why",) or not _OF_REASON.isdisjoint(words):
        return CUE_REASON
    return 0


class Term(NamedTuple):
    """A unit of the query with what the index says of it.

    Attributes:
        df: turns that hold it, exact below a bound, 0 where it occurs nowhere.
        idf: its weight.
        expression: what makes a turn hold it, in FTS5's words; where it occurs nowhere, its parts; else empty.
        phrases: its numbers among the phrases of the plan's scoring expression; none where it is absent.
        parts: (phrase number, idf) of its parts.
        only: docs that hold the unit's literal, where it has one that occurs; else None.
    """

    unit: Unit
    df: int
    idf: float
    expression: str
    phrases: tuple[int, ...]
    parts: tuple[tuple[int, float], ...] = ()
    only: frozenset[int] | None = None

    @property
    def present(self) -> bool:
        """Whether the unit as a whole occurs in the index."""
        return bool(self.phrases)


class Plan(NamedTuple):
    """A query as the index is asked for it.

    Attributes:
        terms: the units with their weights.
        scoring: FTS5 expression of every phrase, by which frequencies are collected.
        matching: FTS5 expression of what counts as a match.
        full: FTS5 expression of a full match, or None where no turn can be one.
        asks: the query is worded as a question.
        cue: bit of the kind of thing it asks for (`analysis.cues`), or 0.
    """

    terms: tuple[Term, ...]
    scoring: str
    matching: str
    full: str | None
    totals: Totals
    asks: bool = False
    cue: int = 0

    @property
    def required(self) -> list[Term]:
        """The terms whose absence makes a match partial."""
        return [t for t in self.terms if not t.unit.optional] or list(self.terms)


class Context(NamedTuple):
    """What a search knows besides the words.

    Attributes:
        now: the clock.
        phase: the project's current phase, or None.
        nearness: 1 for an instant within a time that the query names, less outside, 0 far away; None where
            the query names no time.
        speakers: roles named in the query.
    """

    now: datetime
    phase: str | None = None
    nearness: Callable[[datetime], float] | None = None
    speakers: frozenset[str] = frozenset()


class Ranked(NamedTuple):
    """A scored turn.

    Attributes:
        full: it holds every required unit.
        match: matched share of the query's weight, 0 to 1.
        holds: it matches itself; False for a turn that only stands between matching ones.
    """

    turn: TurnRow
    session: SessionRow
    score: float
    full: bool
    match: float
    holds: bool


class Detail(NamedTuple):
    """What a scored turn matched, and how its score came about."""

    matched: tuple[Unit, ...]
    missed: tuple[Unit, ...]
    factors: tuple[Factor, ...]
    terms: tuple[TermScore, ...]


def in_order(ranked: list[Ranked]) -> list[Ranked]:
    """Full matches, then score; ties: newer session, then session id, then seq."""
    ranked = sorted(ranked, key=lambda r: (r.session.session_id, r.turn.doc))
    ranked.sort(key=lambda r: r.session.start_time or "", reverse=True)
    ranked.sort(key=lambda r: (not r.full, -round(r.score, 9)))
    return ranked


# --- planning ----------------------------------------------------------------------------------------


def plan(query: Query, reader: IndexReader, weights: Weights = WEIGHTS) -> Plan:
    """Look up how frequent each unit is and put the expressions together."""
    totals = reader.totals()
    light = frozenset(s for word in LIGHT_WORDS for s in reader.stems(word))
    phrases = _Phrases(reader, totals)

    def weighed(unit: Unit) -> Term:
        term = phrases.term(unit)
        return (
            term._replace(idf=term.idf * weights.light)
            if unit.stems[0] in light and len(unit.stems) == 1
            else term
        )

    terms = [weighed(unit) for unit in query.units]
    if len(terms) > MAX_UNITS:
        rarest = sorted(range(len(terms)), key=lambda i: (not terms[i].expression, -terms[i].idf, i))[
            :MAX_UNITS
        ]
        phrases = _Phrases(reader, totals)
        terms = [weighed(query.units[i]) for i in sorted(rarest)]
    required = [t for t in terms if not t.unit.optional] or terms
    matching = " OR ".join(t.expression for t in required if t.expression)
    full = " AND ".join(f"({t.expression})" for t in required) if all(t.present for t in required) else ""
    return Plan(
        tuple(terms),
        phrases.expression,
        _narrowed(matching, query),
        _narrowed(full, query) or None,
        totals,
        asks=_asks(query),
        cue=_kind_asked_for(query),
    )


class _Phrases:
    """Numbers the phrases of a plan's scoring expression, each once, as the terms are made."""

    def __init__(self, reader: IndexReader, totals: Totals) -> None:
        self._reader = reader
        self._totals = totals
        self._numbers: dict[str, int] = {}

    @property
    def expression(self) -> str:
        """All phrases, in the order of their numbers."""
        return " OR ".join(self._numbers)

    def term(self, unit: Unit) -> Term:
        """A unit with its frequency, its weight and its phrases."""
        spelled = self._spelled(unit)
        expression = " OR ".join(spelled)
        single = len(unit.stems) == 1 and not unit.prefix
        df = (
            self._reader.stem_frequency(unit.stems[0])
            if single
            else self._reader.document_frequency(expression, self._totals.turns) if expression else 0
        )  # fmt: skip
        only = None
        if unit.literal and df:
            only = frozenset(self._reader.containing(expression, unit.literal, LITERAL_POSTINGS)) or None
            df = len(only) if only else df
        phrases = tuple(self._number(s) for s in spelled) if df else ()
        parts = tuple(
            (self._number(self._quoted(stem)), idf(self._totals.turns, part_df))
            for stem in unit.parts
            if (part_df := self._reader.stem_frequency(stem))
        )
        if not phrases:
            # an absent name is looked for by its parts, all of them: "graph" alone does not answer "GraphQL"
            whole = parts and len(parts) == len(unit.parts)
            expression = "(" + " AND ".join(self._quoted(s) for s in unit.parts) + ")" if whole else ""
            parts = parts if whole else ()
        return Term(unit, df, idf(self._totals.turns, df), expression, phrases, parts, only)

    def _spelled(self, unit: Unit) -> list[str]:
        """The phrases of which any makes a turn hold the unit: one, or each word that a prefix begins."""
        if not unit.prefix or len(unit.stems) > 1:
            return [unit.expression]
        first = unit.stems[0]
        # FTS5 merges the postings of a whole prefix for every range it is asked about; single words it seeks
        words = self._reader.vocabulary(first, first + "\U0010ffff", PREFIX_WORDS + 1)
        return [unit.expression] if len(words) > PREFIX_WORDS else [self._quoted(word) for word, _ in words]

    def _quoted(self, stem: str) -> str:
        return quoted([self._reader.stems.word_for(stem)])

    def _number(self, phrase: str) -> int:
        return self._numbers.setdefault(phrase, len(self._numbers))


def _narrowed(expression: str, query: Query) -> str:
    must = [u.expression for u in query.units if u.must]
    if expression and must:
        expression = f"({' AND '.join(must)}) AND ({expression})"
    if expression and query.without:
        expression = f"({expression}) NOT ({' OR '.join(u.expression for u in query.without)})"
    return expression


def idf(turns: int, df: int) -> float:
    """Inverse document frequency, never negative."""
    return math.log(1 + (max(turns, df) - df + 0.5) / (df + 0.5))


# --- candidates ----------------------------------------------------------------------------------------


def candidates(
    query: Query,
    planned: Plan,
    reader: IndexReader,
    filters: Filters,
    *,
    at_least: int = 0,
    pruned: bool = True,
) -> set[int]:
    """Docs worth scoring: the first stage.

    Args:
        query: the parsed query.
        planned: its plan.
        reader: the index.
        filters: what turns must meet.
        at_least: how many turns, and sessions, an answer may need.
        pruned: False ranks every match in the first stage (to measure what pruning costs).
    """
    # a question is answered beside its words more often than a look-up is
    turns = max(QUESTION_TURNS if planned.asks else CANDIDATE_TURNS, at_least)
    sessions = max(CANDIDATE_SESSIONS, at_least)
    pruned = pruned and at_least < CANDIDATE_POSTINGS // 10
    rare, frequent = _by_rarity(planned, CANDIDATE_POSTINGS if pruned else 1 << 62)
    docs: set[int] = set()
    if rare:
        docs |= set(reader.best(_any(rare, query), filters, turns=turns, sessions=sessions))
    if frequent and len(docs) < turns:
        docs |= set(reader.newest_matching(_any(frequent, query), filters, turns))
    if planned.full and len(planned.required) > 1:
        if frequent:
            docs |= set(reader.newest_matching(planned.full, filters, max(FULL_TURNS, turns)))
        else:
            docs |= set(reader.best(planned.full, filters, turns=turns, sessions=sessions))
    for term in planned.terms:
        if term.only:
            docs |= set(sorted(term.only)[-CANDIDATE_TURNS:])
    return docs


def _by_rarity(planned: Plan, postings: int) -> tuple[list[Term], list[Term]]:
    """The terms, rarest first, that together match at most so many turns, and the others."""

    def matches(term: Term) -> int:
        # how many turns hold the parts of an absent name is not known
        return term.df if term.present else planned.totals.turns

    terms = sorted((t for t in planned.required if t.expression), key=matches)
    for n, term in enumerate(terms):
        postings -= matches(term)
        if postings < 0:
            return terms[:n], terms[n:]
    return terms, []


def _any(terms: Sequence[Term], query: Query) -> str:
    return _narrowed(" OR ".join(t.expression for t in terms), query)


# --- scoring -------------------------------------------------------------------------------------------


class Scorer:
    """The second stage: the formula over candidates and their neighbours. One query, one use."""

    def __init__(
        self, planned: Plan, reader: IndexReader, context: Context, weights: Weights = WEIGHTS
    ) -> None:
        self._terms = planned.terms
        self._plan = planned
        self._reader = reader
        self._context = context
        self._weights = weights
        required = planned.required
        self._required = [i for i, t in enumerate(self._terms) if t in required]
        self._weight = sum(self._terms[i].idf for i in self._required) or 1.0
        self._takes_context = len(required) >= CONTEXT_UNITS - planned.asks
        self._names = [i for i, t in enumerate(self._terms) if t.unit.shown.lower() in context.speakers]
        self._reach = max(len(weights.before), len(weights.after))
        self._around = [(-i, share) for i, share in enumerate(weights.before, 1)]
        self._around += [(i, share) for i, share in enumerate(weights.after, 1)]
        totals = planned.totals
        mean_turn = max(1.0, totals.chars / max(1, totals.turns))
        self._mean_window = mean_turn * (1 + sum(weights.before) + sum(weights.after))
        self._mean_session = max(1.0, totals.chars / max(1, totals.sessions))
        self._own: dict[int, tuple[list[float], list[int]]] = {}
        self._rows: dict[int, TurnRow] = {}
        self._shares: dict[int, float] = {}

    def unranked(self, docs: Sequence[int]) -> list[Ranked]:
        """Turns without words to rank by, in the order given."""
        sessions = self._reader.session_rows(d >> SEQ_BITS for d in docs)
        rows = self._reader.turn_rows((d, d) for d in docs)
        self._shares = dict.fromkeys(sessions, 0.0)
        return [
            Ranked(rows[d], sessions[d >> SEQ_BITS], 0.0, full=True, match=1.0, holds=True)
            for d in docs
            if d in rows
        ]

    def rank(self, docs: Iterable[int], keep: Callable[[TurnRow], bool]) -> list[Ranked]:
        """Score the docs and their neighbours, best first.

        Args:
            docs: candidates.
            keep: tells whether a neighbour that was no candidate meets the filters.
        """
        docs = set(docs)
        by_session: dict[int, list[int]] = {}
        for doc in sorted(docs):
            by_session.setdefault(doc >> SEQ_BITS, []).append(doc)
        sessions = self._reader.session_rows(by_session)
        windows = {n: _merged(neighbours(d, 2 * self._reach) for d in by_session[n]) for n in sessions}
        reads = [r for n, s in sessions.items() for r in self._read_ranges(s, windows[n])]
        frequencies = self._reader.frequencies(self._plan.scoring, reads)
        self._own = {doc: self._counts(doc, row) for doc, row in frequencies.items()}
        self._rows = self._reader.turn_rows(r for n in sessions for r in windows[n])
        self._shares = self._session_shares(sessions)
        near = {d for c in docs for d in _span(neighbours(c, self._reach)) if d in self._rows}
        if not self._takes_context:
            near &= self._own.keys()
        scored = (
            self._scored(self._rows[d], sessions[d >> SEQ_BITS])
            for d in near
            if d in docs or keep(self._rows[d])
        )
        return in_order([r for r in scored if r])

    def _read_ranges(self, session: SessionRow, windows: list[tuple[int, int]]) -> list[tuple[int, int]]:
        return [doc_range(session.number)] if session.turn_count <= WHOLE_SESSION else windows

    def _counts(self, doc: int, row: Sequence[tuple[float, int]]) -> tuple[list[float], list[int]]:
        """Each term's weighted frequency and plain count in one turn; its parts count for less."""
        weighted: list[float] = []
        plain: list[int] = []
        for term in self._terms:
            w, n = 0.0, 0
            for phrase in term.phrases:
                w, n = w + row[phrase][0], n + row[phrase][1]
            if n and term.only is not None and doc not in term.only:
                w, n = 0.0, 0
            if not n and term.parts and (term.present or all(row[p][1] for p, _ in term.parts)):
                worth = sum(i * row[p][0] for p, i in term.parts) / max(term.idf, 1e-9)
                w = self._weights.part * worth / len(term.parts)
            weighted.append(w)
            plain.append(n)
        return weighted, plain

    def _session_shares(self, sessions: dict[int, SessionRow]) -> dict[int, float]:
        """SESSION_SHARE × BM25 of each session as one document."""
        sums = {n: [0.0] * len(self._terms) for n in sessions}
        for doc, (weighted, _) in self._own.items():
            total = sums[doc >> SEQ_BITS]
            for i, w in enumerate(weighted):
                total[i] += w
        shares = {}
        for number, tfs in sums.items():
            norm = self._norm(sessions[number].chars, self._mean_session)
            gained = sum(t.idf * self._saturated(tf, norm) for t, tf in zip(self._terms, tfs, strict=True))
            shares[number] = self._weights.session_share * gained
        return shares

    def _scored(self, turn: TurnRow, session: SessionRow) -> Ranked | None:
        plain = self._plain(turn)
        own = self._own.get(turn.doc)
        holds = any(plain[i] for i in self._required) or bool(own and any(own[0][i] for i in self._required))
        if not holds and not self._takes_context:
            return None
        tfs, norm = self._windowed(turn)
        lexical = sum(t.idf * self._saturated(tf, norm) for t, tf in zip(self._terms, tfs, strict=True) if tf)
        score = lexical + self._shares[session.number]
        for factor in self._factors(turn, session):
            score *= factor.value
        held = sum(self._terms[i].idf for i in self._required if plain[i])
        full = all(plain[i] for i in self._required)
        return Ranked(turn, session, score, full, min(1.0, held / self._weight), holds)

    def _plain(self, turn: TurnRow) -> list[int]:
        """Each term's count in the turn; who speaks holds the speaker's name, though the text does not."""
        own = self._own.get(turn.doc)
        plain = own[1] if own else [0] * len(self._terms)
        role = turn.role.lower()
        if self._names and role in self._context.speakers:
            plain = list(plain)
            for i in self._names:
                plain[i] = plain[i] or int(self._terms[i].unit.shown.lower() == role)
        return plain

    def _windowed(self, turn: TurnRow) -> tuple[list[float], float]:
        """Each term's frequency in the window round a turn, and the length norm of that window."""
        own = self._own.get(turn.doc)
        tfs = list(own[0]) if own else [0.0] * len(self._terms)
        length = float(turn.chars)
        for offset, share in self._around:
            row = self._rows.get(turn.doc + offset)
            if row is None:
                continue
            if offset == -1:
                share *= self._weights.asked if row.cues & CUE_ASKS else self._weights.told  # noqa: PLW2901
            length += share * row.chars
            near = self._own.get(row.doc)
            if near:
                for i, w in enumerate(near[0]):
                    if w:
                        tfs[i] += share * w
        return tfs, self._norm(length, self._mean_window)

    def _norm(self, length: float, mean: float) -> float:
        return self._weights.k1 * (1 - self._weights.b + self._weights.b * length / mean)

    def _saturated(self, tf: float, norm: float) -> float:
        return tf * (self._weights.k1 + 1) / (tf + norm) if tf else 0.0

    def detail(self, ranked: Ranked) -> Detail:
        """What a turn matched and how its score came about."""
        plain = self._plain(ranked.turn)
        tfs, norm = self._windowed(ranked.turn)
        terms = tuple(
            TermScore(t.unit.shown, t.idf, tf, n, t.idf * self._saturated(tf, norm))
            for t, tf, n in zip(self._terms, tfs, plain, strict=True)
        )
        factors = (
            Factor("words", sum(t.score for t in terms)),
            Factor("session", self._shares[ranked.session.number]),
            *self._factors(ranked.turn, ranked.session),
        )
        matched = tuple(t.unit for t, n in zip(self._terms, plain, strict=True) if n)
        missed = tuple(self._terms[i].unit for i in self._required if not plain[i])
        return Detail(matched, missed, factors, terms)

    def _factors(self, turn: TurnRow, session: SessionRow) -> list[Factor]:
        weights, context = self._weights, self._context
        then = _instant(turn.timestamp)
        small = weights.recency * self._recency(then)
        if context.phase and session.phase_context == context.phase:
            small += weights.phase
        factors = [Factor("recency and phase", 1 + small)]
        if context.nearness and then:
            factors.append(Factor("time named in the query", 1 + weights.period * context.nearness(then)))
        if turn.role.lower() in context.speakers:
            factors.append(Factor("speaker named in the query", 1 + weights.speaker))
        if turn.cues & CUE_ASKS:
            factors.append(Factor("question", weights.question))
        elif turn.cues & self._plan.cue:
            factors.append(
                Factor("kind of answer", weights.time_cue if self._plan.cue == CUE_TIME else weights.cue)
            )
        if turn.kind == "summary":
            factors.append(Factor("summary", weights.summary))
        return factors

    def _recency(self, then: datetime | None) -> float:
        """2^(−age / half-life); a time in the future earns nothing."""
        if then is None:
            return 0.0
        age = (self._context.now - then).total_seconds() / 86_400
        return 0.0 if age < 0 else 2.0 ** (-age / self._weights.half_life_days)


def _instant(timestamp: str) -> datetime | None:
    try:
        return datetime.fromisoformat(timestamp)
    except ValueError:
        return None


def _merged(ranges: Iterable[tuple[int, int]]) -> list[tuple[int, int]]:
    out: list[tuple[int, int]] = []
    for first, last in sorted(ranges):
        if out and first <= out[-1][1] + 1:
            out[-1] = (out[-1][0], max(out[-1][1], last))
        else:
            out.append((first, last))
    return out


def _span(bounds: tuple[int, int]) -> range:
    return range(bounds[0], bounds[1] + 1)

"""What recent sessions say that is worth keeping: corrections, costs, preferences, decisions on data.

Patterns over sentences, no model. Precision goes before recall: what is missed stays in the index and is found by a
search, what is wrong stands in a file that agents read. `benchmarks/dream` holds the labelled turns.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from pathlib import Path
from typing import NamedTuple

from cocorecall.extract.decisions import decides
from cocorecall.extract.prose import has_digit, paragraphs, sentences, split_fences
from cocorecall.index.facets import FacetReader
from cocorecall.index.recent import RecentReader, RecentTurn
from cocorecall.model import Signal
from cocorecall.search.masking import shown
from cocorecall.search.repairs import kind_of, solve, statement_of

MAX_SENTENCE = 400
"""Characters of the longest sentence that is taken: longer ones are pasted text or lists."""
_MAX_PASTED = 20_000
"""Characters of the longest turn that is read: what is longer is pasted."""


class Gathered(NamedTuple):
    """What a window holds."""

    turns: int
    signals: tuple[Signal, ...]


def gather(recent: RecentReader, facets: FacetReader) -> Gathered:
    """The signals of a window, oldest session first, in the order of what was said."""
    exists: dict[str, bool] = {}

    def signal(
        turn: RecentTurn, kind: str, sentence: str, error: str = "", error_turn_id: str = ""
    ) -> Signal:
        if turn.source_path not in exists:
            exists[turn.source_path] = Path(turn.source_path).exists()
        return Signal(
            kind, sentence, turn.session_id, turn.turn_id, turn.timestamp, turn.text_hash,
            exists[turn.source_path], turn.role, error, error_turn_id,
        )  # fmt: skip

    found = []
    for turn in recent.said():
        if len(turn.text) <= _MAX_PASTED:
            found += [signal(turn, kind, sentence) for kind, sentence in signals_in(turn.text, turn.role)]
    found += [
        signal(*correction[:1], "schema correction", *correction[1:])
        for correction in corrections(recent, facets)
    ]
    return Gathered(recent.count(), tuple(found))


# --- sentences ---------------------------------------------------------------------------------------

_CUE = re.compile(
    r"always|never|from now on|going forward|prefer|rather|again|don['’]?t ever|not ever|every time|stop |please"
    r"|mask|access|may |tag|grant|revok|pii|personal data|approv|sign|privacy|governance|protection"
    r"|second|minute|hour|credit|\d ?(?:s|ms|min|h|[kmgt]b|%)\b|scan|spill|partition|cluster|warehouse|queue",
    re.IGNORECASE,
)
_TABLE_OR_LOG = re.compile(
    r"^\s*(?:[>|#]|\d{4}-\d\d-\d\d[T ]\d\d:\d\d|\[?(?:INFO|WARN|ERROR|DEBUG)\b|[{\[<$%])"
)
_QUOTED = re.compile(r"[\"“”«»]|(?<![\w`])['‘][^'’\n]{3,}['’](?!\w)")
_OTHERS = re.compile(
    r"\b(?:he|she|they|docs?|documentation|manual|page|vendor|blog|article|error|message|log|[A-Z][a-z]+) (?:\w+ )?"
    r"(?:says?|said|claims?|recommends?|suggests?|states?|thinks?|thought|wrote)\b"
)
_HYPOTHETICAL = re.compile(
    r"^(?:if|unless|suppose|assuming|imagine|maybe|perhaps|in case|what if|whether)\b"
    r"|\b(?:maybe|perhaps|might|could|would(?! (?:rather|prefer)\b)|not sure|i wonder|i don['’]t know|should i|should we)\b",
    re.IGNORECASE,
)


_CONDITIONAL_ORDER = re.compile(r"^(?:if|when|whenever) [^,]{3,80}, (?=(?:always|never)\b)", re.IGNORECASE)


def signals_in(text: str, role: str) -> Iterator[tuple[str, str]]:
    """(kind, sentence) of each signal among the sentences of a turn; credentials in it are masked."""
    if not _CUE.search(text):
        return
    prose, _ = split_fences(shown(text))
    for block in paragraphs(prose):
        if _TABLE_OR_LOG.match(block):
            continue
        for sentence in sentences(block):
            kind = kind_of_sentence(sentence, role)
            if kind:
                yield kind, sentence


def kind_of_sentence(sentence: str, role: str) -> str | None:
    """What kind of signal a sentence is, if one; `role`: who says it."""
    if len(sentence) > MAX_SENTENCE or not _CUE.search(sentence) or sentence.startswith(("/", "!", "$")):
        return None
    if sentence.rstrip("\"'”’)*_` ").endswith(("?", "？", ":")):
        return None
    person = role == "user"
    if person and (order := _CONDITIONAL_ORDER.match(sentence)):
        return kind_of_sentence(sentence[order.end() :], role)
    plain = _HYPOTHETICAL.search(sentence) is None and not _OTHERS.search(sentence)
    if plain and is_governance(sentence, person=person):
        return "governance"
    if person and plain and not _QUOTED.search(sentence) and is_preference(sentence):
        return "preference"
    return "performance" if plain and is_performance(sentence) else None


# --- preferences ---------------------------------------------------------------------------------------

_LEAD = (
    r"^(?:(?:ok|okay|yes|no|good|right|great|fine|thanks|and|but|so|also|then|please|again|in this (?:project|repo(?:sitory)?)|for this project"
    r"|here)[,;:!.]? |\w+, )*"
)
_PREFERENCE = tuple(
    re.compile(pattern, re.IGNORECASE)
    for pattern in (
        # an order that always holds: the verb comes first
        _LEAD
        + r"(?:always|never) (?!(?:the|a|an|mind|again|ever|\w+(?:ed|ing)|knew|seen|had|been|was|were)\b)\w+",
        _LEAD + r"(?:we|i want you to|you should|you must) (?:\w+ ){0,3}?(?:always|never) (?!\w+ed\b)\w+",
        r"^(?:in \w+ |for \w+ )?i (?:never|always) want\b",
        _LEAD + r"i (?:never|always) want\b",
        r"^[^.?!]{0,120}\bfrom now on\b",
        r"^[^.?!]{0,120}\bgoing forward\b",
        _LEAD
        + r"(?:i|we)(?:['’]d| would| (?:strongly|generally|always|really|still|much))? prefer (?!not\b)",
        r"[.,;:] (?:(?:i|we) )?prefer (?!not\b)",
        r"^no .*, ever\b",
        _LEAD + r"every time (?:you|we|i) .*, ",
        _LEAD + r"(?:i['’]d|i would|we['’]d) rather (?:have|see|use|keep|write|read)\b",
        _LEAD + r"(?:don['’]t|do not|never) (?!have|know)\w+ .*\bagain\b",
        _LEAD + r"(?:don['’]t|do not) ever\b",
        _LEAD + r"(?:please )?\w+ .*\bevery time\b",
        _LEAD + r"please [^.]*\b(?:always|never|every time)\b",
        r"[.,;:—] (?:and |but )?(?:always|never) (?!(?:the|a|an|mind|again|\w+(?:ed|ing))\b)\w+",
        _LEAD + r"we \w+ .*, never on\b",
    )
)
_NOT_PREFERENCE = re.compile(
    r"\b(?:never mind|always (?:been|was|were|has|have|had|is|are|fails?|returns?|gets?|complains?)|never (?:understood|seen|saw|had"
    r"|been|was|were|knew|got|went|came|made|found|took|ran|gave|wrote|needed|finished|worked|acknowledged|heard|thought|did|rains)"
    r"|(?:for|until) (?:now|today|tomorrow)$|not (?:again|yet))\b",
    re.IGNORECASE,
)


def is_preference(sentence: str) -> bool:
    """Whether a person's sentence says how to work from then on."""
    if _NOT_PREFERENCE.search(sentence):
        return False
    return any(pattern.search(sentence) for pattern in _PREFERENCE)


# --- performance ---------------------------------------------------------------------------------------

_N = r"\d[\d,.]*(?: ?(?:k|million|billion))?"
_TIME = rf"{_N} ?(?:s|ms|sec|secs|seconds?|min|mins|minutes?|h|hours?)\b"
_MONEY = rf"{_N} (?:snowflake )?credits?\b"
_VOLUME = rf"{_N} ?(?:[KMGTP]i?B|bytes|kilobytes|megabytes|gigabytes|terabytes)\b"
_MEASURE = re.compile(
    rf"(?:{_TIME}|{_MONEY}|{_VOLUME}|{_N} ?(?:%|percent)|partitions? [^.]*\d|{_N} (?:micro-)?partitions)",
    re.IGNORECASE,
)
_SUBJECT = re.compile(
    r"\b(?:quer(?:y|ies)|statement|warehouse|_wh\b|wh_|cluster(?:ed|ing)|(?:micro-)?partitions?|prun(?:ing|es?|ed)|spill(?:ed|ing|s)?|scan(?:s|ned|ning)?|credits?"
    r"|x?-?x-?small|small|medium|x?-?large|build|merge|join|load|backfill|refresh|report|materiali[sz]\w+|full refresh|dynamic table|search optimization"
    r"|lookup|table scan|copy|cache|elapsed|run ?time|compil\w+|queued?|insert|copy into|task|udf|model|view)\b|\w+_WH\b|\bWH_\w+",
    re.IGNORECASE,
)
_MEASURED = re.compile(
    r"\b(?:took|ran|run in|went|fell|dropped|rose|grew|came down|down from|up from|brought|scanned|scans|spilled|used|read|burnt|burned|consumed|spent|halved|doubled|shows|cost|costs|saved|saves|paid|needs? \d|now needs|takes|reads|queued|finished in"
    r"|instead of|against|before|used to take|is gone|was|were|reduced|cut|improved|faster|slower|from [\d,.]+|elapsed|dropped|measured)\b",
    re.IGNORECASE,
)
_NOT_MEASURED = re.compile(
    r"\b(?:should|will|would|could|might|may|can take|i['’]ll|wait|retr(?:y|ies)|expires?|timeout|meeting|back in|in \d+ minutes|set the|auto-?suspend"
    r"|billed by|minimum of|tests? (?:suite )?(?:took|ran)|test suite|pytest|unit tests?|aim|target|estimate\w*|budget|at most|no more than|if)\b",
    re.IGNORECASE,
)


_NO_SUBJECT = re.compile(
    r"^(?:(?:and|but|so|also|then) )?(?:it|that|this|they|these|those|both|which|against|from \d|an? |each |every |give |let |wait |allow )\b",
    re.IGNORECASE,
)
"""How sentences begin that say nothing by themselves."""


def is_performance(sentence: str) -> bool:
    """Whether a sentence states what SQL or a warehouse took, moved or cost, as measured."""
    if _NO_SUBJECT.match(sentence):
        return False
    if not has_digit(sentence) or not _MEASURE.search(sentence) or _NOT_MEASURED.search(sentence):
        return False
    return _SUBJECT.search(sentence) is not None and _MEASURED.search(sentence) is not None


# --- governance ----------------------------------------------------------------------------------------

_DATA = re.compile(
    r"\b(?:mask\w*|row access|access to|sharing|(?<!you )may (?:only |not )?(?:see|read|query)|access polic\w+|polic(?:y|ies)|tags?|tagged|grants?|granted|revoked?|pii|personal data|privacy|governance"
    r"|data protection|retention|data owner|select on|(?:phone|address|e-?mail|iban|customer|salary|payroll|birth|card)\w* (?:\w+ ){0,3}(?:columns?|numbers?|data|addresses))\b",
    re.IGNORECASE,
)
_APPROVED = re.compile(
    r"\b(?:(?:board|office|officer|owner|team|committee|steward|security|council|legal|compliance|she|he|they)\b[^.?]{0,60}\b(?:approved?|approves|signed off|agreed|decided|gave (?:\w+ )?approval|allow(?:s|ed)?|insists?|won['’]t allow)"
    r"|^approved\b|approval (?:was |is )?(?:granted|given)|(?:was|were|is|are|been) approved|approved (?:by|under|it)|signed off)",
    re.IGNORECASE,
)
_DONE = re.compile(
    r"(?:^|[.;,] |\bi(?:['’]ve| have)? |\band )(?:granted|revoked|tagged|masked|attached|unset|dropped the (?:masking|row access))\b"
    r"|\b(?:policy|tag|mask\w*|grants?)\b[^?]{0,80}\b(?:is now|was|has been|have been|are now) (?:set|attached|applied|granted|revoked|active)\b"
    r"|\bi (?:set|attached|applied|put) (?:the )?[^.?]{0,40}\b(?:policy|tag)\b",
    re.IGNORECASE,
)
_RULE = re.compile(
    r"\b(?:must not|must never|(?<!you )may (?:only |not )?(?:see|read|query)|gets? no access|stays? (?:in|masked|out)|are dropped, not masked|gets? (?:the|its|their|a) (?:pii )?tag|will not|don['’]t store|do not store|gets? (?:select|usage|read))\b",
    re.IGNORECASE,
)
_KEEP = re.compile(
    r"^(?:we (?:keep|mask|restrict|grant|revoke|store no)|let['’]?s (?:mask|restrict|tag|grant|revoke)|agreed, )",
    re.IGNORECASE,
)
_NOT_GOVERNED = re.compile(
    r"\b(?:not (?:yet )?(?:approved|decided|allowed to)|not approved yet|(?:is|are) (?:still )?missing|pull request|remind|failed|next i|i will|i['’]ll|should|if (?:you|the|they)|^to mask|you need|need to"
    r"|once|as soon as|until (?:they|the|he|she)|waiting|wait for|ask)\b",
    re.IGNORECASE,
)


def is_governance(sentence: str, *, person: bool) -> bool:
    """Whether a sentence settles who may see which data: decided or approved by people, or reported as done."""
    if not _DATA.search(sentence) or _NOT_GOVERNED.search(sentence):
        return False
    if _APPROVED.search(sentence):
        return True
    if person:
        return bool(_RULE.search(sentence) or _KEEP.search(sentence)) or decides(sentence, person=True)
    return _DONE.search(sentence) is not None


# --- corrections ---------------------------------------------------------------------------------------

_SCHEMA_ERROR = re.compile(
    r"invalid identifier|does not exist|unknown (?:user-defined )?function|syntax error|is not recognized|ambiguous column|unexpected '"
    r"|argument types|not enough arguments|too many arguments|not a valid group by|does not have a current|unsupported subquery"
    r"|invalid (?:value|argument|data type|number of)|can ?not be cast|duplicate column|is not (?:a )?valid",
    re.IGNORECASE,
)


def corrections(recent: RecentReader, facets: FacetReader) -> Iterator[tuple[RecentTurn, str, str, str]]:
    """(turn, statement that worked, error, turn of the error) for each SQL error that was corrected."""
    seen: set[tuple[int, int]] = set()
    for failure in recent.failures():
        if not _SCHEMA_ERROR.search(failure.error):
            continue
        solution = solve(facets, failure)
        call, failing = solution.succeeded, solution.failing
        if call is None or failing is None or kind_of(failing.name) != "sql":
            continue
        statement = statement_of(call).strip()
        key = (call.doc, call.position)
        if not statement or key in seen or statement == statement_of(failing).strip():
            continue
        seen.add(key)
        yield recent.turn(call.doc), shown(statement), shown(failure.error), recent.turn(failure.doc).turn_id

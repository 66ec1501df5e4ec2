"""From what a person typed to what the index is asked: words, phrases, prefixes, filters.

Nothing a person types is an error. Quotes that do not close, colons that name no filter, operators and
emoji are characters like any other; what holds no letter or digit at all cannot be searched for and is
named in `Query.unsearchable`.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from cocorecall.analysis import Stemmer, bigrams, camel_parts, cjk_runs, fold, index_text

FILTER_KEYS = (
    "role", "agent", "phase", "tool", "path", "since", "until", "session", "here", "function", "outcome-type",
    "outcome-status", "entity", "metric", "stage",
)  # fmt: skip
"""What may stand before a colon as an inline filter: `role:user`, `since:7d`."""

STOP_WORDS = frozenset(
    "a about after again all also am an and any are as at be because been before being but by can could did do"
    " does doing done for from get got had has have having he her here hers him his how i if in into is it its"
    " just let like may me more most much my no nor not of off on once only or other our out over own please"
    " same she should so some such than that the their them then there these they this those through to too"
    " under until up us very was we were what when where which while who whom whose why will with would you"
    " your yours".split()
)
"""English words that carry no content of their own; they count only where nothing else is asked."""


class Unit(NamedTuple):
    """One thing asked for: a word, a name, a phrase, a prefix.

    Attributes:
        shown: as the person wrote it.
        stems: what FTS5 holds for it, in order; several stems must stand next to each other.
        parts: stems that are worth something on their own where the whole is not there.
        prefix: the last stem is the beginning of a word.
        literal: folded text that a turn must contain besides (for `C++`, `.env`, `--flag`), or None.
        must: turns without it are left out.
        expression: the unit as an FTS5 query.
        optional: nice to have, but its absence makes no match partial (a date's words, a speaker's name).
    """

    shown: str
    stems: tuple[str, ...]
    parts: tuple[str, ...] = ()
    prefix: bool = False
    literal: str | None = None
    must: bool = False
    optional: bool = False
    expression: str = ""


def quoted(words: Iterable[str]) -> str:
    """Adjacent words as an FTS5 string."""
    return '"' + " ".join(words).replace('"', '""') + '"'


class Query(NamedTuple):
    """A parsed query.

    Attributes:
        units: what turns are ranked by, in the order of the query, no two the same.
        without: what turns must not hold.
        filters: inline filters as (key, value).
        unsearchable: pieces that hold no letter or digit.
        words: the folded plain words of the query, stop words included (for names of speakers).
    """

    text: str
    units: tuple[Unit, ...] = ()
    without: tuple[Unit, ...] = ()
    filters: tuple[tuple[str, str], ...] = ()
    unsearchable: tuple[str, ...] = ()
    words: tuple[str, ...] = ()


class _Piece(NamedTuple):
    text: str
    sign: str
    quoted: bool
    span: tuple[int, int]


_PIECE = re.compile(r'(?P<sign>[+-]?)"(?P<quoted>[^"]+)"(?=$|\s|[.,;:!?)])|(?P<bare>\S+)')
_FILTER = re.compile(r"(?P<key>[a-z-]+):(?P<value>\S+)", re.IGNORECASE)
_OPENING = "([{<\"'`«»“”‘’„‚*_~|=¿¡"
_CLOSING = ")]}>\"'`«»“”‘’,;:!?…*_~|=."
_POSSESSIVE = re.compile(r"['’]s$", re.IGNORECASE)
_EDGE_SYMBOLS = re.compile(r"^(?:--?|[.$@#/~]+)(?=\w)|(?<=\w)(?:\+{1,2}|#|%)$")
_CODE_MARKS = re.compile(r"[()\[\]{}<>,;=|\"]+")
_HAS_WORD = re.compile(r"\w")


def parse_query(text: str, stems: Stemmer, *, optional_spans: tuple[tuple[int, int], ...] = ()) -> Query:
    """Parse what a person typed.

    Args:
        text: any string.
        stems: the index's stemmer.
        optional_spans: character ranges whose words are optional (time expressions).
    """
    units: list[Unit] = []
    without: list[Unit] = []
    filters: list[tuple[str, str]] = []
    unsearchable: list[str] = []
    for piece in _pieces(text):
        found = None if piece.quoted else _filter(piece)
        if found:
            filters.append(found)
            continue
        made = _units(piece, stems)
        if not made:
            unsearchable.append(piece.text)
        elif piece.sign == "-":
            without.extend(made)
        else:
            optional = any(a <= piece.span[0] < b for a, b in optional_spans)
            units.extend(u._replace(must=piece.sign == "+", optional=optional) for u in made)
    return Query(
        text,
        _without_stop_words(_distinct(units)),
        tuple(_distinct(without)),
        tuple(filters),
        tuple(unsearchable),
        tuple(fold(w) for w in re.findall(r"\w+", text)),
    )


def _pieces(text: str) -> Iterator[_Piece]:
    for match in _PIECE.finditer(text):
        if match["quoted"] is not None:
            yield _Piece(match["quoted"], match["sign"], quoted=True, span=match.span())
            continue
        bare = match["bare"]
        # a sign counts only where a word follows it directly: "-", "->", "-1" and "--flag" are text
        signed = len(bare) > 1 and bare[0] in "+-" and (bare[1].isalpha() or bare[1] in "\"'_.")
        sign = bare[0] if signed else ""
        yield _Piece(bare[len(sign) :], sign, quoted=False, span=match.span())


def _filter(piece: _Piece) -> tuple[str, str] | None:
    match = _FILTER.fullmatch(piece.text)
    if match is None or piece.sign or match["key"].lower() not in FILTER_KEYS:
        return None
    return match["key"].lower(), match["value"].strip("\"'")


def _units(piece: _Piece, stems: Stemmer) -> list[Unit]:
    if piece.quoted:
        found = stems(index_text(piece.text))
        return [_unit(f'"{piece.text}"', found, stems)] if found else []
    prefix = len(piece.text) > 1 and piece.text.endswith("*") and piece.text[-2].isalnum()
    core = piece.text.lstrip(_OPENING)
    core = core.rstrip(_CLOSING) or core
    core = _POSSESSIVE.sub("", core)
    if not _HAS_WORD.search(core):
        return []
    if cjk_runs(core):
        return _cjk_units(core, stems)
    if prefix:
        return _word_units(core, stems, prefix=True)
    # pasted code: `classify_ticket(text, labels=all)` asks for three names, not for this spelling
    return [u for word in _CODE_MARKS.split(core) for u in _word_units(word, stems, prefix=False)]


def _cjk_units(core: str, stems: Stemmer) -> list[Unit]:
    units: list[Unit] = []
    done = 0
    for start, end in cjk_runs(core):
        run = core[start:end]
        units += _word_units(core[done:start], stems, prefix=False)
        pairs = bigrams(run)
        # the pair tokens of a run overlap, so the run is the phrase of them; one character alone is a prefix
        body = tuple(s for pair in (pairs[:-1] or pairs) for s in stems(pair))
        if body:
            parts = body if len(body) > 1 else ()
            units.append(_unit(run, body, stems, parts=parts, prefix=len(pairs) == 1))
        done = end
    return units + _word_units(core[done:], stems, prefix=False)


def _word_units(word: str, stems: Stemmer, *, prefix: bool) -> list[Unit]:
    if not _HAS_WORD.search(word):
        return []
    if prefix:
        return _prefix_units(word, stems)
    whole = stems(index_text(word))
    if not whole:
        return []
    literal = fold(word) if _EDGE_SYMBOLS.search(word) else None
    return [_unit(word, whole, stems, parts=_parts(word, whole, stems), literal=literal)]


def _prefix_units(word: str, stems: Stemmer) -> list[Unit]:
    # the last piece is cut by hand: a stemmer would shorten it to something that begins other words
    pieces = re.findall(r"\w+", fold(word))
    if not pieces:
        return []
    head = tuple(s for piece in pieces[:-1] for s in stems(piece))
    last = pieces[-1].replace("_", " ").split()
    return [_unit(word + "*", (*head, last[-1]), stems, prefix=True)] if last else []


def _unit(shown: str, found: tuple[str, ...], stems: Stemmer, **more: Any) -> Unit:
    prefix = bool(more.get("prefix"))
    words = [*map(stems.word_for, found[:-1]), found[-1]] if prefix else list(map(stems.word_for, found))
    return Unit(shown, found, expression=quoted(words) + (" *" if prefix else ""), **more)


def _parts(word: str, whole: tuple[str, ...], stems: Stemmer) -> tuple[str, ...]:
    if len(whole) < 2:  # noqa: PLR2004 - one stem is no compound
        return ()
    names = [
        p for run in re.findall(r"[^\W_]+", word) for p in (camel_parts(run) if run.isascii() else [run])
    ]
    found = [s for name in names if len(name) > 1 and name.lower() not in STOP_WORDS for s in stems(name)]
    return tuple(dict.fromkeys(found))


def _distinct(units: list[Unit]) -> list[Unit]:
    by_key: dict[tuple[object, ...], Unit] = {}
    for unit in units:
        key = (unit.stems, unit.prefix, unit.literal)
        known = by_key.get(key)
        if known:
            unit = known._replace(must=known.must or unit.must, optional=known.optional and unit.optional)  # noqa: PLW2901
        by_key[key] = unit
    return list(by_key.values())


def _without_stop_words(units: list[Unit]) -> tuple[Unit, ...]:
    content = [u for u in units if u.must or fold(u.shown) not in STOP_WORDS]
    return tuple(content or units)

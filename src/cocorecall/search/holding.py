"""Sessions that hold a turn with every word of a query: what `recall forget --matching` removes."""

from __future__ import annotations

from cocorecall.errors import UsageError
from cocorecall.index.filters import Filters
from cocorecall.index.reader import IndexReader
from cocorecall.search.query import parse_query

_ALL = 1 << 40


def sessions_holding(query: str, reader: IndexReader) -> list[str]:
    """Ids of the sessions, in the order of their first import; those that hold the turn as a copy included.

    Words, phrases, prefixes and `-without` mean what they mean in a search, but every word is required, and a
    turn counts by its text, its calls and its tags. Echoes count too.

    Raises:
        UsageError: the query has no word to look for, or inline filters.
    """
    parsed = parse_query(query, reader.stems)
    if parsed.filters:
        key, value = parsed.filters[0]
        raise UsageError(
            f"{key}:{value} is a filter; forgetting goes by words.",
            "Put it in quotes to mean the words: '\"a:b\"'.",
        )
    if not parsed.units or parsed.unsearchable:
        odd = parsed.unsearchable[0] if parsed.unsearchable else query
        raise UsageError(
            f"{odd!r} has no word that could be looked for.", "Name one that occurs in the turns."
        )
    expression = " AND ".join(f"({unit.expression})" for unit in parsed.units)
    if parsed.without:
        expression = f"({expression}) NOT ({' OR '.join(u.expression for u in parsed.without)})"
    docs = set(reader.newest_matching(expression, Filters(echo=True), _ALL))
    for unit in parsed.units:
        if unit.literal and docs:
            docs &= set(reader.containing(expression, unit.literal, _ALL))
    own = {
        sid
        for _, sid in sorted(
            (n, r.session_id) for n, r in reader.session_rows({d >> 24 for d in docs}).items()
        )
    }
    copies = {sid for doc in docs for sid in reader.copies(doc)}
    return sorted(own) + sorted(copies - own)

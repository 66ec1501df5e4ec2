"""What a session or turn is about, in words it uses itself: first sentence, tags, entity tags. No model."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable

from cocorecall.extract.prose import paragraphs, sentences, split_fences
from cocorecall.model import (
    Entity,
    EvaluationResult,
    Facet,
    FunctionTouch,
    KeyDecision,
    OutcomeContract,
    StrategyUse,
)

MAX_SUMMARY = 240
"""Characters of the longest summary."""

MAX_ENTITY_TAGS = 24
"""Entities that a session is tagged with."""

_SUMMARY_SCOPE = 20_000
_MARKUP = re.compile(r"[#>*_`|=~+\-\s]*")
_WORD = re.compile(r"\w")
_TAGS = {
    FunctionTouch: "function",
    EvaluationResult: "evaluation",
    OutcomeContract: "contract",
    StrategyUse: "strategy",
    KeyDecision: "decision",
}
_ENTITY_TAGS = {"error_code": "error", "cortex_feature": "cortex", "snowflake_object": "sql"}
_TYPE_ORDER = ("snowflake_object", "function", "cortex_feature", "data_concept", "error_code", "ticket")


def summary_of(text: str) -> str:
    """The first sentence of a text, at most `MAX_SUMMARY` characters, white space folded.

    Headings, fences, tables and rules are passed over; a text that has nothing else gives its first line
    with a word in it, one without any word the empty string.
    """
    head = text[:_SUMMARY_SCOPE]
    prose, _ = split_fences(head)
    for block in paragraphs(prose):
        if block.lstrip().startswith(("#", "|", "```", "~~~")) or not _WORD.search(block):
            continue
        for sentence in sentences(block):
            plain = _shown(sentence)
            if plain:
                return plain
    for line in head.splitlines():
        if _WORD.search(line) and not line.lstrip().startswith(("```", "~~~")):
            return _shown(line)
    return ""


def _shown(sentence: str) -> str:
    plain = " ".join(sentence[_MARKUP.match(sentence).end() :].split())  # type: ignore[union-attr]
    if len(plain) <= MAX_SUMMARY:
        return plain
    cut = plain[: MAX_SUMMARY - 1]
    return cut[: cut.rfind(" ")].rstrip(",;:") + "…" if " " in cut[MAX_SUMMARY // 2 :] else cut + "…"


def tags_of(facets: Iterable[Facet]) -> tuple[str, ...]:
    """What kinds of things happen in these facets: `decision`, `evaluation`, `error`, `sql` … sorted."""
    tags = set()
    for facet in facets:
        if isinstance(facet, Entity):
            if facet.type in _ENTITY_TAGS:
                tags.add(_ENTITY_TAGS[facet.type])
        else:
            tags.add(_TAGS[type(facet)])
    return tuple(sorted(tags))


def entity_tags_of(entities: Iterable[Entity]) -> tuple[str, ...]:
    """The names that a session mentions in most of its turns, at most `MAX_ENTITY_TAGS`, most frequent first.

    Files and links are left out: they name places, not subjects. Names hold no comma, which would part them
    in the stored form.
    """
    counts: Counter[tuple[int, str]] = Counter()
    for entity in entities:
        if entity.type in _TYPE_ORDER and "," not in entity.name:
            counts[_TYPE_ORDER.index(entity.type), entity.name] += 1
    ranked = sorted(counts.items(), key=lambda item: (-item[1], item[0]))
    return tuple(dict.fromkeys(name for (_, name), _ in ranked))[:MAX_ENTITY_TAGS]

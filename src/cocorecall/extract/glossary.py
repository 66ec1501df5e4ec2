"""The project's words: `.cocoplus/grove/language/glossary.md`.

Form (CocoPlus, skill `grove-glossary`): one `## Term` section a term, with `**Definition:**`, `**Aliases:**`
(comma-separated, or `None`), `**Associated functions:**` and `**Added:**` lines.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cocorecall.extract.sections import field_of, items_of, sections
from cocorecall.model import Skipped

_SHORTEST_PHRASE = 3
_WORD = re.compile(r"\w+")


@dataclass(frozen=True, slots=True)
class GlossaryTerm:
    """One term.

    Attributes:
        line: 1-based line of its heading.
    """

    term: str
    definition: str
    aliases: tuple[str, ...]
    functions: tuple[str, ...]
    line: int


@dataclass(frozen=True, slots=True)
class Glossary:
    """The terms of a project.

    Attributes:
        phrases: (lower-cased term or alias, the term it stands for), longest phrase first.
        heads: the words that a phrase can begin with in text.
        skipped: what could not be used.
    """

    terms: tuple[GlossaryTerm, ...] = ()
    phrases: tuple[tuple[str, str], ...] = ()
    heads: frozenset[str] = frozenset()
    skipped: tuple[Skipped, ...] = ()


NO_GLOSSARY = Glossary()


def parse_glossary(text: str) -> Glossary:
    """Read a glossary. A term that comes twice keeps its first section; an alias in use is left out."""
    terms: dict[str, GlossaryTerm] = {}
    phrases: dict[str, str] = {}
    skipped: list[Skipped] = []
    for section in sections(text):
        term = " ".join(section.title.split())
        key = term.lower()
        if len(key) < _SHORTEST_PHRASE:
            skipped.append(Skipped("glossary section without a usable term", section.line))
        elif key in terms:
            skipped.append(Skipped(f"glossary term {term!r} is defined twice", section.line))
        else:
            aliases = items_of(field_of(section, "Aliases", "Alias", "Synonyms"))
            functions = items_of(field_of(section, "Associated functions", "Functions"))
            terms[key] = GlossaryTerm(term, field_of(section, "Definition"), aliases, functions, section.line)
    for key, entry in terms.items():
        phrases[key] = entry.term
    for entry in terms.values():
        for alias in entry.aliases:
            phrase = " ".join(alias.split()).lower()
            if len(phrase) < _SHORTEST_PHRASE or phrases.setdefault(phrase, entry.term) != entry.term:
                skipped.append(
                    Skipped(f"glossary alias {alias!r} of {entry.term!r} is not usable", entry.line)
                )
    longest_first = sorted(phrases.items(), key=lambda item: (-len(item[0]), item[0]))
    words = [word[0] for phrase in phrases if (word := _WORD.search(phrase))]
    heads = frozenset(form for word in words for form in (word, f"{word}s"))
    return Glossary(tuple(terms.values()), tuple(longest_first), heads, tuple(skipped))

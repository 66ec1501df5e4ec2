"""Extractors: pure functions from turns, and from CocoPlus's files, to facets.

`Extraction` is made once an import, its `session()` once a session, and `extract_turn` called for each turn in
order. `summary_of`, `tags_of` and `entity_tags_of` derive what the contract's columns of those names hold.
Nothing here does I/O, and sqlglot is imported with the first SQL statement only.
"""

from __future__ import annotations

from cocorecall.extract.errors_fixed import error_of, normalize_error
from cocorecall.extract.extractor import Extraction, Extractor
from cocorecall.extract.glossary import Glossary, parse_glossary
from cocorecall.extract.summary import entity_tags_of, summary_of, tags_of

__all__ = [
    "Extraction",
    "Extractor",
    "Glossary",
    "entity_tags_of",
    "error_of",
    "normalize_error",
    "parse_glossary",
    "summary_of",
    "tags_of",
]

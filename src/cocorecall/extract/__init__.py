"""Extractors: pure functions from turns, and from CocoPlus's files, to facets.

`Extraction` is made once an import, its `session()` once a session, and `extract_turn` called for each turn in
order. `summary_of`, `tags_of` and `entity_tags_of` derive what the contract's columns of those names hold.
Nothing here does I/O. A name's module is loaded when the name is asked for, and sqlglot with the first SQL
statement only: an import that finds nothing changed loads none of it.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from cocorecall.extract.errors_fixed import error_of as error_of
    from cocorecall.extract.errors_fixed import normalize_error as normalize_error
    from cocorecall.extract.extractor import Extraction as Extraction
    from cocorecall.extract.extractor import Extractor as Extractor
    from cocorecall.extract.glossary import Glossary as Glossary
    from cocorecall.extract.glossary import parse_glossary as parse_glossary
    from cocorecall.extract.summary import entity_tags_of as entity_tags_of
    from cocorecall.extract.summary import summary_of as summary_of
    from cocorecall.extract.summary import tags_of as tags_of

_HOME = {
    "error_of": "errors_fixed",
    "normalize_error": "errors_fixed",
    "Extraction": "extractor",
    "Extractor": "extractor",
    "Glossary": "glossary",
    "parse_glossary": "glossary",
    "entity_tags_of": "summary",
    "summary_of": "summary",
    "tags_of": "summary",
}


def __getattr__(name: str) -> Any:
    if name not in _HOME:
        raise AttributeError(f"module {__name__!r} has no attribute {name!r}")
    value = getattr(importlib.import_module(f"{__name__}.{_HOME[name]}"), name)
    globals()[name] = value
    return value

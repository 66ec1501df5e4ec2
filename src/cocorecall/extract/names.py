"""One canonical form for the names that turns spell in many ways.

Snowflake folds an unquoted identifier to upper case and keeps a quoted one as it is written (Snowflake
documentation, "Identifier requirements"); so `raw.core.orders` and `RAW."CORE".Orders` are one object, and
`"Order Items"` is another than `ORDER_ITEMS`.
"""

from __future__ import annotations

import re
from functools import lru_cache

_PART = re.compile(r'"((?:[^"]|"")*)"|([A-Za-z_][\w$]*)')
_PLAIN = re.compile(r"[A-Z_][A-Z0-9_$]*")


@lru_cache(maxsize=8192)
def object_name(spelling: str) -> str:
    """The canonical name of a Snowflake object: upper case, quotes only where they are needed."""
    parts = [_folded(*match.groups()) for match in _PART.finditer(spelling)]
    return ".".join(part for part in parts if part) or spelling.upper()


def _folded(quoted: str | None, plain: str | None) -> str:
    if plain is not None:
        return plain.upper()
    inner = (quoted or "").replace('""', '"')
    return inner if _PLAIN.fullmatch(inner) else f'"{quoted}"'


def function_name(spelling: str) -> str:
    """The canonical name of a function: without schema, and lower case where SQL would not tell cases apart.

    `ANALYTICS.ML.SCORE_LEAD`, `score_lead` and `pipeline.score_lead` are one; `getUserProfile` keeps its case.
    """
    last = spelling.replace('"', "").rpartition(".")[2] or spelling
    return last.lower() if last.isupper() else last


def file_name(spelling: str, cwd: str | None = None) -> str:
    """The canonical path of a file: `/` as separator, relative to the session's folder where it lies in it."""
    path = spelling.replace("\\", "/")
    if cwd:
        folder = cwd.replace("\\", "/").rstrip("/") + "/"
        if path.lower().startswith(folder.lower()) and len(path) > len(folder):
            path = path[len(folder) :]
    while path.startswith("./"):
        path = path[2:]
    return path

"""Strategies: `cocoplus/strategies/<id>.yaml`, by CocoPlus's refinement loop.

Form (CocoPlus, skill `refine`): flat `key: value` lines (`id`, `name`, `version`, `deprecated`, `task_type` …) and
indented blocks. Only top-level lines are read, which needs no YAML parser.
"""

from __future__ import annotations

import re
from dataclasses import dataclass

from cocorecall.model import Skipped

_TOP_LEVEL = re.compile(r"(?P<key>[A-Za-z_][\w-]*):(?:[ \t]+(?P<value>\S.*?))?[ \t]*$")
_COMMENT = re.compile(r"\s+#.*$")
_ID = re.compile(r"[\w.-]{1,120}$")


@dataclass(frozen=True, slots=True)
class Strategy:
    """One strategy.

    Attributes:
        id: the file's `id`, else its stem.
        names: everything it may be called by: id, file stem.
        deprecated: whether the file says so.
        fields: top-level plain values.
    """

    id: str
    name: str
    names: tuple[str, ...]
    deprecated: bool
    fields: dict[str, str]
    skipped: tuple[Skipped, ...]


def parse_strategy(text: str, stem: str) -> Strategy:
    """Read a strategy file; `stem` is its name without `.yaml`. A file that is not YAML is known by its stem."""
    fields: dict[str, str] = {}
    strange = 0
    for line in text.splitlines():
        if not line.strip() or line[0] in " \t#-" or line.startswith(("---", "...")):
            continue
        match = _TOP_LEVEL.fullmatch(line)
        if match is None:
            strange += 1
        elif match["value"] and match["value"][0] not in "|>{[&*":
            fields.setdefault(match["key"], _plain(match["value"]))
    skipped = []
    own = fields.get("id", "")
    if not fields:
        skipped.append(Skipped(f"strategy {stem!r} has no `key: value` line"))
    elif strange:
        skipped.append(Skipped(f"strategy {stem!r} has {strange} lines that are not `key: value`"))
    if own and not _ID.fullmatch(own):
        skipped.append(Skipped(f"strategy {stem!r} has an unusable id"))
        own = ""
    names = tuple(dict.fromkeys(name for name in (own, stem) if name))
    deprecated = fields.get("deprecated", "").lower() in {"true", "yes"}
    return Strategy(own or stem, fields.get("name") or own or stem, names, deprecated, fields, tuple(skipped))


def _plain(value: str) -> str:
    if value[0] in "\"'" and value.find(value[0], 1) > 0:
        return value[1 : value.rfind(value[0])] if value.rfind(value[0]) > 0 else value
    return _COMMENT.sub("", value)

"""Resources: a session or a turn under an address of its own."""

from __future__ import annotations

from typing import NamedTuple
from urllib.parse import unquote

from cocorecall.errors import UsageError
from cocorecall.mcp.arguments import Show
from cocorecall.mcp.tools import show_page
from cocorecall.recall import Recall

BUDGET = 8_000
"""Most tokens of a resource; the page says where it goes on."""

SESSION, TURN = "recall://session/", "recall://turn/"
_CURSOR = "?cursor="


class Template(NamedTuple):
    """A kind of address."""

    pattern: str
    name: str
    description: str


TEMPLATES = (
    Template(SESSION + "{id}", "session", "A session as it was said; ?cursor= goes on where a page ended."),
    Template(TURN + "{id}", "turn", "One turn, by the id that a search prints (SESSION:NUMBER)."),
)


def read_resource(recall: Recall, uri: str) -> str:
    """The text at an address.

    Raises:
        UsageError: it is no address of ours, or names no session or turn.
    """
    address, _, cursor = uri.partition(_CURSOR)
    for prefix in (SESSION, TURN):
        name = unquote(address.removeprefix(prefix))
        if not address.startswith(prefix) or not name:
            continue
        if prefix == TURN and not name.rpartition(":")[2].isdigit():
            raise UsageError(f"{name!r} is no turn's id.", "A turn's id is SESSION:NUMBER.")
        return show_page(recall, Show(id=name, budget=BUDGET, cursor=unquote(cursor) or None)).text
    raise UsageError(f"There is no resource {uri!r}.", f"Addresses are {SESSION}ID and {TURN}ID.")

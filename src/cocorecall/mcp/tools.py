"""The tools: what each is called, takes, gives back and does."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import Any

from cocorecall.documents import document
from cocorecall.errors import UsageError
from cocorecall.mcp import schemas
from cocorecall.mcp.answers import Answer, report_answer, search_answer
from cocorecall.mcp.arguments import (
    Arguments,
    Facets,
    Fix,
    Import,
    Paged,
    Premortems,
    Search,
    Show,
    Status,
    Timeline,
    cursor_position,
    new_cursor,
)
from cocorecall.mcp.listings import facets_answer, fix_answer, premortems_answer, timeline_answer
from cocorecall.mcp.pages import Page, Position
from cocorecall.model import FixReport, ImportReport
from cocorecall.recall import Recall

Run = Callable[[Recall, Any, str | None], Answer]
"""Answers a call: the index, the checked arguments, and the asking session's id where the host tells it."""


@dataclass(frozen=True, slots=True)
class Tool:
    """A tool of the server.

    Attributes:
        takes: the class of its arguments.
        gives: makes the schema of its document.
        run: None for the one that writes, which the server runs beside the others.
    """

    name: str
    title: str
    description: str
    takes: type[Arguments]
    gives: Callable[[], dict[str, Any]]
    run: Run | None


def _search(recall: Recall, asked: Search, asking: str | None) -> Answer:
    options = asked.model_dump(exclude={"query", "budget", "cursor"})
    if not asked.query.strip() and not any(options[k] for k in options.keys() - _NO_FILTERS):
        raise UsageError("Say what to search for in the argument `query`, or give a filter.")
    skipped = next(iter(cursor_position("recall_search", asked)), 0)
    answer, results = search_answer(
        lambda room: recall.search(
            asked.query, budget=room, record=False, skip=skipped, asking=asking, **options
        ),
        budget=asked.budget,
        cursor=lambda n: new_cursor("recall_search", asked, str(n)),
        skipped=skipped,
    )
    if results.hits:
        recall.record(results)
    return answer


_NO_FILTERS = {"all", "verify", "limit", "full", "echo", "include_current"}


def show_page(recall: Recall, asked: Show) -> Answer:
    """A page of a session.

    Raises:
        UsageError: no such session or turn, an ambiguous prefix, or a cursor of something else.
    """
    at = cursor_position("recall_show", asked)
    view = recall.show(
        asked.id, turn=asked.turn, query=asked.query, around=asked.around, before=asked.lines, after=asked.lines,
        thinking=asked.thinking,
    )  # fmt: skip
    page = Page(view, Position(*at[:3]), asked.budget)
    following = page.next and f"{page.next.seq}.{page.next.part}.{page.next.at}"
    return page.answer(new_cursor("recall_show", asked, following) if following else None)


def _show(recall: Recall, asked: Show, _: str | None) -> Answer:
    return show_page(recall, asked)


def _skipped(tool: str, asked: Paged) -> int:
    return next(iter(cursor_position(tool, asked)), 0)


def _onward(tool: str, asked: Paged) -> Callable[[int], str]:
    return lambda n: new_cursor(tool, asked, str(n))


def _timeline(recall: Recall, asked: Timeline, _: str | None) -> Answer:
    skipped = _skipped("recall_timeline", asked)
    timeline = recall.timeline(asked.name, budget=None, limit=skipped + asked.budget // _LEAST_EVENT + 1)
    return timeline_answer(timeline, skipped, budget=asked.budget, cursor=_onward("recall_timeline", asked))


def _facets(recall: Recall, asked: Facets, _: str | None) -> Answer:
    skipped = _skipped("recall_facets", asked)
    most = skipped + asked.budget // _LEAST_VALUE + 1
    report = recall.facets(asked.kind, type=asked.type, like=asked.like, limit=most)
    return facets_answer(report, skipped, budget=asked.budget, cursor=_onward("recall_facets", asked))


def _fix(recall: Recall, asked: Fix, _: str | None) -> Answer:
    skipped = _skipped("recall_fix", asked)
    room = asked.budget + _USUAL_REPAIR * skipped
    report = recall.fix(asked.error, budget=room)
    while len(report.repairs) < report.total and _repairs_tokens(report, skipped) < asked.budget:
        room *= 2
        report = recall.fix(asked.error, budget=room)
    return fix_answer(report, skipped, budget=asked.budget, cursor=_onward("recall_fix", asked))


def _repairs_tokens(report: FixReport, skipped: int) -> int:
    """What the repairs that were not shown yet cost, about."""
    return _USUAL_REPAIR * max(0, len(report.repairs) - skipped)


def _premortems(recall: Recall, asked: Premortems, _: str | None) -> Answer:
    skipped = _skipped("recall_premortems", asked)
    report = recall.premortems(stage=asked.stage, status=asked.status)
    return premortems_answer(report, skipped, budget=asked.budget, cursor=_onward("recall_premortems", asked))


_LEAST_EVENT, _LEAST_VALUE, _USUAL_REPAIR = 50, 30, 300
"""Tokens: bounds how many entries a page can hold."""


def _status(recall: Recall, asked: Status, _: str | None) -> Answer:
    return report_answer("status", document(recall.status()), asked.budget)


def import_answer(report: ImportReport, budget: int) -> Answer:
    """What an import did, as an answer."""
    return report_answer("import", document(report), budget)


TOOLS = {
    tool.name: tool
    for tool in (
        Tool(
            "recall_search",
            "Search past sessions",
            "Find the turns of past agent sessions that answer a question: verbatim, cited, best first, the best of"
            " each session. Use it before deciding anew what may have been decided, tried or fixed before.",
            Search,
            schemas.search_schema,
            _search,
        ),
        Tool(
            "recall_show",
            "Read a past session",
            "Read a past session, or the turns around a hit: pass the turn id that a search printed, and `around`.",
            Show,
            schemas.show_schema,
            _show,
        ),
        Tool(
            "recall_timeline",
            "History of a name",
            "What happened to one function, table, file or other name: touched, evaluated, decided, contracted, feared,"
            " failed; each event cited, in time order.",
            Timeline,
            schemas.timeline_schema,
            _timeline,
        ),
        Tool(
            "recall_facets",
            "What there is to filter by",
            "Functions, entities, metrics, decisions and other values that searches can be narrowed by, with counts.",
            Facets,
            schemas.facets_schema,
            _facets,
        ),
        Tool(
            "recall_fix",
            "How an error was fixed before",
            "Pass an error as it was printed: where it came before, and what was changed or run that then worked.",
            Fix,
            schemas.fix_schema,
            _fix,
        ),
        Tool(
            "recall_premortems",
            "What was feared",
            "Pre-mortems of CocoPlus: what was feared before stages ran, and how it was to be prevented.",
            Premortems,
            schemas.premortems_schema,
            _premortems,
        ),
        Tool(
            "recall_status",
            "State of the index",
            "What is indexed, how fresh it is, what waits to be imported, and what is wrong.",
            Status,
            schemas.status_schema,
            _status,
        ),
        Tool(
            "recall_import",
            "Import new transcripts",
            "Bring new and changed transcripts into the index. Unchanged ones are not opened; nothing is lost.",
            Import,
            schemas.import_schema,
            None,
        ),
    )
}
"""Every tool by name."""

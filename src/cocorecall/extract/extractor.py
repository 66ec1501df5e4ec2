"""From turns to facets: one `Extraction` an import, one `Extractor` a session, one turn after the other."""

from __future__ import annotations

from collections.abc import Collection, Iterator
from typing import Any

from cocorecall.extract.code import definitions, edits, is_editor
from cocorecall.extract.commands import contract_answers, contract_commands
from cocorecall.extract.decisions import decisions_in, may_decide
from cocorecall.extract.evaluations import measured
from cocorecall.extract.glossary import NO_GLOSSARY, Glossary
from cocorecall.extract.mentions import (
    Known,
    Mentions,
    mention_calls,
    mention_concepts,
    mention_cortex,
    mention_dbt,
    mention_error_numbers,
    mention_errors,
    mention_files,
    mention_known,
    mention_lower_names,
    mention_objects,
    mention_ticked,
    mention_tickets,
    mention_upper_words,
    mention_urls,
)
from cocorecall.extract.names import file_name, function_name, object_name
from cocorecall.extract.prose import Fence, has_digit, lower, split_fences
from cocorecall.extract.sql import SqlReader, StatementFacts
from cocorecall.model import Entity, Facet, FunctionTouch, KeyDecision, StrategyUse, ToolCall, Turn

_SQL_KEYS = ("sql", "query", "statement")
_PATH_KEYS = ("file_path", "path", "notebook_path", "filename")
_SQL_LANGUAGES = frozenset("sql snowflake snowsql sqlx jinja jinja2 dbt".split())
_CODE_LANGUAGES = frozenset("python py python3 ipython".split())
_OUTPUT_LANGUAGES = frozenset(["", "text", "txt", "console", "log", "output", "bash", "sh", "shell", "zsh"])
_QUIET_TOOLS = ("read", "grep", "glob", "search", "fetch", "list", "docs", "view", "skill", "todo", "task")
"""Tools whose results are other people's text: files, web pages, listings. What the session says of it counts."""

_TOOL_SCOPE = 48 << 10
_TEXT_SCOPE = 200_000
_MAX_OPEN_CALLS = 1000
_SHORTEST_ID = 4


def reads_only(tool: str) -> bool:
    """Whether a tool returns other people's text: a file, a page, a listing. `tool` is in lower case."""
    return not tool.endswith("sql_execute") and any(word in tool.rpartition("__")[2] for word in _QUIET_TOOLS)


class Extraction:
    """What all sessions of an import share: the project's words, and the statements already read.

    Args:
        glossary: the project's terms, `data_concept`s where turns mention them.
        strategies: ids of `cocoplus/strategies`.
        functions: functions known beforehand, such as those with an outcome contract.
    """

    def __init__(
        self,
        glossary: Glossary = NO_GLOSSARY,
        strategies: Collection[str] = (),
        functions: Collection[str] = (),
    ) -> None:
        self.glossary = glossary
        self.strategies = tuple(sorted(s for s in strategies if len(s) >= _SHORTEST_ID))
        self.functions = tuple(sorted({*functions, *(f for term in glossary.terms for f in term.functions)}))
        self.sql = SqlReader()

    def session(self, cwd: str | None = None) -> Extractor:
        """An extractor for the turns of one session; `cwd` is its folder, for turns that do not say theirs."""
        return Extractor(self, cwd)


class Extractor:
    """Reads the turns of one session, in order, so that later turns may name what earlier ones used."""

    def __init__(self, extraction: Extraction | None = None, cwd: str | None = None) -> None:
        self._shared = extraction or Extraction()
        self._cwd = cwd
        self._known = Known()
        for function in self._shared.functions:
            self._known.learn("function", function_name(function))
        self._tools: dict[str, str] = {}
        self._contract: str | None = None

    def extract_turn(self, turn: Turn, seq: int) -> list[Facet]:
        """The facets of one turn, in a fixed order, each once. Never raises for anything in the turn.

        An echo (what CocoRecall printed) and a compaction's summary repeat other turns: an echo has no facets,
        a summary has entities only.
        """
        if turn.echo:
            return []
        work = _Turn(turn, seq, self._shared, self._known, turn.cwd or self._cwd)
        if turn.role == "tool" or turn.results:
            self._read_result(work)
        else:
            self._read_message(work)
        for call in turn.calls:
            work.read_call(call)
            if call.call_id is not None and len(self._tools) < _MAX_OPEN_CALLS:
                self._tools[call.call_id] = call.name.lower()
        self._follow_contract(work)
        return work.facets()

    def _read_result(self, work: _Turn) -> None:
        tool = ""
        for result in work.turn.results:
            tool = self._tools.pop(result.call_id or "", "") or tool
        if reads_only(tool):
            return
        work.read_output()

    def _read_message(self, work: _Turn) -> None:
        if work.turn.text:
            work.read_prose()

    def _follow_contract(self, work: _Turn) -> None:
        """Commands to CocoPlus about a contract, and what answers them until the person speaks again."""
        text = work.command_text()
        commands = list(contract_commands(text, work.seq)) if text and "contract" in text else []
        work.other.extend(commands)
        for command in commands:
            name = function_name(command.function_name)
            self._known.learn("function", name)
            work.mentions.also_in(text)
            work.mentions.add("function", name, command.function_name)
        if work.turn.role != "user" and (self._contract is not None or '"function"' in work.turn.text):
            work.other.extend(contract_answers(work.turn.text, work.seq, self._contract))
        if commands:
            self._contract = commands[-1].function_name
        elif work.turn.role == "user" and not work.turn.results:
            self._contract = None


class _Turn:
    """The work on one turn: what has been found so far."""

    __slots__ = ("cwd", "known", "mentions", "other", "seq", "shared", "touches", "turn")

    def __init__(self, turn: Turn, seq: int, shared: Extraction, known: Known, cwd: str | None) -> None:
        self.turn = turn
        self.cwd = cwd
        self.seq = seq
        self.shared = shared
        self.known = known
        self.mentions = Mentions(turn.text)
        self.touches: dict[tuple[str, str], FunctionTouch] = {}
        self.other: list[Facet] = []

    def facets(self) -> list[Facet]:
        entities = [
            Entity(name, kind, spelling, self.seq) for (kind, name), spelling in self.mentions.found.items()
        ]
        if self.turn.kind == "summary":
            return [*entities]
        return [*entities, *self.touches.values(), *self.other]

    # --- text ---

    def read_prose(self) -> None:
        """A person's or a model's words."""
        turn, mentions, known = self.turn, self.mentions, self.known
        text, fences = split_fences(turn.text[:_TEXT_SCOPE])
        lowered = lower(text)
        if may_decide(lowered) and turn.kind != "summary":
            person = turn.role != "assistant"
            self.other += [KeyDecision(d, turn.role, self.seq) for d in decisions_in(text, person=person)]
        digits = has_digit(turn.text)
        if digits:
            self.other += measured(text, [f.body for f in fences if f.language in {"json", ""}], self.seq)
        for fence in fences:
            self._read_fence(fence)
        plain = mention_urls(text, mentions)
        mention_dbt(plain, mentions, known)
        for statement in mention_ticked(plain, mentions, known):
            for facts in self.shared.sql.read(statement):
                self._take_sql(facts, executed=False)
        mention_objects(plain, mentions, known)
        mention_calls(plain, mentions, known)
        mention_upper_words(plain, mentions, known)
        mention_lower_names(plain, lowered, mentions, known)
        mention_known(plain, mentions, known)
        mention_files(plain, mentions, self.cwd)
        mention_errors(plain, mentions)
        if digits:
            mention_error_numbers(plain, mentions)
            mention_tickets(plain, mentions)
        mention_cortex(text, lowered, mentions)
        mention_concepts(text, lowered, mentions, self.shared.glossary)
        self._read_strategies(lowered)

    def _read_fence(self, fence: Fence) -> None:
        if fence.language in _SQL_LANGUAGES:
            self._read_sql(fence.body, executed=False)
        elif fence.language in _CODE_LANGUAGES:
            for name, spelling in definitions(fence.body):
                self._touch(name, spelling, "defined")
            mention_cortex(fence.body, fence.body.lower(), self.mentions)
        elif fence.language in _OUTPUT_LANGUAGES:
            self._read_machine_text(fence.body)

    def read_output(self) -> None:
        """What a tool printed: errors, files, full names, measured values; no decisions, no bare names."""
        text = self.turn.text
        if len(text) > _TOOL_SCOPE:
            text = f"{text[: _TOOL_SCOPE // 2]}\n{text[-_TOOL_SCOPE // 2 :]}"
        self.other += measured(text, [text], self.seq, machine=True)
        self._read_machine_text(text)

    def _read_machine_text(self, text: str) -> None:
        plain = mention_urls(text, self.mentions)
        mention_errors(plain, self.mentions)
        mention_error_numbers(plain, self.mentions)
        mention_objects(plain, self.mentions, self.known, only_full=True)
        mention_files(plain, self.mentions, self.cwd)

    def _read_strategies(self, lowered: str) -> None:
        for strategy in self.shared.strategies:
            at = lowered.find(strategy.lower())
            if at < 0 or lowered[at - 1 : at].isalnum() or lowered[at + len(strategy) :][:1].isalnum():
                continue
            if "-" in strategy or "_" in strategy or "strategy" in lowered:
                self.other.append(StrategyUse(strategy, self.seq))

    # --- calls ---

    def command_text(self) -> str:
        """Where commands to CocoPlus stand: a person's words, and shell commands."""
        if self.turn.calls:
            return "\n".join(
                c for call in self.turn.calls for c in _strings(call.payload, ("command", "cmd"))
            )
        return self.turn.text if self.turn.role == "user" and not self.turn.results else ""

    def read_call(self, call: ToolCall) -> None:
        payload = call.payload
        if not isinstance(payload, dict):
            return
        tool = call.name.lower()
        if tool.endswith("sql_execute"):
            for script in _strings(payload, _SQL_KEYS):
                self._read_sql(script, executed=True)
            return
        for path in _strings(payload, _PATH_KEYS):
            self._read_path(path)
        if is_editor(tool):
            for name, spelling, how in edits(payload):
                self.mentions.also_in(spelling)
                self._touch(name, spelling, how)
        for command in _strings(payload, ("command", "cmd")):
            self.mentions.also_in(command)
            self._read_machine_text(command[:_TOOL_SCOPE])
            self._read_strategies(command.lower())
        for url in _strings(payload, ("url",)):
            self.mentions.also_in(url)
            mention_urls(url, self.mentions)

    def _read_path(self, path: str) -> None:
        """A path that a tool is given is a file if its name says so; a folder is none."""
        if "\n" not in path and "." in path.replace("\\", "/").rpartition("/")[2].strip("."):
            self.mentions.also_in(path)
            if "://" not in path and "*" not in path:
                self.mentions.add("file", file_name(path, self.cwd), path)

    # --- SQL ---

    def _read_sql(self, script: str, *, executed: bool) -> None:
        self.mentions.also_in(script)
        mention_dbt(script, self.mentions, self.known)
        for facts in self.shared.sql.read(script):
            self._take_sql(facts, executed=executed)
        mention_cortex(
            script, script.lower() if "ortex" in script or "ORTEX" in script else "", self.mentions
        )

    def _take_sql(self, facts: StatementFacts, *, executed: bool) -> None:
        for spelling in facts.objects:
            name = self.known.object(spelling) or object_name(spelling)
            self.known.learn("snowflake_object", name)
            self.mentions.add("snowflake_object", name, spelling)
        for spelling in facts.columns:
            name = object_name(spelling)
            self.known.learn("data_concept", name)
            self.mentions.add("data_concept", name, spelling)
        groups = (
            (facts.called, "called"),
            (facts.defined, "created" if executed else "defined"),
            (facts.altered, "edited"),
            (facts.discarded, "dropped"),
        )
        for spellings, how in groups:
            for spelling in spellings:
                if not _is_cortex(spelling):
                    self._touch(
                        function_name(spelling.lower()), spelling, how, touched=executed or how == "defined"
                    )

    def _touch(self, name: str, spelling: str, how: str, *, touched: bool = True) -> None:
        self.known.learn("function", name)
        self.mentions.add("function", name, spelling)
        if touched:
            payload = {"spelling": spelling} if spelling != name else None
            self.touches.setdefault((name, how), FunctionTouch(name, how, self.seq, payload))


def _is_cortex(spelling: str) -> bool:
    upper = spelling.upper()
    return upper.startswith(("AI_", "CORTEX.")) or ".CORTEX." in upper


def _strings(payload: Any, keys: tuple[str, ...]) -> Iterator[str]:
    if isinstance(payload, dict):
        for key in keys:
            value = payload.get(key)
            if isinstance(value, str) and value:
                yield value

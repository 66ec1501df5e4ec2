"""Whether a tool call asked CocoRecall itself: its result is then an echo of turns that are indexed already."""

from __future__ import annotations

import re

from cocorecall.model import ToolCall

_TOOL = re.compile(r"(?:^|__)recall_[a-z]+(?:_[a-z]+)*$|^mcp_{1,2}(?:coco)?recall_", re.IGNORECASE)
"""Tools of the MCP server, alone or with the server's name in front."""

_PROGRAM = re.compile(r"(?:coco)?recall(?:\.exe)?", re.IGNORECASE)
_QUOTING = frozenset("search show timeline fix facets premortems verify dream export read".split())
"""Commands that print turns; `recall import` or `recall status` print none."""

_STARTERS = frozenset(
    "sudo time env exec nohup command builtin timeout nice stdbuf xargs uv uvx pipx poetry hatch pdm rye run tool"
    " winpty caffeinate then do else if while ! {".split()
)
"""Words that may stand before a program: those that start it, and the shell's own."""

_SHELL = re.compile(r"(?:ba|z|da|fi)?sh(?:\.exe)?")
_ASSIGNMENT = re.compile(r"[A-Za-z_]\w*=")
_ENDS = frozenset("; & | && || ( ) |& ;; \n".split(" "))
_MAX_COMMAND = 20_000


def is_echo(call: ToolCall) -> bool:
    """Whether a tool call asks CocoRecall, so that its result is what CocoRecall printed."""
    if "recall" in call.name.lower() and _TOOL.search(call.name):
        return True
    payload = call.payload
    if not isinstance(payload, dict):
        return False
    return any(_runs_recall(payload.get(key)) for key in ("command", "cmd", "script"))


def _runs_recall(command: object) -> bool:
    if isinstance(command, list):
        return _any_runs([word for word in command if isinstance(word, str)])
    if not isinstance(command, str) or "recall" not in command.lower():
        return False
    return any(_any_runs(_words(line)) for line in command[:_MAX_COMMAND].splitlines() if "recall" in line)


def _words(line: str) -> list[str]:
    """A shell line's words, operators apart; quoted text is one word."""
    import shlex  # noqa: PLC0415 - few transcripts call CocoRecall

    line = line.replace("$(", " ( ").replace("`", " ; ")
    lexer = shlex.shlex(line, posix="\\" not in line, punctuation_chars="();|&")
    lexer.whitespace_split = True
    try:
        return [word if len(word) < 2 or word[0] not in "\"'" else word[1:-1] for word in lexer]  # noqa: PLR2004
    except ValueError:  # a quote that closes on a later line
        return line.split()


def _any_runs(words: list[str]) -> bool:
    """Whether any simple command among the words is CocoRecall's."""
    start = 0
    for end in [*(i for i, word in enumerate(words) if word in _ENDS), len(words)]:
        if _runs(words[start:end]):
            return True
        start = end + 1
    return False


def _runs(words: list[str]) -> bool:
    for at, word in enumerate(words):
        name = re.split(r"[\\/]", word)[-1]
        if _PROGRAM.fullmatch(name):
            return _asks(words[at + 1 :])
        if name.startswith("python") and words[at + 1 : at + 3] == ["-m", "cocorecall"]:
            return _asks(words[at + 3 :])
        if _SHELL.fullmatch(name):
            return any(" " in inner and _runs_recall(inner) for inner in words[at + 1 :])
        is_option = word.startswith("-") or (at > 0 and words[at - 1].startswith("-"))
        if not (word in _STARTERS or is_option or word[0].isdigit() or _ASSIGNMENT.match(word)):
            return False
    return False


def _asks(arguments: list[str]) -> bool:
    """Whether the first words, options and their values aside, name a command that prints turns."""
    plain = [word for word in arguments if not word.startswith("-")]
    return any(word in _QUOTING for word in plain[:2])

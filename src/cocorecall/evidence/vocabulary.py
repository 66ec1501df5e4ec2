"""The words of a project: glossary, strategies, functions with a contract. Its sessions are read by them."""

from __future__ import annotations

from pathlib import Path
from typing import NamedTuple

from cocorecall.evidence.files import GLOSSARY, OUTCOMES, STRATEGIES, files_in, folders_in
from cocorecall.extract.cocoplus.strategies import parse_strategy
from cocorecall.extract.glossary import parse_glossary


class Vocabulary(NamedTuple):
    """What extraction knows beforehand.

    Attributes:
        glossary: the glossary's text; empty where there is none.
        strategies: ids of `cocoplus/strategies`.
        functions: functions that have a folder in `outcomes`.
    """

    glossary: str = ""
    strategies: tuple[str, ...] = ()
    functions: tuple[str, ...] = ()

    def words(self) -> list[str]:
        """Every word or phrase that extraction looks for because of it, sorted."""
        terms = parse_glossary(self.glossary)
        named = {function for term in terms.terms for function in term.functions}
        return sorted({*(phrase for phrase, _ in terms.phrases), *named, *self.strategies, *self.functions})


def read_vocabulary(root: Path | None) -> Vocabulary:
    """The words of the project at `root`; none for the personal index. An unreadable file counts as missing."""
    if root is None or not (root / ".cocoplus").is_dir():
        return Vocabulary()
    strategies = {
        name
        for relative in files_in(root, STRATEGIES, (".yaml", ".yml"))
        for name in parse_strategy(_text(root / relative), (root / relative).stem).names
    }
    return Vocabulary(_text(root / GLOSSARY), tuple(sorted(strategies)), tuple(folders_in(root, OUTCOMES)))


def _text(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8-sig", errors="replace")
    except OSError:
        return ""

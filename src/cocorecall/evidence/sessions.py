"""Reads one of CocoPlus's files as a session: a section, record or file a turn."""

from __future__ import annotations

import json
from collections import Counter
from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass
from pathlib import Path

from cocorecall.evidence.files import (
    AGENT,
    CONTRACT_EVIDENCE,
    DECISIONS,
    GLOSSARY,
    MEMORY,
    OUTCOMES,
    PATTERNS,
    PROGRESS,
    REJECTIONS,
    STRATEGIES,
)
from cocorecall.extract.cocoplus import (
    ContractEvidence,
    evidence_statuses,
    parse_contract,
    parse_evidence,
    parse_evidence_file,
    parse_memory,
    parse_pattern,
    parse_premortems,
    parse_rejections,
    parse_strategy,
)
from cocorecall.extract.glossary import parse_glossary
from cocorecall.extract.names import function_name
from cocorecall.extract.sections import sections
from cocorecall.model import (
    MAX_TEXT,
    Entity,
    Event,
    Facet,
    KeyDecision,
    OutcomeContract,
    SessionHead,
    Skipped,
    Turn,
)
from cocorecall.sources.blocks import with_times
from cocorecall.sources.transcript import Transcript

ROLE = "system"
"""Who speaks in evidence: neither the person nor the model, but the files of the project."""


@dataclass(frozen=True, slots=True)
class _Piece:
    """A part of a file that becomes a turn.

    Attributes:
        key: what it is recognised by when its text changes; None: by its text.
        line: 1-based.
        facets: what it states, apart from what extraction finds in its text.
    """

    text: str
    line: int = 1
    key: str | None = None
    timestamp: str | None = None
    facets: tuple[Facet, ...] = ()


_Pieces = tuple[list[_Piece], list[Skipped]]


class EvidenceFormat:
    """Reads the evidence of the project at `root`."""

    agent = AGENT

    def __init__(self, root: Path) -> None:
        self._root = root

    def parse(self, transcript: Transcript) -> Iterator[Event]:
        """Yield the session of one file: its head, its turns with what they state, what was left out.

        Raises:
            OSError: the file cannot be read.
        """
        return with_times(self._parse(transcript), transcript.mtime)

    def _parse(self, transcript: Transcript) -> Iterator[Event]:
        relative = transcript.path.relative_to(self._root).as_posix()
        text = _read(transcript.path)
        companions = {p.relative_to(self._root).as_posix(): p for p in transcript.companions}
        pieces, skipped = self._pieces(relative, text, companions)
        yield SessionHead(relative, AGENT, title=_title(relative), cwd=str(self._root), session_type="main")
        taken: Counter[str] = Counter()
        for seq, piece in enumerate(pieces):
            key = piece.key
            if key is not None:
                taken[key] += 1
                key = key if taken[key] == 1 else f"{key} #{taken[key]}"
            yield Turn(
                role=ROLE, text=piece.text[:MAX_TEXT], native_id=key, line=piece.line,
                timestamp=piece.timestamp, time_source="own" if piece.timestamp else "none",
                text_length=len(piece.text) if len(piece.text) > MAX_TEXT else None,
            )  # fmt: skip
            yield from (_placed(facet, seq) for facet in piece.facets)
        yield from skipped

    def _pieces(self, relative: str, text: str, companions: Mapping[str, Path]) -> _Pieces:
        stem = relative.rpartition("/")[2].rpartition(".")[0]
        if relative.startswith(f"{OUTCOMES}/") or relative == CONTRACT_EVIDENCE:
            return _contract_pieces(relative, text, companions)
        if relative in MEMORY:
            return _memory(text, decisions=relative == DECISIONS)
        if relative.startswith(f"{STRATEGIES}/"):
            return _strategy(text, stem)
        if relative.startswith(f"{PATTERNS}/"):
            return _pattern(text, stem)
        readers: dict[str, Callable[[str], _Pieces]] = {
            PROGRESS: _premortems,
            GLOSSARY: _glossary,
            REJECTIONS: _rejections,
        }
        return readers[relative](text)


def _read(path: Path) -> str:
    return path.read_bytes().decode("utf-8-sig", "replace").replace("\0", "\ufffd").replace("\r\n", "\n")


def _title(relative: str) -> str:
    return f"CocoPlus: {relative.removeprefix('.cocoplus/')}"


def _placed(facet: Facet, seq: int) -> Facet:
    from dataclasses import replace  # noqa: PLC0415 - few pieces state anything

    return replace(facet, turn_seq=seq)


# --- memory, pre-mortems, glossary, wisdom, grove, strategies -----------------------------------------


def _memory(text: str, *, decisions: bool) -> _Pieces:
    found = parse_memory(text)
    pieces = []
    for entry in found.entries:
        said = entry.fields.get("decision") or (entry.title if entry.kind == "entry" else "")
        facets = (KeyDecision(said, ROLE),) if decisions and said else ()
        heading = entry.text.partition("\n")[0]
        pieces.append(_Piece(entry.text, entry.line, heading, entry.timestamp, facets))
    return pieces, list(found.skipped)


def _premortems(text: str) -> _Pieces:
    found = parse_premortems(text)
    pieces = [
        _Piece(p.text, p.line, f"pre-mortem {p.stage_id} {p.timestamp or ''}".rstrip(), p.timestamp)
        for p in found.entries
    ]
    return pieces, list(found.skipped)


def _glossary(text: str) -> _Pieces:
    found = parse_glossary(text)
    lines = {section.line: section.text for section in sections(text)}
    pieces = [
        _Piece(
            lines[term.line],
            term.line,
            term.term.lower(),
            facets=(Entity(term.term, "data_concept", term.term),),
        )
        for term in found.terms
        if term.line in lines
    ]
    return pieces, list(found.skipped)


def _rejections(text: str) -> _Pieces:
    found = parse_rejections(text)
    pieces = [_Piece(r.text, r.line, r.record_id, r.timestamp) for r in found.records]
    return pieces, list(found.skipped)


def _pattern(text: str, stem: str) -> _Pieces:
    found = parse_pattern(text, stem)
    return [_Piece(s.text, s.line, s.title.lower(), found.timestamp) for s in found.sections if s.text], []


def _strategy(text: str, stem: str) -> _Pieces:
    found = parse_strategy(text, stem)
    whole = text.strip("\n")
    return ([_Piece(whole, 1, "file")] if whole.strip() else []), list(found.skipped)


# --- contracts ----------------------------------------------------------------------------------------


def _contract_pieces(relative: str, text: str, companions: Mapping[str, Path]) -> _Pieces:
    if relative == CONTRACT_EVIDENCE:
        records, skipped = parse_evidence(text)
        slices = dict(_members(text)) if records else {}
        pieces = [
            _Piece(
                slices[r.function_name][1],
                slices[r.function_name][0],
                r.function_name,
                r.recorded_at,
                (_outcome(r, r.status), _function(r.function_name)),
            )
            for r in records
            if r.function_name in slices
        ]
        return pieces, skipped
    function = relative.split("/")[1]
    if relative.endswith("/contract.md"):
        return _contract(text, function, companions)
    return _evidence(text, function, companions)


def _contract(text: str, function: str, companions: Mapping[str, Path]) -> _Pieces:
    contract = parse_contract(text, function)
    evidence = [e for name, path in companions.items() for e in _evidence_in(name, path, function)]
    own = [e for e in evidence if e.function_name == function]
    state = (
        OutcomeContract(function, contract.outcome_type, contract.status or (None if own else "absent")),
        _function(function),
    )
    pieces = [
        _Piece(section.text, section.line, section.title.lower(), facets=state if n == 0 else ())
        for n, section in enumerate(contract.sections)
        if section.text
    ]
    return pieces, list(contract.skipped)


def _evidence(text: str, function: str, companions: Mapping[str, Path]) -> _Pieces:
    """A file of `evidence/`: one turn; `stale` where a newer record of the function has another source."""
    own, skipped = parse_evidence_file(text, function)
    others = [e for name, path in companions.items() for e in _evidence_in(name, path, function)]
    newest = {
        (o.outcome_type, json.dumps(o.payload, sort_keys=True, default=str)): o.status
        for o in evidence_statuses(parse_contract("", function), [*own, *others])
    }
    facets: list[Facet] = []
    for record in own:
        key = (record.outcome_type, json.dumps(record.record, sort_keys=True, default=str))
        facets += [_outcome(record, newest.get(key, record.status)), _function(record.function_name)]
    whole = text.strip("\n")
    time = max((r.recorded_at for r in own if r.recorded_at), default=None)
    return ([_Piece(whole, 1, "file", time, tuple(facets))] if whole.strip() else []), skipped


def _evidence_in(name: str, path: Path, function: str) -> list[ContractEvidence]:
    if name.endswith("/contract.md"):
        return []
    try:
        text = _read(path)
    except OSError:
        return []
    return parse_evidence(text)[0] if name == CONTRACT_EVIDENCE else parse_evidence_file(text, function)[0]


def _outcome(record: ContractEvidence, status: str | None) -> OutcomeContract:
    return OutcomeContract(record.function_name, record.outcome_type, status, None, record.record)


def _function(name: str) -> Entity:
    return Entity(function_name(name), "function", name)


def _members(text: str) -> Iterator[tuple[str, tuple[int, str]]]:
    """The members of a JSON object as they are written: (name, (1-based line, `"name": value`)).

    The text is known to be one JSON object.
    """
    decode = json.JSONDecoder().raw_decode
    at = text.index("{") + 1 if "{" in text else len(text)
    while (at := _skip(text, at, " \t\r\n,")) < len(text) and text[at] == '"':
        start = at
        name, at = decode(text, at)
        _, at = decode(text, _skip(text, at, " \t\r\n:"))
        yield str(name), (text.count("\n", 0, start) + 1, text[start:at])


def _skip(text: str, at: int, characters: str) -> int:
    while at < len(text) and text[at] in characters:
        at += 1
    return at

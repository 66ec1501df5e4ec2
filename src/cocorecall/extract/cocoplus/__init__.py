"""Readers of the files that CocoPlus keeps beside the sessions: text in, structured sections out.

Each reader takes what is sound and reports the rest as `Skipped`; none does I/O or raises for any text.
"""

from __future__ import annotations

from cocorecall.extract.cocoplus.contracts import (
    ContractEvidence,
    ContractFile,
    evidence_statuses,
    parse_contract,
    parse_evidence,
    parse_evidence_file,
)
from cocorecall.extract.cocoplus.lifecycle import Lifecycle, PhaseChange, parse_lifecycle, phase_at
from cocorecall.extract.cocoplus.memory import MemoryEntry, MemoryFile, parse_memory
from cocorecall.extract.cocoplus.patterns import GrovePattern, parse_pattern
from cocorecall.extract.cocoplus.premortems import PreMortem, PreMortems, parse_premortems
from cocorecall.extract.cocoplus.strategies import Strategy, parse_strategy
from cocorecall.extract.cocoplus.wisdom import Rejection, Rejections, parse_rejections

__all__ = [
    "ContractEvidence",
    "ContractFile",
    "GrovePattern",
    "Lifecycle",
    "MemoryEntry",
    "MemoryFile",
    "PhaseChange",
    "PreMortem",
    "PreMortems",
    "Rejection",
    "Rejections",
    "Strategy",
    "evidence_statuses",
    "parse_contract",
    "parse_evidence",
    "parse_evidence_file",
    "parse_lifecycle",
    "parse_memory",
    "parse_pattern",
    "parse_premortems",
    "parse_rejections",
    "parse_strategy",
    "phase_at",
]

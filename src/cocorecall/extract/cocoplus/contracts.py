"""Outcome contracts: `outcomes/<function>/contract.md`, its `evidence/`, `.cocoplus/contract-evidence.json`.

Forms (CocoPlus, skill `contract`, and its evidence recorder): a contract names persona, observable result and
falsifiability condition; `contract-evidence.json` is `{"<function>": {"tier", "description", "source_hash",
"recorded_at", "result", "certifying"}}`; `evidence/` holds one such record a file, as JSON or Markdown.
"""

from __future__ import annotations

import json
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import Any

from cocorecall.extract.cocoplus.instants import instant
from cocorecall.extract.commands import canonical_status, canonical_tier
from cocorecall.extract.sections import Section, sections
from cocorecall.model import OutcomeContract, Skipped

_FIELDS = ("persona", "observable result", "falsifiability condition")


@dataclass(frozen=True, slots=True)
class ContractFile:
    """A contract.md.

    Attributes:
        persona, observable_result, falsifiability_condition: None where the file does not say.
        outcome_type: the tier that it names, if any.
        status: as it says, in canonical form, if it does.
        sections: its `##` sections, to be indexed one a turn; a file without any is one section.
    """

    function_name: str
    persona: str | None
    observable_result: str | None
    falsifiability_condition: str | None
    outcome_type: str | None
    status: str | None
    sections: tuple[Section, ...]
    skipped: tuple[Skipped, ...]


@dataclass(frozen=True, slots=True)
class ContractEvidence:
    """One record of evidence.

    Attributes:
        outcome_type: the tier.
        status: `pass`, `fail`, `stale`, `absent`, or as written.
        recorded_at: ISO 8601 UTC, where it can be read.
        record: the record as written.
    """

    function_name: str
    outcome_type: str | None
    status: str | None
    recorded_at: str | None
    description: str
    record: dict[str, Any]


def parse_contract(text: str, function_name: str) -> ContractFile:
    """Read a contract.md; `function_name` is its folder's name. Missing fields are reported, not fatal."""
    found: dict[str, str] = {}
    for section in (*sections(text, level=1), *sections(text, level=2), _whole(text)):
        for name, value in section.fields.items():
            found.setdefault(name, value)
        body = section.text.partition("\n")[2].strip()
        if body:
            found.setdefault(section.title.lower().rstrip(":"), body)
    persona, observable, falsifiable = (found.get(name) or None for name in _FIELDS)
    skipped = [
        Skipped(f"contract of {function_name!r} has no {name}") for name in _FIELDS if not found.get(name)
    ]
    return ContractFile(
        function_name=function_name,
        persona=persona,
        observable_result=observable,
        falsifiability_condition=falsifiable or found.get("falsifiability") or None,
        outcome_type=canonical_tier(
            found.get("outcome type") or found.get("tier") or found.get("evidence tier")
        ),
        status=canonical_status(found.get("status") or found.get("result")),
        sections=tuple(sections(text)) or (_whole(text),),
        skipped=tuple(skipped),
    )


def _whole(text: str) -> Section:
    """The file as one section, its fields those before and between headings."""
    stripped = text.strip()
    inner = next(iter(sections(f"## file\n{_flat(stripped)}")), None)
    title = stripped.splitlines()[0].lstrip("# ") if stripped else ""
    return Section(title, 2, 1, stripped, inner.fields if inner else {})


def _flat(text: str) -> str:
    return "\n".join("" if line.startswith("#") else line for line in text.splitlines())


def parse_evidence(text: str) -> tuple[list[ContractEvidence], list[Skipped]]:
    """Read `.cocoplus/contract-evidence.json`: the newest evidence of each function (a list of them is read too)."""
    try:
        document = json.loads(text)
    except (ValueError, RecursionError) as error:
        return [], [Skipped(f"contract evidence is not JSON ({str(error)[:80]})")]
    if not isinstance(document, dict):
        return [], [Skipped("contract evidence is not a JSON object")]
    records: list[ContractEvidence] = []
    skipped: list[Skipped] = []
    for function, value in document.items():
        for record in value if isinstance(value, list) else [value]:
            if isinstance(record, dict):
                records.append(_evidence(str(function), record))
            else:
                skipped.append(Skipped(f"evidence of {function!r} is not a JSON object"))
    return records, skipped


def parse_evidence_file(text: str, function_name: str) -> tuple[list[ContractEvidence], list[Skipped]]:
    """Read one file of `outcomes/<function>/evidence/`: a JSON record, a list of them, JSON lines or Markdown."""
    records = list(_json_records(text))
    if records:
        return [_evidence(str(r.get("function") or function_name), r) for r in records], []
    fields = _whole(text).fields
    if any(name in fields for name in ("tier", "outcome type", "result", "status")):
        return [
            _evidence(function_name, {name.replace(" ", "_"): value for name, value in fields.items()})
        ], []
    return [], [Skipped(f"evidence of {function_name!r} names neither a tier nor a result")]


def _json_records(text: str) -> Iterator[dict[str, Any]]:
    for body in (text, *text.splitlines()):
        try:
            value = json.loads(body)
        except (ValueError, RecursionError):
            continue
        if body is text or isinstance(value, dict):
            yield from (
                record
                for record in (value if isinstance(value, list) else [value])
                if isinstance(record, dict)
            )
        if body is text:
            return


def _evidence(function: str, record: dict[str, Any]) -> ContractEvidence:
    tier = next(
        (record[key] for key in ("tier", "outcome_type", "type", "evidence_tier") if record.get(key)), None
    )
    status = next(
        (record[key] for key in ("result", "status", "verdict", "passed") if record.get(key) is not None),
        None,
    )
    time = next(
        (record[key] for key in ("recorded_at", "timestamp", "recorded", "date", "ts") if record.get(key)),
        None,
    )
    description = record.get("description")
    return ContractEvidence(
        function_name=function,
        outcome_type=canonical_tier(tier),
        status=canonical_status(status),
        recorded_at=instant(time),
        description=description if isinstance(description, str) else "",
        record=record,
    )


def evidence_statuses(contract: ContractFile, evidence: Iterable[ContractEvidence]) -> list[OutcomeContract]:
    """The contract with the newest evidence of each tier; without any it is `absent`.

    Evidence whose record carries another `source_hash` than a newer one of the same function is `stale`.
    """
    own = [e for e in evidence if e.function_name == contract.function_name]
    if not own:
        return [OutcomeContract(contract.function_name, contract.outcome_type, contract.status or "absent")]
    newest_first = sorted(own, key=lambda e: e.recorded_at or "", reverse=True)
    newest_hash = next((e.record["source_hash"] for e in newest_first if e.record.get("source_hash")), None)
    by_tier: dict[str | None, OutcomeContract] = {}
    for entry in newest_first:
        source_hash = entry.record.get("source_hash")
        stale = entry.status == "pass" and source_hash and newest_hash and source_hash != newest_hash
        status = "stale" if stale else entry.status
        by_tier.setdefault(
            entry.outcome_type,
            OutcomeContract(entry.function_name, entry.outcome_type, status, None, entry.record),
        )
    return list(by_tier.values())

"""CocoPlus commands in a session: `$contract …` and what answers them.

Forms (CocoPlus, skill `contract`, and its evidence recorder): `$contract init|check|prove|archive NAME
[--tier TIER]`, `contract-prove … --function NAME --tier TIER`; answers as JSON, `{"function", "recorded":
{"tier", "result"}}` and `{"contracts": [{"function", "status", "tier", "reason"}]}`. Tiers, strongest first:
e2e, reference, spec, differential, unit.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from cocorecall.model import OutcomeContract

TIERS = ("e2e", "reference", "spec", "differential", "unit")
"""Outcome types, strongest first."""

_STATUSES = {
    "pass": "pass", "passed": "pass", "passes": "pass", "passing": "pass", "proven": "pass", "fresh": "pass",
    "fail": "fail", "failed": "fail", "fails": "fail", "failing": "fail", "blocked": "fail", "violated": "fail",
    "stale": "stale", "outdated": "stale", "absent": "absent", "missing": "absent", "none": "absent", "no evidence": "absent",
}  # fmt: skip
_COMMAND = re.compile(
    r"[$/]contract[ \t]+(?P<verb>init|check|prove|archive)[ \t]+[`\"'\[]?(?P<name>[A-Za-z_][\w.$-]*)[`\"'\]]?(?P<rest>[^\n]*)"
)
_SCRIPT = re.compile(r"contract-prove(?:\.js)?\b(?P<rest>[^\n]*)")
_OPTION = re.compile(r"--(function|tier)[ =]+[`\"']?([\w.$-]+)")
_LINE = re.compile(
    rf"\b(?P<tier>{'|'.join(TIERS)})\b(?P<between>[^.\n]{{0,60}}?)"
    r"\b(?P<status>pass(?:ed|es|ing)?|fail(?:ed|s|ing)?|stale|outdated|absent|missing|violated|no evidence)\b",
    re.IGNORECASE,
)


def canonical_status(written: Any) -> str | None:
    """`pass`, `fail`, `stale` or `absent`; another word as written; None for no word."""
    if isinstance(written, bool):
        return "pass" if written else "fail"
    if not isinstance(written, str) or not written.strip():
        return None
    word = " ".join(written.strip(" *_`.").lower().split())
    return _STATUSES.get(word) or _STATUSES.get(word.split(" ")[0].strip(",;:()")) or word


def canonical_tier(written: Any) -> str | None:
    """One of `TIERS` where the words say so (`Tier 1 (e2e)`); another word as written; None for no word."""
    if not isinstance(written, str) or not written.strip():
        return None
    word = written.strip(" *_`.").lower()
    found = re.search(rf"\b({'|'.join(TIERS)})\b", word.replace("end-to-end", "e2e"))
    return found[1] if found else word


def contract_commands(text: str, seq: int) -> Iterator[OutcomeContract]:
    """Contracts that a turn's commands are about. Their status is not known before the answer."""
    if "contract" not in text:
        return
    for match in _COMMAND.finditer(text):
        tier = dict(_OPTION.findall(match["rest"])).get("tier")
        payload = {"command": match["verb"], "text": match[0].strip()[:300]}
        yield OutcomeContract(match["name"].rstrip("."), canonical_tier(tier), None, seq, payload)
    for match in _SCRIPT.finditer(text):
        options = dict(_OPTION.findall(match["rest"]))
        if "function" in options:
            payload = {"command": "prove", "text": match[0].strip()[:300]}
            yield OutcomeContract(
                options["function"], canonical_tier(options.get("tier")), None, seq, payload
            )


def contract_answers(text: str, seq: int, pending: str | None) -> Iterator[OutcomeContract]:
    """Contracts whose status an answer gives; `pending` is the function that was asked about last."""
    body = text.strip()
    if body.startswith("{") and ("contracts" in body or "recorded" in body):
        yield from _json_answers(body, seq)
    elif pending is not None:
        for match in _LINE.finditer(text):
            status = canonical_status(match["status"])
            yield OutcomeContract(
                pending, match["tier"].lower(), status, seq, {"text": match[0].strip()[:300]}
            )


def _json_answers(body: str, seq: int) -> Iterator[OutcomeContract]:
    try:
        answer = json.loads(body)
    except (ValueError, RecursionError):
        return
    recorded, contracts = answer.get("recorded"), answer.get("contracts")
    if isinstance(recorded, dict) and isinstance(answer.get("function"), str):
        status = canonical_status(recorded.get("result"))
        yield OutcomeContract(answer["function"], canonical_tier(recorded.get("tier")), status, seq, recorded)
    for item in contracts if isinstance(contracts, list) else ():
        if isinstance(item, dict) and isinstance(item.get("function"), str):
            status = canonical_status(item.get("status"))
            yield OutcomeContract(item["function"], canonical_tier(item.get("tier")), status, seq, item)

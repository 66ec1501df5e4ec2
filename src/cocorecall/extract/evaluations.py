"""Measured values: metric statements in prose, Markdown tables, test-run summaries, evaluation JSON.

A value counts where its metric is one of a fixed list of names (`METRICS`), so that `x = 3` in code is none.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterator
from typing import Any

from cocorecall.model import EvaluationResult

MAX_JSON = 256 << 10
"""Characters of the longest JSON text that is looked into."""

_MAX_RESULTS = 60
_LONGEST_ROW = 2000
_LONGEST_TABLE = 40_000

METRICS = {
    "accuracy": ("accuracy",),
    "balanced accuracy": ("balanced accuracy", "balanced_accuracy"),
    "precision": ("precision",),
    "recall": ("recall",),
    "f1": ("f1 score", "f1-score", "f1_score", "f1", "f-score", "f1_macro", "macro f1", "macro-f1", "micro f1", "weighted f1"),
    "auc": ("roc auc", "roc-auc", "roc_auc", "auroc", "auc"),
    "rmse": ("rmse",), "mae": ("mae", "mean absolute error"), "mse": ("mse",), "mape": ("mape", "smape", "wape"), "r2": ("r2", "r²", "r-squared"),
    "bleu": ("bleu",), "rouge-l": ("rouge-l", "rouge_l", "rougel"), "exact match": ("exact match", "exact_match"),
    "pass rate": ("pass rate", "pass_rate"), "error rate": ("error rate", "error_rate"),
    "hit rate": ("hit rate", "hit_rate"), "match rate": ("match rate", "match_rate"), "win rate": ("win rate", "win_rate"),
    "false positive rate": ("false positive rate", "false_positive_rate", "fpr"),
    "false negative rate": ("false negative rate", "false_negative_rate", "fnr"),
    "mrr": ("mrr",), "ndcg": ("ndcg",), "map": ("mean average precision",),
    "kappa": ("cohen's kappa", "kappa"), "agreement": ("agreement",),
    "perplexity": ("perplexity",), "log loss": ("log loss", "log_loss", "logloss"),
    "coverage": ("test coverage", "line coverage", "coverage"),
    "latency p50": ("p50 latency", "latency p50", "latency_p50"), "latency p95": ("p95 latency", "latency p95", "p95", "latency_p95"),
    "latency p99": ("p99 latency", "latency p99", "p99", "latency_p99"), "latency": ("mean latency", "average latency", "median latency", "latency"),
    "throughput": ("throughput",), "faithfulness": ("faithfulness",), "groundedness": ("groundedness",),
    "answer relevance": ("answer relevance", "answer_relevance", "answer relevancy"), "context relevance": ("context relevance", "context_relevance"),
    "null rate": ("null rate", "null_rate"), "duplicate rate": ("duplicate rate", "duplicate_rate"),
    "score": ("evaluation score", "eval score", "eval_score", "overall score"),
}  # fmt: skip
"""Canonical metric names, and how turns write them."""

_CANONICAL = {alias: name for name, aliases in METRICS.items() for alias in aliases}
_ALIASES = "|".join(re.escape(a).replace(r"\ ", "[ _]") for a in sorted(_CANONICAL, key=len, reverse=True))
_NUMBER = r"[-+]?\d{1,3}(?:,\d{3})+(?:\.\d+)?|[-+]?\d*\.?\d+(?:[eE][-+]?\d{1,3})?"
_UNIT = r"[ \u00a0]?(?:%|percent\b|points?\b|ms\b|milliseconds?\b|s\b|sec(?:onds?)?\b|min(?:utes)?\b|credits?\b|tokens?/s\b|rows/s\b|req/s\b|qps\b|hours?\b|h\b)"
_VERBS = (
    r"(?:is|was|are|were|reached|reaches|hit|hits|came out at|comes out at|comes to|stands at|stood at|stays at|stayed at|remains at|sits at"
    r"|landed at|measured|of|at|improved to|improves to|rose to|rises to|went up to|climbed to|dropped to|drops to|fell to|falls to|went down to"
    r"|went from|rose from|improved from|dropped from|fell from|up from|down from|now|=|:|→|->|—|–)"
)
_STATEMENT = re.compile(
    rf"(?P<metric>{_ALIASES})(?:@(?P<at>\d{{1,4}})| at (?P<top>\d{{1,3}})(?= ?(?:=|is\b|was\b|:|of\b|stands\b|rose\b|fell\b|holds\b)))?[`*_\"']{{0,3}}"
    rf"(?P<scope>(?: (?:on|for|over|across|against|in|with|of|score|measured on)\b(?: (?!(?:is|was|are|were)\b)[^\s,;:=|]{{1,40}}){{0,7}}?)?)"
    rf"\s*(?:{_VERBS}\s*)(?:(?:only|still|now|about|around|roughly|just|nearly|almost|exactly|up to|~|≈)\s*)*[`*_\"']{{0,3}}"
    rf"(?P<value>{_NUMBER})(?P<unit>{_UNIT})?(?:\s*(?:to|→|->)\s*(?P<later>{_NUMBER})(?P<later_unit>{_UNIT})?)?(?![\w%]*[\w]|\.\d| (?:digits|decimals?|places|bits|characters|significant|below|above|under|over)\b)",
    re.IGNORECASE,
)
_THRESHOLD = re.compile(
    rf"\b(?:threshold|target|minimum|floor|at least|required|requires|goal|limit|budget|baseline requirement|acceptance)\b[^\d\n]{{0,16}}?(?P<a>{_NUMBER})"
    rf"|(?:>=|<=|≥|≤)\s*(?P<b>{_NUMBER})|\b(?:the|our|a) (?P<c>{_NUMBER})(?:\s?%)? (?:threshold|target|minimum|floor|limit|gate|bar)\b",
    re.IGNORECASE,
)
_SENTENCE_STOP = re.compile(r"[.;](?=\s)|\n")
_RANKED = frozenset(("precision", "recall", "ndcg", "hit rate", "mrr"))
_UNITS = {
    "percent": "%", "milliseconds": "ms", "millisecond": "ms", "seconds": "s", "second": "s", "sec": "s", "minutes": "min",
    "points": "points", "point": "points", "credit": "credits", "hours": "h", "hour": "h",
}  # fmt: skip


_HEADS = sorted(
    {alias.split(" ")[0].split("_")[0].split("-")[0] for alias in _CANONICAL}, key=len, reverse=True
)
_HEAD = re.compile(rf"(?<![\w.-])(?:{'|'.join(map(re.escape, _HEADS))})")
_TAILS = frozenset(re.split(r"[ -]", alias)[-1] for alias in _CANONICAL)
_TAIL_BACKWARDS = re.compile(r"[\s*`\"'=:]*(?:\d{1,4}@)?(\w+)")
_ASSIGNED = re.compile(r"[=:][\s`*~≈+\"'-]{0,6}(?=[0-9.])")
_FIRST_DIGIT = re.compile(r"[0-9](?<=[\s=:>→—–~≈+.*`\"'-][0-9])")
_LEADS = (
    "=", ":", "→", ">", "—", "–", " is", " was", " are", " were", "reached", "reaches", " hit", " hits", " of", " at", " to", " now", "measured",
    " from", "only", "still", "about", "around", "roughly", "just", "nearly", "almost", "exactly",
)  # fmt: skip
_LONGEST_LEAD = 14
_REACH = 160
_SHORT_REACH = 48


def places_of_metrics(text: str, *, machine: bool) -> list[int]:
    """Where the metrics of measured values can begin, in order; empty for nearly all text.

    Numbers come first: in prose they are rarer than words, and the word before one tells whether it is a value.
    In what a machine printed the metric itself stands before it, with `=` or `:` between.
    """
    places: set[int] = set()
    if machine:
        for match in _ASSIGNED.finditer(text):
            if _metric_before(text, match.end()):
                places.update(_heads_before(text, match.end(), _SHORT_REACH))
        return sorted(places)
    for match in _FIRST_DIGIT.finditer(text):
        start = match.start()
        lead = text[start - _LONGEST_LEAD if start > _LONGEST_LEAD else 0 : start]
        if lead.rstrip(" \n`*_~≈+-.\"'").endswith(_LEADS):
            places.update(_heads_before(text, start, _REACH))
    return sorted(places)


def _metric_before(text: str, at: int) -> bool:
    word = _TAIL_BACKWARDS.match(text[max(0, at - _SHORT_REACH) : at][::-1])
    name = word[1][::-1].lower() if word else ""
    return name in _TAILS or name in _CANONICAL


def _heads_before(text: str, at: int, reach: int) -> Iterator[int]:
    window = text[max(0, at - reach) : at].lower()
    return (at - len(window) + found.start() for found in _HEAD.finditer(window))


def number(text: str) -> float | None:
    """A number as people write it (`1,234.5`, `.91`); None for what is none."""
    try:
        value = float(text.replace(",", ""))
    except ValueError:
        return None
    return value if value - value == 0 else None


def canonical_metric(name: str) -> str | None:
    """The canonical name of a metric, `@k` kept; None for a name that is not on the list."""
    base, at, k = name.strip(" `*_\"'").lower().partition("@")
    base = " ".join(base.split())
    found = (
        _CANONICAL.get(base)
        or _CANONICAL.get(base.replace("_", " "))
        or _CANONICAL.get(base.replace("-", " "))
    )
    return f"{found}@{k}" if found and at and k.isdigit() else found


def measured_in_prose(text: str, places: list[int], seq: int) -> Iterator[EvaluationResult]:
    """Metric statements of running text: `accuracy on the holdout set is 0.91 (threshold 0.85)`."""
    end = 0
    for place in places:
        match = _STATEMENT.match(text, place) if place >= end else None
        if match is None:
            continue
        end = match.end()
        name = canonical_metric(match["metric"])
        value = number(match["later"] or match["value"])
        if name is None or value is None or _is_part_of_code(text, match) or _is_rank(name, match):
            continue
        unit = (match["later_unit"] if match["later"] else match["unit"]) or match["unit"] or ""
        stop = _SENTENCE_STOP.search(text, match.end())
        tail = text[match.end() : min(stop.start() if stop else len(text), match.end() + 120)]
        yield EvaluationResult(
            metric=f"{name}@{at}" if (at := match["at"] or match["top"]) else name,
            value=value,
            unit=_unit(unit),
            threshold=_threshold(tail),
            turn_seq=seq,
            payload={
                "text": match[0].strip(),
                **({"scope": match["scope"].strip()} if match["scope"].strip() else {}),
            },
        )


_LISTED = re.compile(
    r"(?<=[(,;])[ ]?(?P<metric>(?:macro |micro |weighted )?(?:precision|recall|accuracy|f1|auc|auroc|coverage|mrr|ndcg|bleu|rouge-l))"
    r"(?:@(?P<at>\d{1,4}))? (?P<value>0?\.\d{1,6}|1\.0{1,4}|\d{1,3}(?:\.\d{1,4})?[ ]?(?P<unit>%))(?=[,;)])",
    re.IGNORECASE,
)


def measured_in_lists(text: str, seq: int) -> Iterator[EvaluationResult]:
    """Metrics that brackets list without a verb: `(precision 0.91, recall 0.83)`."""
    if "(" not in text:
        return
    for match in _LISTED.finditer(text):
        name = canonical_metric(match["metric"])
        value = number(match["value"].rstrip("% "))
        if name is not None and value is not None:
            yield EvaluationResult(
                metric=f"{name}@{match['at']}" if match["at"] else name,
                value=value,
                unit=match["unit"],
                turn_seq=seq,
                payload={"text": match[0].strip()},
            )


def _is_rank(name: str, match: re.Match[str]) -> bool:
    """`precision at 50`: the number says how many were looked at, not how good they were."""
    rest = match[0][len(match["metric"]) :]
    return name in _RANKED and rest.startswith(" at ") and match["value"].isdigit() and not match["unit"]


def _is_part_of_code(text: str, match: re.Match[str]) -> bool:
    """`self.accuracy = 0.0`, `accuracy: float = 0.9`, `f(precision=3)`: names of a program."""
    before = text[max(0, match.start() - 1) : match.start()]
    after = text[match.end() : match.end() + 1]
    return before in {"(", "[", "{", "$", "/", "-"} and after in {")", ",", "]", "}"} and "=" in match[0]


def _unit(written: str) -> str | None:
    unit = written.strip().lower()
    return _UNITS.get(unit, unit) or None


def _threshold(tail: str) -> float | None:
    match = _THRESHOLD.search(tail)
    return number(match["a"] or match["b"] or match["c"]) if match else None


# --- tables ----------------------------------------------------------------------------------------------

_RULE = re.compile(r"^\s*\|?\s*:?-{2,}:?\s*(?:\|\s*:?-{2,}:?\s*)*\|?\s*$")
_METRIC_HEADS = frozenset("metric metrics measure kpi".split())
_VALUE_HEADS = frozenset("value score result actual measured current".split())
_THRESHOLD_HEADS = frozenset("threshold target minimum min required goal gate".split())
_CELL = re.compile(
    rf"[`*_ ]*(?P<value>{_NUMBER})(?P<unit>{_UNIT})?[`*_ ]*(?:[✓✅✗❌↑↓]|\(.{{0,30}}\))?[`*_ ]*",
    re.IGNORECASE,
)


def measured_in_tables(text: str, seq: int) -> Iterator[EvaluationResult]:
    """Values of Markdown tables: a metric and a value column, or columns that are named by metrics."""
    at = text.find("---")
    while at >= 0:
        start, end = text.rfind("\n", 0, at), text.find("\n", at)
        end = len(text) if end < 0 else end
        if start >= 0 and end - start < _LONGEST_ROW and _RULE.match(text[start + 1 : end]):
            head = text[text.rfind("\n", 0, start) + 1 : start]
            if "|" in head and len(head) < _LONGEST_ROW:
                yield from _table(
                    [cell.strip(" *`_") for cell in _cells(head)], text[end + 1 : end + _LONGEST_TABLE], seq
                )
        at = text.find("---", end)


def _table(heads: list[str], body: str, seq: int) -> Iterator[EvaluationResult]:
    lowered = [head.lower() for head in heads]
    metric = next((i for i, head in enumerate(lowered) if head in _METRIC_HEADS), None)
    value = next((i for i, head in enumerate(lowered) if head in _VALUE_HEADS), None)
    limit = next((i for i, head in enumerate(lowered) if head in _THRESHOLD_HEADS), None)
    columns = {i: name for i, head in enumerate(heads) if (name := canonical_metric(head)) is not None}
    if (metric is None or value is None) and not columns:
        return
    for line in body.splitlines():
        if "|" not in line:
            return
        cells = _cells(line)
        if metric is not None and value is not None:
            name = canonical_metric(cells[metric]) if metric < len(cells) else None
            yield from _row(name, cells, (value, limit), seq, line)
        else:
            for at, name in columns.items():
                yield from _row(name, cells, (at, limit), seq, line)


def _row(
    name: str | None, cells: list[str], columns: tuple[int, int | None], seq: int, line: str
) -> Iterator[EvaluationResult]:
    """One value of a table; `columns` are those of the value and of its threshold."""
    value, limit = columns
    match = _CELL.fullmatch(cells[value]) if value < len(cells) else None
    if name is None or match is None or (measured := number(match["value"])) is None:
        return
    threshold = None
    if limit is not None and limit < len(cells) and (found := re.search(_NUMBER, cells[limit])):
        threshold = number(found[0])
    payload = {"row": line.strip()[:300]}
    yield EvaluationResult(name, measured, _unit(match["unit"] or ""), threshold, seq, payload)


def _cells(line: str) -> list[str]:
    return [cell.strip() for cell in line.strip().strip("|").split("|")]


# --- test runs -------------------------------------------------------------------------------------------

_PYTEST = re.compile(
    r"^(?:=+ )?(?P<counts>(?:\d+ [a-z]+(?:, )?)+) in (?P<time>[\d.]+)s(?: \([\d:]+\))?(?: =+)?\s*$",
    re.MULTILINE,
)
_JEST = re.compile(r"^Tests:\s+(?P<counts>(?:\d+ [a-z]+(?:, )?)+)\s*$", re.MULTILINE)
_COUNT = re.compile(r"(\d+) ([a-z]+)")
_DBT = re.compile(r"Done\. (?P<counts>PASS=\d+ WARN=\d+ ERROR=\d+ SKIP=\d+(?: [A-Z-]+=\d+)* TOTAL=\d+)")
_DBT_COUNT = re.compile(r"([A-Z-]+)=(\d+)")
_WORDS = {
    "passed": "passed",
    "failed": "failed",
    "skipped": "skipped",
    "error": "errors",
    "errors": "errors",
    "xfailed": "xfailed",
}
_DBT_WORDS = {"PASS": "passed", "WARN": "warnings", "ERROR": "failed", "SKIP": "skipped"}


def measured_by_tests(text: str, seq: int) -> Iterator[EvaluationResult]:
    """Counts of runs, as pytest, jest (`tests passed`, `tests failed`, …) and dbt (`nodes passed`, …) end with."""
    if " in " in text or "Tests:" in text:
        for runner, pattern in (("pytest", _PYTEST), ("jest", _JEST)):
            for match in pattern.finditer(text):
                for count, word in _COUNT.findall(match["counts"]):
                    if word in _WORDS:
                        yield _tests(_WORDS[word], count, runner, match[0], seq)
    if "PASS=" in text:
        for match in _DBT.finditer(text):
            for word, count in _DBT_COUNT.findall(match["counts"]):
                if word in _DBT_WORDS and (count != "0" or word in {"PASS", "ERROR"}):
                    yield _tests(_DBT_WORDS[word], count, "dbt", match[0], seq)


def _tests(word: str, count: str, runner: str, line: str, seq: int) -> EvaluationResult:
    payload = {"runner": runner, "text": line.strip(" =\n")}
    unit = "nodes" if runner == "dbt" else "tests"
    return EvaluationResult(f"{unit} {word}", float(count), unit, None, seq, payload)


# --- JSON ------------------------------------------------------------------------------------------------


def measured_in_json(text: str, seq: int) -> Iterator[EvaluationResult]:
    """Values of evaluation JSON: `{"accuracy": 0.91}`, `{"metric": "f1", "value": 0.88, "threshold": 0.8}`."""
    body = text.strip()
    if len(body) > MAX_JSON or not body.startswith(("{", "[")) or not body.endswith(("}", "]")):
        return
    try:
        value = json.loads(body)
    except (ValueError, RecursionError):
        return
    yield from _walk(value, seq, 0)


def _walk(value: Any, seq: int, depth: int) -> Iterator[EvaluationResult]:
    if depth > 6:  # noqa: PLR2004 - evaluation files are flat; deeper is data
        return
    if isinstance(value, list):
        for item in value[:200]:
            yield from _walk(item, seq, depth + 1)
    elif isinstance(value, dict):
        yield from _object(value, seq)
        for key, item in value.items():
            if isinstance(item, dict | list):
                yield from _walk(item, seq, depth + 1)
            elif _is_number(item) and (name := canonical_metric(str(key))) is not None:
                yield EvaluationResult(name, float(item), None, None, seq, {"key": key})


def _object(value: dict[str, Any], seq: int) -> Iterator[EvaluationResult]:
    name = value.get("metric") or value.get("name")
    measured = next(
        (value[key] for key in ("value", "score", "actual", "result") if _is_number(value.get(key))), None
    )
    if isinstance(name, str) and measured is not None and (metric := canonical_metric(name)) is not None:
        limit = next(
            (value[key] for key in ("threshold", "target", "minimum") if _is_number(value.get(key))), None
        )
        unit = value.get("unit")
        yield EvaluationResult(
            metric,
            float(measured),
            unit if isinstance(unit, str) else None,
            limit and float(limit),
            seq,
            {"json": name},
        )


def _is_number(value: Any) -> bool:
    return isinstance(value, int | float) and not isinstance(value, bool) and abs(value) < 1e15  # noqa: PLR2004


def measured(text: str, json_texts: list[str], seq: int, *, machine: bool = False) -> list[EvaluationResult]:
    """All measured values of a turn, each metric and value once, in the order prose, tables, tests, JSON.

    `json_texts` are what of the turn may be JSON as a whole; `machine` says that a tool printed the text.
    """
    groups: list[Iterator[EvaluationResult]] = []
    if places := places_of_metrics(text, machine=machine):
        groups.append(measured_in_prose(text, places, seq))
    if "(" in text and not machine:
        groups.append(measured_in_lists(text, seq))
    if "|" in text and "---" in text:
        groups.append(measured_in_tables(text, seq))
    if (
        (" in " in text and (" passed" in text or " failed" in text or " error" in text))
        or "PASS=" in text
        or "Tests:" in text
    ):
        groups.append(measured_by_tests(text, seq))
    groups += [measured_in_json(body, seq) for body in json_texts if "{" in body[:200]]
    return _once(groups) if groups else []


def _once(groups: list[Iterator[EvaluationResult]]) -> list[EvaluationResult]:
    found: dict[tuple[str, Any], EvaluationResult] = {}
    for group in groups:
        for result in group:
            found.setdefault((result.metric, result.value), result)
            if len(found) >= _MAX_RESULTS:
                return list(found.values())
    return list(found.values())

"""Sentences in which somebody decides something.

Deciding is saying so: a label (`Decision: …`), a verb of deciding in the past or perfect (`we decided to …`), or
a choice announced (`let's go with …`, `we'll keep …`, `I'll use A instead of B because …`). Questions, negations,
hypotheticals and reports of when or why something was decided are none.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from cocorecall.extract.prose import paragraphs, sentences

MAX_DECISION = 600
"""Characters of the longest sentence that is taken for a decision."""

_MAX_DECISIONS = 20
_VERBS = ("decided", "agreed", "settled", "opted", "chose", "approved")
_LABELS = ("decision", "decided", "agreed", "approved")
_PASSIVES = ("decided", "agreed", "decision", "going with", "sticking", "settling")

_LABEL = re.compile(
    r"^[*_\s]*(?:final |key |design )?(?:decision|decided|agreed|approved)(?: \([^)\n]{1,40}\))?"
    r"[*_]*\s*(?::|—|–|\s-\s)[*_]*\s*(?P<what>\S.*)",
    re.IGNORECASE | re.DOTALL,
)
_AGREED = re.compile(r"^agreed,? (?:then )?(?:we|let's|let’s|i)\b", re.IGNORECASE)
_NO_CONTENT = re.compile(
    r"^(?:tbd|todo|none|open|pending|n/?a|unknown|needed|required|not yet|later|\?|to be|see\b|-|—|\.|…)",
    re.IGNORECASE,
)
_WHO = (
    r"(?:we|i|they|he|she|everyone|you and i|the (?:\w+ ){0,2}(?:team|board|committee|council|group|owners?))"
)
_SUBJECT = rf"\b{_WHO}(?:'ve|’ve|'d|’d|'re|’re| have| had| has| all| both| finally| then| just| jointly| already| therefore)*"
_VERB = re.compile(
    rf"{_SUBJECT}(?: have| has)? (?:decided|agreed|settled|opted|chose|chosen|approved)"
    r"(?: (?:to|on|for|against|not|that|in|with|upon|never)\b| [`\"'A-Z\w])",
    re.IGNORECASE,
)
_PASSIVE = re.compile(
    r"\b(?:it (?:was|has been|is) (?:decided|agreed)|the decision (?:is|was) (?:to|that|made to)"
    r"|(?:my|our|the) decision is\b|(?:we are|we're|we’re|i'm|i’m|i am) (?:going with|sticking with|settling on))",
    re.IGNORECASE,
)
_OPENING = (
    r"^(?:(?:ok|okay|yes|fine|right|good|alright|all right|great|then|so|agreed|no|thanks)[,.;:!]? )*(?:and |but |also )?"
    r"(?:from now on,? |for now,? )?(?:then |so )?"
)
_LETS = re.compile(
    _OPENING
    + r"(?:let's|let’s|lets) (?:just |rather |simply |definitely |also )?(?:go (?:with|for|back to)|stick (?:with|to)|stay with"
    r"|switch (?:to|back)|make it|move|leave|settle (?:on|for)|adopt|standardi[sz]e on|do without|keep|use|drop|take|cluster|rename|store|split"
    r"|pin|schedule|restrict|remove|replace|limit|cap|raise|lower|skip|migrate|archive|freeze|exclude|include|mask|merge)\b"
    r"(?! (?:in mind|going|an eye|track|a look|look|digging|it for later))",
    re.IGNORECASE,
)
_WILL_VERBS = (
    r"(?:keep|go with|stick (?:with|to)|stay (?:with|on)|drop|adopt|switch to|move to|standardi[sz]e on|settle (?:on|for)"
    r"|leave|retire|use|store|ship)"
)
_WE_WILL = re.compile(
    _OPENING + rf"we(?:'ll|’ll| will) (?:therefore |now |simply |just |always |then )?{_WILL_VERBS}\b"
    r"(?! (?:an eye|track|going|in mind|see|know))",
    re.IGNORECASE,
)
_WE_DO = re.compile(
    _OPENING
    + r"we (?:therefore |now |simply )?(?P<verb>keep|drop|set|switch|retire|freeze|pin|cap|leave|use|take|move|merge|cluster|store|mask|make"
    r"|replace|go with|stick with)\b(?! (?:up|off|out|back at|sure|aside|\w+ing)\b)",
    re.IGNORECASE,
)
_FIRM_VERBS = frozenset("keep drop set switch retire freeze pin cap leave".split())
_STRICT_REASON = re.compile(
    r"\b(?:because|so that|instead|rather than|and not|not in|from now on|for now|again|in favou?r of)\b",
    re.IGNORECASE,
)
_KEEP_THEN = re.compile(
    _OPENING + r"(?:keep|use|drop|leave|take) [^.?!]{3,160}\b(?:then|for now|from now on|instead)\b",
    re.IGNORECASE,
)
_I_WILL = re.compile(
    r"\bI(?:'ll|’ll| will) (?:therefore |now |simply |just |always )?(?:use|go with|keep|choose|pick|take|switch to|stick (?:with|to)|adopt|store|drop)\b",
)
_CONTRAST = re.compile(
    r"\b(?:instead of|rather than|over|in place of|and not|not the|in favou?r of|instead(?=[,.;]|$))\b",
    re.IGNORECASE,
)
_REASON = re.compile(
    r"\b(?:because|since|as (?:it|that|this|the)|so that|given that|to avoid|which avoids)\b|[—:;]",
    re.IGNORECASE,
)
_GOING = re.compile(
    _OPENING + r"(?:going with|go with|sticking with|stick with|stay with|staying with)\b", re.IGNORECASE
)

_NEGATED = re.compile(
    r"\b(?:not (?:yet )?(?:decided|agreed|settled|chosen|made)|never (?:decided|agreed|settled|chose)|(?:have|has|had|did|was|were|is|are)(?:n't|n’t| not)"
    r"(?: yet| really| actually| all)? (?:been )?(?:decid|agree|settl|chos|choos|conclud|opt|pick)|undecided|no decision|nobody (?:decided|agreed)"
    r"|(?:don't|don’t|do not|can't|can’t|cannot|won't|won’t|couldn't|couldn’t) (?:decide|agree|settle))",
    re.IGNORECASE,
)
_HYPOTHETICAL = re.compile(
    r"(?:^|[,;(—] ?)\s*(?:if|unless|suppose|supposing|assuming|imagine|in case|should|would|could|what if|even if)\b|\b(?:if|unless|whether|in case)\b[^.,;]{0,60}$"
    r"|\b(?:might|may|could|would|should) (?:have )?(?:decide|agree|go with|settle|chose|opt)",
    re.IGNORECASE,
)
_REPORTED = re.compile(
    r"\b(?:why|when|whenever|how|who|what|which|where|until|before|after|once|as soon as|if|whether|unless|that|because|since|like|thought|think|"
    r"assum\w+|suppos\w+|remember|recall|note[sd]?|says?|said|reads?|whatever)\s(?:it |exactly )?(?:we|i|they|he|she|you|the team)?\s*"
    r"(?:'ve|’ve|'d|’d| have| had| has| finally| first| once| all| last)*$",
    re.IGNORECASE,
)


def may_decide(lowered: str) -> bool:
    """A cheap test on lower-cased text: whether any sentence of it can be a decision."""
    # Spelled out, for this is asked of every turn: a loop over the words takes twice the time.
    return (
        "we " in lowered or "deci" in lowered or "agreed" in lowered or "settl" in lowered
        or ("'" in lowered and ("let's" in lowered or "'ll " in lowered))
        or ("’" in lowered and ("let’s" in lowered or "’ll " in lowered))
        or (" with" in lowered and ("go with" in lowered or "going with" in lowered or "stick" in lowered or "stay" in lowered))
        or "lets " in lowered or "i will" in lowered or "opted" in lowered or "chose" in lowered
        or "approved" in lowered or "keep " in lowered or "drop " in lowered
    )  # fmt: skip


def decisions_in(prose: str, *, person: bool) -> list[str]:
    """The decisions of a turn, verbatim, in order, each once.

    Args:
        prose: the turn's text without its fenced blocks.
        person: whether a person speaks. A person's `let's use X` decides; a model's is a step of its work
            unless it says what it prefers X to, or why.
    """
    found: dict[str, None] = {}
    for block in paragraphs(prose):
        if block.lstrip().startswith((">", "|", "#")) or not may_decide(block.lower()):
            continue
        for sentence in _candidates(block):
            if may_decide(sentence.lower()) and decides(sentence, person=person):
                found[sentence] = None
                if len(found) == _MAX_DECISIONS:
                    return list(found)
    return list(found)


def _candidates(block: str) -> Iterator[str]:
    for sentence in sentences(block):
        if len(sentence) <= MAX_DECISION and not sentence.rstrip("\"'”’)*_` ").endswith("?"):
            yield sentence


def decides(sentence: str, *, person: bool) -> bool:
    """Whether one sentence, by itself, takes a decision."""
    lowered = sentence.lower()
    if _has(lowered[:60], _LABELS) and (label := _LABEL.match(sentence)):
        return not _NO_CONTENT.match(label["what"].lstrip("*_ "))
    match = _claim(sentence, lowered, person=person)
    return match is not None and _asserted(sentence, match) and not _NEGATED.search(sentence)


def _claim(sentence: str, lowered: str, *, person: bool) -> re.Match[str] | None:
    """The words that claim a decision; None where there are none, or not from this speaker."""
    match = _AGREED.match(sentence) or _VERB.search(sentence) if _has(lowered, _VERBS) else None
    if match is None and _has(lowered, _PASSIVES):
        match = _PASSIVE.search(sentence)
    if match is not None:
        return match
    if match := _LETS.match(sentence) or _WE_WILL.match(sentence):
        return match if person or _firm(sentence, match[0]) else None
    if (match := _WE_DO.match(sentence)) and _meant(sentence, match, person=person):
        return match
    if person and (match := _GOING.match(sentence) or _KEEP_THEN.match(sentence)):
        return match
    match = _I_WILL.search(sentence)
    return match if match and _CONTRAST.search(sentence, match.end()) else None


def _has(lowered: str, words: tuple[str, ...]) -> bool:
    for word in words:  # noqa: SIM110 - on every turn, and a generator costs more than the search
        if word in lowered:
            return True
    return False


def _meant(sentence: str, match: re.Match[str], *, person: bool) -> bool:
    """Whether `we keep X` sets something down, and does not only say how things are."""
    verb = match["verb"].lower()
    if person and (verb in _FIRM_VERBS or match.start("verb") > len("we therefore ")):
        return True
    return verb != "use" and _STRICT_REASON.search(sentence, match.end()) is not None


def _firm(sentence: str, opening: str) -> bool:
    """Whether a model's announcement is a choice and not the next step of its work."""
    if re.search(r"\b(?:go with|stick|stay|settle|keep|drop|adopt|retire|standardi)", opening, re.IGNORECASE):
        return True
    return _CONTRAST.search(sentence) is not None or _REASON.search(sentence) is not None


def _asserted(sentence: str, match: re.Match[str]) -> bool:
    """Whether the verb stands in a main clause that claims it: no condition, no report, no question before it."""
    before = sentence[: match.start()]
    subject = re.search(r"\b(?:we|i|they|he|she|the team|everyone)\b", match[0], re.IGNORECASE)
    lead = before + (match[0][: subject.start()] if subject else "")
    return not (_HYPOTHETICAL.search(lead) or _REPORTED.search(lead.rstrip() + " "))

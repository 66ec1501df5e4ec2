"""Values that are secret because of the name in front of them: `password=…`, `"api_key": "…"`, `--token …`.

A name alone says little: code is full of tokens and keys. So the value decides: what is a placeholder, a
reference, a path, a hash or made of words is none. Passwords may be short and plain where a connection
string, an environment variable or `CREATE USER` says what they are.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from typing import NamedTuple

from cocorecall.model import Secret
from cocorecall.secrets.shapes import compiled
from cocorecall.secrets.values import (
    is_base62,
    is_hex,
    is_path,
    is_placeholder,
    is_random,
    is_reference,
    is_words,
)

PASSWORDS = ("password", "passwd", "pwd", "passphrase", "passcode", "identified by")
ANCHORS = (*PASSWORDS, "secret", "secret_string", "token", "key", "credential", "credentials")
"""How the names end that are looked at, in lower case."""

_OWNERS = frozenset(
    "api app application access secret private auth account client encryption encrypt signing master service license"
    " subscription shared webhook deploy admin bot integration ingest write session jwt hmac storage root".split()
)
"""Whose key is secret: `api_key`, `signing-key`."""
_EXPLICIT = frozenset(
    "api app auth access secret client bearer bot refresh private encryption signing session account credential".split()
)
"""Parts of names that say of a hexadecimal value that it is a key, not a hash."""
_NOT_SECRET = frozenset(
    "next start starting page verification registration creation update grant work continuation cursor sync public csrf"
    " pad eos bos unk mask sep cls stop special primary foreign sort cache partition hash digest checksum fingerprint"
    " idempotency resume change delimiter position offset max min num count n lookup group merge unique natural"
    " surrogate cluster dedup".split()
)
"""Parts of names of what is no secret: `next_page_token`, `eos_token`, `primary_key`."""
_NAME_LENGTH = 40
_CAMEL = r"(?<=[a-z0-9])(?=[A-Z])"

_SIGN = (
    r"(?:\\*[\"'`])?\]?(?:\s?:\s?(?:str|string|String|Optional\[str\]|str \| None)(?=\s*=))?"
    r"(?P<sign>\s{0,20}(?::=|=>|=(?![=>~])|:(?![:=]))[ \t]{0,8})"
    r"(?:[rbfu]{0,2}(?P<quote>\\*[\"'`]))?"
)
_CALL = r"(?P<sign>\([ ]?)(?P<quote>\\*[\"'`])"
"""`setPassword("…")`."""
_BESIDE = (
    r"(?P<sign>\\*[\"']\s?,\s?(?=\\*[\"'])|\s{0,40}[|│]\s{0,4}(?![|│\s])|[\"']?\s{0,4}\n\s{0,20}[\"']?value[\"']?: {1,4})"
    r"(?P<quote>\\*[\"'`])?"
)
"""`setenv("DB_PASSWORD", "…")`, `| DB_PASSWORD | … |`, `name: DB_PASSWORD` and `value: …` below it."""
_ELEMENT = r"(?P<sign>>)(?P<quote>)(?=[^<>\s]{1,100}</)"
"""`<password>…</password>`."""
_TOLD = r"\s(?:is|was|to|will be)(?: now)?:? (?P<quote>[\"'`])?"
_BLANK = r"(?P<sign>[ \t]{1,4})(?P<quote>\\*[\"'`])?"
_LONGEST = 8192
_BARE = rf"[^\s\"'`,;<>(){{}}\[\]\\|&]{{1,{_LONGEST}}}"
_BARE_IN_ENVIRONMENT = rf"[^\s\"'`;<>\\]{{1,{_LONGEST}}}"
_BARE_IN_CONNECTION = rf"[^\s;&\"'`<>{{}}\\]{{1,{_LONGEST}}}"

_EXPORTS = frozenset(
    ("", "export", "set", "env", "ENV", "-e", "$", "$ export", "> export", "+", "+ export", "$env:")
)
"""What may stand in front of an environment variable on its line."""
_COMMAND_END = r"\\n|[;&|\"'`(]"
_USER_STATEMENT = r"(?:create|alter)\s+(?:or\s+replace\s+)?user\b"
_CONTEXT = 400
"""Characters in front of a password in which `CREATE USER` or `snowflake` says what it is."""
_TRIVIAL = frozenset(
    "password passwd pwd pass secret token key apikey api_key user username admin test testing foo bar baz"
    " postgres root mysql guest default string str text bytes required optional value".split()
)
_ALGORITHMS = tuple(
    "sha md5 base utf oauth argon pbkdf aes rsa ed25 v1 v2 http tls ssl int float str".split()
)
"""Beginnings of names of algorithms and types, which end with a digit like many a password."""
_SIGNS = frozenset("!@#$%^&*?+=~")

_AWS_SECRET = 40
_LONG_VALUE = 64
_RANDOM, _HEX = 16, 32
"""Fewest characters of a random value and of a hexadecimal key."""
_PASSWORD, _STRONG_PASSWORD, _KNOWN_PASSWORD = 6, 8, 3
"""Fewest characters of a password in quotes, of one in the open, and of one that is known to be one."""


class _Assignment(NamedTuple):
    """A name and its value, and what stands around them.

    Attributes:
        name: in lower case.
        anchor: its end, one of `ANCHORS`.
        kind: what the value would be.
        start: where the name begins.
        value_start: where the value begins, behind its quote.
        quote: the quote, with the backslashes in front of it; empty where there is none.
        option: it is the option of a command.
        known: connection string, environment variable or statement: a password beyond doubt.
        pattern: how far the value goes.
        beside: it stands in another cell, argument, element or line.
    """

    name: str
    anchor: str
    kind: str
    start: int
    value_start: int
    quote: str
    option: bool
    known: bool
    pattern: str
    beside: bool = False


def assigned(text: str, lowered: str, anchor: str) -> Iterator[Secret]:
    """The secret values behind names that end with an anchor.

    Args:
        text: the text.
        lowered: the same in lower case, of the same length.
        anchor: one of `ANCHORS`.
    """
    at = lowered.find(anchor)
    while at >= 0:
        end = at + len(anchor)
        follows = text[end : end + 1]
        other = follows.isalpha() or follows == "_" or (follows == "(" and anchor not in PASSWORDS)
        found = None if other else _read(text, lowered, at, anchor)
        value = compiled(found.pattern).match(text, found.value_start) if found else None
        if found and value:
            called = not found.quote and text[value.end() : value.end() + 1] in ("(", "[")
            if not called and _is_secret(value[0], found, text):
                yield Secret(found.kind, *value.span())
                end = value.end()
            elif value.end() - value.start() > _LONG_VALUE:
                end = value.end()  # or a text of nothing but names would be read again from each of them
        at = lowered.find(anchor, end)


def _read(text: str, lowered: str, at: int, anchor: str) -> _Assignment | None:
    end = at + len(anchor)
    sign = compiled(_SIGN).match(text, end, end + 60)
    start = _name_start(lowered, at)
    sign = sign or (_odd_sign(text, start, end) if anchor in PASSWORDS else None)
    sign = sign or compiled(_BLANK).match(text, end)
    if sign is None:
        return None
    name = _as_parts(text[start:end])
    option = lowered.startswith("--", start)
    docker = text.startswith("ENV ", max(0, start - 4))
    if not sign["sign"].strip() and not (option or docker or (anchor == "identified by" and sign["quote"])):
        return _in_prose(text, end, name, anchor)
    address = text[start - 1 : start] == ":" and sign["sign"] == ":"  # of `arn:aws:…:secret:name`
    if address or not _is_secret_name(name, anchor):
        return None
    kind = _kind(name, anchor, lowered, start)
    return _in_its_setting(text, start, sign, _Assignment(
        name, anchor, kind, start, sign.end(), sign["quote"] or "", option, known=kind == "snowflake-password", pattern=_BARE,
    ))  # fmt: skip


def _odd_sign(text: str, start: int, end: int) -> re.Match[str] | None:
    """What else may stand between a name and a password, if not a sign."""
    follows = text[end : end + 1]
    if follows == "(":
        own = _as_parts(text[start:end]).split("_")[-1] in PASSWORDS  # `setPassword`, not `splitpasswd`
        return compiled(_CALL).match(text, end) if own else None
    if follows == ">" and text[start - 1 : start] == "<":
        return compiled(_ELEMENT).match(text, end)
    return compiled(_BESIDE).match(text, end) if text[start:end].isupper() else None


def _in_prose(text: str, end: int, name: str, anchor: str) -> _Assignment | None:
    """A password as a person tells it: `the password is …`."""
    told = compiled(_TOLD).match(text, end) if anchor in PASSWORDS else None
    if told is None:
        return None
    return _Assignment(
        name, anchor, "password", end, told.end(), told["quote"] or "", option=False, known=False,
        pattern=rf"[^{told['quote']}\s]{{1,{_LONGEST}}}" if told["quote"] else r"[^\s\"'`<>,;(){}\\]{1,200}",
    )  # fmt: skip


def _in_its_setting(text: str, start: int, sign: re.Match[str], found: _Assignment) -> _Assignment | None:
    """With how far the value goes, and whether it is known to be a password."""
    tight = sign["sign"] == "="
    if sign["sign"].strip(" \t\n") not in (":=", "=>", "=", ":", ""):
        # in another cell, argument or element the name alone proves little
        found = found._replace(beside=True, known=False)
    before = text[start - 1 : start]
    name = text[start : sign.start()]
    lead = (
        compiled(_COMMAND_END)
        .split(text[max(text.rfind("\n", 0, start) + 1, start - 80) : start])[-1]
        .strip()
    )
    if found.anchor == "pwd" and lead in _EXPORTS and found.name in ("pwd", "oldpwd") and before != ";":
        return None  # the shell's working directory
    if len(found.quote) > 1:  # a quote inside a JSON string
        return found._replace(pattern=rf"(?:(?!\\+{found.quote[-1]})[^\n]){{1,{_LONGEST}}}")
    if found.quote:
        return found._replace(pattern=rf"(?:[^{found.quote}\\\n]|\\.){{1,{_LONGEST}}}")
    if name.isupper() and (tight or lead == "ENV") and lead in _EXPORTS and before not in ("&", "?"):
        return found._replace(pattern=_BARE_IN_ENVIRONMENT, known=True)
    if tight and (before in (";", "&", "?") or ";" in text[sign.end() : sign.end() + 100].split("\n", 1)[0]):
        return found._replace(pattern=_BARE_IN_CONNECTION, known=True)
    return found


def _name_start(lowered: str, at: int) -> int:
    start = at
    while start > 0 and at - start < _NAME_LENGTH and (
        lowered[start - 1].isalnum() or lowered[start - 1] in "_.-"
    ):  # fmt: skip
        start -= 1
    if start > 0 and lowered[start - 1] == "\\" and lowered[start] in "nrt":
        start += 1  # an escaped line end in front of the name
    return min(start, at)


def _as_parts(name: str) -> str:
    """A name in lower case, its parts joined by `_`: `accessToken` is `access_token`."""
    if name.islower():
        return name.replace(".", "_").replace("-", "_")
    return _as_parts(compiled(_CAMEL).sub("_", name).lower())


def _is_secret_name(name: str, anchor: str) -> bool:
    if anchor in PASSWORDS:
        return True
    parts = name.split("_")
    if not _NOT_SECRET.isdisjoint(parts) or "client_token" in name or "client_request" in name:
        return False
    return anchor != "key" or len(parts) > 1 or parts[0].removesuffix("key") in _OWNERS


def _owners(name: str) -> list[str]:
    """The parts of a name, `apikey` as `api`."""
    return [
        part.removesuffix("key").removesuffix("token").removesuffix("secret") or part
        for part in name.split("_")
    ]


def _is_owned_key(name: str) -> bool:
    *before, last = name.split("_")
    return last != "key" or (bool(before) and before[-1] in _OWNERS)


def _kind(name: str, anchor: str, lowered: str, start: int) -> str:
    if anchor in PASSWORDS:
        before = lowered[max(0, start - _CONTEXT) : start]
        snow = "snow" in name or "snowflake" in before or compiled(_USER_STATEMENT).search(before)
        return "snowflake-password" if snow else "password"
    for part, kind in _KINDS:
        if part in name or name.startswith(part.removeprefix("^")):
            return "aws-session-token" if kind == "aws-secret-key" and anchor == "token" else kind
    return {"key": "api-key", "credential": "secret", "credentials": "secret"}.get(anchor, anchor)


_KINDS = (
    ("aws", "aws-secret-key"),
    ("secret_access_key", "aws-secret-key"),
    ("datadog", "datadog-key"),
    ("^dd_", "datadog-key"),
    ("twilio", "twilio-key"),
    ("azure", "client-secret"),
    ("client_secret", "client-secret"),
)
"""Parts of names, or their beginnings (`^`), that say whose the secret is."""


def _is_secret(value: str, found: _Assignment, text: str) -> bool:
    if found.kind == "aws-secret-key" and len(value) == _AWS_SECRET and not is_hex(value):
        return not set(value) <= {"x", "X", "*", "."}
    if _repeats_its_name(value, found.name):
        return False
    if not (_is_password(value, found, text) if found.anchor in PASSWORDS else _is_key(value, found)):
        return False
    if not found.quote and is_reference(value):
        return False
    return not is_placeholder(value) and not is_path(value)


def _is_key(value: str, found: _Assignment) -> bool:
    """Whether the value of a key, token or secret is random: names and hashes are not."""
    if len(value) < _RANDOM or " " in value:
        return False
    if is_hex(value):
        return len(value) >= _HEX and not _EXPLICIT.isdisjoint(_owners(found.name))
    if found.anchor == "key" and not _is_owned_key(found.name):
        return is_base62(value)  # names and ids of all sorts of things are called keys
    return is_random(value)


def _repeats_its_name(value: str, name: str) -> bool:
    folded = value.lower()
    return folded in _TRIVIAL or name.endswith(folded) or folded.startswith(name)


def _is_password(value: str, found: _Assignment, text: str) -> bool:
    if found.known:
        return len(value) >= _KNOWN_PASSWORD and not value.isdigit()
    if found.beside and not (found.quote or _SIGNS & set(value) or value.lower() != value):
        return False
    letters, digits = any(c.isalpha() for c in value), any(c.isdigit() for c in value)
    signs = not _SIGNS.isdisjoint(value)
    if " " in value or not letters or not (digits or signs) or len(value) < _PASSWORD:
        return False
    if found.quote or found.option or found.beside:
        return digits or len(value) >= _STRONG_PASSWORD
    return digits and _is_open_password(value, found, text)


def _is_open_password(value: str, found: _Assignment, text: str) -> bool:
    """Whether it looks like a password where most is code and prose, or is all that its line says."""
    mixed = value.lower() != value and value.upper() != value
    alone = not text[text.rfind("\n", 0, found.start) + 1 : found.start].strip()
    if alone and text[found.value_start + len(value) : found.value_start + len(value) + 1] in (
        "",
        "\n",
        "\r",
    ):
        return not value[-1].isalpha() and not value.lower().startswith(_ALGORITHMS)
    return len(value) >= _STRONG_PASSWORD and mixed and not _SIGNS.isdisjoint(value) and not is_words(value)

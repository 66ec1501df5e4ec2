"""Values that are secret because of the name in front of them: `password=…`, `"api_key": "…"`, `--token …`.

A name alone says little: code is full of tokens and keys. So the value decides: what is a placeholder, a
reference, a path, a hash or made of words is none. Passwords may be short and plain where a connection
string, an environment variable or `CREATE USER` says what they are.
"""

from __future__ import annotations

import math
import re
from collections import Counter
from collections.abc import Iterator

from cocorecall.secrets.shapes import compiled

ANCHORS = ("password", "passwd", "pwd", "passphrase", "passcode", "secret", "token", "key", "credential", "authorization", "bearer", "identified by")  # fmt: skip
"""How the names end that are looked at, in lower case."""

_PASSWORDS = frozenset(("password", "passwd", "pwd", "passphrase", "passcode", "identified by"))
_KEYS = re.compile(
    r"(?:api|app|application|access|secret|private|auth|account|client|encryption|encrypt|signing|master|service"
    r"|license|subscription|shared|webhook|deploy|admin|bot|integration|ingest|write|session|jwt|hmac|storage|root)"
    r"[_.-]?key"
)
_NOT_SECRET = re.compile(
    r"next|start|page|verification|registration|creation|update|client.?token|client.?request|grant|work|continuation|cursor|sync|public|csrf|pad|eos|bos|unk|mask|sep|cls|stop|special|primary|foreign"
    r"|sort|cache|partition|hash|digest|checksum|fingerprint|idempotency|resume|change|token_?type|delimiter"
    r"|position|offset|max|min|num|count|n_|lookup|group|merge|unique|natural|surrogate|cluster|dedup"
)
"""Parts of names of what is no secret: `next_page_token`, `eos_token`, `primary_key`."""

_AFTER = (
    r"(?:\\*[\"'`])?\]?(?:\s?:\s?(?:str|string|String|Optional\[str\]|str \| None)(?=\s*=))?"
    r"(?P<sign>\s{0,20}(?::=|=>|=(?![=>~])|:(?![:=]))[ \t]{0,8})"
    r"(?:[rbfu]{0,2}(?P<quote>\\*[\"'`]))?"
)
_AFTER_FLAG = r"(?P<sign>[ \t]{1,4})(?P<quote>\\*[\"'`])?"
_BARE = r"[^\s\"'`,;<>(){}\[\]\\|&]{1,8192}"
_BARE_IN_ENVIRONMENT = r"[^\s\"'`;<>\\]{1,8192}"
_BARE_IN_CONNECTION = r"[^\s;&\"'`<>{}\\]{1,8192}"
_PLACEHOLDER = re.compile(
    r"[<>{}]|\$[\w({]|^\$|^%|%[(s]|%\w+%|\*{3}|\.{3}|…|x{4}|X{4}|^x+$|^\.+$|^-+$|your|change.?me|redact|masked|placeholder|\[secret"
    r"|environ|getenv|process\.env|^env\.|^secrets\.|^vault:|^ref\+|^arn:|^projects/|^op://|keyring|^_+$|^0+$|1234567890abcdef"
    r"|insert|replace|example\.|^none$|^null$|^true$|^false$|^undefined$|^nil$|^\(|hidden|encrypted|omitted|removed|sample",
    re.IGNORECASE,
)
_TRIVIAL = frozenset(
    "password passwd pwd pass secret token key apikey api_key user username admin test testing foo bar baz"
    " postgres root mysql guest default string str text bytes required optional value".split()
)
_PATH = re.compile(
    r"^(?:~|\.{1,2})?/[\w.-]+/|^~|^\.{1,2}/|^[A-Za-z]:[\\/]|\.(?:pem|p8|key|json|ya?ml|txt|py|env|toml|sql|md)$"
)
_FOLDERS = re.compile(r"^\w+/[\w/-]+$")
_REFERENCE = re.compile(r"^[A-Za-z_]\w*(?:\.[A-Za-z_]\w*)+$|^[A-Za-z_]\w*(?:::|->)")
_UUID = re.compile(r"^\{?[0-9a-fA-F]{8}(?:-[0-9a-fA-F]{4}){3}-[0-9a-fA-F]{12}\}?$")
_HEX = re.compile(r"^(?:0x)?(?:[0-9a-f]{16,}|[0-9A-F]{16,})$")
_NAME = re.compile(r"^[A-Za-z]+(?:[_.-]?[A-Za-z]+)*[_.-]?\d{0,2}$")
"""Words: letters, joined or not, and perhaps a number behind them."""
_PIECES = re.compile(r"[^A-Za-z0-9]+")
_MASKED_USER = re.compile(r"(?:create|alter)\s+(?:or\s+replace\s+)?user\b", re.IGNORECASE)
_CONTEXT = 400
"""Characters in front of a password in which `CREATE USER` or `snowflake` says what it is."""
_AWS_SECRET = 40
_STRONG, _PASSWORD, _LONG_HEX = 16, 6, 32
"""Fewest characters of a random value, of a password, of a hexadecimal key."""


def assigned(text: str, lowered: str, anchor: str) -> Iterator[tuple[str, int, int]]:
    """Kinds and places of the secret values behind names that end with an anchor.

    Args:
        text: the text.
        lowered: the same in lower case, of the same length.
        anchor: one of `ANCHORS`.
    """
    at = lowered.find(anchor)
    while at >= 0:
        end = at + len(anchor)
        if lowered[end : end + 1] == "s" and anchor == "credential":
            end += 1
        follows = text[end : end + 1]
        if not follows.isalpha() and follows not in ("_", "("):
            found = _value(text, lowered, at, end, anchor)
            if found:
                yield found
        at = lowered.find(anchor, end)


def _value(text: str, lowered: str, at: int, end: int, anchor: str) -> tuple[str, int, int] | None:
    if anchor in ("authorization", "bearer"):
        return _header(text, at, end, anchor)
    sign = compiled(_AFTER).match(text, end, end + 60)
    flag = sign is None and (lowered.find("--", max(0, at - 40), at) >= 0 or anchor == "identified by")
    if flag:
        sign = compiled(_AFTER_FLAG).match(text, end)
    if sign is None:
        return None
    start = _name_start(lowered, at)
    name = lowered[start:end]
    if (
        flag and not (name.startswith("--") or (anchor == "identified by" and sign["quote"]))
    ) or not _is_secret_name(name, anchor):
        return None
    if text[start - 1 : start] == ":" and sign["sign"] == ":":
        return None  # a part of an address: `arn:aws:…:secret:name`
    kind = _kind(name, anchor, text, start)
    if kind is None:
        return None
    setting = _Setting(text, lowered, start, sign, kind, flag=flag)
    value = compiled(setting.value_pattern).match(text, sign.end())
    if value is None or (not setting.quoted and text[value.end() : value.end() + 1] in ("(", "[")):
        return None
    return (kind, *value.span()) if _is_secret(value[0], name, anchor, setting) else None


def _name_start(lowered: str, at: int) -> int:
    start = at
    while start > 0 and at - start < 40 and (lowered[start - 1].isalnum() or lowered[start - 1] in "_.-"):
        start -= 1
    if start > 0 and lowered[start - 1] == "\\" and lowered[start : start + 1] in ("n", "r", "t"):
        start += 1  # an escaped line end in front of the name
    return start


def _is_secret_name(name: str, anchor: str) -> bool:
    if anchor in _PASSWORDS:
        return True
    if _NOT_SECRET.search(name):
        return False
    return anchor != "key" or bool(_KEYS.search(name)) or name.endswith("_key")


class _Setting:
    """What stands around a value."""

    def __init__(
        self, text: str, lowered: str, start: int, sign: re.Match[str], kind: str, *, flag: bool
    ) -> None:
        self.quoted = sign["quote"] is not None
        self.flag = flag
        tight = sign["sign"] == "="
        before = lowered[max(0, start - 1) : start]
        line = text.rfind("\n", 0, start) + 1
        lead = text[line:start].strip()
        name = text[start : sign.start()]
        self.connection = tight and (
            before in (";", "&", "?") or text[sign.end() :].split("\n", 1)[0].find(";") >= 0
        )
        self.environment = (
            tight
            and name.upper() == name
            and lead in ("", "export", "set", "-e", "env", "ENV", "$", "$ export", "> export", "+ export")
        )
        self.line = not lead
        self.quote = sign["quote"] or ""
        self.kind = kind
        self.known = kind == "snowflake-password"

    @property
    def value_pattern(self) -> str:
        """How far the value goes."""
        if len(self.quote) > 1:  # a quote inside a JSON string
            return rf"(?:(?!\\+{self.quote[-1]})[^\n]){{1,8192}}"
        if self.quote:
            return rf"(?:[^{self.quote}\\\n]|\\.){{1,8192}}"
        if self.environment:
            return _BARE_IN_ENVIRONMENT
        return _BARE_IN_CONNECTION if self.connection else _BARE


def _is_secret(value: str, name: str, anchor: str, setting: _Setting) -> bool:
    if len(value) == _AWS_SECRET and setting.kind == "aws-secret-key" and not _HEX.match(value):
        return not _PLACEHOLDER.search(value)
    if not value or _PLACEHOLDER.search(value) or _PATH.search(value) or "://" in value or _UUID.match(value):
        return False
    if _FOLDERS.match(value) and not any(map(_mixed, _PIECES.split(value))):
        return False
    folded = value.lower()
    if folded in _TRIVIAL or folded == name or name.endswith(folded) or folded.startswith(name):
        return False
    if not setting.quoted and _REFERENCE.match(value):
        return False
    if anchor in _PASSWORDS:
        return _is_password(value, setting)
    if _HEX.match(value):
        return len(value) >= _LONG_HEX and (anchor == "secret" or bool(_EXPLICIT.search(name)))
    if anchor == "key" and not _KEYS.search(name) and not any(c.isdigit() for c in value):
        return False
    return len(value) >= _STRONG and " " not in value and is_random(value)


_EXPLICIT = re.compile(
    r"api|app|auth|access|secret|client|bearer|bot|refresh|private|encrypt|signing|session|account|credential"
)


def _is_password(value: str, setting: _Setting) -> bool:
    if " " in value and not setting.known:
        return False
    if setting.known or setting.connection or setting.environment:
        return len(value) >= 3 and not value.isdigit()  # noqa: PLR2004 - shorter is a flag or a sign
    if len(value) < _PASSWORD or _NAME.match(value) and not (setting.quoted or setting.flag):
        return False
    letters = any(c.isalpha() for c in value)
    digits = any(c.isdigit() for c in value)
    signs = any(c in "!@#$%^&*?+=~" for c in value)
    if not (letters and (digits or signs)):
        return False
    if setting.quoted or setting.flag:
        return digits or (signs and len(value) >= 8)  # noqa: PLR2004 - a usual least length
    mixed = any(c.isupper() for c in value) and any(c.islower() for c in value)
    return setting.line and len(value) >= 8 and digits and (signs or mixed)  # noqa: PLR2004 - the same


def _kind(name: str, anchor: str, text: str, start: int) -> str | None:
    if anchor in _PASSWORDS:
        before = text[max(0, start - _CONTEXT) : start]
        snow = "snow" in name or "snowflake" in before.lower() or _MASKED_USER.search(before)
        if name in ("pwd", "oldpwd") and not snow:
            # the shell's working directory, unless a connection string says otherwise
            return "password" if start and text[start - 1] in ";&?\"'" else None
        return "snowflake-password" if snow else "password"
    if "aws" in name or name.endswith(("secretaccesskey", "secret_access_key")):
        return "aws-session-token" if anchor == "token" else "aws-secret-key"
    if "datadog" in name or name.startswith("dd_") or name.startswith("dd-"):
        return "datadog-key"
    if "twilio" in name:
        return "twilio-token"
    if "azure" in name or "client_secret" in name or "clientsecret" in name:
        return "client-secret"
    return {"key": "api-key", "credential": "secret"}.get(anchor, anchor)


_HEADER_VALUE = r"[\"']?\]?\s{0,2}[:=,]\s{0,2}(?:[fbru]?\\*[\"'])?(?P<scheme>[A-Za-z]{3,12})[ ]+(?P<value>[A-Za-z0-9._~+/=:-]{8,})"


def _header(text: str, at: int, end: int, anchor: str) -> tuple[str, int, int] | None:
    """A bearer token, or user and password in base64, as a header carries it."""
    if anchor == "bearer":
        found = compiled(r"[ ]+(?P<value>[A-Za-z0-9._~+/=-]{16,})").match(text, end)
        if found is None or (at and (text[at - 1].isalnum() and text[at - 2 : at - 1] != "\\")):
            return None
        scheme = "bearer"
    else:
        found = compiled(_HEADER_VALUE).match(text, end)
        if found is None:
            return None
        scheme = found["scheme"].lower()
    value = found["value"].rstrip(".:")
    place = found.start("value"), found.start("value") + len(value)
    if _PLACEHOLDER.search(value) or _UUID.match(value):
        return None
    if scheme == "basic":
        return (
            ("basic-auth", *place)
            if re.fullmatch(r"[A-Za-z0-9+/]{8,}={0,2}", value) and not _NAME.match(value)
            else None
        )
    if scheme == "bearer" or scheme in ("token", "apikey", "snowflake", "key"):
        random = len(value) >= _STRONG and (
            is_random(value) or (_HEX.match(value) and len(value) >= _LONG_HEX)
        )
        return ("bearer-token", *place) if random and not _REFERENCE.match(value) else None
    return None


# --- what looks random --------------------------------------------------------------------------------

_LEAST_ENTROPY = 3.0
"""Bits a character; words and names have less variety, or are told apart by `_mixed`."""
_LEAST_PIECE, _LONG_PIECE = 8, 16
_CASE_CHANGES = 0.42
"""Share of neighbours that differ in case from which on letters are no words, joined or not."""

_CAMEL_CASE = re.compile(r"^[a-z]*(?:[A-Z]{1,5}[a-z]{2,})+[A-Z]*s?$")


def is_random(value: str) -> bool:
    """Whether a value is made of random characters, not of words, numbers or signs."""
    if len(set(value)) < 8 or entropy(value) < _LEAST_ENTROPY or _NAME.match(value) and not _mixed(value):
        return False
    return any(_mixed(piece) for piece in _PIECES.split(value))


def entropy(value: str) -> float:
    """Shannon's entropy of the characters of a value, in bits a character."""
    return -sum(n / len(value) * math.log2(n / len(value)) for n in Counter(value).values())


def _mixed(piece: str) -> bool:
    """Whether letters and digits, or large and small letters, alternate as they do not in words."""
    if len(piece) < _LEAST_PIECE:
        return False
    pairs = list(zip(piece, piece[1:], strict=False))
    digits = sum(a.isdigit() != b.isdigit() for a, b in pairs)
    if digits >= 3 or (digits >= 2 and len(piece) < _LONG_PIECE):  # noqa: PLR2004 - `sha256`, `v2beta1` have fewer
        return True
    cases = sum(a.isupper() != b.isupper() for a, b in pairs if a.isalpha() and b.isalpha())
    return cases / len(pairs) >= _CASE_CHANGES and not _CAMEL_CASE.match(piece)

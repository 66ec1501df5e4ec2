"""How many tokens a text costs a model: the estimate behind the budget of an answer.

No vocabulary and no model is asked: a text is cut into pieces much as byte-pair tokenizers cut it before they
merge (words with the space or sign before them, runs of at most three digits, runs of signs, white space), and
each piece is charged what pieces of its kind, length and spelling cost on average. The charges were fitted, by
least squares over the distinct pieces of each kind, to the larger of the counts of `cl100k_base` and
`o200k_base` on standard-library sources and documentation, licences, message catalogues in seventeen languages
and generated SQL, JSON, logs, paths and tables; then raised by hand until no kind of text that agents' sessions
are made of was under by more than 2 %. `tests/search/test_tokens.py` holds that against both.

Charges are thousandths of a token, so that sums are exact.
"""

from __future__ import annotations

import re

_SIGNS = r"!-/:-@\[-`{-~"
_LEAD = rf"[ \t{_SIGNS}]"
_CJK = "\u3040-\u30ff\u3400-\u9fff\uac00-\ud7a3\uf900-\ufaff\uff66-\uff9d"

# The order is that of likelihood. Words are cut where the case changes, as o200k does and as cl100k's merges
# mostly turn out; a word with a letter beyond ASCII is one piece, but each CJK letter is one of its own.
_PIECE = re.compile(
    rf"{_LEAD}?(?:[A-Z]?[a-z]++|[A-Z]++(?![a-z])|[A-Z]+(?=[A-Z]))(?![^\x00-\x7f])"
    rf"|[0-9]{{1,3}}|[{_CJK}]"
    rf"|{_LEAD}?[^\W\d_{_CJK}]+"
    rf"| ?[{_SIGNS}]+[\r\n]*|\s*[\r\n]+|\s+(?!\S)|[\u2500-\u257f]+|\s|."
).findall

_USUAL = (
    "a:bcdgilmnprstuvy b:aeijlouy c:acehiklortu d:adeiosu e:abcdeflmnpqrstvwxy f:aefiortu g:ehinrsu "
    "h:aeiot i:abcdefglmnoprstv j:e k:e l:adefilostuy m:abeiops n:acdefgilostuy o:bcdfgilmnoprstuvw "
    "p:aeiloprtuy q:u r:acdegimnorstuy s:acehiopstuy t:acehilorstuy u:abcegilmnprst v:aei w:aehio x:cpt "
    "y:ops "
)
_USUAL_PAIRS = frozenset(group[0] + letter for group in _USUAL.split() for letter in group[2:])
"""The pairs of letters that make up nine tenths of English text and code; a word with others is merged less."""

# For a word: (at all, per letter to the fourth, to the eighth, beyond, per unusual pair), by what precedes it
# and by its case.
_WORD = {
    (" ", "lower"): (985, 2, 24, 140, 390),
    (" ", "title"): (1000, 3, 58, 240, 430),
    (" ", "upper"): (920, 70, 250, 190, 480),
    ("", "lower"): (920, 45, 95, 220, 400),
    ("", "title"): (1040, 20, 35, 215, 580),
    ("", "upper"): (500, 270, 210, 540, 480),
    ("_", "lower"): (1070, 10, 80, 210, 390),
    ("_", "title"): (1000, 15, 270, 110, 250),
    ("_", "upper"): (940, 70, 260, 200, 540),
    (".", "lower"): (1080, 50, 140, 220, 410),
    (".", "title"): (1230, 125, 40, 240, 530),
    (".", "upper"): (1720, 60, 420, 240, 300),
}
# Letters that spell no word: per letter, and for the first; hex digits: per letter from the third on.
_RANDOM_LETTER, _RANDOM_START = 540, 320
_HEX_LETTER, _HEX_AFTER_DASH = 470, 600

# Letters beyond ASCII: (first code point, last, thousandths a letter).
_SCRIPTS = (
    (0x00C0, 0x00FF, 980),  # western Latin
    (0x0100, 0x024F, 1500),  # other accented Latin
    (0x0370, 0x03FF, 1020),  # Greek
    (0x0410, 0x044F, 438),  # Cyrillic as Russian has it
    (0x0400, 0x052F, 1500),  # other Cyrillic
    (0x0590, 0x05FF, 1100),  # Hebrew
    (0x0600, 0x06FF, 755),  # Arabic
    (0x0900, 0x097F, 1160),  # Devanagari
    (0x0E00, 0x0E7F, 950),  # Thai
    (0x1E00, 0x1EFF, 950),  # Vietnamese
    (0x2000, 0x2BFF, 1120),  # signs, arrows, symbols
    (0x3000, 0x303F, 1020),  # CJK punctuation
    (0x3040, 0x309F, 960),  # hiragana
    (0x30A0, 0x30FF, 1030),  # katakana
    (0x3400, 0x9FFF, 1140),  # Han
    (0xAC00, 0xD7A3, 1000),  # Hangul
    (0xFE00, 0xFE0F, 1300),  # variation selectors
    (0xFF00, 0xFFEF, 1050),  # full width
    (0x1F000, 0x1FAFF, 2350),  # emoji
)
# Umlauts also tell that the plain words around them are no English ones, and pay for these.
_GERMANIC = frozenset(map(ord, "äöüßÄÖÜ"))
_GERMANIC_LETTER = 1850
_OTHER_LETTER = 2000
_ASCII_IN_FOREIGN_WORD = 300
_HEX_DIGITS = frozenset("abcdef")

# Signs: a rule is one sign four times or more.
_RULE = re.compile(r"([!-~])\1{3,}")
_RULE_SIGNS = frozenset("-=*#_./~+%")
_RULE_SIGN, _OTHER_RULE_SIGN, _LOOSE_SIGN = 25, 250, 540
_BESIDE_RULE = 700

_MEMO, _LONGEST_KEPT = 1 << 15, 64


class _Charges(dict[str, int]):
    """Charges by piece, each worked out once; text repeats its words, and forgetting all bounds the memory."""

    def __missing__(self, piece: str) -> int:
        charge = _charge(piece)
        if len(piece) <= _LONGEST_KEPT:
            if len(self) >= _MEMO:
                self.clear()
            self[piece] = charge
        return charge


_charges = _Charges()


def estimate_tokens(text: str) -> int:
    """Estimate how many tokens a model would count for a text; 0 for an empty one, else at least 1.

    Deterministic. For texts of usual size, and for the sum of twenty short lines, not more than 2 % under the
    larger of cl100k and o200k, and on average 0 to 16 % over it: prose, code, SQL, JSON, logs, tables, ids,
    paths, numbers, German, French, Russian, Chinese, Japanese, Korean. Further off: headers full of invented
    upper-case names (to 10 % under), Spanish, Czech and Ukrainian (to 8 % under), emoji (18 % over).

    A text costs no more than its parts, `estimate_tokens(a + b) <= estimate_tokens(a) + estimate_tokens(b)`,
    wherever the cut lies between a word and the white space behind it, or after a line break. A cut inside a
    word may add what the torn word costs more: up to three tokens for a word of usual length.
    """
    return -(-sum(map(_charges.__getitem__, _PIECE(text))) // 1000)


def _charge(piece: str) -> int:
    """Thousandths of a token for one piece of `_PIECE`."""
    if not piece.isascii():
        return _foreign(piece)
    lead = "" if piece[0].isalnum() else piece[0]
    word = piece[len(lead) :]
    if word.isalpha():
        return _word(lead, word)
    if piece.isdigit():
        return 1000
    return _blank(piece) if piece.isspace() else _signs(piece.strip(" \r\n"))


def _word(lead: str, word: str) -> int:
    case = "lower" if word.islower() else "upper" if word.isupper() and len(word) > 1 else "title"
    base, early, middle, late, unusual = _WORD[lead if lead in {"", " ", "_"} else ".", case]
    size, folded = len(word), word.lower()
    odd = sum(folded[i : i + 2] not in _USUAL_PAIRS for i in range(size - 1))
    charge = (
        base
        + early * min(size, 4)
        + middle * min(max(size - 4, 0), 4)
        + late * max(size - 8, 0)
        + unusual * odd
    )
    if lead in {"", "-"} and _HEX_DIGITS.issuperset(folded):
        charge = max(charge, 1000 + _HEX_LETTER * (size - 2) + (_HEX_AFTER_DASH if lead and size > 1 else 0))
    elif size > 2 and odd * 2 > size - 1:  # noqa: PLR2004
        charge = max(charge, _RANDOM_START + _RANDOM_LETTER * size)
    return max(charge, 1000)


def _blank(piece: str) -> int:
    return 1000 + 30 * max(len(piece) - 16, 0)


def _signs(signs: str) -> int:
    """A run of signs: rules such as `-----` are a few tokens, a jumble is one token for every two signs."""
    ruled = 0
    loose = len(signs)
    for rule in _RULE.finditer(signs):
        size = rule.end() - rule.start()
        ruled += 1000 + (_RULE_SIGN if rule[1] in _RULE_SIGNS else _OTHER_RULE_SIGN) * size
        loose -= size
    if ruled:
        return ruled + _BESIDE_RULE * loose
    if loose <= 2:  # noqa: PLR2004
        return 1000
    return 1150 if loose == 3 else 1000 + _LOOSE_SIGN * (loose - 3)  # noqa: PLR2004


def _foreign(piece: str) -> int:
    if "\u2500" <= piece[0] <= "\u257f":
        return 700 + 330 * len(piece)
    plain = sum(character.isascii() for character in piece)
    charge = sum(_letter(ord(character)) for character in piece if not character.isascii())
    return charge + _ASCII_IN_FOREIGN_WORD * plain + (250 if len(piece) > 1 else 0)


def _letter(code: int) -> int:
    if code in _GERMANIC:
        return _GERMANIC_LETTER
    for first, last, charge in _SCRIPTS:
        if first <= code <= last:
            return charge
    return _OTHER_LETTER if code > 0xFF else 1000  # noqa: PLR2004

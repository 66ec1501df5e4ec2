"""Names that prose mentions: objects, functions, files, errors, tickets, links, concepts.

Precision before recall: a name counts where its form or its neighbours say what it is, or where the session
has already used it in SQL or code (`Known`). Every function here takes text and adds to `Mentions`; each
starts with a test that costs next to nothing, because most text mentions nothing.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, field

from cocorecall.extract.glossary import Glossary
from cocorecall.extract.names import file_name, function_name, object_name
from cocorecall.extract.vocabulary import (
    CORTEX_FUNCTIONS,
    CORTEX_PRODUCTS,
    CORTEX_SCHEMA_FUNCTIONS,
    DBT_MACROS,
    FILE_EXTENSIONS,
    NOT_FILES,
    NOT_TICKETS,
    OBJECT_KIND_PATTERN,
    PYTHON_FUNCTIONS,
    PYTHON_MODULES,
    SHELL_WORDS,
    SQL_KEYWORDS,
    SUFFIXLESS_EXCEPTIONS,
    UNMISTAKABLE_CORTEX_FUNCTIONS,
    is_sql_word,
)

MAX_MENTIONS = 200
"""Entities of one turn; a directory listing is no conversation."""


def _before(text: str, at: int, characters: re.Pattern[str], longest: int) -> str:
    """The run of such characters that ends at `at`, found backwards.

    A pattern that is tied to the end of its text would be tried from every start.
    """
    match = characters.match(text[max(0, at - longest) : at][::-1])
    return match[0][::-1] if match else ""


class Mentions:
    """The entities of one turn, each once, with the spelling that came first."""

    __slots__ = ("_where", "found")

    def __init__(self, where: str) -> None:
        self._where = where
        self.found: dict[tuple[str, str], str | None] = {}

    def add(self, kind: str, name: str, spelling: str) -> None:
        """Add an entity; its spelling is kept where the turn really holds it."""
        if name and len(self.found) < MAX_MENTIONS and (kind, name) not in self.found:
            self.found[kind, name] = spelling if spelling in self._where else self._last_part(spelling)

    def also_in(self, text: str) -> None:
        """Let spellings be looked for in one more text of the turn: a call's input."""
        self._where = f"{self._where}\n{text}" if self._where else text

    def _last_part(self, spelling: str) -> str | None:
        last = spelling.rpartition(".")[2]
        return last if last and last in self._where else None


@dataclass(slots=True)
class Known:
    """Names that a session has used in SQL or code, so that prose may speak of them without their form.

    Attributes:
        objects: by last part, upper case: the full canonical names that end in it.
        functions: by lower-cased name: the canonical one.
        columns: by upper-cased name: the canonical one.
    """

    objects: dict[str, set[str]] = field(default_factory=dict)
    functions: dict[str, str] = field(default_factory=dict)
    columns: dict[str, str] = field(default_factory=dict)

    def learn(self, kind: str, name: str) -> None:
        """Remember an entity whose kind is certain."""
        if kind == "snowflake_object":
            self.objects.setdefault(name.rpartition(".")[2].strip('"').upper(), set()).add(name)
        elif kind == "function":
            self.functions[name.lower()] = name
        elif kind == "data_concept":
            self.columns.setdefault(name.strip('"').upper(), name)

    def object(self, name: str) -> str | None:
        """The one object that a name can mean in this session."""
        canonical = object_name(name)
        full = self.objects.get(canonical.rpartition(".")[2].strip('"').upper(), ())
        fitting = {o for o in full if o == canonical or o.endswith("." + canonical)}
        longest = max((o.count(".") for o in fitting), default=0)
        best = [o for o in fitting if o.count(".") == longest]
        return best[0] if len(best) == 1 else None

    def resolve(self, name: str) -> tuple[str, str] | None:
        """(type, canonical name) of a bare name, where the session leaves no doubt."""
        if (function := self.functions.get(name.lower())) is not None:
            return "function", function
        if (full := self.object(name)) is not None:
            return "snowflake_object", full
        if (column := self.columns.get(name.upper())) is not None:
            return "data_concept", column
        return None


# --- links, files, tickets -------------------------------------------------------------------------------

_URL = re.compile(r"(?:https?|s3|gcs|azure|abfss)://[^\s<>\"'`|\\^{}\[\]]+")


def mention_urls(text: str, mentions: Mentions) -> str:
    """Add links; the text without them, so that their parts are not taken for paths or names."""
    if "://" not in text:
        return text

    def take(match: re.Match[str]) -> str:
        link = match[0].rstrip(".,;:!?*_")
        while link.endswith(")") and link.count("(") < link.count(")"):
            link = link[:-1].rstrip(".,;:!?")
        if len(link) > link.index("://") + 3:
            mentions.add("url", link, link)
        return " "

    return _URL.sub(take, text)


_EXTENSION = re.compile(r"\.([a-z][a-z0-9]{0,9})(?![\w(]|\.\w)(:\d+(?:[:-]\d+)?)?")
_EXTENSIONS = frozenset(FILE_EXTENSIONS)
_PATH_ONLY = frozenset("c h r log go rs rb cs js ts env conf lock zip cc".split())
_PATH_BACKWARDS = re.compile(r"[\w./\\~@+-]+(?:(?<=[\\/]):[A-Za-z](?![\w]))?")
_MOST_DOTS = 3
_FOREIGN = ("site-packages/", "dist-packages/", "/usr/lib/", "node_modules/", "/lib/python")


def mention_files(text: str, mentions: Mentions, cwd: str | None = None) -> None:
    """Add files: a name with a known extension, with or without folders and a line number."""
    for match in _EXTENSION.finditer(text) if "." in text else ():
        if match[1] not in _EXTENSIONS:
            continue
        stem = _before(text, match.start(), _PATH_BACKWARDS, 200).lstrip("-@+")
        path = f"{stem}.{match[1]}"
        base = re.split(r"[/\\]", path)[-1]
        if not _is_file(path, base, match[1]):
            continue
        mentions.add("file", file_name(path, cwd), path + (match[2] or ""))


def _is_file(path: str, base: str, extension: str) -> bool:
    if not (base[0].isalnum() or base[0] == "_") or (base[0].isdigit() and base.count(".") > 1):
        return False
    if base == path and (
        extension in _PATH_ONLY or base.lower() in NOT_FILES or base.count(".") > _MOST_DOTS
    ):
        return False
    return not any(folder in path for folder in _FOREIGN)


# A pattern that begins with a character that is rare in prose is found by a fast scan; what stands before it
# is looked at afterwards.
_TICKET_NUMBER = re.compile(r"-(\d{1,6})(?![\w-]|\.\d)")
_TICKET_WORD_BACKWARDS = re.compile(r"[A-Z0-9]{1,9}[A-Z](?![\w/.#-])")
_NUMBERED = re.compile(
    r"(?:\bPR|\bMR|[Ii]ssues?|[Pp]ull [Rr]equests?|[Ff]ix(?:es|ed)?|[Cc]los(?:es|ed)|[Rr]esolv(?:es|ed)) (#\d{1,6})\b"
)


def mention_tickets(text: str, mentions: Mentions) -> None:
    """Add tickets: `ABC-123`, and `#123` where the word before it says issue or pull request."""
    if "-" in text:
        for match in _TICKET_NUMBER.finditer(text):
            word = _before(text, match.start(), _TICKET_WORD_BACKWARDS, 12)
            if word and word not in NOT_TICKETS and not match[1].startswith("0"):
                mentions.add("ticket", word + match[0], word + match[0])
    if "#" in text:
        for match in _NUMBERED.finditer(text):
            mentions.add("ticket", match[1], match[1])


# --- errors ----------------------------------------------------------------------------------------------

_EXCEPTION = re.compile(r"(?:Error|Exception|Warning)\b")
_EXCEPTION_BACKWARDS = re.compile(r"[a-z0-9][A-Za-z0-9]*[A-Z](?!\w)")
_SIX_DIGITS = re.compile(r"[0-9][0-9]{5}")
_SNOWFLAKE_CODE = re.compile(r"[0-9][0-9]{5} \(([0-9A-Z]{5})\)")
_BARE_CODE = re.compile(r"0\d{5}(?!\d)")
_LINE_CODE = re.compile(r"^(0\d{5})(?=: )", re.MULTILINE)
_CODE_LEAD = re.compile(r"(?:[Ee]rror|ERROR|[Cc]ode|errno|number)s?[:=]?[ `(]{0,2}$|`$")
_SQLSTATE = re.compile(r"SQLSTATE[ :=\[]{1,3}([0-9A-Z]{5})\b", re.IGNORECASE)


def mention_errors(text: str, mentions: Mentions) -> None:
    """Add exception classes."""
    if "Error" in text or "Exception" in text or "Warning" in text:
        for match in _EXCEPTION.finditer(text):
            if head := _before(text, match.start(), _EXCEPTION_BACKWARDS, 60):
                mentions.add("error_code", head + match[0], head + match[0])
    if "Interrupt" in text or "Exit" in text or "Iteration" in text:
        for name in SUFFIXLESS_EXCEPTIONS:
            if name in text:
                mentions.add("error_code", name, name)


def mention_error_numbers(text: str, mentions: Mentions) -> None:
    """Add Snowflake's error numbers and SQLSTATEs."""
    if _SIX_DIGITS.search(text):
        if " (" in text:
            for match in _SNOWFLAKE_CODE.finditer(text):
                if _begins(text, match.start(), ".-"):
                    mentions.add("error_code", match[0][:6], match[0][:6])
                    mentions.add("error_code", match[1], match[1])
        for match in _LINE_CODE.finditer(text):
            mentions.add("error_code", match[1], match[1])
        for match in _BARE_CODE.finditer(text):
            if _CODE_LEAD.search(text, max(0, match.start() - 12), match.start()):
                mentions.add("error_code", match[0], match[0])
    if "SQLSTATE" in text or "sqlstate" in text:
        for match in _SQLSTATE.finditer(text):
            mentions.add("error_code", match[1].upper(), match[1])


def _begins(text: str, at: int, glue: str) -> bool:
    """Whether a name begins here: before it stands neither a letter, a digit, `_` nor one of `glue`."""
    before = text[at - 1] if at else " "
    return not (before.isalnum() or before == "_" or before in glue)


# --- Snowflake objects -----------------------------------------------------------------------------------

_DOTTED = re.compile(
    r'[A-Z_][A-Z0-9_$]{0,120}(?:\.(?:[A-Z_][A-Z0-9_$]{0,120}|"[^"\n]{1,100}")){1,3}(?![\w$]|\.\w)(\()?'
)
_UPPER_AFTER_DOT = re.compile(r"\.[A-Z_\"]")
_ALIAS_LENGTH = 2


def mention_objects(text: str, mentions: Mentions, known: Known, *, only_full: bool = False) -> None:
    """Add upper-case dotted names: `DB.SCHEMA.TABLE`, and `SCHEMA.TABLE` unless `only_full`."""
    if not any(_is_upper(text, dot.start()) for dot in _UPPER_AFTER_DOT.finditer(text)):
        return
    for match in _DOTTED.finditer(text):
        if not _begins(text, match.start(), './$"@-'):
            continue
        spelling = match[0].removesuffix("(")
        parts = spelling.split(".")
        if "CORTEX" in parts[:-1]:
            _mention_cortex_function(parts[-1], spelling, mentions)
        elif match[1]:
            if not is_sql_word(parts[-1]):
                mentions.add("function", function_name(spelling), spelling)
        elif len(parts) > 2:  # noqa: PLR2004 - database, schema, name
            _mention_full_name(parts, spelling, mentions, known)
        elif not only_full and _is_schema_and_name(parts):
            _mention_two_parts(parts, spelling, mentions, known)


def _is_upper(text: str, dot: int) -> bool:
    before = text[dot - 1 : dot]
    return before.isupper() or before.isdigit() or before in {"_", "$", '"'}


def _mention_full_name(parts: list[str], spelling: str, mentions: Mentions, known: Known) -> None:
    full = known.object(spelling)
    if full is None and (function := known.functions.get(parts[-1].lower())) is not None:
        mentions.add("function", function, spelling)
    else:
        mentions.add("snowflake_object", full or object_name(spelling), spelling)


def _mention_two_parts(parts: list[str], spelling: str, mentions: Mentions, known: Known) -> None:
    full = known.object(spelling)
    if full is None and parts[0] in known.objects:
        mentions.add("data_concept", parts[1], parts[1])  # TABLE.COLUMN
    else:
        mentions.add("snowflake_object", full or object_name(spelling), spelling)


def _is_schema_and_name(parts: list[str]) -> bool:
    return (
        all(len(part.strip('"')) > _ALIAS_LENGTH for part in parts)
        and parts[-1].lower() not in _EXTENSIONS
        and parts[0] not in SQL_KEYWORDS
    )


_UPPER = re.compile(r"[A-Z][A-Z0-9_$]{2,120}(?![\w.$(/`'-]\w|[\w(`'-])")
_KIND_BEFORE = re.compile(rf"\b(?:{OBJECT_KIND_PATTERN})\s+$", re.IGNORECASE)
_KIND_AFTER = re.compile(rf"\s+(?:{OBJECT_KIND_PATTERN})\b", re.IGNORECASE)
_ACRONYMS = frozenset(
    """
    XSMALL SMALL MEDIUM LARGE XLARGE SQL JSON CSV XML API UDF UDTF UDAF DDL DML CTE ETL ELT PII HTML YAML PDF LLM RAG UTC TODO FIXME NOTE README SLA
    KPI DAG DBT CRM ERP ORM AWS GCP GDPR HTTP HTTPS REST URL URI UUID SCD OLAP OLTP POC MVP MUST NEVER ALWAYS ONLY
    BUT THIS THAT ALSO VERY STOP WARNING IMPORTANT
    """.split()
)
_LONG_NAME = 6


def mention_upper_words(text: str, mentions: Mentions, known: Known) -> None:
    """Add bare upper-case names that the session knows, or whose neighbour says what they are."""
    for match in _UPPER.finditer(text):
        word = match[0]
        if word in _ACRONYMS or word in SQL_KEYWORDS or not _begins(text, match.start(), ".$/`\"'-"):
            continue
        if (what := known.resolve(word)) is not None:
            mentions.add(*what, word)
        elif _named_by_kind(text, match.start(), match.end(), word):
            known.learn("snowflake_object", word)
            mentions.add("snowflake_object", word, word)


_LOWER_NAME = (
    r"(?P<name>[a-z][a-z0-9]*(?:_[a-z0-9]+)*(?:\.[a-z][a-z0-9]*(?:_[a-z0-9]+)*){0,2})(?![\w(/\\-]|\.\w)"
)
_LOWER_NAMED = re.compile(
    rf"\b(?:(?:dynamic |external |transient |temporary )?tables?|(?:materialized |secure )?views?|schemas?|databases?|warehouses?) {_LOWER_NAME}"
    rf"|\b(?:select|insert|update|delete|truncate|usage|ownership|references|stream \w{{1,60}}|policy \w{{1,60}}) on (?:table |view )?(?P<on>[a-z]\w*\.[a-z]\w*\.[a-z]\w*)(?![\w(/\\-]|\.\w)"
)
_THREE_PARTS = 2
"""Dots of a database, a schema and a name."""


def mention_lower_names(text: str, lowered: str, mentions: Mentions, known: Known) -> None:
    """Add lower-case names that the word before says to be tables and their like: `table stg_orders`.

    A name without `_` must have three parts: a single word behind "table" is a word.
    """
    if not any(kind in lowered for kind in ("table", "view", "schema", "database", "warehouse", " on ")):
        return
    for match in _LOWER_NAMED.finditer(text):
        name = match["name"] or match["on"]
        last = name.rpartition(".")[2]
        if ("_" not in last and name.count(".") < _THREE_PARTS) or last in _EXTENSIONS:
            continue
        full = known.object(name) or object_name(name)
        known.learn("snowflake_object", full)
        mentions.add("snowflake_object", full, name)


def _named_by_kind(text: str, start: int, end: int, word: str) -> bool:
    if word in CORTEX_FUNCTIONS or is_sql_word(word):
        return False
    if _KIND_BEFORE.search(text, max(0, start - 24), start):
        return True
    return ("_" in word or len(word) >= _LONG_NAME) and _KIND_AFTER.match(text, end) is not None


# --- functions and code in backticks ---------------------------------------------------------------------

_CALL_BACKWARDS = re.compile(r"[\w$]*[A-Za-z_](?:\.[\w$]*[A-Za-z_])*(?![\w.$@\\])")
_LONGEST_CALL = 120


def mention_calls(text: str, mentions: Mentions, known: Known, *, code: bool = False) -> None:
    """Add functions that are written as a call. In prose the brackets are empty or the name has a `_`."""
    at = text.find("(")
    while at >= 0:
        before = text[at - 1] if at else " "
        called = (before.isalnum() or before == "_") and not text.startswith("s)", at + 1)
        if called and (name := _before(text, at, _CALL_BACKWARDS, _LONGEST_CALL)):
            _mention_call(name, mentions, known, plain=not code and not text.startswith(")", at + 1))
        at = text.find("(", at + 1)


def _mention_call(spelling: str, mentions: Mentions, known: Known, *, plain: bool) -> None:
    if (plain and "_" not in spelling) or not _is_function(spelling):
        return
    name = function_name(spelling)
    known.learn("function", name)
    mentions.add("function", name, spelling)


def _is_function(spelling: str) -> bool:
    root, _, _ = spelling.partition(".")
    last = spelling.rpartition(".")[2]
    if last in PYTHON_FUNCTIONS or last in DBT_MACROS or last in SHELL_WORDS or is_sql_word(last):
        return False
    if last in CORTEX_FUNCTIONS or last.startswith("__") or len(last) < 2:  # noqa: PLR2004 - f(x) is a formula
        return False
    if root != last and (root in PYTHON_MODULES or "_" not in last):
        return False
    return last[0].islower() or last[0] == "_" or (last.isupper() and "_" in last)


_TICKED = re.compile(r"`([^`\n]{1,300})`")
_NAME = re.compile(r'(?:[A-Za-z_][\w$]*|"[^"]+")(?:\.(?:[A-Za-z_][\w$]*|"[^"]+"))*')
_STATEMENT = re.compile(
    r"(?:SELECT|WITH|INSERT|UPDATE|DELETE|MERGE|CREATE|ALTER|DROP|GRANT|REVOKE|COPY|TRUNCATE|CALL|DESCRIBE|SHOW|USE)\s",
    re.IGNORECASE,
)
_QUIET_KINDS = (
    r"(?:dynamic |semantic )?(?:tables?|views?)|schemas?|databases?|warehouses?|sequences?|file formats?"
)
_TICK_BEFORE = re.compile(
    rf"\b(?:(?P<object>{_QUIET_KINDS})|(?P<function>functions?|procedures?|macros?|UDT?Fs?)|(?P<column>columns?|fields?))"
    r"\s+$",
    re.IGNORECASE,
)
_TICK_AFTER = re.compile(
    rf"\s+(?:(?P<object>{_QUIET_KINDS})|(?P<function>functions?|procedures?|macros?|UDT?Fs?)|(?P<column>columns?))\b",
    re.IGNORECASE,
)


def mention_ticked(text: str, mentions: Mentions, known: Known) -> list[str]:
    """Add what stands in backticks and is known or named by its neighbour; the SQL statements among it."""
    statements = []
    for match in _TICKED.finditer(text) if "`" in text else ():
        inner = match[1].strip()
        if _NAME.fullmatch(inner):
            _mention_ticked_name(text, match, inner, mentions, known)
        elif _STATEMENT.match(inner):
            statements.append(inner)
        else:
            mention_calls(inner, mentions, known, code=True)
    return statements


def _mention_ticked_name(
    text: str, match: re.Match[str], inner: str, mentions: Mentions, known: Known
) -> None:
    if inner in CORTEX_FUNCTIONS or is_sql_word(inner) or inner.rpartition(".")[2].lower() in _EXTENSIONS:
        return
    if (what := known.resolve(inner)) is not None:
        mentions.add(*what, inner)
        return
    near = _TICK_BEFORE.search(text, max(0, match.start() - 24), match.start()) or _TICK_AFTER.match(
        text, match.end()
    )
    if near is None:
        if inner.isupper() and _named_by_kind(text, match.start(), match.end(), inner):
            mentions.add("snowflake_object", object_name(inner), inner)
    elif near["object"]:
        mentions.add("snowflake_object", object_name(inner), inner)
    elif near["function"] and _is_function(inner):
        mentions.add("function", function_name(inner), inner)
        known.learn("function", function_name(inner))
    elif near["column"] and "." not in inner:
        mentions.add("data_concept", object_name(inner), inner)


_SNAKE_TAIL = re.compile(r"_\w+")
_SNAKE_BACKWARDS = re.compile(r"[A-Za-z0-9]*[A-Za-z](?![\w.$/\\-])")


def mention_known(text: str, mentions: Mentions, known: Known) -> None:
    """Add names with a `_` that the session has used before."""
    if "_" in text and (known.functions or known.objects):
        for match in _SNAKE_TAIL.finditer(text):
            head = _before(text, match.start(), _SNAKE_BACKWARDS, 40)
            if head and (what := known.resolve(head + match[0])) is not None:
                mentions.add(*what, head + match[0])


# --- dbt -------------------------------------------------------------------------------------------------

_REF = re.compile(r"\bref\(\s*['\"]([\w.]+)['\"]\s*(?:,\s*['\"](\w+)['\"]\s*)?\)")
_SOURCE = re.compile(r"\bsource\(\s*['\"](\w+)['\"]\s*,\s*['\"](\w+)['\"]\s*\)")
_MACRO = re.compile(r"\{[{%]-?\s*(?:call\s+|do\s+)?([A-Za-z_][\w.]*)\s*\(")


def mention_dbt(text: str, mentions: Mentions, known: Known) -> None:
    """Add models of `ref`, sources, and macros that a template calls."""
    if "(" not in text and "{" not in text:
        return
    if "ref(" in text:
        for match in _REF.finditer(text):
            model = match[2] or match[1]
            mentions.add("snowflake_object", known.object(model) or object_name(model), model)
    if "source(" in text:
        for match in _SOURCE.finditer(text):
            mentions.add("snowflake_object", object_name(f"{match[1]}.{match[2]}"), match[0])
    if "{{" in text or "{%" in text:
        for match in _MACRO.finditer(text):
            if match[1].partition(".")[0] not in DBT_MACROS:
                mentions.add("function", match[1], match[1])
                known.learn("function", match[1])


# --- Cortex and concepts ---------------------------------------------------------------------------------

_AI_FUNCTION = re.compile(r"(?<![\w$])(?:AI|ai)_[A-Za-z_]+")
_CORTEX_FUNCTION = re.compile(r"\b(?:snowflake\.)?cortex\.([a-z_0-9]+)\b", re.IGNORECASE)
_BARE_CORTEX = re.compile(rf"(?<![\w.$])(?:{'|'.join(sorted(UNMISTAKABLE_CORTEX_FUNCTIONS))})(?![\w$])")


def mention_cortex(text: str, lowered: str, mentions: Mentions) -> None:
    """Add Cortex features: functions of the AI_ family, of the older CORTEX schema, and products.

    `lowered` is the text in lower case, place by place.
    """
    if "_" in text and ("AI_" in text or "ai_" in text):
        for match in _AI_FUNCTION.finditer(text):
            if match[0].upper() in CORTEX_FUNCTIONS:
                mentions.add("cortex_feature", match[0].upper(), match[0])
    if "_" in text and ("_TEXT" in text or "_ANSWER" in text or "_SENTIMENT" in text or "SEARCH_" in text):
        for match in _BARE_CORTEX.finditer(text):
            mentions.add("cortex_feature", f"CORTEX.{match[0]}", match[0])
    if "cortex" in lowered:
        for match in _CORTEX_FUNCTION.finditer(text):
            _mention_cortex_function(match[1], match[0], mentions)
        _mention_products(text, lowered, mentions)
    elif "document ai" in lowered or "semantic v" in lowered or "intelligence" in lowered:
        _mention_products(text, lowered, mentions)


def _mention_products(text: str, lowered: str, mentions: Mentions) -> None:
    for phrase, name in CORTEX_PRODUCTS.items():
        at = lowered.find(phrase)
        if at >= 0 and _begins(lowered, at, "") and _ends_word(lowered, at + len(phrase)):
            mentions.add("cortex_feature", name, text[at : at + len(phrase)])


def _mention_cortex_function(name: str, spelling: str, mentions: Mentions) -> None:
    if name.upper() in CORTEX_SCHEMA_FUNCTIONS:
        mentions.add("cortex_feature", f"CORTEX.{name.upper()}", spelling)
    elif name.upper() in CORTEX_FUNCTIONS:
        mentions.add("cortex_feature", name.upper(), spelling)


def _ends_word(text: str, at: int) -> bool:
    return not (text[at : at + 1].isalnum() or text[at : at + 1] == "_")


_WORD = re.compile(r"\w+")
_MANY_PHRASES = 24
"""Above this it is cheaper to look at every word of the text than to look for every phrase."""


def mention_concepts(text: str, lowered: str, mentions: Mentions, glossary: Glossary) -> None:
    """Add the glossary's terms; an alias counts as its term, a plural `s` as the singular."""
    if len(glossary.phrases) > _MANY_PHRASES and glossary.heads.isdisjoint(_WORD.findall(lowered)):
        return
    for phrase, term in glossary.phrases:
        at = lowered.find(phrase)
        while at >= 0:
            end = at + len(phrase)
            if _begins(lowered, at, ""):
                plural = 1 if lowered[end : end + 1] == "s" else 0
                if _ends_word(lowered, end + plural):
                    mentions.add("data_concept", term, text[at : end + plural])
                    break
            at = lowered.find(phrase, end)

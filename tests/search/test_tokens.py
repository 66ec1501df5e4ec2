"""The token estimate, held against two real tokenizers on texts of every kind that transcripts hold."""

from __future__ import annotations

import argparse
import hashlib
import inspect
import json
import logging
import random
import string
import tarfile
import unittest.mock
import uuid
from collections.abc import Callable
from datetime import UTC, datetime, timedelta
from functools import cache
from pydoc_data import topics

import pytest
from hypothesis import example, given
from hypothesis import strategies as st

from cocorecall.search.tokens import estimate_tokens

CHUNK = 3000  # characters: about the excerpt text of one answer

ENGLISH = """
Last spring our team moved the nightly billing job from the old cluster to the new warehouse. We thought it
would take an afternoon; it took three weeks. The first surprise was the calendar: the finance people close
the books on the fourth working day, and nobody had told us that a holiday in Lisbon counts while one in Porto
does not. Marguerite found the table of exceptions in a spreadsheet that somebody had stopped updating in 2021.
She laughed, I swore, and then we wrote a small script that asks the payroll service instead.
The second surprise was the rounding. Half a cent here and there, always in the customer's favour, adds up to
a number that an auditor will circle in red. We argued about it for two evenings, because the contract says one
thing and the invoices of the last eleven years say another. In the end we kept the old behaviour, wrote down
why, and put a test beside it with a comment that begins: before you fix this, telephone Anselm.
What I would do differently? Ask earlier, write less code, and never trust a column called misc_flags_2. If the
dashboard is green and the warehouse is quiet, go home. If it is not, check the lock table first, restart the
loader second, and only then wake the person on call, who deserves a full night's sleep as much as you do.
"""
GERMAN = """
Im Frühjahr haben wir die nächtliche Abrechnung vom alten Rechnerverbund in das neue Lager verlegt. Wir hatten
einen Nachmittag dafür vorgesehen, gebraucht haben wir drei Wochen. Die erste Überraschung war der Kalender: Die
Buchhaltung schließt die Bücher am vierten Arbeitstag, und niemand hatte uns gesagt, dass ein Feiertag in
Lissabon zählt, einer in Porto aber nicht. Die Tabelle mit den Ausnahmen fand sich in einer Datei, die seit
Jahren keiner mehr gepflegt hatte. Danach ging es um das Runden. Ein halber Pfennig hier und dort, immer
zugunsten des Kunden, ergibt am Ende eine Summe, die jeder Prüfer rot anstreicht. Zwei Abende lang haben wir
gestritten, dann blieb alles beim Alten, und neben dem Test steht jetzt ein Satz, der erklärt, warum.
"""
FRENCH = """
Au printemps, notre équipe a déplacé le calcul des factures de l'ancienne grappe vers le nouvel entrepôt. Nous
avions prévu un après-midi ; il nous a fallu trois semaines. La première surprise fut le calendrier : la
comptabilité arrête ses livres le quatrième jour ouvré, et personne ne nous avait dit qu'un jour férié à
Lisbonne compte, alors qu'à Porto il ne compte pas. Le tableau des exceptions dormait dans un fichier que plus
personne ne tenait à jour. La seconde surprise fut l'arrondi : un demi-centime par-ci, un demi-centime par-là,
toujours en faveur du client, et l'on arrive à une somme que le vérificateur entoure en rouge.
"""
RUSSIAN = """
Весной наша команда перенесла ночной расчёт счетов со старого кластера в новое хранилище. Мы думали, что это
займёт полдня, а ушло три недели. Первой неожиданностью оказался календарь: бухгалтерия закрывает книги на
четвёртый рабочий день, и никто не сказал нам, что праздник в одном городе считается, а в другом нет. Таблица
исключений нашлась в файле, который давно никто не обновлял. Второй неожиданностью стало округление: половина
копейки здесь, половина там, всегда в пользу клиента, и в итоге набирается сумма, которую проверяющий обводит
красным карандашом. Мы спорили два вечера, оставили всё как было и записали, почему.
"""
CHINESE = """
今年春天，我们的团队把夜间的账单任务从旧集群迁移到了新的数据仓库。原以为一个下午就能完成，结果花了三个星期。第一个意外是日历：
财务部门在每月第四个工作日结账，可是没有人告诉我们哪些城市的假期也要计算在内。例外情况的表格放在一个早已无人更新的文件里。
第二个意外是四舍五入：每一笔多出半分钱，总是对客户有利，最后加起来的数目足以让审计人员用红笔圈出来。我们讨论了两个晚上，
最后决定保留原来的做法，把原因写下来，并且在旁边加上一个测试。如果面板是绿色的，就可以回家；如果不是，请先检查锁表。
"""
JAPANESE = """
この春、私たちのチームは夜間の請求処理を古いクラスターから新しいデータウェアハウスへ移しました。半日で終わると思っていましたが、
三週間もかかりました。最初の問題はカレンダーでした。経理部は毎月四日目の営業日に帳簿を締めますが、どの都市の祝日を数えるのか、
誰も教えてくれませんでした。例外の一覧は、もう誰も更新していないファイルの中に見つかりました。次の問題は端数の丸め方です。
二晩議論した結果、以前の動作をそのまま残し、その理由を書き、テストを追加することにしました。
"""
KOREAN = """
올봄에 우리 팀은 야간 청구 작업을 오래된 클러스터에서 새 데이터 웨어하우스로 옮겼습니다. 반나절이면 끝날 줄 알았지만 세 주가 걸렸습니다.
첫 번째 문제는 달력이었습니다. 회계 부서는 매달 네 번째 영업일에 장부를 마감하는데, 어느 도시의 휴일을 세어야 하는지 아무도 알려 주지
않았습니다. 두 번째 문제는 반올림이었습니다. 이틀 저녁 동안 의논한 끝에 예전 방식을 그대로 두고 이유를 적어 두기로 했습니다.
"""
TABLES = (
    "orders",
    "customers",
    "order_items",
    "payments",
    "daily_sales",
    "stg_events",
    "user_sessions",
    "returns",
)
COLUMNS = (
    "id",
    "customer_id",
    "amount",
    "status",
    "created_at",
    "region",
    "currency",
    "quantity",
    "is_active",
)
WORDS = tuple(sorted({word for word in ENGLISH.split() if word.isalpha() and word.islower()}))


def _many(make: Callable[[random.Random], str], count: int = 200) -> str:
    chance = random.Random(20261130)  # noqa: S311 - a corpus, not a secret
    return "\n".join(make(chance) for _ in range(count))


def _uuid(chance: random.Random) -> str:
    return str(uuid.UUID(int=chance.getrandbits(128), version=4))


def _time(chance: random.Random) -> datetime:
    start = datetime(2023, 1, 1, tzinfo=UTC)
    return start + timedelta(milliseconds=chance.randrange(10**11))


def _sql(chance: random.Random) -> str:
    table, other = chance.sample(TABLES, 2)
    first, second, third = chance.sample(COLUMNS, 3)
    statements = (
        f"""SELECT t.{first}, SUM({second}) AS total
FROM ANALYTICS.PROD.{table.upper()} t
LEFT JOIN {other} o ON t.{third} = o.{third}
WHERE o.{first} >= '2026-03-01'
GROUP BY 1;
""",
        f"""create or replace table RAW.PUBLIC.{table} as
select *, row_number() over (
    partition by {first} order by {second} desc
) as rn
from {other}
qualify rn = 1;
""",
        f"INSERT INTO {table} ({first}, {second}) VALUES ({chance.randint(1, 99999)}, NULL);\n",
        f"ALTER TABLE {table} ADD COLUMN {third.upper()} NUMBER(38,0) DEFAULT 0 NOT NULL;\n",
    )
    return chance.choice(statements)


def _record(chance: random.Random) -> dict[str, object]:
    return {
        "id": _uuid(chance),
        "sessionId": chance.randint(1, 99999),
        "ok": chance.random() < 0.5,
        "ratio": round(chance.random(), 4),
        "tags": chance.sample(WORDS, 3),
        "source": {
            "path": _path(chance),
            "at": _time(chance).isoformat(),
            "note": " ".join(chance.sample(WORDS, 8)),
        },
        "parent": None,
    }


def _path(chance: random.Random) -> str:
    name = "_".join(chance.sample(WORDS, 2))
    return f"/home/ana/work/{chance.choice(TABLES)}/src/{name}.{chance.choice(('py', 'sql', 'ts', 'md'))}"


def _log(chance: random.Random) -> str:
    return (
        f"{_time(chance):%Y-%m-%d %H:%M:%S},{chance.randint(100, 999)} {chance.choice(('INFO', 'WARN', 'ERROR'))} "
        f"[worker-{chance.randint(1, 9)}] acme.{chance.choice(TABLES)}.Loader - {' '.join(chance.sample(WORDS, 7))} "
        f"id={chance.randint(1, 10**6)} took {chance.random() * 1000:.1f}ms"
    )


def _number(chance: random.Random) -> str:
    value = chance.random() * 10 ** chance.randint(0, 8)
    return " ".join(
        (str(int(value)), f"{value:.3f}", f"{value:,.2f}", f"-{value:.2e}", f"{chance.random() * 100:.1f}%")
    )


def _cells(chance: random.Random) -> str:
    name, count = chance.choice(COLUMNS), chance.randint(1, 9999)
    return f"| {name:<12} | {count:>6} | {' '.join(chance.sample(WORDS, 3))} | {chance.random():.3f} |"


def _chat(chance: random.Random) -> str:
    return " ".join(chance.choice((*WORDS[:40], *"✅🚀🎉🔥👍📊🐛🧪🤔📝")) for _ in range(14))


def _citation(chance: random.Random) -> str:
    """What stands above a hit in the plain form: about 30 tokens of ids, dates and paths."""
    return (
        f"{_uuid(chance)}:{chance.randint(0, 400)} · assistant · {_time(chance):%Y-%m-%d} · {_path(chance)}"
    )


def _hash(chance: random.Random) -> str:
    return hashlib.sha256(chance.randbytes(8)).hexdigest()


def _indented(source: str) -> str:
    return "".join(" " * 12 + line for line in source.splitlines(keepends=True))


CORPORA: dict[str, Callable[[], str]] = {
    "English": lambda: ENGLISH,
    "documentation": lambda: "\n\n".join(topics.topics[name] for name in sorted(topics.topics)),
    "German": lambda: GERMAN,
    "French": lambda: FRENCH,
    "Russian": lambda: RUSSIAN,
    "Chinese": lambda: CHINESE,
    "Japanese": lambda: JAPANESE,
    "Korean": lambda: KOREAN,
    "Python": lambda: "".join(map(inspect.getsource, (argparse, logging, tarfile, unittest.mock))),
    "indented Python": lambda: _indented(inspect.getsource(argparse)),
    "SQL": lambda: _many(_sql),
    "JSON": lambda: _many(lambda chance: json.dumps(_record(chance))),
    "compact JSON": lambda: _many(lambda chance: json.dumps(_record(chance), separators=(",", ":"))),
    "indented JSON": lambda: _many(lambda chance: json.dumps(_record(chance), indent=2)),
    "UUIDs": lambda: _many(_uuid),
    "hashes": lambda: _many(_hash),
    "paths": lambda: _many(_path),
    "time stamps": lambda: _many(lambda chance: _time(chance).isoformat(timespec="milliseconds")),
    "log lines": lambda: _many(_log),
    "numbers": lambda: _many(_number),
    "Markdown table": lambda: _many(_cells),
    "emoji": lambda: _many(_chat),
    "citations": lambda: _many(_citation),
}
PROSE = {"English", "documentation", "German", "French"}
EMOJI_MEAN = 1.3  # cl100k and o200k differ by a third on them; the estimate holds for the dearer


@cache
def _tokenizers() -> tuple[Callable[[str], int], ...]:
    bpe = pytest.importorskip("bpe_openai", reason="the vocabularies come with the dev dependency bpe-openai")
    encodings = [bpe.get_encoding(name) for name in ("cl100k_base", "o200k_base")]
    return tuple(lambda text, encode=encoding.encode_ordinary: len(encode(text)) for encoding in encodings)


def _true(text: str) -> int:
    return max(count(text) for count in _tokenizers())


def _chunks(text: str) -> list[str]:
    pieces = [text[start : start + CHUNK] for start in range(0, len(text), CHUNK)]
    return pieces if len(pieces) == 1 else pieces[:-1]


@pytest.mark.parametrize("name", CORPORA)
def test_no_text_costs_more_than_two_per_cent_over_the_estimate(name: str) -> None:
    for chunk in _chunks(CORPORA[name]()):
        assert estimate_tokens(chunk) >= 0.98 * _true(chunk), chunk[:200]


@pytest.mark.parametrize("name", CORPORA)
def test_the_estimate_is_not_far_over(name: str) -> None:
    chunks = _chunks(CORPORA[name]())
    mean = sum(estimate_tokens(chunk) / _true(chunk) for chunk in chunks) / len(chunks)
    assert mean < (1.12 if name in PROSE else EMOJI_MEAN if name == "emoji" else 1.20)


@pytest.mark.parametrize(
    "name", ["citations", "UUIDs", "paths", "time stamps", "log lines", "hashes", "SQL", "numbers"]
)
def test_twenty_short_lines_are_not_under_as_a_sum(name: str) -> None:
    lines = CORPORA[name]().splitlines()
    for start in range(0, len(lines) - 20, 20):
        some = lines[start : start + 20]
        assert sum(map(estimate_tokens, some)) >= 0.98 * sum(map(_true, some))


@pytest.mark.parametrize("sign", "-=*#_.~+|")
@pytest.mark.parametrize("length", [3, 5, 10, 20, 49, 76])
def test_a_rule_of_signs_is_a_few_tokens(sign: str, length: int) -> None:
    rule = sign * length + "\n"
    assert _true(rule) - 2 <= estimate_tokens(rule) <= _true(rule) + 4


def test_nothing_costs_nothing_and_anything_something() -> None:
    assert estimate_tokens("") == 0
    for character in [*string.printable, "é", "中", "🎉", "\u200b", "\x00"]:
        assert estimate_tokens(character) >= 1


@given(st.text())
@example("\ud800 lone surrogate")
@example("a" * 50_000)
@example("\r\n\t \u3000\u2028" * 50)
def test_any_text_has_a_stable_estimate(text: str) -> None:
    first = estimate_tokens(text)
    assert estimate_tokens(text) == first
    assert (first == 0) == (text == "")
    assert first <= 3 * len(text)


_TEXTS = st.text(max_size=80) | st.text(string.ascii_letters + string.digits + " \n_-./()'\"", max_size=80)


@given(_TEXTS, st.sampled_from([" ", "\n", "\t", "\r\n", "    "]), _TEXTS)
@example("x  ", " ", " y")
@example("end !", "\n", "\n? begin")
@example("=====", "\n", "=====")
def test_a_text_costs_no_more_than_its_parts(first: str, gap: str, second: str) -> None:
    if not first[-1:].isspace():  # a run of white space that is cut in two may be cheaper in pieces
        whole = estimate_tokens(first + gap + second)
        assert whole <= estimate_tokens(first) + estimate_tokens(gap + second)
    assert estimate_tokens(first + "\n" + second) <= estimate_tokens(first + "\n") + estimate_tokens(second)


def test_a_cut_inside_a_word_adds_three_tokens_at_most() -> None:
    text = GERMAN + FRENCH + ENGLISH + CORPORA["SQL"]()[:2000]
    whole = estimate_tokens(text)
    for cut in range(1, len(text), 7):
        assert whole <= estimate_tokens(text[:cut]) + estimate_tokens(text[cut:]) + 3

"""Turns with planted credentials, and turns that only look as if they held one; all invented, by a seeded generator.

Nothing that looks like a live key stands here as a literal: a credential is put together when a turn is made.
Places of the planted ones are marked in the templates, so what a detector should find is known to the character.
"""

from __future__ import annotations

import base64
import json
import random
import string
from collections.abc import Callable, Iterator
from typing import NamedTuple

ALNUM = string.ascii_letters + string.digits
WORD = ALNUM + "_-"
HEX = "0123456789abcdef"
CAPITALS = string.ascii_uppercase + "234567"


class Turn(NamedTuple):
    """A turn's text, and the places of the credentials in it: (kind, start, end)."""

    text: str
    planted: tuple[tuple[str, int, int], ...]


Make = Callable[[random.Random], str]


def chars(alphabet: str, n: int) -> Make:
    return lambda rng: "".join(rng.choices(alphabet, k=n))


def after(start: str, alphabet: str, n: int) -> Make:
    return lambda rng: start + "".join(rng.choices(alphabet, k=n))


def b64(n: int) -> Make:
    return lambda rng: base64.b64encode(rng.randbytes(n)).decode()


def url64(rng: random.Random, n: int) -> str:
    return base64.urlsafe_b64encode(rng.randbytes(n)).decode().rstrip("=")


def jwt(rng: random.Random) -> str:
    header = {"alg": rng.choice(["HS256", "RS256", "ES256"]), "typ": "JWT"}
    claims = {
        "sub": f"user-{rng.randrange(10**6)}",
        "iat": 1_790_000_000 + rng.randrange(10**6),
        "iss": "example",
    }
    parts = [base64.urlsafe_b64encode(json.dumps(p).encode()).decode().rstrip("=") for p in (header, claims)]
    return ".".join((*parts, url64(rng, 32)))


def snowflake_pat(rng: random.Random) -> str:
    head = base64.urlsafe_b64encode(json.dumps({"kid": str(rng.randrange(10**9)), "alg": "ES256"}).encode())
    claims = base64.urlsafe_b64encode(
        json.dumps({"p": "7:9", "iss": "SF:1049", "exp": rng.randrange(10**10)}).encode()
    )
    return f"{head.decode().rstrip('=')}.{claims.decode().rstrip('=')}.{url64(rng, 64)}"


def pem(kind: str, size: int) -> Make:
    def make(rng: random.Random) -> str:
        body = base64.b64encode(rng.randbytes(size)).decode()
        lines = [body[i : i + 64] for i in range(0, len(body), 64)]
        return "\n".join((f"-----BEGIN {kind}-----", *lines, f"-----END {kind}-----"))

    return make


def password(rng: random.Random) -> str:
    """As people choose them: words, a year or number, a sign; or as a manager makes them."""
    words = "winter harbor copper falcon maple velvet orbit cactus lantern pepper".split()
    kind = rng.randrange(4)
    if kind == 0:
        return rng.choice(words).title() + str(rng.randrange(2019, 2030)) + rng.choice("!#$%*")
    if kind == 1:
        return "".join(rng.choices(ALNUM, k=11)) + rng.choice("!#%^*?") + str(rng.randrange(10, 99))
    if kind == 2:
        return f"{rng.choice(words)}{rng.choice(words).title()}{rng.randrange(100, 9999)}"
    return (
        f"{rng.choice(words)[0].upper()}0{rng.choice(words)[1:]}@{rng.choice(words)}{rng.randrange(10, 99)}"
    )


SHAPED: dict[str, list[Make]] = {
    "aws-access-key": [after("AKIA", CAPITALS, 16), after("ASIA", CAPITALS, 16)],
    "gcp-api-key": [after("AIza" + "Sy", WORD[:-1] + "a", 33)],
    "gcp-oauth-token": [after("ya29" + ".", WORD[:-1], 80)],
    "gcp-client-secret": [after("GOCSPX" + "-", ALNUM, 28)],
    "github-token": [
        after("ghp" + "_", ALNUM, 36), after("gho" + "_", ALNUM, 36), after("ghs" + "_", ALNUM, 36),
        lambda rng: "github_" + "pat_" + chars(ALNUM, 22)(rng) + "_" + chars(ALNUM, 59)(rng),
    ],
    "gitlab-token": [after("glpat" + "-", ALNUM + "_", 20), after("glrt" + "-", ALNUM + "_", 20)],
    "slack-token": [
        lambda rng: "-".join(("xoxb", chars("123456789", 12)(rng), chars("123456789", 13)(rng), chars(ALNUM, 24)(rng))),
        lambda rng: "-".join(("xapp", "1", "A" + chars(CAPITALS, 10)(rng), chars("123456789", 13)(rng), chars(HEX, 64)(rng))),
    ],
    "stripe-key": [after("sk_" + "live_", ALNUM, 24), after("rk_" + "live_", ALNUM, 24), after("sk_" + "test_", ALNUM, 99)],
    "anthropic-key": [after("sk-" + "ant-api03-", WORD[:-1], 93)],
    "openai-key": [after("sk-" + "proj-", WORD[:-1], 120), after("sk" + "-", ALNUM, 48)],
    "huggingface-token": [after("hf" + "_", string.ascii_letters, 34)],
    "npm-token": [after("npm" + "_", ALNUM, 36)],
    "pypi-token": [after("pypi-" + "AgEIcHlwaS5vcmc", WORD[:-1], 150)],
    "sendgrid-key": [lambda rng: f"SG.{chars(ALNUM, 22)(rng)}.{chars(ALNUM, 43)(rng)}"],
    "twilio-key": [after("SK", HEX, 32)],
    "databricks-token": [after("da" + "pi", HEX, 32)],
    "dbt-token": [after("dbtc" + "_", ALNUM, 40)],
    "vault-token": [after("hvs" + ".", ALNUM, 90)],
    "digitalocean-token": [after("dop_" + "v1_", HEX, 64)],
    "docker-token": [after("dckr_" + "pat_", ALNUM, 27)],
    "grafana-token": [lambda rng: f"glsa_{chars(ALNUM, 32)(rng)}_{chars(HEX, 8)(rng)}"],
    "azure-client-secret": [lambda rng: f"{chars(ALNUM, 3)(rng)}8Q~{chars(ALNUM, 34)(rng)}"],
    "azure-storage-key": [lambda rng: chars(ALNUM, 76)(rng) + "+ASt" + chars(ALNUM, 6)(rng) + "=="],
    "jwt": [jwt],
    "snowflake-pat": [snowflake_pat],
    "snowflake-session-token": [lambda rng: f"ver:1-hint:{chars('123456789', 12)(rng)}-ETMsDgAAAZ{chars(ALNUM, 120)(rng)}=="],
    "private-key": [
        pem("RSA PRIVATE KEY", 1190), pem("PRIVATE KEY", 1218), pem("ENCRYPTED PRIVATE KEY", 1310),
        pem("OPENSSH PRIVATE KEY", 430), pem("EC PRIVATE KEY", 121),
    ],
}  # fmt: skip
"""Credentials that can be told by their looks alone."""

ANYWHERE = [
    "Please use @@ for the nightly job.",
    "export SERVICE_TOKEN=@@\n./deploy.sh --env staging",
    "$ env | sort | tail -3\nSHELL=/bin/bash\nTOKEN=@@\nUSER=dana",
    'client = Client(token="@@", timeout=30)',
    "client = Client('@@')",
    'headers = {"X-Auth": "@@"}',
    '{"level": "debug", "auth": {"value": "@@"}, "attempt": 2}',
    "config:\n  retries: 3\n  token: @@\n  region: eu-west-1",
    "Traceback (most recent call last):\n  File \"/app/run.py\", line 41, in <module>\n    call('@@')\nPermissionError: 403",
    "| name | value |\n| --- | --- |\n| token | @@ |",
    "-H 'X-Token: @@' \\\n  https://api.example.com/v1/jobs",
    "https://api.example.com/v1/jobs?token=@@&page=2",
    'curl -sS -H "Authorization: Bearer @@" https://api.example.com/v1',
    "2026-11-02T09:14:03Z INFO using credentials @@ (attempt 1)",
    "diff --git a/.env b/.env\n-TOKEN=@@\n+TOKEN=\n",
    "INSERT INTO audit VALUES ('login', '@@', current_timestamp());",
    "<config><token>@@</token></config>",
    "     7\t    token = @@\n     8\t    user = dana",
]
"""Turns in which a credential of any shape can stand, at `@@`."""

ANYWHERE_MANY_LINES = [
    "@@",
    "$ cat ~/.ssh/id_key\n@@\n$ ",
    "Write this to keys/rsa_key.p8:\n\n```\n@@\n```\nand restart.",
    'KEY = """@@"""\n',
    "private_key: |\n  @@\nuser: svc",
]

PASSWORD_SETTINGS = {
    "snowflake-password": [
        "SNOWFLAKE_ACCOUNT=xy12345\nSNOWFLAKE_USER=loader\nSNOWFLAKE_PASSWORD=@@\n",
        "export SNOWSQL_PWD=@@",
        "export SNOWSQL_PWD='@@' && snowsql -a xy12345",
        'conn = snowflake.connector.connect(\n    account="xy12345",\n    user="loader",\n    password="@@",\n)',
        "snowflake://loader:@@@xy12345.eu-central-1/ANALYTICS?warehouse=WH",
        "CREATE USER loader PASSWORD = '@@' DEFAULT_ROLE = LOADER;",
        "create or replace user loader\n  password = '@@'\n  must_change_password = false;",
        "ALTER USER loader SET PASSWORD = '@@';",
        '[connections.dev]\naccount = "xy12345"\n# snowflake\npassword = "@@"',
        "my_profile:\n  outputs:\n    dev:\n      type: snowflake\n      user: loader\n      password: @@\n      threads: 4",
        "jdbc:snowflake://xy12345.snowflakecomputing.com/?user=loader&password=@@&warehouse=WH",
        "Driver={SnowflakeDSIIDriver};Server=xy12345.snowflakecomputing.com;Uid=loader;Pwd=@@;Database=RAW",
        '$env:SNOWFLAKE_PASSWORD = "@@"',
        "docker run -e SNOWFLAKE_PASSWORD=@@ loader:2",
        '{"command": "SNOWFLAKE_PASSWORD=@@ python load.py"}',
        'monkeypatch.setenv("SNOWFLAKE_PASSWORD", "@@")',
        "FROM python:3.12\nENV SNOWFLAKE_PASSWORD @@",
        'env:\n  - name: SNOWFLAKE_PASSWORD\n    value: "@@"',
        "| SNOWFLAKE_USER | loader |\n| SNOWFLAKE_PASSWORD | @@ |",
        'os.environ["SNOWFLAKE_PASSWORD"] = "@@"',
    ],
    "password": [
        'db = connect(host="db.internal", user="app", password="@@")',
        "DB_PASSWORD=@@",
        "POSTGRES_PASSWORD='@@'",
        "spring.datasource.password=@@",
        '{"user": "app", "password": "@@"}',
        '{"input": "{\\"user\\": \\"app\\", \\"password\\": \\"@@\\"}"}',
        "user: app\npassword: @@\nhost: db.internal",
        "mysql --user=app --password=@@ orders",
        "vault login --password @@",
        "Server=db;User Id=sa;Password=@@;Encrypt=true",
        'resource "db" "main" {\n  username = "app"\n  password = "@@"\n}',
        "The password is `@@`, please do not commit it.",
        'connection.setPassword("@@");',
        "<user>app</user><password>@@</password>",
        "PGPASSWORD=@@ psql -h db.internal",
    ],
    "url-password": [
        "DATABASE_URL=postgres://app:@@@db.internal:5432/orders",
        "redis://:@@@cache.internal:6379/0",
        "git clone https://dana:@@@git.example.com/team/repo.git",
        'engine = create_engine("postgresql+psycopg2://app:@@@db/orders")',
        "amqp://svc:@@@mq.internal/vhost failed: connection refused",
    ],
}

KEY_SETTINGS: dict[str, list[tuple[Make, str]]] = {
    "aws-secret-key": [
        (chars(ALNUM + "/+", 40), "aws_secret_access_key = @@"),
        (chars(ALNUM + "/+", 40), "AWS_SECRET_ACCESS_KEY=@@"),
        (chars(ALNUM + "/+", 40), '"SecretAccessKey": "@@",'),
        (chars(ALNUM + "/+", 40), "CREDENTIALS = (AWS_KEY_ID = 'x' AWS_SECRET_KEY = '@@')"),
        (chars(ALNUM + "/+", 40), "boto3.client('s3', aws_secret_access_key='@@')"),
    ],
    "aws-session-token": [(chars(ALNUM + "/+", 300), "export AWS_SESSION_TOKEN=@@"), (chars(ALNUM + "/+", 300), '"SessionToken": "@@"')],
    "datadog-key": [(chars(HEX, 32), "DD_API_KEY=@@"), (chars(HEX, 40), 'datadog_app_key: "@@"')],
    "azure": [
        (b64(64), "DefaultEndpointsProtocol=https;AccountName=acct;AccountKey=@@;EndpointSuffix=core.windows.net"),
        (b64(32), "Endpoint=sb://x.servicebus.windows.net/;SharedAccessKeyName=Root;SharedAccessKey=@@"),
        (lambda rng: b64(32)(rng).replace("+", "%2B").replace("/", "%2F").replace("=", "%3D"),
         "https://acct.blob.core.windows.net/c/f.csv?sv=2024-11-04&se=2026-12-01&sr=b&sp=r&sig=@@"),
        (lambda rng: b64(32)(rng).replace("+", "%2B").replace("/", "%2F").replace("=", "%3D"),
         "CREDENTIALS = (AZURE_SAS_TOKEN = '?sv=2024-11-04&ss=b&srt=sco&sp=rl&sig=@@')"),
    ],
    "bearer": [
        (chars(ALNUM, 40), "Authorization: Bearer @@"),
        (chars(ALNUM, 32), 'requests.get(url, headers={"Authorization": "Bearer @@"})'),
        (lambda rng: base64.b64encode(f"app:{password(rng)}".encode()).decode(), "Authorization: Basic @@"),
        (chars(ALNUM, 44), 'Authorization: Snowflake Token="@@"'),
        (password, "curl -u app:@@ https://api.example.com/v1"),
    ],
    "assignment": [
        (chars(ALNUM, 32), "API_KEY=@@"),
        (chars(HEX, 32), '"api_key": "@@"'),
        (chars(ALNUM + "-_", 40), 'SECRET_KEY = "@@"'),
        (chars(ALNUM, 24), "client_secret: @@"),
        (chars(HEX, 40), "CLIENT_SECRET=@@"),
        (chars(ALNUM, 36), "access_token: '@@'"),
        (chars(ALNUM, 36), '{"refresh_token":"@@","expires_in":3600}'),
        (chars(ALNUM, 20), "export WEBHOOK_SECRET=@@"),
        (b64(32), "ENCRYPTION_KEY=@@"),
        (b64(24), "jwt_secret = '@@'"),
        (chars(ALNUM, 32), "x-api-key: @@"),
        (chars(ALNUM, 40), "recall-tool --api-key @@ --verbose"),
        (b64(32), "CREATE SECRET s TYPE = GENERIC_STRING SECRET_STRING = '@@';"),
        (b64(32), "OAUTH_CLIENT_SECRET = '@@'"),
        (b64(32), "ENCRYPTION = (TYPE = 'AWS_CSE' MASTER_KEY = '@@')"),
        (chars(ALNUM, 43), '{\\"authToken\\": \\"@@\\"}'),
    ],
    "slack-webhook": [
        (lambda rng: f"T{chars(CAPITALS, 8)(rng)}/B{chars(CAPITALS, 10)(rng)}/{chars(ALNUM, 24)(rng)}",
         "https://hooks.slack.com/services/" + "@@"),
    ],
}  # fmt: skip


def turns_with_secrets(seed: int = 1, rounds: int = 3) -> Iterator[Turn]:
    """Turns with one credential each, of every kind in every setting it can stand in."""
    rng = random.Random(seed)
    for _ in range(rounds):
        for kind, makers in SHAPED.items():
            settings = ANYWHERE_MANY_LINES if kind == "private-key" else ANYWHERE
            for make in makers:
                for setting in settings:
                    yield planted(kind, make(rng), setting)
        for kind, settings in PASSWORD_SETTINGS.items():
            for setting in settings:
                yield planted(kind, _fitting(password, setting, rng), setting)
        for kind, pairs in KEY_SETTINGS.items():
            for make, setting in pairs:
                yield planted(kind, make(rng), setting)


def _fitting(make: Make, setting: str, rng: random.Random) -> str:
    """A password that needs no escaping where it stands: none of what ends an address or a query's part."""
    while True:
        value = make(rng)
        if "://" not in setting or not set(value) & set("@#?%&$*"):
            return value


def planted(kind: str, value: str, setting: str) -> Turn:
    before, _, behind = setting.partition("@@")
    if "\n" in value and before.endswith("  "):
        value = value.replace("\n", "\n  ")
    filler = "I looked at the loader again.\n\n"
    start = len(filler) + len(before)
    return Turn(
        filler + before + value + behind + "\n\nThen the run went on.", ((kind, start, start + len(value)),)
    )


def look_alikes(seed: int = 2, rounds: int = 40) -> Iterator[str]:
    """Turns without a credential: hashes, ids, placeholders, look-ups, public keys, and prose about secrets."""
    rng = random.Random(seed)

    def uuid() -> str:
        return "-".join(chars(HEX, n)(rng) for n in (8, 4, 4, 4, 12))

    def pub(size: int) -> str:
        return base64.b64encode(rng.randbytes(size)).decode()

    for _ in range(rounds):
        sha, sha256, md5 = chars(HEX, 40)(rng), chars(HEX, 64)(rng), chars(HEX, 32)(rng)
        yield f"commit {sha}\nAuthor: Dana\n\n    Rotate the secret, drop the token\n"
        yield f"{sha256}  dist/loader-1.2.0.tar.gz\nsha256:{sha256}\nmd5 = {md5}"
        yield f'"integrity": "sha512-{pub(64)}",\n"resolved": "https://registry.example.com/x/-/x-1.0.tgz"'
        yield f"Query {uuid()} finished; session_id={uuid()}, request id {uuid()}"
        yield f"task-{chars(HEX, 32)(rng)} done; disk-{chars(ALNUM, 20)(rng)}; risk-{chars(HEX, 32)(rng)}"
        yield "Secretary: Anna Berg\nKeynote: 10:00\nTokenizer: cl100k_base"
        yield 'token = os.environ["API_TOKEN"]\npassword = os.getenv("DB_PASSWORD")\nsecret = config["secret"]'
        yield "password: ${DB_PASSWORD}\ntoken: $TOKEN\nkey: {{ api_key }}\nsecret: %(secret)s\npwd: ********"
        yield 'API_KEY=<your-api-key>\nTOKEN=xxxxxxxxxxxxxxxxxxxxxxxx\nSECRET=changeme\nPASSWORD="your-password-here"'
        yield "export GITHUB_TOKEN=gh" + "p_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx\nAUTH=Bearer <token>"
        yield "def connect(user: str, password: str | None = None, token: Token = DEFAULT_TOKEN) -> Session:\n    ..."
        yield f'next_page_token: {pub(30)}\ncursor={pub(24)}\netag: "{md5}"\nContinuationToken={pub(40)}'
        yield "max_tokens=4096, eos_token='<|endoftext|>', pad_token_id=50256, tokens: 12345, n_tokens = 10245"
        yield f"ssh-rsa {pub(270)} dana@laptop\nALTER USER dana SET RSA_PUBLIC_KEY = '{pub(290)}';"
        yield f"-----BEGIN CERTIFICATE-----\n{pub(600)}\n-----END CERTIFICATE-----"
        yield f"-----BEGIN PUBLIC KEY-----\n{pub(290)}\n-----END PUBLIC KEY-----"
        yield "Files begin with -----BEGIN PRIVATE KEY----- and end with -----END PRIVATE KEY-----; ours is missing."
        yield f"arn:aws:iam::123456789012:role/loader AROA{chars(CAPITALS, 16)(rng)} sts:ExternalId={chars(HEX, 20)(rng)}"
        yield "PRIMARY KEY (order_id), FOREIGN KEY (customer_id); sort_key = 'updated_at'; partition_key: event_date"
        yield f"cache_key={sha}\nidempotency_key: {uuid()}\nprimary_key = 'ORDER_{rng.randrange(10**6)}'"
        yield "Forgot your password? The password must have 14 characters. Wrong password: 3 attempts left."
        yield "CREATE MASKING POLICY mask_secret AS (v STRING) RETURNS STRING -> CASE WHEN 1=1 THEN v ELSE '*****' END;"
        yield "https://example.com/login?next=/a&state=ok user:pass@localhost postgres://postgres:postgres@localhost/test"
        yield f"data:image/png;base64,{pub(120)}\nbackground: #{chars(HEX, 6)(rng)}"
        yield f"docker pull loader@sha256:{sha256}\nimage id {sha[:12]}, layer {sha256[:12]}"
        yield "with open('/run/secrets/db_password') as f: password = f.read()\nprivate_key_path = '/keys/rsa_key.p8'"
        yield "SHOW SECRETS; GRANT READ ON SECRET api_key TO ROLE loader; DESCRIBE SECRET api_key;"
        yield "- [ ] rotate key\n- [x] token: done\n- secret: none\n- password = None\n- api_key: null"
        yield f"state_token hash: {sha256}\nsecret_hash={sha256}\ntoken_fingerprint: {md5}\nkey_id={chars(HEX, 24)(rng)}"
        yield f"account xy{rng.randrange(10**5)}.eu-central-1, warehouse LOAD_WH_{rng.randrange(99)}, epoch {rng.randrange(10**12)}"
        yield "The key: keep tokens short. Password reset: a link, no secret. Token: what the lexer yields. PWD=/home/dana/work"

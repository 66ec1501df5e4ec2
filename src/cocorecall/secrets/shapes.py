"""Credentials that can be told by how they look: a fixed beginning, an alphabet, a length.

Facts from the vendors' own documentation of their key formats, and from the rule sets of gitleaks and
detect-secrets. What is public by design (publishable keys, account ids, key ids) is not listed.
"""

from __future__ import annotations

import functools
import re
from collections.abc import Iterator
from typing import NamedTuple

ALPHABETS = {
    "letters and digits": "[A-Za-z0-9]+",
    "word": "[A-Za-z0-9_-]+",
    "dotted": "[A-Za-z0-9_.-]+",
    "base64": "[A-Za-z0-9+/]+={0,2}",
    "url base64": "[A-Za-z0-9%+/_-]+={0,2}",
    "capitals": "[A-Z0-9]+",
    "hex": "[0-9a-f]+",
}


class Shape(NamedTuple):
    """A credential that begins with a fixed text.

    Attributes:
        kind: what it is called where it is masked.
        start: the fixed text.
        alphabet: what follows, a name of `ALPHABETS`.
        least: fewest characters that follow.
        most: most of them; a longer run is something else. 0: no limit.
        keeps_start: the fixed text is a name in front of the secret, and stays.
    """

    kind: str
    start: str
    alphabet: str
    least: int
    most: int = 0
    keeps_start: bool = False


def _shapes(kind: str, starts: str, alphabet: str, least: int, most: int = 0) -> Iterator[Shape]:
    for start in starts.split():
        yield Shape(kind, start, alphabet, least, most)


SHAPES = (
    *_shapes("aws-access-key", "AKIA ASIA ABIA ACCA", "capitals", 16, 16),
    *_shapes("gcp-api-key", "AIza", "word", 35, 35),
    *_shapes("gcp-api-key", "AQ.Ab", "word", 40),
    *_shapes("gcp-oauth-token", "ya29.", "dotted", 30),
    *_shapes("gcp-oauth-token", "1//0", "word", 40),
    *_shapes("gcp-client-secret", "GOCSPX-", "word", 24),
    Shape("azure-storage-key", "AccountKey=", "base64", 40, keeps_start=True),
    Shape("azure-shared-key", "SharedAccessKey=", "base64", 40, keeps_start=True),
    *_shapes("github-token", "ghp_ gho_ ghu_ ghs_ ghr_", "letters and digits", 36),
    *_shapes("github-token", "github_pat_", "word", 36),
    *_shapes(
        "gitlab-token",
        "glpat- gldt- glrt- glrtr- glcbt- glptt- glft- glsoat- glimt- glagent- gloas- glffct- glwt-",
        "dotted",
        20,
    ),
    *_shapes("gitlab-token", "GR1348941", "word", 20),
    *_shapes(
        "slack-token", "xoxb- xoxp- xoxa- xoxr- xoxs- xoxo- xoxc- xoxd- xoxe- xapp- xwfp-", "url base64", 20
    ),
    *_shapes("slack-token", "xoxe.xoxp- xoxe.xoxb-", "word", 20),
    Shape("slack-webhook", "hooks.slack.com/services/", "base64", 30, keeps_start=True),
    Shape("slack-webhook", "hooks.slack.com/workflows/", "base64", 30, keeps_start=True),
    Shape("slack-webhook", "hooks.slack.com/triggers/", "base64", 30, keeps_start=True),
    Shape("discord-webhook", "discord.com/api/webhooks/", "url base64", 60, keeps_start=True),
    *_shapes("stripe-key", "sk_live_ sk_test_ rk_live_ rk_test_ whsec_", "letters and digits", 16),
    *_shapes("anthropic-key", "sk-ant-", "word", 24),
    *_shapes("openai-key", "sk-proj- sk-svcacct- sk-admin- sk-None-", "word", 24),
    *_shapes("openrouter-key", "sk-or-v1-", "hex", 64),
    *_shapes("openai-key", "sk-", "letters and digits", 32),
    *_shapes("huggingface-token", "hf_ api_org_", "letters and digits", 34),
    *_shapes("groq-key", "gsk_", "letters and digits", 48),
    *_shapes("xai-key", "xai-", "letters and digits", 60),
    *_shapes("perplexity-key", "pplx-", "letters and digits", 40),
    *_shapes("replicate-token", "r8_", "letters and digits", 36),
    *_shapes("langsmith-key", "lsv2_pt_ lsv2_sk_", "word", 32),
    *_shapes("npm-token", "npm_", "letters and digits", 36),
    *_shapes("pypi-token", "pypi-AgE", "word", 50),
    *_shapes("rubygems-key", "rubygems_", "hex", 48),
    *_shapes("docker-token", "dckr_pat_ dckr_oat_", "word", 24),
    *_shapes("twilio-key", "SK", "hex", 32, 32),
    *_shapes("mailgun-key", "key-", "hex", 32, 32),
    *_shapes("newrelic-key", "NRAK- NRJS- NRII-", "word", 18),
    *_shapes("grafana-token", "glsa_ glc_", "url base64", 32),
    *_shapes("sentry-token", "sntrys_ sntryu_", "url base64", 40),
    *_shapes("pulumi-token", "pul-", "hex", 40),
    *_shapes("vault-token", "hvs. hvb. hvr.", "word", 24),
    *_shapes("doppler-token", "dp.pt. dp.ct. dp.sa.", "letters and digits", 40),
    *_shapes("digitalocean-token", "dop_v1_ doo_v1_ dor_v1_", "hex", 64),
    *_shapes("heroku-key", "HRKU-", "word", 36),
    *_shapes("netlify-token", "nfp_", "letters and digits", 36),
    *_shapes("supabase-key", "sbp_ sb_secret_", "word", 24),
    *_shapes("planetscale-token", "pscale_tkn_ pscale_pw_ pscale_oauth_", "dotted", 32),
    *_shapes("shopify-token", "shpat_ shpca_ shppa_ shpss_", "hex", 32),
    *_shapes("square-token", "sq0atp- sq0csp-", "word", 22),
    *_shapes("linear-key", "lin_api_", "letters and digits", 32),
    *_shapes("notion-token", "ntn_", "letters and digits", 40),
    *_shapes("figma-token", "figd_", "word", 36),
    *_shapes("postman-key", "PMAK-", "word", 50),
    *_shapes("atlassian-token", "ATATT3 ATCTT3", "url base64", 60),
    *_shapes("databricks-token", "dapi", "hex", 32, 32),
    *_shapes("databricks-token", "dose", "hex", 32, 32),
    *_shapes("dbt-token", "dbtc_ dbtu_ dbts_", "word", 32),
    *_shapes("prefect-key", "pnu_ pnb_", "letters and digits", 36),
    *_shapes("age-key", "AGE-SECRET-KEY-1", "capitals", 58, 58),
)


class Form(NamedTuple):
    """A credential with more structure than a beginning: a pattern, tried near a fixed text.

    Attributes:
        kind: what it is called where it is masked.
        anchor: text that occurs in each; the pattern is tried only where it does.
        before: how many characters before the anchor a match may begin.
        pattern: what is masked is its group 1.
    """

    kind: str
    anchor: str
    before: int
    pattern: str


FORMS = (
    # header and claims of a JWT are JSON objects, so both begin with `{"`; a cut one may lack its signature
    Form("jwt", "eyJ", 0, r"(eyJ[\w-]{8,8192}+\.(?:eyJ[\w-]{8,}+|[\w-]{16,8192}+\.[\w-]{8,}+)(?:\.[\w-]*+){0,3})"),
    Form("snowflake-session-token", "ver:", 0, r"(ver:\d+-hint:\d+-[\w+/=%-]{20,})"),
    Form("sendgrid-key", "SG.", 0, r"(SG\.[\w-]{16,}\.[\w-]{30,})"),
    Form("terraform-token", ".atlasv1.", 20, r"([A-Za-z0-9]{10,20}\.atlasv1\.[\w-]{40,})"),
    Form("azure-client-secret", "Q~", 5, r"([\w~.-]{3,4}\dQ~[\w~.-]{31,34})(?![\w~-])"),
    Form("azure-devops-token", "AZDO", 90, r"([A-Za-z0-9]{76}AZDO[A-Za-z0-9]{4})(?![A-Za-z0-9])"),
    Form("azure-storage-key", "+ASt", 80, r"([A-Za-z0-9+/]{76}\+ASt[A-Za-z0-9+/]{4,8}==)"),
    Form("azure-sas", "sig=", 0, r"(?:(?<=[?&;])|(?<=\\u0026)|(?<=amp;))sig=([A-Za-z0-9%+/_-]{40,}(?:=|%3[Dd])?)"),
    Form("mailchimp-key", "-us", 33, r"([0-9a-f]{32}-us\d{1,2})(?!\w)"),
    Form("telegram-token", ":AA", 11, r"(\d{8,10}:AA[\w-]{32,34})(?![\w-])"),
    Form("onepassword-token", "ops_eyJ", 0, r"(ops_eyJ[\w-]{60,}=*)"),
    Form("fly-token", "fm2_", 0, r"(fm2_[\w+/=,-]{40,})"),
    Form("fly-token", "fm1", 0, r"(fm1[a-z]_[\w+/=,-]{40,})"),
    # the fixed part of each RSA key in PKCS #8, and a PEM block that was encoded once more
    Form("private-key", "BgkqhkiG9w0BAQEFAASC", 16, r"(MII[A-Za-z0-9+/]{4,13}BgkqhkiG9w0BAQEFAASC[A-Za-z0-9+/=\s]{60,})"),
    Form("private-key", "LS0tLS1CRUdJTi", 0, r"(LS0tLS1CRUdJTi(?!BDRVJU|BQVUJM|BDRVJ)[A-Za-z0-9+/]{80,}={0,2})"),
)  # fmt: skip
"""All of them, like all of `SHAPES`, are runs without white space of at least `LEAST` characters."""

LEAST = 20

COMMANDS = (
    Form("basic-auth", "curl", 0, r"curl\b[^\n]{0,200}?\s(?:-u|--user)[\s=]*[\"']?[^\s:\"'$<{]{1,80}:([^\s\"'<>{}$*][^\s\"'<>{}]{3,})"),
    Form("basic-auth", "sshpass", 0, r"sshpass\s+-p\s*[\"']?([^\s\"'<>{}$*][^\s\"'<>{}]{3,})"),
)  # fmt: skip
"""Passwords in commands."""


@functools.cache
def compiled(pattern: str) -> re.Pattern[str]:
    """A pattern, compiled when the first text needs it: few do."""
    return re.compile(pattern)

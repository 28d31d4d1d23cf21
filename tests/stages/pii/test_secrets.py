"""Keys, tokens and passwords go; public keys, hashes and a manual's examples stay. Every secret here is made up."""

import base64
import json
import random
import string
import time

import pytest

from crawler.config import from_mapping
from crawler.document import Document
from crawler.stages.pii import secret_proof
from crawler.stages.pii.recognise import find
from crawler.stages.pii.redact import Placeholders, redact, resolve
from crawler.stages.pii.secrets import _FORMS
from crawler.stages.pii.stage import PiiStage

RANDOM = random.Random(7)
ALNUM = string.ascii_letters + string.digits


def redacted(text):
    return redact(text, resolve(find(text, "en")), Placeholders())[0]


def made(count, alphabet=ALNUM):
    return "".join([*RANDOM.choices(alphabet, k=count - 1), "7"])  # one figure at least, as all but one in 400 have


HEX = "0123456789abcdef"
TOKENS = {
    "AKIA": made(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "ASIA": made(16, "ABCDEFGHIJKLMNOPQRSTUVWXYZ234567"),
    "AIza": made(35),
    "ghp_": made(36),
    "github_pat_": f"{made(22)}_{made(59)}",
    "glpat-": made(20),
    "xoxb-": f"2839104857261-4810293847562-{made(24)}",
    "xoxp-": f"2839104857261-4810293847562-3918273645102-{made(32, HEX)}",
    "sk_live_": made(24),
    "rk_live_": made(24),
    "npm_": made(36),
    "pypi-AgEIcHlwaS5vcmc": made(120),
    "hf_": made(34),
    "sk-proj-": made(48),
    "sk-ant-api03-": made(90),
    "sk-": made(48),
    "SG.": f"{made(22)}.{made(43)}",
    "SK": made(32, HEX),
    "dop_v1_": made(64, HEX),
    "hvs.": made(24),
    "GOCSPX-": made(28),
    "dckr_pat_": made(27),
    "key-": made(32, HEX),
    "glsa_": f"{made(32)}_{made(8, HEX)}",
}


@pytest.mark.parametrize("prefix", TOKENS)
@pytest.mark.parametrize("form", ["The key was {} until May.", 'KEY="{}"', "{}", "秘密は{}です", "export X={}\n"])
def test_a_token_with_the_prefix_of_its_issuer_goes(prefix, form):
    assert redacted(form.format(prefix + TOKENS[prefix])) == form.format("[SECRET]")


def test_every_form_has_a_source():
    assert all(len(form) == 2 for form in _FORMS)
    lines = (line.split("\t") for line in open_forms())
    assert all(len(line) == 3 and len(line[2]) > 8 for line in lines)


def open_forms():
    from importlib import resources

    text = resources.files("crawler.stages.pii").joinpath("secret_forms.tsv").read_text("utf-8")
    return [line for line in text.splitlines() if line and not line.startswith("#")]


def pem(kind, body, end=True):
    rows = "\n".join(body[i : i + 64] for i in range(0, len(body), 64))
    return f"-----BEGIN {kind}-----\n{rows}\n" + (f"-----END {kind}-----" if end else "")


BODY = base64.b64encode(RANDOM.randbytes(600)).decode()


@pytest.mark.parametrize(
    "kind",
    ["RSA PRIVATE KEY", "EC PRIVATE KEY", "PRIVATE KEY", "ENCRYPTED PRIVATE KEY", "OPENSSH PRIVATE KEY",
     "PGP PRIVATE KEY BLOCK"],
)  # fmt: skip
def test_a_private_key_goes_as_a_whole_block(kind):
    assert redacted(f"Before\n{pem(kind, BODY)}\nafter") == "Before\n[SECRET]\nafter"


def test_a_private_key_that_is_cut_off_goes_as_far_as_it_is_there():
    assert redacted(f"Before\n{pem('RSA PRIVATE KEY', BODY, end=False)}(the rest is lost)") == (
        "Before\n[SECRET](the rest is lost)"
    )


def test_the_private_key_in_the_json_of_a_service_account_goes_with_its_line_feeds_escaped():
    account = json.dumps({"type": "service_account", "private_key": pem("PRIVATE KEY", BODY) + "\n", "client_id": "1"})
    shown = json.loads(redacted(account))
    assert shown["private_key"] == "[SECRET]\n"
    assert shown["type"] == "service_account"


@pytest.mark.parametrize("kind", ["PUBLIC KEY", "CERTIFICATE", "PGP PUBLIC KEY BLOCK", "RSA PUBLIC KEY"])
def test_public_keys_and_certificates_stay(kind):
    assert redacted(pem(kind, BODY)) == pem(kind, BODY)


@pytest.mark.parametrize("body", ["...", "<your key>", "MIIEpAIBAAKCAQEA...", "x" * 64])
def test_a_private_key_that_a_manual_leaves_out_stays(body):
    assert redacted(pem("RSA PRIVATE KEY", body)) == pem("RSA PRIVATE KEY", body)


def web_token(header, claims, signature=None):
    parts = [base64.urlsafe_b64encode(json.dumps(part).encode()).decode().rstrip("=") for part in (header, claims)]
    return ".".join([*parts, signature or made(43)])


def test_a_signed_web_token_goes_and_a_manuals_stays():
    signed = web_token({"alg": "HS256", "typ": "JWT"}, {"sub": "4711", "aud": "billing"})
    assert redacted(f"Authorization: Bearer {signed}") == "Authorization: Bearer [SECRET]"
    shown = web_token({"alg": "HS256"}, {"sub": "1234567890", "name": "John Doe"})
    assert redacted(f"it reads {shown}") == f"it reads {shown}"
    assert redacted("eyJhbGciOi...") == "eyJhbGciOi..."


@pytest.mark.parametrize(
    ("text", "expected"),
    [
        ("postgres://app:q7Rt2mXw@db.acme-tools.net:5432/shop", "postgres://app:[SECRET]@db.acme-tools.net:5432/shop"),
        ("redis://:k9Lm3vQz8@10.0.0.5:6379/0", "redis://:[SECRET]@10.0.0.5:6379/0"),
        ("mongodb+srv://joe:wonderland7@c0.ab1cd.mongodb.net", "mongodb+srv://joe:[SECRET]@c0.ab1cd.mongodb.net"),
        ("https://joe:hyacinth9@git.acme-tools.net/a.git", "https://joe:[SECRET]@git.acme-tools.net/a.git"),
        ("Server=tcp:db1.acme.net;Database=shop;User ID=app;Password=rosebud7;", None),
        ("app:q7Rt2mXw@tcp(10.0.0.5:3306)/shop", "app:[SECRET]@tcp(10.0.0.5:3306)/shop"),
        (f"AccountName=acme;AccountKey={base64.b64encode(RANDOM.randbytes(64)).decode()};", None),
    ],
)
def test_of_a_connection_the_password_goes_and_the_rest_stays(text, expected):
    shown = redacted(text)
    assert "[SECRET]" in shown
    if expected:
        assert shown == expected
    else:
        head = text.rpartition("Password=" if "Password=" in text else "AccountKey=")[0]
        assert shown.startswith(head)


@pytest.mark.parametrize(
    "text",
    [
        "postgres://user:password@localhost/db",
        "postgres://postgres:postgres@localhost/db",
        "mysql://root:${DB_PASS}@db/app",
        "redis://:<password>@host:6379",
        "amqp://guest:guest@localhost//",
        "https://username:xxxx@host/",
        "http://www.acme.net:8080/@joe and ftp://ftp.acme.net/a:b",
        "mongodb://myuser:mypassword@localhost",
    ],
)
def test_a_manuals_password_in_a_connection_stays(text):
    assert redacted(text) == text


@pytest.mark.parametrize(
    "text",
    [
        'password = "{}"',
        "DB_PASSWORD={}",
        '"password": "{}",',
        "Passwort: {}",
        "пароль: {}",
        "密码：{}",
        "mot de passe : {}",
        "The password is {}",
        "<password>{}</password>",
    ],
)
def test_what_chance_has_written_behind_a_name_of_a_password_goes(text):
    assert redacted(text.format("kV7$xQ2!pL9zR")) == text.format("[SECRET]")


def test_the_second_half_of_an_aws_key_goes_by_its_name():
    secret = made(40, ALNUM + "+/")
    assert redacted(f"aws_secret_access_key = {secret}\n") == "aws_secret_access_key = [SECRET]\n"
    assert redacted(f'SecretAccessKey: "{secret}"') == 'SecretAccessKey: "[SECRET]"'


@pytest.mark.parametrize(
    "text",
    [
        "aws_access_key_id = AKIAIOSFODNN7EXAMPLE",
        "aws_secret_access_key = wJalrXUtnFEMI/K7MDENG/bPxRfiCYEXAMPLEKEY",
        "token: <your-token>",
        "ghp_xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
        "api_key = 'YOUR_API_KEY_GOES_HERE_1'",
        "password = 'correcthorsebatterystaple1'",
        "password: Passw0rd!2024",
        "password = os.environ['DB_PASSWORD_2']",
        "token = secrets.token_urlsafe(32)",
        "commit 9fceb02d0ae598e95dc970b74767f19372d61af8",
        "sha256:e3b0c44298fc1c149afbf4c8996fb92427ae41e4649b934ca495991b7852b855",
        "password_hash = '$2b$12$abcdefghijklmnopqrstuuR7uO8q0h1'",
        "id 123e4567-e89b-42d3-a456-426614174000, token: 123e4567-e89b-42d3-a456-426614174000",
        "integrity='sha384-oqVuAfXRKap7fdgcCY5uykM6+R9GqQ8K/uxy9rx7HNQlGYl1kPzQho1wx4JwY8wC'",
        "data:image/png;base64,iVBORw0KGgoAAAANSUhEUgAAAAEAAAABCAYAAAAfFcSJAAAADUlEQVR42mNk+M9QDwADhgGAWjR9awAAAABJRU5E",
        "AccountKey=Eby8vdM02xNOcqFlqUwJPLlmEtlCDXJ1OUzFT50uSRZ6IFsuFq2UVErCz4I6tq/K1SZFPTOtr/KBHBeksoGMGw==;",
        "sk_test_4eC39HqLyjWDarjtT1zdp7dc",
        "sk-learn and sk-toolkit-for-beginners-2024-edition",
        "The nextPageToken: CAUQAA2f8s7Dk3mXo9QpLr5TzW",
        "keyboard: QWERTZ102; key: assets/Images/header2x.png",
    ],
)
def test_examples_hashes_and_names_of_variables_stay(text):
    assert redacted(text) == text


def test_a_secret_goes_wherever_it_stands_in_the_record_and_tells_of_nobody():
    token = f"ghp_{made(36)}"
    doc = Document(
        url="u", language="de", title=f"Mein {token}", text=f"Nimm password = 'kV7$xQ2!pL9zR' und {token}. " * 2
    )
    doc.description = "Es war kV7$xQ2!pL9zR"
    PiiStage(from_mapping({"PII_PERSON": "contextual"}).pii)(doc)
    assert doc.title == "Mein [SECRET_2]"
    assert "kV7" not in f"{doc.title}{doc.description}{doc.text}"
    assert doc.pii_entity_types == ["SECRET"]
    assert doc.hold is None


@pytest.mark.parametrize("value", ["aaaabbbbccccdddd1111", "abcdefghijklmnop1234", "Password12345678901x"])
def test_a_value_that_counts_or_repeats_is_not_random(value):
    assert not secret_proof.is_random_token(value)


SEEDS = [
    *("eyJ", ".eyJ", "password=", "a://b:c", "password: '", "AKIA ", "sk-", "Bearer ", "Server=a;", "://:", "a1/+"),
    *("-----BEGIN PRIVATE KEY-----\n", "passwordpassword1 ", "user:1@tcp("),
    "-----BEGIN RSA PRIVATE KEY-----\nQUJDREVGR0hJSktMTU5PUFFSU1RVVldYWVo0NTY3\n",
]


@pytest.mark.parametrize("seed", SEEDS)
def test_no_repetition_makes_the_search_quadratic(seed):
    def cost(characters):
        text = seed * (characters // len(seed))
        start = time.process_time()
        find(text, "en")
        return time.process_time() - start

    assert cost(160_000) < 64 * max(0.005, min(cost(10_000) for _ in range(3)))

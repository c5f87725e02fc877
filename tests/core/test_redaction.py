"""Secrets are taken out, and what only looks a little like one stays readable."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from core.redaction import MASK, Redactor

ANTHROPIC = "sk-ant-" + "a1B2c3D4e5" * 4

SECRETS = [
    ("xoxb-123456789012-abcdefABCDEF", "xoxb-123456789012-abcdefABCDEF"),
    (f"key {ANTHROPIC} here", ANTHROPIC),
    ("ghp_abcdefghijklmnopqrstuvwxyz0123456789", "ghp_abcdefghijklmnopqrstuvwxyz0123456789"),
    ("AKIAIOSFODNN7EXAMPLE", "AKIAIOSFODNN7EXAMPLE"),
    ("DB_PASSWORD=hunter2", "hunter2"),
    ("password: 'correct horse'", "correct horse"),
    ('"api_key": "abc123def"', "abc123def"),
    ("mysql --password=s3cr3t -u x", "s3cr3t"),
    ("curl -H 'Authorization: Bearer abcdefghijklmnop'", "abcdefghijklmnop"),
    ("postgres://bob:pa55w0rd@db/x", "pa55w0rd"),
    ("-----BEGIN OPENSSH PRIVATE KEY-----\nabc\ndef\n-----END OPENSSH PRIVATE KEY-----", "def"),
    ("-----BEGIN RSA PRIVATE KEY-----\nnever ends", "never ends"),
    ('password="never closed', "never closed"),
    (r'{"password": "with \" inside"}', "inside"),
    (r'"{\"token\": \"in a string\"}"', "in a string"),
    ("password=xoxb-123456789012-abc!more", "more"),
    ("password: $6$salt$hash", "hash"),
    ("postgres://bob:pa@ss@db/x", "ss@"),
    ("a%3DeyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeKKF2QT4", "SflKxwRJSMeKKF2QT4"),
    ("https://hooks.slack.com/services/T0/B0/abcdefgh", "abcdefgh"),
    ("İPASSWORD=hunter2 PassWd = hunter3", "hunter"),
    ("mysql --db-password 'two words' -u x", "two words"),
    ("API-KEY => abcdef", "abcdef"),
    ("sk_live_abcdefghijklmnop1234", "abcdefghijklmnop1234"),
]


@pytest.mark.parametrize(("text", "secret"), SECRETS)
def test_known_shapes_and_named_values_are_redacted(text: str, secret: str) -> None:
    """T6."""
    redacted = Redactor()(text)
    assert secret not in redacted
    assert MASK in redacted


@pytest.mark.parametrize(
    "text",
    [
        "sha256 9f86d081884c7d659a2feaa0c55ad015a3bf4f1b2b0b822cd15d6c15b0f00a08",
        "token_bucket is empty",
        "PasswordAuthentication no",
        "secrets: none",
        "-rw-r--r-- 1 root root 52428800 Nov 29 21:00 debug.log",
        "user=bob host=db port=5432",
        "password: $DB_PASSWORD",
        "password: ${DB_PASSWORD}",
        "token: <your-token>",
        "secrets:\n  - name: db",
        "the token --other is a flag",
        "kubectl get secret my-app",
        "ssh --token --other",
        "password=",
    ],
)
def test_what_is_no_secret_stays(text: str) -> None:
    """T6: an operator must be able to read what is there."""
    assert Redactor()(text) == text


def test_the_programs_own_secrets_never_appear() -> None:
    """T6: whatever they look like, also inside other text."""
    redact = Redactor(["plain-looking-value", "plain-looking"])
    assert redact("x=plain-looking-value;plain-looking") == f"x={MASK};{MASK}"


@given(st.lists(st.sampled_from([*(text for text, _ in SECRETS), " ", "\n", "plain"]), max_size=6))
def test_redacting_twice_changes_nothing(parts: list[str]) -> None:
    """T6."""
    redact = Redactor(["own-secret-value"])
    once = redact("".join(parts))
    assert redact(once) == once


FRAGMENTS = [
    "password", "token", "secret", "=", ":", " ", '"', "'", "\\", "--", "-", "abc", MASK, "<", ">",
    "$", "{", "}", "(", "*", ",", "\n", "://", "@", "u:", "Bearer ", "abcdefabcdefabcd", "%3D", "/",
    "none", "\u0130", "_", "-----BEGIN PRIVATE KEY-----", "-----END PRIVATE KEY-----",
    "eyJhbGciOiJI.eyJzdWIiOiIx.SflKxwRJSMeKKF2QT4", "xoxb-1234567890ab", "own-secret-value",
]  # fmt: skip


@given(st.lists(st.sampled_from(FRAGMENTS), max_size=14))
def test_whatever_stands_around_them_tokens_are_gone_and_stay_gone(parts: list[str]) -> None:
    """T6."""
    redact = Redactor(["own-secret-value"])
    once = redact("".join(parts))
    assert redact(once) == once
    assert "own-secret-value" not in once
    assert "xoxb-1234567890ab" not in once

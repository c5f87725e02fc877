"""Secrets are taken out of text before it is stored, shown, logged or sent to the model.

Three kinds are known: tokens by their shape, values that follow a secret-looking name, and the
program's own secrets, whatever they look like. Considered: detect-secrets and gitleaks rules, which
score entropy and so redact checksums and ids that an operator needs to read.

The text may be megabytes long and written by somebody who means harm, so no pattern may look at
one character again and again: each begins with fixed letters or where a word begins, and what it
repeats without a bound it does not give back.
"""

import re
from collections.abc import Iterable

MASK = "[redacted]"

_SHAPES = re.compile(
    r"""
      xox[abcdeoprs]-[A-Za-z0-9-]{10,}                  # Slack tokens
    | xapp-[A-Za-z0-9-]{10,}
    | hooks\.slack\.com/(?:services|workflows|triggers)/[A-Za-z0-9/_-]{8,}
    | sk-(?:ant-|proj-|live-|test-)?[A-Za-z0-9_-]{20,}  # Anthropic, OpenAI
    | [rs]k_(?:live|test)_[A-Za-z0-9]{16,}              # Stripe
    | (?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{20,}          # GitHub
    | github_pat_[A-Za-z0-9_]{20,}
    | glpat-[A-Za-z0-9_-]{16,}                          # GitLab
    | (?:AKIA|ASIA)[A-Z0-9]{16}                         # AWS access keys
    | AIza[A-Za-z0-9_-]{35}                             # Google
    | ya29\.[A-Za-z0-9_-]{20,}
    | eyJ(?:(?<![A-Za-z0-9_-]eyJ)|(?<=%[0-9A-Fa-f]{2}eyJ))   # JSON web tokens
      [A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}
    | (?:hvs|hvb)\.[A-Za-z0-9_-]{20,}                   # Vault
    | dop_v1_[a-f0-9]{32,}                              # DigitalOcean
    | hf_[A-Za-z0-9]{30,}                               # Hugging Face
    | npm_[A-Za-z0-9]{30,}
    | pypi-[A-Za-z0-9_-]{40,}
    """,
    re.VERBOSE,
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN ([A-Z ]{0,40}PRIVATE KEY(?: BLOCK)?)-----.*?(?:-----END \1-----|\Z)", re.DOTALL
)
_URL_PASSWORD = re.compile(r"(?P<head>://[^\s/:@]{0,256}:)(?P<value>[^\s/]+)(?=@)")
_BEARER = re.compile(
    r"(?P<head>(?:[Bb]earer|BEARER|[Bb]asic|BASIC)[ \t]+)(?P<value>[A-Za-z0-9._~+/=-]{12,})"
)
_NAMES = (
    "passwd", "password", "passphrase", "secret", "token", "apikey", "api_key", "api-key",
    "access_key", "access-key", "accesskey", "private_key", "private-key", "privatekey",
    "credential", "auth_key", "auth-key", "authkey",
)  # fmt: skip
_AFTER_NAME = re.compile(
    r"""
    (?P<head>
        [\w.-]{0,64}+ (?:\\{0,2}["'])? [^\S\n]{0,16}+ (?:=>|:=|[:=]) [^\S\n]{0,16}+
      | (?P<flag>[\w-]{0,64}+[ \t]{1,16}+(?!-))
    )
    (?:
        (?P<quote>\\{0,2}["']) (?P<quoted>(?:(?!(?P=quote))(?:\\.|[^\\\n]))++)
      | (?P<value>[^\s"',;&]++)
    )
    """,
    re.VERBOSE,
)
_FLAG_BEFORE = re.compile(r"(?:^|[^\w-])--?(?:\w[\w-]*)?\Z")
_HARMLESS = re.compile(
    r"true|false|null|none|yes|no|on|off|0|1|\[redacted\]|\$\w+|\$?\{\{?[^{}]*\}\}?|\$\(.*|<.*>|\*+",
    re.IGNORECASE,
)
_SHORTEST_OWN = 6
_LONGEST_FLAG = 48
_LONGEST_HARMLESS = 100


class Redactor:
    """Takes secrets out of text. `own` are values that must never appear (the settings' tokens);
    those under six characters are not looked for, since they would be found in any text."""

    def __init__(self, own: Iterable[str] = ()) -> None:
        values = sorted({v for v in own if len(v) >= _SHORTEST_OWN}, key=len, reverse=True)
        self._own = re.compile("|".join(map(re.escape, values))) if values else None

    def __call__(self, text: str) -> str:
        """The text with each secret replaced by `[redacted]`; applying it twice changes nothing."""
        if self._own:
            text = self._own.sub(MASK, text)
        text = _PRIVATE_KEY.sub(MASK, text)
        found = 1
        while found:  # a shape may begin only where another one was taken out
            text, found = _SHAPES.subn(MASK, text)
        text = _URL_PASSWORD.sub(_keep_head, text)
        if any(word in text for word in ("earer", "EARER", "asic", "ASIC")):
            text = _BEARER.sub(_keep_head, text)
        return _without_named(text)


def _keep_head(match: re.Match[str]) -> str:
    return match[0] if _is_harmless(match["value"]) else f"{match['head']}{MASK}"


def _is_harmless(value: str) -> bool:
    """Whether it is a word like `none`, a variable or a placeholder."""
    return len(value) <= _LONGEST_HARMLESS and _HARMLESS.fullmatch(value) is not None


def _without_named(text: str) -> str:
    """The text without the values that follow secret-looking names.

    Searched for letter by letter, the names would cost ten times what looking them up does.
    """
    kept: list[str] = []
    done = 0
    for start, end in _named(text):
        if start < done:
            continue
        found = _AFTER_NAME.match(text, end)
        if found is None or (found["flag"] and not _is_flag(text, start)):
            continue
        which = "quoted" if found["quote"] else "value"
        if not _is_harmless(found[which]):
            kept += (text[done : found.start(which)], MASK)
            done = found.end(which)
    return "".join((*kept, text[done:])) if kept else text


def _named(text: str) -> list[tuple[int, int]]:
    """Where the secret-looking names stand, in order."""
    lower = text.replace("\u0130", "I").lower()  # the one letter whose small form is longer
    places: list[tuple[int, int]] = []
    for name in _NAMES:
        at = lower.find(name)
        while at >= 0:
            places.append((at, at + len(name)))
            at = lower.find(name, at + len(name))
    return sorted(places)


def _is_flag(text: str, name_at: int) -> bool:
    """Whether the name is in a command's flag, whose value may be the next word."""
    return bool(_FLAG_BEFORE.search(text[max(0, name_at - _LONGEST_FLAG) : name_at]))

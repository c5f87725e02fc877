"""Secrets are taken out of text before it is stored, shown, logged or sent to the model.

Three kinds are known: tokens by their shape, values that follow a secret-looking name, and the
program's own secrets, whatever they look like. Considered: detect-secrets and gitleaks rules, which
score entropy and so redact checksums and ids that an operator needs to read.
"""

import re
from collections.abc import Iterable

MASK = "[redacted]"

_SHAPES = re.compile(
    r"""
      xox[abeoprs]-[A-Za-z0-9-]{10,}                    # Slack tokens
    | xapp-[A-Za-z0-9-]{10,}
    | sk-(?:ant-|proj-|live-|test-)?[A-Za-z0-9_-]{20,}  # Anthropic, OpenAI, Stripe
    | (?:ghp|gho|ghu|ghs|ghr)_[A-Za-z0-9]{20,}          # GitHub
    | github_pat_[A-Za-z0-9_]{20,}
    | glpat-[A-Za-z0-9_-]{16,}                          # GitLab
    | (?:AKIA|ASIA)[A-Z0-9]{16}                         # AWS access keys
    | AIza[A-Za-z0-9_-]{35}                             # Google
    | ya29\.[A-Za-z0-9_-]{20,}
    | eyJ[A-Za-z0-9_-]{8,}\.eyJ[A-Za-z0-9_-]{8,}\.[A-Za-z0-9_-]{8,}   # JSON web tokens
    | (?:hvs|hvb)\.[A-Za-z0-9_-]{20,}                   # Vault
    | dop_v1_[a-f0-9]{32,}                              # DigitalOcean
    | npm_[A-Za-z0-9]{30,}
    | pypi-[A-Za-z0-9_-]{40,}
    """,
    re.VERBOSE,
)
_PRIVATE_KEY = re.compile(
    r"-----BEGIN ([A-Z ]*PRIVATE KEY(?: BLOCK)?)-----.*?(?:-----END \1-----|\Z)", re.DOTALL
)
_URL_PASSWORD = re.compile(
    r"(?P<head>[a-z][a-z0-9+.-]*://[^\s/:@]*:)(?P<value>[^\s/@]+)(?=@)", re.IGNORECASE
)
_BEARER = re.compile(
    r"(?P<head>\b(?:bearer|basic)\s+)(?P<value>[A-Za-z0-9._~+/=-]{12,})", re.IGNORECASE
)
_NAMED = re.compile(
    r"""
    (?P<head>
        ["']?\b[\w.-]*(?:passw(?:or)?d|passphrase|secret|token|api[_-]?key|apikey|access[_-]?key
        |private[_-]?key|credential|auth[_-]?key)[\w.-]*["']?
        \s*(?:[:=]|=>)\s*
    )
    (?P<value>"[^"\n]+"|'[^'\n]+'|[^\s"',;&]+)
    """,
    re.VERBOSE | re.IGNORECASE,
)
_FLAGGED = re.compile(
    r"(?P<head>--?[\w-]*(?:password|passwd|secret|token|api-?key)[\w-]*[ =])(?P<value>[^\s-]\S*)",
    re.IGNORECASE,
)
_HARMLESS = {"true", "false", "null", "none", "yes", "no", "on", "off", "0", "1", MASK}
_SHORTEST_OWN = 6


class Redactor:
    """Takes secrets out of text. `own` are values that must never appear (the settings' tokens)."""

    def __init__(self, own: Iterable[str] = ()) -> None:
        values = sorted({v for v in own if len(v) >= _SHORTEST_OWN}, key=len, reverse=True)
        self._own = re.compile("|".join(map(re.escape, values))) if values else None

    def __call__(self, text: str) -> str:
        """The text with each secret replaced by `[redacted]`; applying it twice changes nothing."""
        if self._own:
            text = self._own.sub(MASK, text)
        text = _PRIVATE_KEY.sub(MASK, text)
        text = _SHAPES.sub(MASK, text)
        for named in (_URL_PASSWORD, _BEARER, _NAMED, _FLAGGED):
            text = named.sub(_keep_head, text)
        return text


def _keep_head(match: re.Match[str]) -> str:
    value = match["value"]
    bare = value.strip("\"'")
    if bare.lower() in _HARMLESS or bare.startswith(("$", "<", "*", MASK)):
        return match[0]
    quote = value[0] if value[0] in "\"'" else ""
    return f"{match['head']}{quote}{MASK}{quote}"

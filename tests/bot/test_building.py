"""What a house is built from."""

import pytest

from bot.building import redactor, rules
from bot.settings import MachineSettings, Secrets, Settings


def test_our_own_tokens_and_passphrases_are_known_whatever_they_look_like(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    """T6."""
    monkeypatch.setenv("ANTHROPIC_API_KEY", "a-gateway-s-own-kind")
    monkeypatch.setenv("SLACK_BOT_TOKEN", "")
    monkeypatch.setenv("KEY_PASSPHRASE", "correct horse")
    machine = MachineSettings(name="host:a", address="a", passphrase_env="KEY_PASSPHRASE")
    unset = MachineSettings(name="host:b", address="b", passphrase_env="NO_SUCH_VARIABLE")
    settings, secrets = Settings(machines=(machine, unset)), Secrets()
    for redact in (redactor(secrets, settings.machines), rules(settings, secrets).redact):
        said = redact("it is a-gateway-s-own-kind, then correct horse, then nothing")
        assert said == "it is [redacted], then [redacted], then nothing"

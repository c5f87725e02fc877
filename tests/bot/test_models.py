"""The [model] table: platforms, their secrets, and what is told of them at a start. O1, T5."""

from pathlib import Path

import pytest

from bot.building import claude
from bot.faults import SettingsError
from bot.models import anthropic_settings, model_warnings, needed_secrets
from bot.settings import ModelSettings, Secrets, Settings
from bot.settings_file import load

SECRETS = Secrets.model_validate(
    {
        "anthropic_api_key": "sk-ant-1",
        "anthropic_foundry_api_key": "foundry-1",
        "aws_bearer_token_bedrock": "bedrock-1",
    }
)


def written(folder: Path, *lines: str) -> Path:
    file = folder / "watchkeeper.toml"
    file.write_text("\n".join(["[model]", *lines]))
    return file


@pytest.mark.parametrize(
    ("lines", "told"),
    [
        (
            ["platform = 'azure'"],
            "model.platform = 'azure'; allowed: anthropic, gateway, bedrock, vertex or foundry",
        ),
        (
            ["platform = 'gateway'"],
            "model.base_url is missing; needed: the address of the gateway, for the platform "
            "gateway",
        ),
        (
            ["platform = 'bedrock'"],
            "model.region is missing; needed: a region of AWS, such as eu-central-1, for the "
            "platform bedrock",
        ),
        (
            ["platform = 'vertex'", "region = 'global'"],
            "model.project is missing; needed: a Google Cloud project, for the platform vertex",
        ),
        (
            ["platform = 'bedrock'", "region = 'eu-central-1'", "key_header = 'x-api-key'"],
            "model.key_header = 'x-api-key'; allowed: authorization, for the platform bedrock",
        ),
        (
            ["key_header = 'X-Key'"],
            "model.key_header = 'X-Key'; allowed: authorization or x-api-key",
        ),
    ],
)
def test_a_platform_that_lacks_something_is_one_line(
    tmp_path: Path, lines: list[str], told: str
) -> None:
    file = written(tmp_path, *lines)
    with pytest.raises(SettingsError) as refused:
        load(file)
    assert refused.value.lines == (f"{file}: {told}",)


@pytest.mark.parametrize(
    ("platform", "key", "needed"),
    [
        ("anthropic", "sk-ant-1", ("anthropic_api_key",)),
        ("gateway", "sk-ant-1", ("anthropic_api_key",)),
        ("foundry", "foundry-1", ("anthropic_foundry_api_key",)),
        ("bedrock", "bedrock-1", ()),
        ("vertex", "", ()),
    ],
)
def test_each_platform_is_shown_its_own_key_and_no_other(
    platform: str, key: str, needed: tuple[str, ...]
) -> None:
    model = ModelSettings.model_validate({"platform": platform, "region": "eu", "project": "p"})
    settings = anthropic_settings(model, SECRETS)
    assert settings.api_key == key
    assert (settings.platform, settings.region, settings.project) == (platform, "eu", "p")
    assert needed_secrets(model) == needed
    assert not any(secret in repr(settings) for secret in ("sk-ant-1", "foundry-1", "bedrock-1"))


def test_a_model_near_its_end_and_ignored_variables_are_told_at_a_start() -> None:
    """S6."""
    model = ModelSettings(name="claude-sonnet-4-5")
    environment = {"ANTHROPIC_BASE_URL": "http://elsewhere", "ANTHROPIC_API_KEY": "k", "HOME": "/"}
    assert list(model_warnings(model, environment)) == [
        "model.name = 'claude-sonnet-4-5' reaches its end of life on November 30th, 2026: set "
        "another one",
        "ANTHROPIC_BASE_URL (environment) is ignored: the settings file says where the model is",
    ]
    assert list(model_warnings(ModelSettings(), {})) == []


async def test_a_cloud_that_cannot_be_reached_for_want_of_a_library_is_one_line() -> None:
    settings = Settings(model=ModelSettings(platform="foundry", base_url="https://x.example/"))
    with pytest.raises(SettingsError, match="model: platform 'foundry' needs a key"):
        async with claude(settings, Secrets.model_validate({})):
            pass

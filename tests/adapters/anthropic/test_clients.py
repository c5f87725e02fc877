"""Where a conversation goes, as whom, and what of it can be seen on the way: T5, T6."""

import os
import subprocess
import sys
from importlib.util import find_spec
from pathlib import Path
from typing import cast

import pytest

from adapters.anthropic.capabilities import (
    PLATFORMS,
    Platform,
    capabilities_of,
    end_of_life,
    plain_name,
)
from adapters.anthropic.client import DEFAULT_ADDRESS, ignored_variables, make_client
from adapters.anthropic.settings import AnthropicSettings, KeyHeader, UnusableSettingsError
from core.dialogue import Item, JsonObject, Noted
from tests.adapters.anthropic.asking import KEY, asking, request
from tests.adapters.anthropic.server import Answer, Recorded, message, serving, text

GOOD = Answer(message(text("It is up.")))
ROOT = Path(__file__).parents[3]
NOTED: tuple[Item, ...] = (*request().items, Noted(text="Mind the time."))


async def asked(
    server: Recorded, platform: Platform, key_header: KeyHeader = "authorization"
) -> None:
    """One question with a note, answered."""
    async with asking(
        server.url, platform=platform, key_header=key_header, region="eu-central-1", project="ops"
    ) as model:
        assert (await model.ask(request(*NOTED))).text == "It is up."


# Platforms --------------------------------------------------------------------------------------


@pytest.mark.parametrize(
    ("platform", "path"),
    [
        ("anthropic", "/v1/messages"),
        ("gateway", "/v1/messages"),
        ("bedrock", "/v1/messages"),
        ("foundry", "/v1/messages"),
        (
            "vertex",
            "/projects/ops/locations/eu-central-1/publishers/anthropic/models/"
            "claude-opus-5-5:streamRawPredict",
        ),
    ],
)
async def test_each_platform_is_spoken_to_in_its_own_way(platform: Platform, path: str) -> None:
    async with serving(GOOD) as server:
        await asked(server, platform)
    body, row = server.bodies[0], PLATFORMS[platform]
    assert server.paths == [path]
    assert server.headers[0].get("authorization") == (
        None if platform == "foundry" else f"Bearer {KEY}"
    )
    assert ("model" in body) is (platform != "vertex")
    roles = [m["role"] for m in cast("list[JsonObject]", body["messages"])]
    assert ("system" in roles) is row.native_notes
    assert ("'ttl': '1h'" in str(body["system"])) is row.long_cache
    assert ("strict" in str(body["tools"])) is row.strict_tools


async def test_a_foundry_key_has_its_own_header() -> None:
    async with serving(GOOD) as server:
        await asked(server, "foundry")
    assert server.headers[0]["x-api-key"] == KEY or server.headers[0]["api-key"] == KEY


@pytest.mark.parametrize("platform", ["anthropic", "gateway"])
async def test_a_gateway_can_have_the_key_as_x_api_key_and_only_so(platform: Platform) -> None:
    async with serving(GOOD) as server:
        await asked(server, platform, key_header="x-api-key")
    assert server.headers[0]["x-api-key"] == KEY
    assert "authorization" not in server.headers[0]


@pytest.mark.parametrize(
    ("settings", "said"),
    [
        (AnthropicSettings(api_key=""), "needs a key"),
        (AnthropicSettings(api_key="sk-ant-ü"), "characters that no key has"),
        (AnthropicSettings(api_key="sk-ant-1\n"), "characters that no key has"),
        (AnthropicSettings(api_key="k", platform="gateway"), "needs a base_url"),
        (AnthropicSettings(api_key="k", platform="foundry"), "needs a base_url"),
        (AnthropicSettings(api_key="k", platform="bedrock"), "needs a region"),
        (AnthropicSettings(api_key="k", platform="vertex", region="eu"), "and a project"),
    ],
)
def test_what_is_missing_is_one_line(settings: AnthropicSettings, said: str) -> None:
    with pytest.raises(UnusableSettingsError, match=said) as told:
        make_client(settings)
    assert "\n" not in str(told.value)
    assert settings.api_key not in str(told.value) or len(settings.api_key) < 2


@pytest.mark.parametrize(("platform", "package"), [("bedrock", "boto3"), ("vertex", "google.auth")])
def test_a_cloud_account_without_its_library_is_one_line_that_names_it(
    platform: Platform, package: str
) -> None:
    top = package.partition(".")[0]
    if find_spec(top) is not None and find_spec(package) is not None:
        pytest.skip(f"{package} is installed")
    settings = AnthropicSettings(api_key="", platform=platform, region="eu", project="p")
    with pytest.raises(UnusableSettingsError, match="pip install 'anthropic"):
        make_client(settings)


@pytest.mark.parametrize(
    "name",
    [
        "claude-opus-5-5",
        "claude-opus-5-5-20260901",
        "claude-opus-5-5-latest",
        "claude-opus-5-5@20260901",
        "anthropic.claude-opus-5-5",
        "us.anthropic.claude-opus-5-5-20260901-v1:0",
        "arn:aws:bedrock:eu:1:inference-profile/eu.anthropic.claude-opus-5-5-v1",
        "anthropic/claude-opus-5-5",
    ],
)
def test_a_model_is_known_by_all_its_names(name: str) -> None:
    assert plain_name(name) == "claude-opus-5-5"
    assert capabilities_of(name) == capabilities_of("claude-opus-5-5")
    assert capabilities_of(name).notes == "native"


@pytest.mark.parametrize("name", ["claude-opus-5-20260101", "claude-opus-5"])
def test_a_date_is_no_version(name: str) -> None:
    assert plain_name(name) == "claude-opus-5"


@pytest.mark.parametrize("name", ["gpt-6", "claude", "claude-3-5-sonnet", "", "claude-opus-99-1"])
def test_a_model_that_is_not_known_is_asked_for_nothing_special(name: str) -> None:
    row = capabilities_of(name)
    assert (row.notes, row.thinks, row.strict_tools, row.drops_thinking) == (
        "plain",
        False,
        False,
        False,
    )


def test_models_that_end_are_known_with_their_day() -> None:
    assert end_of_life("claude-sonnet-4-5-20250929") == "November 30th, 2026"
    assert end_of_life("us.anthropic.claude-opus-4-5-20251101-v1:0") == "January 22nd, 2027"
    assert end_of_life("claude-opus-5-5") == ""


# The environment --------------------------------------------------------------------------------

AMBIENT = {
    "ANTHROPIC_API_KEY": "sk-ant-of-somebody-else",
    "ANTHROPIC_AUTH_TOKEN": "token-of-somebody-else",
    "ANTHROPIC_BASE_URL": "http://127.0.0.1:1/elsewhere",
    "ANTHROPIC_BEDROCK_MANTLE_BASE_URL": "http://127.0.0.1:1/elsewhere",
    "ANTHROPIC_VERTEX_BASE_URL": "http://127.0.0.1:1/elsewhere",
    "ANTHROPIC_FOUNDRY_BASE_URL": "http://127.0.0.1:1/elsewhere",
    "ANTHROPIC_FOUNDRY_RESOURCE": "elsewhere",
    "ANTHROPIC_FOUNDRY_API_KEY": "key-of-somebody-else",
    "ANTHROPIC_CUSTOM_HEADERS": "X-Spy: 1\nAuthorization: spy\nanthropic-version: 2020-01-01",
    "ANTHROPIC_PROFILE": "spy",
    "ANTHROPIC_CONFIG_DIR": "/nonexistent",
    "ANTHROPIC_AWS_API_KEY": "spy",
    "ANTHROPIC_OPEN_TELEMETRY": "true",
}


@pytest.fixture
def ambient(monkeypatch: pytest.MonkeyPatch) -> None:
    for name, value in AMBIENT.items():
        monkeypatch.setenv(name, value)


@pytest.mark.usefixtures("ambient")
@pytest.mark.parametrize("platform", list(PLATFORMS))
async def test_the_environment_changes_neither_address_nor_headers_nor_key(
    platform: Platform,
) -> None:
    async with serving(GOOD, GOOD) as server:
        await asked(server, platform)
    held = " ".join(server.headers[0].values())
    assert KEY in held
    assert "x-spy" not in server.headers[0]
    assert "spy" not in held
    assert "somebody-else" not in held
    assert "2020-01-01" not in held
    assert {name: os.environ[name] for name in AMBIENT} == AMBIENT


@pytest.mark.usefixtures("ambient")
async def test_without_an_address_it_is_the_claude_api_whatever_the_environment_says() -> None:
    client = make_client(AnthropicSettings(api_key=KEY))
    address = str(client.base_url).rstrip("/")
    await client.close()
    assert address == DEFAULT_ADDRESS


def test_variables_that_count_for_nothing_are_named() -> None:
    ignored = ignored_variables({**AMBIENT, "PATH": "/bin"})
    assert "ANTHROPIC_BASE_URL" in ignored
    assert "ANTHROPIC_CUSTOM_HEADERS" in ignored
    assert "ANTHROPIC_API_KEY" not in ignored
    assert "PATH" not in ignored


# Logs -------------------------------------------------------------------------------------------

DEBUGGED = """
import asyncio, logging
from tests.adapters.anthropic.asking import asking, request
from tests.adapters.anthropic.server import Answer, message, serving, text

async def ask():
    answers = [Answer(status=500), Answer(message(text("The answer."))) ]
    async with serving(*answers) as server, asking(server.url) as model:
        logging.basicConfig(level=logging.DEBUG, force=True)
        logging.getLogger("tests").debug("debugging")
        print((await model.ask(request())).text)

asyncio.run(ask())
"""


def test_the_sdk_s_own_debug_logging_writes_no_bodies_and_no_key() -> None:
    """T6: with `ANTHROPIC_LOG=debug` it would write every request, from the moment of import."""
    ran = subprocess.run(
        [sys.executable, "-c", DEBUGGED],
        cwd=ROOT,
        env={**os.environ, "ANTHROPIC_LOG": "debug", "PYTHONPATH": str(ROOT)},
        capture_output=True,
        text=True,
        timeout=60,
        check=False,
    )
    assert ran.stdout.strip() == "The answer.", ran.stderr
    assert "debugging" in ran.stderr
    assert "Is it up?" not in ran.stderr
    assert "The answer." not in ran.stderr
    assert KEY not in ran.stderr

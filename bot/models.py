"""The [model] table: what its platform needs, and the adapter's settings made from it.

Considered: one secret for every platform. A key of the Claude API left in the environment would
then be shown to whatever platform the settings name next.
"""

from collections.abc import Iterator, Mapping

from adapters.anthropic.capabilities import Platform, end_of_life
from adapters.anthropic.client import ignored_variables
from adapters.anthropic.settings import AnthropicSettings
from bot.faults import Absence, Fault
from bot.settings import ModelSettings, Secrets

KEYS: Mapping[Platform, str] = {
    "anthropic": "anthropic_api_key",
    "gateway": "anthropic_api_key",
    "foundry": "anthropic_foundry_api_key",
    "bedrock": "aws_bearer_token_bedrock",
    "vertex": "",
}
"""The secret that is shown to each platform, and no other; Vertex has none of ours."""
_NEEDS: Mapping[Platform, Mapping[str, str]] = {
    "anthropic": {},
    "gateway": {"base_url": "the address of the gateway"},
    "foundry": {"base_url": "the address of the Foundry resource, ending with /anthropic/"},
    "bedrock": {"region": "a region of AWS, such as eu-central-1"},
    "vertex": {"region": "a region of Vertex, such as global", "project": "a Google Cloud project"},
}
_HAS_TWO_HEADERS = ("anthropic", "gateway")


def needed_secrets(model: ModelSettings) -> tuple[str, ...]:
    """The secrets that must be there. On Bedrock the AWS account may stand in for the token."""
    key = KEYS[model.platform]
    return (key,) if key and model.platform != "bedrock" else ()


def model_faults(model: ModelSettings) -> Iterator[Fault | Absence]:
    """What is wrong between the values of the table."""
    for key, allowed in _NEEDS[model.platform].items():
        if not getattr(model, key):
            yield Absence(f"model.{key}", f"{allowed}, for the platform {model.platform}")
    if model.key_header != "authorization" and model.platform not in _HAS_TWO_HEADERS:
        allowed = f"authorization, for the platform {model.platform}"
        yield Fault("model.key_header", model.key_header, allowed)


def model_warnings(model: ModelSettings, environment: Mapping[str, str]) -> Iterator[str]:
    """What is no error but will disappoint: one plain line each."""
    if day := end_of_life(model.name):
        yield f"model.name = '{model.name}' reaches its end of life on {day}: set another one"
    for name in ignored_variables(environment):
        yield f"{name} (environment) is ignored: the settings file says where the model is"


def anthropic_settings(model: ModelSettings, secrets: Secrets) -> AnthropicSettings:
    """The adapter's settings."""
    held = dict(secrets).get(KEYS[model.platform])
    return AnthropicSettings(
        api_key=held.get_secret_value() if held else "",
        base_url=model.base_url,
        platform=model.platform,
        key_header=model.key_header,
        region=model.region,
        project=model.project,
        max_tokens=model.max_tokens,
    )

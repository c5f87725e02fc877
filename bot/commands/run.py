"""`watchkeeper run`: the bot in a real Slack workspace."""

import asyncio

import structlog

from bot.building import claude, redactor, revealed, rules, stop_on_signal
from bot.commands.options import SettingsFile
from bot.house import Plan, SlackAccess, open_house
from bot.logs import configure_logs
from bot.machines import ssh_settings
from bot.models import needed_secrets
from bot.settings import Secrets, Settings
from bot.settings_file import DEFAULT_FILE, load, load_secrets, warnings

log = structlog.get_logger()

WAY_IN = {"socket": "slack_app_token", "http": "slack_signing_secret"}
"""The secret that each of `slack.mode` needs."""


def run(settings: SettingsFile = DEFAULT_FILE) -> None:
    """Run the bot until it is told to stop."""
    chosen = load(settings)
    model_secrets = needed_secrets(chosen.model)
    secrets = load_secrets("slack_bot_token", WAY_IN[chosen.slack.mode], *model_secrets)
    configure_logs(
        redactor(secrets, chosen.machines), level=chosen.logs.level, form=chosen.logs.form
    )
    for line in warnings(chosen):
        log.warning(line)
    asyncio.run(_run(chosen, secrets))


async def _run(settings: Settings, secrets: Secrets) -> None:
    async with claude(settings, secrets) as model:
        plan = Plan(
            database=settings.database.path,
            slack=_access(settings, secrets),
            model=model,
            machines=ssh_settings(settings.machines),
            rules=rules(settings, secrets),
            http_host=settings.http.host,
            http_port=settings.http.port,
            stop_grace_s=settings.limits.stop_grace_s,
        )
        async with open_house(plan) as house:
            with stop_on_signal() as stop:
                await house.work(stop)


def _access(settings: Settings, secrets: Secrets) -> SlackAccess:
    """The tokens, and the signing secret only where Slack is to call us."""
    is_called = settings.slack.mode == "http"
    return SlackAccess(
        bot_token=revealed(secrets.slack_bot_token),
        app_token=revealed(secrets.slack_app_token),
        base_url=settings.slack.base_url,
        signing_secret=revealed(secrets.slack_signing_secret) if is_called else "",
    )

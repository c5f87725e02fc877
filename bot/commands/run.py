"""`watchkeeper run`: the bot in a real Slack workspace."""

import asyncio

import structlog

from bot.building import claude, redactor, revealed, rules, stop_on_signal
from bot.commands.options import SettingsFile
from bot.house import Plan, SlackAccess, open_house
from bot.logs import configure_logs
from bot.machines import ssh_settings
from bot.settings import Secrets, Settings
from bot.settings_file import DEFAULT_FILE, load, load_secrets, warnings

log = structlog.get_logger()


def run(settings: SettingsFile = DEFAULT_FILE) -> None:
    """Run the bot until it is told to stop."""
    chosen = load(settings)
    secrets = load_secrets("slack_bot_token", "slack_app_token", "anthropic_api_key")
    configure_logs(redactor(secrets), level=chosen.logs.level, form=chosen.logs.form)
    for line in warnings(chosen):
        log.warning(line)
    asyncio.run(_run(chosen, secrets))


async def _run(settings: Settings, secrets: Secrets) -> None:
    async with claude(settings, secrets) as model:
        plan = Plan(
            database=settings.database.path,
            slack=SlackAccess(
                bot_token=revealed(secrets.slack_bot_token),
                app_token=revealed(secrets.slack_app_token),
                base_url=settings.slack.base_url,
            ),
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

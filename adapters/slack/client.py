"""One Web API client on one shared aiohttp session, for the whole process.

The SDK opens a session for each call unless it is given one; its own time limit counts only for
those, so the session carries ours. Its retries are off: what is tried again, and when, is decided
where the record is known.
"""

import ipaddress
import logging
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from urllib.parse import urlsplit

import aiohttp
from slack_sdk.web.async_client import AsyncWebClient

BASE_URL = AsyncWebClient.BASE_URL
TIMEOUT = aiohttp.ClientTimeout(total=20, connect=10)
"""Seconds for one call; a late answer counts as none."""


class NotSlackError(aiohttp.ClientPayloadError):
    """Something that is not Slack answered, a network's login page for example."""


@asynccontextmanager
async def open_client(
    token: str, base_url: str = BASE_URL, limit: aiohttp.ClientTimeout = TIMEOUT
) -> AsyncIterator[AsyncWebClient]:
    """A client for the bot token, closed at the end of the block. `base_url` ends in `/api/`."""
    async with aiohttp.ClientSession(timeout=limit, raise_for_status=check_answer) as session:
        client = AsyncWebClient(
            token=token,
            base_url=base_url,
            session=session,
            retry_handlers=[],
            logger=quiet_logger("watchkeeper.slack.web"),
        )
        if is_loopback(base_url):
            client.proxy = None
        yield client


async def check_answer(response: aiohttp.ClientResponse) -> None:
    """Raise NotSlackError for a good answer that is no JSON object.

    The SDK takes text and bytes for answers as well and then fails at them without a name.
    """
    if response.status != 200:
        return
    try:
        told = await response.json(content_type=None)
    except (ValueError, LookupError, RecursionError):
        told = None
    if not isinstance(told, dict) or response.content_type in ("text/plain", "application/gzip"):
        response.close()
        raise NotSlackError(f"the answer is not Slack's ({response.content_type})")


def quiet_logger(name: str, level: int = logging.WARNING) -> logging.Logger:
    """A logger with a level of its own.

    The SDK and Bolt look at `logger.level`, not at the level in effect: at the usual 0 they build a
    debug line, with the whole body in it, for every call.
    """
    logger = logging.getLogger(name)
    logger.setLevel(level)
    return logger


def is_loopback(url: str) -> bool:
    """Whether it leads to this machine, where the environment's proxy has no business."""
    host = urlsplit(url).hostname or ""
    try:
        return ipaddress.ip_address(host).is_loopback
    except ValueError:
        return host == "localhost"

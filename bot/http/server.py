"""The HTTP endpoints `/healthz`, `/readyz` and `/metrics`, and those of others beside them.

Health is that the event loop still answers; readiness is what the caller's `unready` says.
Considered: readiness that asks Slack, the model and the machines at every look (a probe must cost
nothing, and a machine that is down is no reason to restart the bot).
"""

import errno
from collections.abc import AsyncIterator, Awaitable, Callable, Sequence
from contextlib import asynccontextmanager

from aiohttp import web

from bot.http.metrics import CONTENT_TYPE, Metrics
from core.errors import WatchkeeperError

LARGEST_BODY = 1024 * 1024
"""Bytes of one request's body; a message of 40,000 characters with its blocks stays far below."""

Unready = Callable[[], Awaitable[str]]
"""Why the program cannot do its work now, as one plain line; empty when it can."""


class ListenError(WatchkeeperError):
    """The address in the settings cannot be listened on."""


@asynccontextmanager
async def serve(
    host: str,
    port: int,
    metrics: Metrics,
    unready: Unready,
    others: Sequence[web.RouteDef] = (),
) -> AsyncIterator[str]:
    """Serve until the block ends; gives the base address, with the port the system chose for 0.

    `others` are further routes. ListenError, one clear line, if the address is taken or not ours.
    """
    application = _application(metrics, unready)
    application.add_routes(others)
    runner = web.AppRunner(application, access_log=None, shutdown_timeout=1.0)
    await runner.setup()
    try:
        await _listen(runner, host, port)
        bound = runner.addresses[0]
        yield f"http://{_bracketed(host)}:{bound[1]}"
    finally:
        await runner.cleanup()


def _application(metrics: Metrics, unready: Unready) -> web.Application:
    async def healthz(_request: web.Request) -> web.Response:
        return web.Response(text="ok\n")

    async def readyz(_request: web.Request) -> web.Response:
        why = await unready()
        return web.Response(text=f"{why or 'ok'}\n", status=503 if why else 200)

    async def show_metrics(_request: web.Request) -> web.Response:
        return web.Response(body=metrics.text(), headers={"Content-Type": CONTENT_TYPE})

    application = web.Application(client_max_size=LARGEST_BODY)
    application.router.add_get("/healthz", healthz)
    application.router.add_get("/readyz", readyz)
    application.router.add_get("/metrics", show_metrics)
    return application


async def _listen(runner: web.AppRunner, host: str, port: int) -> None:
    try:
        await web.TCPSite(runner, host, port).start()
    except OSError as error:
        is_taken = error.errno == errno.EADDRINUSE
        why = "is taken by another program" if is_taken else f"cannot be used: {error.strerror}"
        raise ListenError(f"http.host, http.port: {_bracketed(host)}:{port} {why}") from error


def _bracketed(host: str) -> str:
    return f"[{host}]" if ":" in host else host

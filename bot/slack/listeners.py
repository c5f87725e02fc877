"""The way of one payload: read, stored, acknowledged. The work is done elsewhere.

Reading and storing stand before Bolt's own authorization, because Bolt acknowledges what it fails
to authorize. A payload that means nothing is acknowledged at once, whatever its kind, so nothing
unmatched is ever sent again. Listeners only acknowledge, and `process_before_response` runs them
in place: no poll before the acknowledgement, no task that nobody holds.
"""

import logging
from collections.abc import Awaitable, Callable

from slack_bolt.async_app import AsyncApp, AsyncBoltRequest
from slack_bolt.authorization import AuthorizeResult
from slack_bolt.context.ack.async_ack import AsyncAck
from slack_bolt.middleware.async_middleware import AsyncMiddleware
from slack_bolt.response import BoltResponse
from slack_sdk.web.async_client import AsyncWebClient

from adapters.slack.cards import GO_ON
from adapters.slack.client import quiet_logger
from adapters.slack.identity import Identity
from adapters.slack.payloads import Dropped, read
from core.errors import WatchkeeperError
from core.incoming import Incoming

Accept = Callable[[Incoming], Awaitable[None]]
"""Stores what came in, once; raises if it could not, so that Slack sends it again."""

BOT_EVENTS = ("app_mention", "message.channels", "message.groups", "message.im")
"""What the app subscribes to; the manifest asks for the same."""

STORED = "is_stored"
"""Set in a request's context once what it brought is stored."""

_log = logging.getLogger(__name__)


class Listeners:
    """A Bolt app that hands every payload that means something to `accept`."""

    def __init__(self, client: AsyncWebClient, us: Identity, accept: Accept) -> None:
        self._taker = Taker(us, accept)
        self._app = AsyncApp(
            name="watchkeeper",
            client=client,
            before_authorize=self._taker,
            authorize=authorization(us, client.token),
            process_before_response=True,
            # Bolt warns of every token it finds and does not use, here and in the environment.
            logger=quiet_logger("watchkeeper.slack.bolt", logging.ERROR),
        )
        for kind in sorted({event.partition(".")[0] for event in BOT_EVENTS}):
            self._app.event(kind)(acknowledge)
        self._app.action(GO_ON)(acknowledge)

    async def dispatch(self, payload: dict[str, object]) -> BoltResponse:
        """What to answer to one payload; the status is 200 if it was stored or means nothing."""
        try:
            request = AsyncBoltRequest(mode="socket_mode", body=payload)
        except (AttributeError, LookupError, TypeError, ValueError):
            # Bolt looks for ids in places where it takes objects for granted.
            return await self._taker.take(payload, _no_listener)
        answer = await self._app.async_dispatch(request)
        if request.context.get(STORED) and answer.status != 200:
            return await _no_listener()  # Bolt failed at an oddity of what is safely stored
        return answer


class Taker(AsyncMiddleware):
    """Reads and stores a payload; if that raises, it is not acknowledged.

    A class of Bolt's own kind, since for a plain function Bolt looks into the payload for whatever
    the function might ask for, and fails at kinds it does not know.
    """

    def __init__(self, us: Identity, accept: Accept) -> None:
        self._us = us
        self._accept = accept

    async def async_process(
        self,
        *,
        req: AsyncBoltRequest,
        resp: BoltResponse,  # noqa: ARG002 - the signature is Bolt's
        next: Callable[[], Awaitable[BoltResponse]],  # noqa: A002 - the signature is Bolt's
    ) -> BoltResponse:
        """Acknowledge what means nothing; store the rest and let its listener acknowledge it."""

        async def stored() -> BoltResponse:
            req.context[STORED] = True
            return await next()

        return await self.take(req.body, stored)

    async def take(
        self, payload: object, acknowledged: Callable[[], Awaitable[BoltResponse]]
    ) -> BoltResponse:
        """What to answer: at once if it means nothing, else, once it is stored, `acknowledged`."""
        incoming = read(payload, self._us)
        if isinstance(incoming, Dropped):
            _log.debug("dropped: %s", incoming.reason)
            return BoltResponse(status=200, body="")
        try:
            await self._accept(incoming)
        except WatchkeeperError as error:
            _log.error("not stored, so that Slack sends it again: %s", error)
            return BoltResponse(status=500, body="")
        return await acknowledged()


def authorization(us: Identity, token: str | None) -> Callable[[], Awaitable[AuthorizeResult]]:
    """Tells Bolt who we are, so that it does not ask Slack at the first payload.

    A plain function, since Bolt passes a bound method its own `self` a second time.
    """

    async def authorize() -> AuthorizeResult:
        return AuthorizeResult(
            enterprise_id=None,
            team_id=us.team,
            bot_token=token,
            bot_id=us.bot,
            bot_user_id=us.user,
        )

    return authorize


async def _no_listener() -> BoltResponse:
    return BoltResponse(status=200, body="")


async def acknowledge(ack: AsyncAck) -> None:
    """It is stored already; that is all there is to say."""
    await ack()

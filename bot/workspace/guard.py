"""Who may talk to the server: this machine's own programs, and pages that came from it.

A page of another site can reach loopback through the browser, by its own name (DNS rebinding) or
by a request across origins; Host and Origin tell those apart, the token keeps other users of the
machine out. Considered: SameSite cookies alone (they know no ports, and say nothing of sockets).
"""

import hmac
import secrets

from aiohttp import web
from aiohttp.typedefs import Handler, Middleware


class Guard:
    """The checks of one server, which listens on `port`."""

    def __init__(self, port: int) -> None:
        self.token = secrets.token_urlsafe(24)
        self._port = port
        self._hosts = {f"127.0.0.1:{port}", f"localhost:{port}"}

    @property
    def address(self) -> str:
        """Where the server is, as its own links name it."""
        return f"127.0.0.1:{self._port}"

    @property
    def cookie(self) -> str:
        """The cookie's name; it names the port, because cookies are shared by all of them."""
        return f"watchkeeper_{self._port}"

    def check_host(self, request: web.Request) -> None:
        """Refuse a request that was meant for another host's name."""
        if request.headers.get("Host", "") not in self._hosts:
            raise web.HTTPForbidden(text="wrong Host")

    def check_origin(self, request: web.Request) -> None:
        """Refuse a request that a page of another origin, or no page, has sent."""
        if request.headers.get("Origin", "") != f"http://{request.headers.get('Host', '')}":
            raise web.HTTPForbidden(text="wrong Origin")

    def check_cookie(self, request: web.Request) -> None:
        """Refuse a request without the page's cookie."""
        if not self.is_token(request.cookies.get(self.cookie, "")):
            raise web.HTTPForbidden(text="open the address that was printed at the start")

    def is_token(self, given: str) -> bool:
        """Whether it is the token, compared in constant time."""
        return hmac.compare_digest(given.encode(), self.token.encode())

    def security_headers(self) -> dict[str, str]:
        """Headers of every answer: only own scripts, styles and connections, no framing."""
        sockets = " ".join(f"ws://{host}" for host in sorted(self._hosts))
        policy = (
            "default-src 'none'; script-src 'self'; style-src 'self'; img-src 'self' data:; "
            f"font-src 'self' data:; connect-src 'self' {sockets}; "
            "base-uri 'none'; form-action 'none'; frame-ancestors 'none'"
        )
        return {
            "Content-Security-Policy": policy,
            "X-Content-Type-Options": "nosniff",
            "Referrer-Policy": "no-referrer",
            "Cache-Control": "no-store",
        }


def middleware(guard: Guard) -> Middleware:
    """The check of Host on every request, and the headers on every answer."""

    @web.middleware
    async def check(request: web.Request, handler: Handler) -> web.StreamResponse:
        guard.check_host(request)
        response = await handler(request)
        if not response.prepared:
            response.headers.update(guard.security_headers())
        return response

    return check

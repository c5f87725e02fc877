"""The page's side of the server (O2): who gets in, and whether the built page is up to date."""

import hashlib
from collections.abc import AsyncIterator
from urllib.parse import urlsplit

import aiohttp
import pytest
import pytest_asyncio
from yarl import URL

from bot.workspace import page_routes
from bot.workspace.server import WorkspaceServer
from bot.workspace.state import Workspace
from bot.workspace.views import typed
from bot.workspace.world import BOT_USER, C_OPS, D_ADA, HOST_USER, U_ADA, U_BOB

SOURCES = page_routes.STATIC.parent / "page"
SINGLE = (
    "finish.mjs",
    "index.html",
    "package-lock.json",
    "package.json",
    "tsconfig.json",
    "vite.config.ts",
)


class Visitor:
    """A browser without a face: the page's cookie, and headers that a test can bend."""

    def __init__(self, server: WorkspaceServer, session: aiohttp.ClientSession) -> None:
        self.home = f"http://{urlsplit(server.page_url).netloc}"
        self.headers = {"Origin": self.home}
        self._session = session

    async def post(self, path: str, deed: object) -> tuple[int, str]:
        """The status and text that a deed is answered with."""
        url = self.home + path
        async with self._session.post(url, json=deed, headers=self.headers) as answer:
            return answer.status, await answer.text()

    async def live(self) -> int:
        """The status that the live socket is refused with, 101 if it opens."""
        url = self.home + "/page/live"
        try:
            async with self._session.ws_connect(url, headers=self.headers):
                return 101
        except aiohttp.WSServerHandshakeError as error:
            return error.status


@pytest_asyncio.fixture
async def jar() -> AsyncIterator[aiohttp.ClientSession]:
    """A session whose cookies are kept for bare addresses too."""
    async with aiohttp.ClientSession(cookie_jar=aiohttp.CookieJar(unsafe=True)) as opened:
        yield opened


@pytest_asyncio.fixture
async def visitor(server: WorkspaceServer, jar: aiohttp.ClientSession) -> Visitor:
    """A visitor who has opened the printed address."""
    async with jar.get(server.page_url) as answer:
        assert answer.status == 200
        cookie = answer.headers["Set-Cookie"]
        assert "HttpOnly" in cookie
        assert "SameSite=Strict" in cookie
        policy = answer.headers["Content-Security-Policy"]
        assert "default-src 'none'" in policy
        assert "unsafe" not in policy
    return Visitor(server, jar)


HELLO = {"as": U_ADA, "channel": C_OPS, "text": "hello"}


def test_the_built_page_is_made_of_these_sources() -> None:
    paths = sorted([*SINGLE, *(f"src/{each.name}" for each in (SOURCES / "src").iterdir())])
    whole = hashlib.sha256()
    for path in paths:
        one = hashlib.sha256((SOURCES / path).read_bytes()).hexdigest()
        whole.update(f"{path} {one}\n".encode())
    built = (page_routes.STATIC / "fingerprint.txt").read_text().strip()
    assert built == whole.hexdigest(), "the built page is older than its sources: run `make web`"


def test_the_sources_name_no_registry() -> None:
    assert "resolved" not in (SOURCES / "package-lock.json").read_text()


async def test_who_has_the_token_can_write(workspace: Workspace, visitor: Visitor) -> None:
    status, _ = await visitor.post("/page/post", HELLO)
    assert status == 200
    assert [each.text for each in workspace.kept(C_OPS)] == ["hello"]
    assert await visitor.live() == 101


@pytest.mark.parametrize("query", ["", "?token=", "?token=wrong"])
async def test_without_the_token_there_is_no_page(
    server: WorkspaceServer, jar: aiohttp.ClientSession, query: str
) -> None:
    visitor = Visitor(server, jar)
    async with jar.get(f"{visitor.home}/{query}") as answer:
        assert answer.status == 403
    assert (await visitor.post("/page/post", HELLO))[0] == 403
    assert await visitor.live() == 403


@pytest.mark.parametrize("origin", ["http://evil.example", "null", "", "http://127.0.0.1:1"])
async def test_another_origin_can_do_nothing(
    workspace: Workspace, visitor: Visitor, origin: str
) -> None:
    visitor.headers["Origin"] = origin
    for path in ("/page/post", "/page/click"):
        assert (await visitor.post(path, HELLO))[0] == 403
    assert await visitor.live() == 403
    assert workspace.kept(C_OPS) == []


async def test_another_host_name_reaches_nothing(
    workspace: Workspace, server: WorkspaceServer, visitor: Visitor, jar: aiohttp.ClientSession
) -> None:
    headers = {"Host": "evil.example", "Origin": "http://evil.example"}
    async with jar.get(server.page_url, headers=headers) as answer:
        assert answer.status == 403
    token = {"Authorization": f"Bearer {workspace.bot_token}"}
    async with jar.post(f"{server.api_url}auth.test", headers=headers | token) as answer:
        assert answer.status == 403
    visitor.headers.update(headers)
    assert (await visitor.post("/page/post", HELLO))[0] == 403
    assert await visitor.live() == 403


@pytest.mark.parametrize(
    ("status", "deed"),
    [
        (403, HELLO | {"as": BOT_USER}),
        (403, HELLO | {"as": HOST_USER}),
        (403, HELLO | {"as": "U0NONE"}),
        (403, HELLO | {"channel": "C0NONE"}),
        (403, HELLO | {"channel": D_ADA, "as": U_BOB}),
        (400, HELLO | {"text": " "}),
        (400, HELLO | {"thread_ts": "1.000001"}),
        (400, [HELLO]),
    ],
)
async def test_a_wrong_deed_is_refused(
    workspace: Workspace, visitor: Visitor, status: int, deed: object
) -> None:
    assert (await visitor.post("/page/post", deed))[0] == status
    assert workspace.kept(C_OPS) == []


async def test_a_button_that_is_not_there_is_refused(
    workspace: Workspace, visitor: Visitor
) -> None:
    ts = workspace.post_as(U_ADA, C_OPS, "no buttons")
    deed = {"as": U_ADA, "channel": C_OPS, "ts": ts, "action_id": "go"}
    assert (await visitor.post("/page/click", deed))[0] == 400


@pytest.mark.parametrize("name", ["..%2F__init__.py", "..%2Findex.html", "none.js"])
async def test_only_built_files_are_served(
    visitor: Visitor, jar: aiohttp.ClientSession, name: str
) -> None:
    async with jar.get(URL(f"{visitor.home}/assets/{name}", encoded=True)) as answer:
        assert answer.status == 404


@pytest.mark.parametrize(
    ("text", "wire"),
    [
        ("@Watchkeeper hi", f"<@{BOT_USER}> hi"),
        ("hi @watchkeeper, @Bob", f"hi <@{BOT_USER}>, <@{U_BOB}>"),
        ("mail@Bob.example @Bobby", "mail@Bob.example @Bobby"),
        ("a <b> & <@U1> <!channel>", "a &lt;b&gt; &amp; &lt;@U1&gt; &lt;!channel&gt;"),
    ],
)
def test_what_is_typed_is_escaped_and_mentions_become_mentions(
    workspace: Workspace, text: str, wire: str
) -> None:
    assert typed(workspace, text) == wire

"""What comes in is stored, then acknowledged; nothing is lost, in both modes (F1, S1, T3)."""

import asyncio
from collections.abc import AsyncIterator

import pytest

from adapters.slack.chat import SlackChat
from adapters.slack.client import open_client, quiet_logger
from adapters.slack.failures import TokenRefusedError
from adapters.slack.identity import Account
from adapters.slack.pace import Pace
from bot.slack.app import SlackEar
from bot.slack.link import Link
from bot.workspace.world import BOT_USER, C_OPS, D_ADA, TEAM, U_ADA
from core.ids import NoticeId, PersonId, Thread
from core.incoming import IncomingClick, IncomingDeletion, IncomingEdit, IncomingMessage
from core.notices import Notice, Remark
from tests.bot.slack.hearing import MODES, Hearing, Inbox, Mode, hearing
from tests.fakes.clock import ManualClock

MENTION = f"<@{BOT_USER}> why is the disk full?"


@pytest.fixture(params=MODES)
async def heard(request: pytest.FixtureRequest) -> AsyncIterator[Hearing]:
    async with hearing(request.param) as heard:
        yield heard


@pytest.fixture
async def on_socket() -> AsyncIterator[Hearing]:
    async with hearing("socket") as heard:
        yield heard


async def test_a_mention_is_accepted_and_acknowledged(heard: Hearing) -> None:
    """F1, S1: it comes as two events and is told apart from nothing by its source."""
    heard.workspace.post_as(U_ADA, C_OPS, MENTION)
    await heard.settled()
    first, second = heard.inbox.accepted
    assert isinstance(first, IncomingMessage)
    assert isinstance(second, IncomingMessage)
    assert first.source == second.source
    assert first.text == "why is the disk full?"
    assert first.is_addressed
    assert second.is_addressed


async def test_a_direct_message_is_addressed(heard: Hearing) -> None:
    """S1."""
    heard.workspace.post_as(U_ADA, D_ADA, "hello")
    await heard.settled()
    (message,) = heard.inbox.accepted
    assert isinstance(message, IncomingMessage)
    assert message.is_addressed


async def test_nothing_is_acknowledged_before_it_is_stored(heard: Hearing) -> None:
    """F1."""
    heard.inbox.gate = asyncio.Event()
    heard.workspace.post_as(U_ADA, C_OPS, "hello")
    async with asyncio.timeout(5):
        await heard.inbox.reached.wait()
    assert heard.server.unacked == 1
    assert heard.acks == []
    heard.inbox.gate.set()
    await heard.settled()
    assert len(heard.inbox.accepted) >= 1


async def test_what_could_not_be_stored_comes_again(heard: Hearing) -> None:
    """F1."""
    heard.inbox.refusals = 1
    heard.workspace.post_as(U_ADA, C_OPS, "hello")
    await heard.settled()
    assert heard.inbox.refusals == 0
    assert len(heard.inbox.accepted) == 1
    assert len(heard.server.ack_seconds) == 1


async def test_a_doubled_envelope_is_accepted_twice_under_one_source(heard: Hearing) -> None:
    """S1: the inbox counts it once."""
    heard.workspace.faults.double_envelopes()
    heard.workspace.post_as(U_ADA, C_OPS, "hello")
    await heard.settled()
    first, second = heard.inbox.accepted
    assert first == second


async def test_edits_and_deletions_are_accepted(heard: Hearing) -> None:
    """S4."""
    ts = heard.workspace.post_as(U_ADA, C_OPS, "hello")
    heard.workspace.edit_as(U_ADA, C_OPS, ts, "hello there")
    heard.workspace.delete_as(U_ADA, C_OPS, ts)
    await heard.settled()
    by_kind = {type(each): each for each in heard.inbox.accepted}
    assert set(by_kind) == {IncomingMessage, IncomingEdit, IncomingDeletion}
    edit = by_kind[IncomingEdit]
    assert isinstance(edit, IncomingEdit)
    assert edit.text == "hello there"


async def test_a_click_is_accepted_and_our_own_post_is_not(heard: Hearing) -> None:
    """S4, T3."""
    root = heard.workspace.post_as(U_ADA, C_OPS, "hello")
    thread = Thread(team=TEAM, channel=C_OPS, root=root)
    notice = Notice(
        id=NoticeId("n9"),
        session=thread.session,
        thread=thread,
        content=Remark(text="Rested.", go_on=True),
    )
    async with open_client(heard.workspace.bot_token, heard.server.api_url) as client:
        chat = SlackChat(client, Account(client), Pace(ManualClock()))
        ref = await chat.post(notice)
        await chat.edit(ref, notice.model_copy(update={"content": Remark(text="x", go_on=True)}))
    heard.workspace.click(U_ADA, C_OPS, ref.message, "go_on")
    await heard.settled()
    clicks = [each for each in heard.inbox.accepted if not isinstance(each, IncomingMessage)]
    assert clicks == [IncomingClick(notice=NoticeId("n9"), action="go_on", by=PersonId(U_ADA))]
    assert len(heard.inbox.accepted) == 2


@pytest.mark.parametrize(
    ("kind", "payload"),
    [
        ("events_api", {"type": "event_callback", "event": {"type": "reaction_added"}}),
        ("events_api", {"type": "event_callback", "event": {"type": "message"}}),
        (
            "events_api",
            {"type": "event_callback", "event": {"type": "message", "subtype": "channel_join"}},
        ),
        ("events_api", {"type": "something new"}),
        ("interactive", {"type": "block_actions", "actions": [{"action_id": "other"}]}),
        ("interactive", {"type": "view_submission", "view": {"callback_id": "x"}}),
        ("interactive", {"type": "view_closed", "view": {"callback_id": "x"}}),
        ("interactive", {"type": "shortcut", "callback_id": "x"}),
        ("interactive", {"type": "message_action", "callback_id": "x"}),
        ("interactive", {"type": "block_suggestion", "action_id": "x"}),
        ("slash_commands", {"command": "/vm-ready", "text": "", "user_id": "U1"}),
    ],
)
async def test_what_means_nothing_is_acknowledged_all_the_same(
    heard: Hearing, kind: str, payload: dict[str, object]
) -> None:
    """F1: otherwise Slack would send it again, and in the end nothing any more."""
    told = heard.server.http or heard.server.sockets
    told.tell(kind, payload)  # type: ignore[arg-type] # JSON, wider than needed
    await heard.settled()
    assert len(heard.server.ack_seconds) == 1
    assert heard.inbox.accepted == []


async def test_acknowledgements_are_timed(heard: Hearing) -> None:
    heard.workspace.post_as(U_ADA, C_OPS, "hello")
    await heard.settled()
    await heard.ear.close()
    assert len(heard.acks) == 1
    assert 0 < heard.acks[0] < 3


async def test_a_wrong_app_token_is_named_at_once() -> None:
    async with hearing(is_started=False, app_token="xapp-wrong") as heard:
        with pytest.raises(TokenRefusedError, match="SLACK_APP_TOKEN is not accepted by Slack"):
            await heard.ear.start(heard.account)


@pytest.mark.parametrize("mode", MODES)
async def test_a_wrong_bot_token_is_named_at_once(mode: Mode) -> None:
    async with hearing(mode, is_started=False) as heard:
        heard.workspace.bot_token = "xoxb-another"
        with pytest.raises(TokenRefusedError, match="SLACK_BOT_TOKEN is not accepted by Slack"):
            await heard.ear.start(heard.account)


@pytest.mark.parametrize("method", ["auth.test", "apps.connections.open"])
async def test_a_start_waits_for_slack(method: str) -> None:
    async with hearing(is_started=False) as heard:
        heard.workspace.faults.fail(method, "internal_error", status=500, times=3)
        heard.workspace.faults.lose_answer(method)
        await heard.ear.start(heard.account)
        assert await heard.ear.is_connected()


async def test_a_start_can_be_given_up_while_slack_is_silent() -> None:
    reached = asyncio.Event()

    def say_nothing(_reader: asyncio.StreamReader, writer: asyncio.StreamWriter) -> None:
        reached.set()
        open_writers.append(writer)

    open_writers: list[asyncio.StreamWriter] = []
    server = await asyncio.start_server(say_nothing, "127.0.0.1", 0)
    port = server.sockets[0].getsockname()[1]
    async with open_client("xoxb-1", f"http://127.0.0.1:{port}/api/") as client:
        ear = SlackEar(client, "xapp-1", Inbox().accept)
        start = asyncio.create_task(ear.start(Account(client)))
        async with asyncio.timeout(5):
            await reached.wait()
        start.cancel()
        with pytest.raises(asyncio.CancelledError):
            await start
        assert not await ear.is_connected()
        await ear.close()
    for writer in open_writers:
        writer.close()
    server.close()
    await server.wait_closed()


@pytest.mark.parametrize("mode", MODES)
async def test_closing_leaves_no_task_behind(mode: Mode) -> None:
    before = asyncio.all_tasks()
    async with hearing(mode) as heard:
        heard.workspace.post_as(U_ADA, C_OPS, "hello")
        await heard.settled()
        assert asyncio.all_tasks() > before
    assert asyncio.all_tasks() == before


@pytest.mark.parametrize("mode", MODES)
async def test_closing_lets_what_is_being_stored_be_acknowledged(mode: Mode) -> None:
    """F1."""
    async with hearing(mode, retry_delays_s=(60.0,)) as heard:
        heard.inbox.gate = asyncio.Event()
        heard.workspace.post_as(U_ADA, C_OPS, "hello")
        async with asyncio.timeout(5):
            await heard.inbox.reached.wait()
        closing = asyncio.create_task(heard.ear.close())
        heard.inbox.gate.set()
        await closing
        await heard.settled()
        assert len(heard.inbox.accepted) == 1
        assert len(heard.server.ack_seconds) == 1


async def test_the_next_process_hears_what_the_last_one_did_not_store() -> None:
    """F1."""
    async with hearing(retry_delays_s=(60.0,)) as heard:
        heard.inbox.refusals = 1
        heard.workspace.post_as(U_ADA, C_OPS, "hello")
        async with asyncio.timeout(5):
            await heard.inbox.refused.wait()
        await heard.ear.close()
        assert not await heard.ear.is_connected()
        async with open_client(heard.workspace.bot_token, heard.server.api_url) as client:
            following = SlackEar(client, heard.workspace.app_token, heard.inbox.accept)
            await following.start(Account(client))
            await heard.until_accepted(1)
            await following.close()


async def nowhere() -> str:
    return ""


async def test_the_one_time_address_is_not_logged(caplog: pytest.LogCaptureFixture) -> None:
    """T6."""
    async with open_client("xoxb-1", "http://127.0.0.1:9/api/") as client:
        link = Link(client, nowhere, quiet_logger("tests.discreet"))
        link.logger.error("Failed to connect (error: url='wss://x/?ticket=s3cret&app_id=A1')")
        await link.shut()
    assert "s3cret" not in caplog.text
    assert "app_id=A1" in caplog.text


async def test_settings_of_other_slack_programs_change_nothing(
    monkeypatch: pytest.MonkeyPatch,
) -> None:
    for name in ("CLIENT_ID", "CLIENT_SECRET", "SIGNING_SECRET", "BOT_TOKEN", "VERIFICATION_TOKEN"):
        monkeypatch.setenv(f"SLACK_{name}", "other")
    for name in ("HTTP_PROXY", "HTTPS_PROXY", "http_proxy", "https_proxy"):
        monkeypatch.setenv(name, "http://127.0.0.1:9")
    async with hearing() as heard:
        heard.workspace.post_as(U_ADA, C_OPS, "hello")
        await heard.settled()
        assert len(heard.inbox.accepted) == 1

"""What a failed attempt means, and what of it is told: L12, T6."""

from collections.abc import Mapping
from datetime import UTC, datetime

import pytest
from anthropic import RateLimitError
from anthropic._error_classes import ERROR_CLASSES

from adapters.anthropic.concealing import concealed
from adapters.anthropic.wishes import LONGEST_WISH_S, retry_after_s
from core.dialogue import JsonObject, Said
from core.errors import ModelRefusedRequestError, ModelUnreachableError
from core.ids import PersonId
from tests.adapters.anthropic.asking import KEY, Waits, asking, request
from tests.adapters.anthropic.server import Answer, error, message, serving, text

GOOD = Answer(message(text("It is up.")))
NOW = datetime(2026, 11, 29, 12, 0, 0, tzinfo=UTC)
DAYS = 3.5 * 86_400


def coded(kind: str, code: str) -> JsonObject:
    """An error with its machine-readable code."""
    inner: JsonObject = {"type": kind, "message": "no", "details": {"error_code": code}}
    return {"type": "error", "error": inner}


async def refused(answer: Answer, model: str = "claude-opus-5-5", said: str = "Up?") -> str:
    """The line of a request that is refused; it was made once."""
    item = Said(author=PersonId("U1"), text=said)
    async with serving(answer) as server, asking(server.url) as asked:
        with pytest.raises(ModelRefusedRequestError) as told:
            await asked.ask(request(item, model=model))
    assert len(server.bodies) == 1
    assert "\n" not in told.value.why
    return told.value.why


# Money --------------------------------------------------------------------------------------

SPEND = sorted(
    (status, code)
    for (status, code), kind in ERROR_CLASSES.items()
    if (code is not None and issubclass(kind, RateLimitError)) or (status == 402 and code)
)


def test_the_sdk_knows_limits_of_money() -> None:
    codes = {code for _, code in SPEND}
    assert {"contract_spend_limit_reached", "enforced_spend_limit_reached"} <= codes
    assert {"ramp_limit_exceeded", "linked_organization_spend_limit_reached"} <= codes


@pytest.mark.parametrize(("status", "code"), [*SPEND, (402, "")])
async def test_a_limit_of_money_is_told_at_once(status: int, code: str) -> None:
    await refused(Answer([coded("rate_limit_error", code)], status=status))


async def test_a_limit_of_money_inside_the_stream_is_told_at_once() -> None:
    code = "enforced_spend_limit_reached"
    await refused(Answer([*message()[:1], coded("rate_limit_error", code)]))


# What the provider says about trying again -----------------------------------------------------


@pytest.mark.parametrize("status", [400, 500])
async def test_the_provider_s_word_on_trying_again_counts(status: int) -> None:
    headers = {"x-should-retry": "false"}
    await refused(Answer([error("api_error")], status=status, headers=headers))
    again = Answer([error("odd")], status=400, headers={"x-should-retry": "true"})
    waits = Waits()
    async with serving(again, GOOD) as server, asking(server.url, waits) as model:
        assert (await model.ask(request())).text == "It is up."


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"retry-after": "41"}, 41.0),
        ({"retry-after": "0"}, 0.0),
        ({"retry-after-ms": "1500"}, 1.5),
        ({"retry-after-ms": "1500", "retry-after": "9"}, 1.5),
        ({"retry-after-ms": "soon", "retry-after": "9"}, 9.0),
        ({"retry-after-ms": "nan", "retry-after": "9"}, 9.0),
        ({"retry-after": "7200"}, 7_200.0),
        ({"retry-after": str(DAYS)}, LONGEST_WISH_S),
        ({"retry-after": "4294967"}, LONGEST_WISH_S),
        ({"retry-after": "Sun, 29 Nov 2026 12:10:00 GMT"}, 600.0),
        ({"retry-after": "Sun, 29 Nov 2026 12:10:00 -0000"}, 600.0),
        ({"retry-after": "Sun, 29 Nov 2026 14:10:00 +0200"}, 600.0),
        ({"retry-after": "Thu, 01 Jan 1970 00:00:00 GMT"}, 0.0),
        ({"retry-after": "Fri, 31 Dec 9999 23:59:59 GMT"}, LONGEST_WISH_S),
        ({"retry-after": "-5"}, None),
        ({"retry-after": "nan"}, None),
        ({"retry-after": "inf"}, None),
        ({"retry-after": "1e999"}, None),
        ({"retry-after": "later"}, None),
        ({"retry-after": "Thu, 99 Dec 2026 00:00:00 GMT"}, None),
        ({"retry-after": ""}, None),
        ({}, None),
    ],
)
def test_a_wish_is_read_in_every_form(headers: Mapping[str, str], seconds: float | None) -> None:
    assert retry_after_s(headers, NOW) == seconds


@pytest.mark.parametrize("wish", [str(DAYS), "Fri, 31 Dec 9999 23:59:59 GMT", "4294967"])
async def test_a_wish_of_days_parks_nothing(wish: str) -> None:
    waits = Waits()
    busy = Answer([error("rate_limit_error")], status=429, headers={"retry-after": wish})
    async with serving(busy) as server, asking(server.url, waits) as model:
        with pytest.raises(ModelUnreachableError) as unreachable:
            await model.ask(request())
    assert waits.seconds == []
    assert unreachable.value.retry_in_s == LONGEST_WISH_S


@pytest.mark.parametrize("wish", ["-5", "nan", "inf", "later"])
async def test_a_wish_without_sense_is_passed_over(wish: str) -> None:
    waits = Waits()
    busy = Answer([error("rate_limit_error")], status=429, headers={"retry-after": wish})
    async with serving(busy, GOOD) as server, asking(server.url, waits) as model:
        assert (await model.ask(request())).text == "It is up."
    assert waits.seconds == [1.0]


# What is told ----------------------------------------------------------------------------------


async def test_a_model_that_is_not_there_is_named_with_what_to_set() -> None:
    told = await refused(
        Answer([error("not_found_error", "model: claude-sonnet-4-5")], status=404),
        "claude-sonnet-4-5",
    )
    assert "no model 'claude-sonnet-4-5'" in told
    assert "set model.name" in told


@pytest.mark.parametrize("key", ["message", "detail", "error"])
async def test_what_a_gateway_says_in_its_own_form_is_told(key: str) -> None:
    body: JsonObject = {key: "the team has no access"}
    assert "status 403, the team has no access" in await refused(Answer([body], status=403))


async def test_a_wrong_address_is_called_so() -> None:
    told = await refused(Answer(whole=b"<h1>404</h1>", status=404))
    assert "is model.base_url right?" in told
    assert "<h1>" not in told


@pytest.mark.parametrize("status", [301, 302, 303, 307, 308])
async def test_a_conversation_is_not_sent_where_a_redirect_points(status: int) -> None:
    async with serving(GOOD) as elsewhere:
        told = await refused(
            Answer(whole=b"", status=status, headers={"location": f"{elsewhere.url}/v1/messages"})
        )
    assert "only redirects; set model.base_url" in told
    assert elsewhere.bodies == []


SECRETS = [
    f"invalid key {KEY}",
    "invalid x-api-key: sk-ant-api03-abcdefgh",
    "bad token eyJhbGciOiJIUzI1NiJ9.eyJzdWIiOiIxMjM0NTY3ODkwIn0.dozjgNryP4J3jVmNHl0w5N",
]


@pytest.mark.parametrize("said", SECRETS)
async def test_an_error_that_quotes_a_key_loses_it(said: str) -> None:
    """T6."""
    told = await refused(Answer([error("authentication_error", said)], status=401))
    assert "authentication_error" in told
    assert "[…]" in told
    assert KEY not in told
    assert "sk-ant" not in told
    assert "eyJ" not in told


async def test_an_error_that_quotes_the_conversation_loses_the_quote() -> None:
    """T6."""
    heard = "my password\nis hunter2, and the host is down"
    said = f"messages.0.content: bad text {heard!r} near my password is hunter2"
    told = await refused(Answer([error("invalid_request_error", said)], status=400), said=heard)
    assert "messages.0.content: bad text" in told
    assert "hunter2" not in told


def test_what_a_provider_says_is_one_short_plain_line() -> None:
    assert concealed("a\n\x1b[31mb\u202e", [], "") == "a [31mb"
    assert concealed({"a": 1}, [], "") == ""
    assert len(concealed("word " * 999, [], "")) == 200

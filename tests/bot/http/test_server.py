"""Health, readiness and metrics, asked for over a real socket."""

import socket

import pytest
from aiohttp import ClientSession
from prometheus_client.parser import text_string_to_metric_families

from bot.http.metrics import Metrics
from bot.http.server import ListenError, Unready, serve


async def ask(url: str) -> tuple[int, str]:
    async with ClientSession() as session, session.get(url) as response:
        return response.status, await response.text()


async def test_it_is_healthy_and_says_why_it_is_not_ready() -> None:
    """O4."""
    why = "Slack: not connected yet"

    async def unready() -> str:
        return why

    async with serve("127.0.0.1", 0, Metrics(), unready) as address:
        assert await ask(f"{address}/healthz") == (200, "ok\n")
        assert await ask(f"{address}/readyz") == (503, "Slack: not connected yet\n")
        why = ""
        assert await ask(f"{address}/readyz") == (200, "ok\n")


async def test_metrics_are_text_that_prometheus_reads() -> None:
    """O4."""
    metrics = Metrics()
    metrics.acknowledged(0.02)
    async with serve("127.0.0.1", 0, metrics, _says("")) as address:
        status, text = await ask(f"{address}/metrics")
    assert status == 200
    families = {family.name for family in text_string_to_metric_families(text)}
    assert "watchkeeper_ack_seconds" in families
    assert all(name.startswith("watchkeeper_") for name in families)


async def test_a_taken_port_is_one_clear_line() -> None:
    """O1."""
    with socket.create_server(("127.0.0.1", 0)) as other:
        port = other.getsockname()[1]
        with pytest.raises(ListenError) as refused:
            async with serve("127.0.0.1", port, Metrics(), _says("")):
                pass
    assert str(refused.value) == (
        f"http.host, http.port: 127.0.0.1:{port} is taken by another program"
    )


async def test_an_address_of_another_machine_is_one_clear_line() -> None:
    """O1."""
    with pytest.raises(ListenError, match=r"http\.host, http\.port: 192\.0\.2\.1:0 cannot be used"):
        async with serve("192.0.2.1", 0, Metrics(), _says("")):
            pass


async def test_the_port_is_free_again_after_the_block() -> None:
    async with serve("127.0.0.1", 0, Metrics(), _says("")) as address:
        port = int(address.rpartition(":")[2])
    async with serve("127.0.0.1", port, Metrics(), _says("")) as again:
        assert again == address


def _says(why: str) -> Unready:
    async def unready() -> str:
        return why

    return unready

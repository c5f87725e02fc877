"""Logs: their form, their floors, and that no secret gets out."""

import io
import json
import logging
from collections.abc import Iterator
from pathlib import Path

import pytest
import structlog
from pydantic import SecretStr

from adapters.database.errors import StoreUnusableError
from bot.logs import FLOORS, Form, Level, configure_logs

SECRET = "hunter2"


@pytest.fixture(autouse=True)
def logging_as_it_was() -> Iterator[None]:
    """Puts the process's logging back."""
    root = logging.getLogger()
    handlers, level = root.handlers[:], root.level
    yield
    root.handlers[:] = handlers
    root.setLevel(level)
    for name in FLOORS:
        logging.getLogger(name).setLevel(logging.NOTSET)
    structlog.reset_defaults()


def start(level: Level = "info", form: Form = "json") -> io.StringIO:
    stream = io.StringIO()
    configure_logs(lambda text: text.replace(SECRET, "***"), level=level, form=form, stream=stream)
    return stream


def entries(stream: io.StringIO) -> list[dict[str, object]]:
    return [json.loads(line) for line in stream.getvalue().splitlines()]


def log_everything_with_the_secret_in_it() -> None:
    log = structlog.stdlib.get_logger("house")
    log.info(f"the event {SECRET}", text=SECRET, nested={"a": [SECRET, (SECRET,)], SECRET: 1})
    log.info("an object", path=Path("/srv") / SECRET, raw=SECRET.encode())
    log.info("old style %s", SECRET)
    logging.getLogger("elsewhere").warning("with %s", SECRET, extra={"more": SECRET})
    try:
        int(SECRET)
    except ValueError:
        log.exception("it broke")
        logging.getLogger("elsewhere").exception("it broke there")


@pytest.mark.parametrize("form", ["json", "console"])
def test_no_secret_gets_out_by_any_way(form: Form) -> None:
    """T6."""
    stream = start(form=form)
    log_everything_with_the_secret_in_it()
    assert SECRET not in stream.getvalue()
    assert stream.getvalue().count("***") >= 10


def test_json_is_one_object_a_line_with_its_time_level_and_logger() -> None:
    """O4."""
    stream = start()
    structlog.stdlib.get_logger("house").warning("a turn rested", turn=3, took_s=1.5)
    [entry] = entries(stream)
    assert str(entry.pop("timestamp")).endswith("Z")
    assert entry == {
        "event": "a turn rested",
        "level": "warning",
        "logger": "house",
        "turn": 3,
        "took_s": 1.5,
    }


def test_a_traceback_stays_on_its_json_line() -> None:
    stream = start()
    log_everything_with_the_secret_in_it()
    broken = [entry for entry in entries(stream) if "exception" in entry]
    assert len(broken) == 2
    assert all("***" in str(entry["exception"]) for entry in broken)


def test_what_is_bound_to_the_context_is_in_every_line() -> None:
    stream = start()
    with structlog.contextvars.bound_contextvars(session="T1/C1/1"):
        logging.getLogger("elsewhere").warning("here")
        structlog.stdlib.get_logger("house").info("there")
    assert [entry["session"] for entry in entries(stream)] == ["T1/C1/1", "T1/C1/1"]


def test_secret_strings_print_as_stars_before_redaction_even_sees_them() -> None:
    stream = start()
    structlog.stdlib.get_logger("house").info("set up", token=SecretStr("xoxb-1"))
    assert "xoxb-1" not in stream.getvalue()


def test_libraries_stay_above_their_floors_even_when_all_is_asked_for() -> None:
    """T6."""
    stream = start(level="debug")
    for name, floor in FLOORS.items():
        loud = logging.getLogger(f"{name}.inner")
        loud.setLevel(logging.DEBUG)
        loud.log(floor - 10, "too much")
        loud.log(floor, "enough")
        loud.setLevel(logging.NOTSET)
    structlog.stdlib.get_logger("house").debug("our own")
    told = [entry["event"] for entry in entries(stream)]
    assert told == ["enough"] * len(FLOORS) + ["our own"]


def test_levels_below_the_one_asked_for_are_left_out() -> None:
    stream = start(level="warning")
    structlog.stdlib.get_logger("house").info("small talk")
    logging.getLogger("anthropic").info("small talk")
    assert stream.getvalue() == ""


def test_a_named_failure_is_one_line_and_a_defect_keeps_its_traceback() -> None:
    """O4: a full disk must not be filled with tracebacks that tell nothing."""
    stream = start()
    log = structlog.stdlib.get_logger("house")
    for error in (StoreUnusableError(f"the disk is full, {SECRET}"), ZeroDivisionError("x")):
        try:
            raise error
        except (StoreUnusableError, ZeroDivisionError):
            log.exception("handler failed")
            logging.getLogger("elsewhere").exception("it failed there")
    named, foreign, defect, other = entries(stream)
    assert named["why"] == foreign["why"] == "the disk is full, ***"
    assert "exception" not in named
    assert "exception" not in foreign
    assert "ZeroDivisionError" in str(defect["exception"])
    assert "ZeroDivisionError" in str(other["exception"])

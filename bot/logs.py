"""Logs: one line each on stderr, as JSON or for people, with secrets taken out last of all.

structlog and the standard library's loggers (those of other libraries) end in the same handler, so
that nothing reaches stderr unredacted. Considered: redacting at each call (forgotten once, leaked
for ever) and a filter on messages only (tracebacks and extra fields would pass).
"""

import logging
import sys
from collections.abc import Callable, Mapping
from typing import Literal, TextIO

import structlog
from structlog.typing import EventDict, Processor, WrappedLogger

from core.errors import WatchkeeperError

Redact = Callable[[str], str]
Level = Literal["debug", "info", "warning", "error"]
Form = Literal["auto", "console", "json"]

FLOORS: Mapping[str, int] = {
    # Their DEBUG lines hold request bodies and headers, keys included.
    "anthropic": logging.INFO,
    "httpx2": logging.INFO,
    "httpcore2": logging.INFO,
    # Their INFO lines tell of every connection, envelope or statement.
    "aiohttp": logging.WARNING,
    "aiosqlite": logging.WARNING,
    "alembic": logging.WARNING,
    "asyncssh": logging.WARNING,
    "slack_bolt": logging.WARNING,
    "slack_sdk": logging.WARNING,
    "sqlalchemy": logging.WARNING,
}
"""The least level of other people's loggers, by the first part of their names."""


def configure_logs(
    redact: Redact, *, level: Level = "info", form: Form = "auto", stream: TextIO | None = None
) -> None:
    """Send all logging to `stream` (stderr). `redact` sees every string before it is written.

    "auto" is for people on a terminal, else JSON. Calling it again replaces what was there.
    """
    target = stream or sys.stderr
    is_console = form == "console" or (form == "auto" and target.isatty())
    handler = logging.StreamHandler(target)
    handler.setFormatter(_formatter(redact, is_console=is_console, has_colors=target.isatty()))
    handler.addFilter(_is_above_floor)
    root = logging.getLogger()
    root.handlers[:] = [handler]
    root.setLevel(level.upper())
    for name, floor in FLOORS.items():
        logging.getLogger(name).setLevel(max(floor, root.level))
    structlog.configure(
        processors=[
            structlog.stdlib.filter_by_level,
            *_COMMON,
            structlog.stdlib.ProcessorFormatter.wrap_for_formatter,
        ],
        logger_factory=structlog.stdlib.LoggerFactory(),
        wrapper_class=structlog.stdlib.BoundLogger,
        cache_logger_on_first_use=False,
    )


_COMMON: tuple[Processor, ...] = (
    structlog.contextvars.merge_contextvars,
    structlog.stdlib.add_logger_name,
    structlog.stdlib.add_log_level,
    structlog.stdlib.PositionalArgumentsFormatter(),
    structlog.processors.TimeStamper(fmt="iso", utc=True),
)


def _formatter(redact: Redact, *, is_console: bool, has_colors: bool) -> logging.Formatter:
    renderer: Processor = structlog.processors.JSONRenderer(ensure_ascii=False)
    if is_console:
        renderer = structlog.dev.ConsoleRenderer(colors=has_colors)
    return structlog.stdlib.ProcessorFormatter(
        foreign_pre_chain=[*_COMMON, structlog.stdlib.ExtraAdder()],
        processors=[
            structlog.stdlib.ProcessorFormatter.remove_processors_meta,
            structlog.processors.StackInfoRenderer(),
            _as_one_line,
            structlog.processors.format_exc_info,
            _redaction(redact),
            renderer,
        ],
    )


def _as_one_line(_logger: WrappedLogger, _method: str, entry: EventDict) -> EventDict:
    """A named failure by its own words; only a defect is worth a traceback."""
    raised = entry.get("exc_info")
    if raised is True:
        raised = sys.exc_info()
    error = raised[1] if isinstance(raised, tuple) else raised
    if isinstance(error, WatchkeeperError):
        del entry["exc_info"]
        entry["why"] = str(error) or type(error).__name__
    return entry


def _redaction(redact: Redact) -> Processor:
    """A processor that redacts the whole entry, keys included."""

    def process(_logger: WrappedLogger, _method: str, entry: EventDict) -> EventDict:
        return {redact(str(key)): redacted(value, redact) for key, value in entry.items()}

    return process


def redacted(value: object, redact: Redact) -> object:
    """The value with every string in it redacted; objects become what they print as."""
    if value is None or isinstance(value, bool | int | float):
        return value
    if isinstance(value, str):
        return redact(value)
    if isinstance(value, Mapping):
        return {redact(str(key)): redacted(held, redact) for key, held in value.items()}
    if isinstance(value, list | tuple | set | frozenset):
        return [redacted(held, redact) for held in value]
    return redact(str(value))


def _is_above_floor(record: logging.LogRecord) -> bool:
    """The floors again, for loggers that set a level of their own (Bolt's do)."""
    return record.levelno >= FLOORS.get(record.name.partition(".")[0], logging.NOTSET)

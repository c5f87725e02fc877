"""Which blocks Slack refuses in a message.

The SDK's own models know most limits (`Block.parse`, `to_dict`), and `schema` knows the types; what
both let pass and Slack does not is checked here: empty texts and lists, doubled ids, tasks inside a
plan, tables, and the length of all texts together.
"""

from collections.abc import Iterator

from pydantic import JsonValue
from slack_sdk.errors import SlackObjectFormationError
from slack_sdk.models.blocks import Block

from bot.workspace.refusals import RefusedError
from bot.workspace.schema import type_faults
from core.dialogue import JsonObject

MOST_BLOCKS = 50
MOST_MARKDOWN = 12_000
"""Characters of all markdown blocks of a message together."""
MOST_TEXT = 12_000
"""Characters of all blocks together; Slack's own border was seen between this and 13,300."""
MOST_FIELD = 2_000
MOST_ROWS = 100
TEXTS = ("plain_text", "mrkdwn", "text")
FILLED = ("actions", "context", "context_actions", "rich_text", "plan")
"""Blocks that Slack refuses when their list is empty."""


def checked(value: JsonValue, most: int = MOST_BLOCKS) -> list[JsonObject]:
    """The blocks of a call, at most `most`, or RefusedError with Slack's word for what is wrong."""
    if not isinstance(value, list):
        raise RefusedError("invalid_blocks_format")
    blocks = [each for each in value if isinstance(each, dict)]
    if len(blocks) != len(value):
        raise RefusedError("invalid_blocks_format")
    if len(blocks) > most:
        fault = f"no more than {most} items allowed [json-pointer:/blocks]"
        raise RefusedError("invalid_blocks", fault)
    faults = list(type_faults(value))
    faults += [
        f"{fault} [json-pointer:/blocks/{place}]"
        for place, block in enumerate(blocks)
        for fault in (*faults_of(block), *empty_texts(block))
    ]
    faults += doubled("block_id", blocks)
    if sum(block.get("type") == "table" for block in blocks) > 1:
        faults.append("only one table allowed")
    if faults:
        raise RefusedError("invalid_blocks", *faults)
    check_length(blocks)
    return blocks


def check_length(blocks: list[JsonObject]) -> None:
    """Refuse blocks that are longer together than Slack takes."""
    total = sum(len(text) for block in blocks for text in texts_of(block))
    markdown = sum(len(str(each["text"])) for each in blocks if each.get("type") == "markdown")
    if total > MOST_TEXT or markdown > MOST_MARKDOWN:
        raise RefusedError("msg_blocks_too_long")


def faults_of(block: JsonObject) -> Iterator[str]:
    """What is wrong with one block, its children included, apart from empty texts."""
    kind = block.get("type")
    try:
        parsed = Block.parse(block)
        if parsed is None:
            yield f"unsupported type: {kind}"
            return
        parsed.to_dict()
    except SlackObjectFormationError as error:
        yield str(error)
    except (TypeError, ValueError, AttributeError, KeyError) as error:
        yield f"malformed {kind}: {error}"
    children = block.get("tasks" if kind == "plan" else "elements")
    if kind in FILLED and not children:
        yield "must provide at least one element"
    if isinstance(children, list):
        yield from faults_of_children(str(kind), children)
    if kind == "section":
        yield from faults_of_fields(block.get("fields"))
    rows = block.get("rows")
    if kind == "table" and isinstance(rows, list) and len(rows) > MOST_ROWS:
        yield f"no more than {MOST_ROWS} rows allowed"


def faults_of_children(kind: str, children: list[JsonValue]) -> Iterator[str]:
    """What is wrong with the elements of a block, or the tasks of a plan."""
    elements = [each for each in children if isinstance(each, dict)]
    if len(elements) != len(children):
        yield f"{kind} holds something that is no object"
    yield from doubled("action_id", elements)
    if kind != "plan":
        return
    yield from doubled("task_id", elements)
    for task in elements:
        if task.get("type") != "task_card":
            yield f"unsupported type in plan: {task.get('type')}"
        else:
            # The schema takes anything for a task inside a plan.
            yield from type_faults([task])
            yield from faults_of(task)


def faults_of_fields(fields: JsonValue) -> Iterator[str]:
    """What is wrong with the fields of a section."""
    for each in fields if isinstance(fields, list) else []:
        if isinstance(each, dict) and len(str(each.get("text", ""))) > MOST_FIELD:
            yield f"must be less than {MOST_FIELD + 1} characters"


def doubled(key: str, items: list[JsonObject]) -> list[str]:
    """A line for each value of `key` that two of the items share."""
    values = [str(each[key]) for each in items if key in each]
    return [f"{key} {value} already exists" for value in {*values} if values.count(value) > 1]


def empty_texts(value: JsonValue) -> Iterator[str]:
    """A line for each text, title or label inside that is empty."""
    if isinstance(value, list):
        for each in value:
            yield from empty_texts(each)
    elif isinstance(value, dict):
        is_text = value.get("type") in TEXTS and value.get("text", "") == ""
        if is_text or value.get("title") == "":
            yield "must be more than 0 characters"
        for each in value.values():
            yield from empty_texts(each)


def texts_of(value: JsonValue) -> Iterator[str]:
    """Every text, title and value that counts towards a message's length."""
    if isinstance(value, list):
        for each in value:
            yield from texts_of(each)
    elif isinstance(value, dict):
        for key, each in value.items():
            if key in ("text", "title") and isinstance(each, str):
                yield each
            else:
                yield from texts_of(each)

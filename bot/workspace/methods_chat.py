"""The Web API's `chat.*` methods the bot uses."""

from dataclasses import replace

from bot.workspace.calls import ApiCall
from bot.workspace.content import MOST_UPDATED_TEXT, content_of, metadata_of
from bot.workspace.messages import Message
from bot.workspace.refusals import RefusedError
from bot.workspace.world import BOT_USER
from core.dialogue import JsonObject


def post_message(call: ApiCall) -> JsonObject:
    """`chat.postMessage`."""
    channel = call.writable_channel()
    content = content_of(call)
    metadata = metadata_of(call)
    ts = call.workspace.tick()
    message = Message(channel.id, ts, BOT_USER, content.text, call.text("thread_ts") or None)
    message.blocks = content.blocks
    message.metadata = metadata or None
    call.workspace.add(message)
    shown = message.wire(with_metadata=True)
    return {"ok": True, "channel": channel.id, "ts": ts, "message": shown}


def update(call: ApiCall) -> JsonObject:
    """`chat.update`: text without blocks drops the blocks; metadata stays unless it is given."""
    before = call.own_message("cant_update_message")
    content = content_of(call)
    if len(content.text) > MOST_UPDATED_TEXT:
        raise RefusedError("msg_too_long")
    metadata = metadata_of(call)
    kept = before.metadata if metadata is None else metadata or None
    text = content.text or before.text
    after = replace(before, text=text, blocks=content.blocks, metadata=kept)
    call.workspace.change(before, after)
    shown = after.wire(with_metadata=True)
    return {
        "ok": True,
        "channel": after.channel,
        "ts": after.ts,
        "text": after.text,
        "message": shown,
    }


def delete(call: ApiCall) -> JsonObject:
    """`chat.delete`."""
    message = call.own_message("cant_delete_message")
    call.workspace.delete(message)
    return {"ok": True, "channel": message.channel, "ts": message.ts}


def post_ephemeral(call: ApiCall) -> JsonObject:
    """`chat.postEphemeral`: shown to one member of the channel, kept in no history."""
    channel = call.writable_channel()
    user = call.text("user")
    if user not in channel.members:
        raise RefusedError("user_not_in_channel")
    content = content_of(call)
    ts = call.workspace.tick()
    message = Message(channel.id, ts, BOT_USER, content.text, call.text("thread_ts") or None)
    message.blocks = content.blocks
    message.only_for = user
    call.workspace.add(message)
    return {"ok": True, "message_ts": ts}


def get_permalink(call: ApiCall) -> JsonObject:
    """`chat.getPermalink`."""
    channel = call.channel()
    message = call.workspace.message(channel.id, call.text("message_ts"))
    link = f"http://{call.address}/archives/{channel.id}/p{message.ts.replace('.', '')}"
    if message.thread_ts:
        link += f"?thread_ts={message.thread_ts}&cid={channel.id}"
    return {"ok": True, "channel": channel.id, "permalink": link}

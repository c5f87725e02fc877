"""The table of methods: what each does, which scope it needs, whose token it takes."""

from collections.abc import Callable
from dataclasses import dataclass

from bot.workspace import methods_chat, methods_reads, methods_views
from bot.workspace.calls import ApiCall
from bot.workspace.refusals import RefusedError, missing_scope
from bot.workspace.state import Workspace
from core.dialogue import JsonObject


@dataclass(frozen=True)
class Method:
    """One method. Any of `scopes` is enough; no scopes, none is needed."""

    run: Callable[[ApiCall], JsonObject]
    scopes: frozenset[str] = frozenset()


CHAT = frozenset({"chat:write"})
HISTORY = frozenset({"channels:history", "groups:history", "im:history"})
READ = frozenset({"channels:read", "groups:read", "im:read"})

METHODS = {
    "auth.test": Method(methods_reads.auth_test),
    "chat.delete": Method(methods_chat.delete, CHAT),
    "chat.getPermalink": Method(methods_chat.get_permalink),
    "chat.postEphemeral": Method(methods_chat.post_ephemeral, CHAT),
    "chat.postMessage": Method(methods_chat.post_message, CHAT),
    "chat.update": Method(methods_chat.update, CHAT),
    "conversations.history": Method(methods_reads.history, HISTORY),
    "conversations.info": Method(methods_reads.channel_info, READ),
    "conversations.replies": Method(methods_reads.replies, HISTORY),
    "users.info": Method(methods_reads.user_info, frozenset({"users:read"})),
    "views.open": Method(methods_views.open_view),
}
OPEN_SOCKET = "apps.connections.open"
"""The one method for the app's own token; it belongs to the sockets."""


def check_token(workspace: Workspace, method: str, token: str) -> None:
    """Refuse a call without a token, with a wrong one, or with one of the wrong kind."""
    if not token:
        raise RefusedError("not_authed")
    if token in workspace.revoked:
        raise RefusedError("token_revoked")
    if token not in (workspace.bot_token, workspace.app_token):
        raise RefusedError("invalid_auth")
    if (token == workspace.app_token) != (method == OPEN_SOCKET):
        raise RefusedError("not_allowed_token_type")


def run(name: str, call: ApiCall) -> JsonObject:
    """Answer a call whose token was found good, or raise RefusedError."""
    method = METHODS[name]
    granted = call.workspace.scopes
    if method.scopes and not method.scopes & granted:
        raise missing_scope(",".join(sorted(method.scopes)), granted)
    return method.run(call)

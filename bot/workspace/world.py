"""The people and channels of the local workspace, and its fixed identities."""

from dataclasses import dataclass, field

from core.dialogue import JsonObject

TEAM = "T0WATCH"
TEAM_NAME = "Local workspace"
TEAM_DOMAIN = "local-workspace"
APP = "A0WATCHKEEPER"
BOT = "B0WATCHKEEPER"
BOT_USER = "U0WATCHKEEPER"
BOT_NAME = "Watchkeeper"
HOST_USER = "U0DEMO"
"""The system user who welcomes people in the demo."""
U_ADA = "U0ADA"
U_BOB = "U0BOB"
C_OPS = "C0OPS"
C_GENERAL = "C0GENERAL"
D_ADA = "D0ADA"
D_BOB = "D0BOB"


@dataclass(frozen=True)
class Person:
    """A member of the workspace. `title` is a word about them for the page."""

    id: str
    name: str
    title: str = ""
    is_bot: bool = False
    is_restricted: bool = False

    def profile(self) -> JsonObject:
        """The user as `users.info` gives it."""
        return {
            "id": self.id,
            "team_id": TEAM,
            "name": self.name.lower().replace(" ", "."),
            "real_name": self.name,
            "deleted": False,
            "is_bot": self.is_bot,
            "is_app_user": False,
            "is_admin": False,
            "is_owner": False,
            "is_restricted": self.is_restricted,
            "is_ultra_restricted": False,
            "tz": "Europe/London",
            "tz_label": "Greenwich Mean Time",
            "tz_offset": 0,
            "profile": {
                "real_name": self.name,
                "display_name": self.name,
                "title": self.title,
                "team": TEAM,
            },
        }


@dataclass
class Channel:
    """A conversation. `members` are user ids; a direct one (`D…`) holds one person and the bot.

    In an archived one nothing can be written any more.
    """

    id: str
    name: str
    members: set[str] = field(default_factory=set)
    is_private: bool = False
    is_archived: bool = False

    @property
    def is_direct(self) -> bool:
        """Whether it is a person's direct conversation with the app."""
        return self.id.startswith("D")

    @property
    def kind(self) -> str:
        """Slack's `channel_type` of events."""
        return "im" if self.is_direct else "group" if self.is_private else "channel"

    @property
    def history_scope(self) -> str:
        """The scope that its messages and their events need."""
        return f"{self.kind}s:history" if self.kind != "im" else "im:history"

    def info(self) -> JsonObject:
        """The channel as `conversations.info` gives it."""
        shared: JsonObject = {
            "id": self.id,
            "is_im": self.is_direct,
            "is_channel": not self.is_direct,
            "is_private": self.is_direct or self.is_private,
            "is_archived": self.is_archived,
            "context_team_id": TEAM,
        }
        if self.is_direct:
            return {**shared, "user": next(iter(sorted(self.members - {BOT_USER})))}
        return {**shared, "name": self.name, "is_member": BOT_USER in self.members}


def everyone() -> dict[str, Person]:
    """The members a new workspace starts with, by id."""
    people = (
        Person(U_ADA, "Ada", "on-call engineer"),
        Person(U_BOB, "Bob", "visitor", is_restricted=True),
        Person(BOT_USER, BOT_NAME, is_bot=True),
        Person(HOST_USER, "Watchkeeper demo", is_bot=True),
    )
    return {person.id: person for person in people}


def all_channels() -> dict[str, Channel]:
    """The conversations a new workspace starts with, by id."""
    channels = (
        Channel(C_OPS, "ops", {U_ADA, U_BOB, BOT_USER, HOST_USER}),
        Channel(C_GENERAL, "general", {U_ADA, U_BOB, BOT_USER, HOST_USER}),
        Channel(D_ADA, "", {U_ADA, BOT_USER}),
        Channel(D_BOB, "", {U_BOB, BOT_USER}),
    )
    return {channel.id: channel for channel in channels}

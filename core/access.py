"""Who may do what. Whoever is not named may do nothing."""

from dataclasses import dataclass

from core.ids import PersonId


@dataclass(frozen=True)
class Access:
    """The people of the settings, by what they may do."""

    ask: frozenset[PersonId] = frozenset()

    def may_ask(self, person: PersonId) -> bool:
        """Whether this person's messages reach the agent."""
        return person in self.ask

"""What can be wrong with the file itself."""

from core.errors import WatchkeeperError


class StoreUnusableError(WatchkeeperError):
    """The database cannot be used: damaged, not ours, read-only, or not reachable at all."""

"""Fresh ids. Considered: UUID 7. It is longer, and its time is of no use to anybody here."""

import secrets


class SystemIds:
    """`core.ports.Ids`: `prefix-` and 80 random bits in hexadecimal."""

    def new(self, prefix: str) -> str:
        """An id nobody ever had."""
        return f"{prefix}-{secrets.token_hex(10)}"

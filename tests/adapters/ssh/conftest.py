"""Real servers for all tests in this folder."""

from tests.sshd import sshd, start_sshd

__all__ = ["sshd", "start_sshd"]

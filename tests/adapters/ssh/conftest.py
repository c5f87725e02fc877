"""Real servers and network namespaces for all tests in this folder."""

from tests.netns import namespaces
from tests.sshd import sshd, start_sshd

__all__ = ["namespaces", "sshd", "start_sshd"]

"""The demo machine, with real processes and real SSH."""

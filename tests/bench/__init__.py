"""What the bot costs, each number beside a floor measured in the same run: `make bench`.

The bot runs as a process of its own, as in life: record on disk with fsync, Slack's protocol to the
local workspace, real SSH. The workspace, the machine and the clock stand outside of it, here.

`run` lists the parts, `figures` is what they give, `printing` shows it; `subject` is the process
that is measured, `child` starts and stops it, `stage` is the Slack that it talks to. Considered:
pytest-benchmark (it times functions, and all here is between processes) and house and workspace in
one process (each would wait for the other's Python).
"""

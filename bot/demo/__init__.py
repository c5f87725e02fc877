"""The demo's machine `host:demo`: a throw-away SSH server on loopback.

`machine` starts it, finds it again and ends it; `launch` and `sandbox` put it into bubblewrap;
`ssh_server`, `exec_session` and `furnish` run inside. What runs inside imports nothing else of the
bot, so the sandbox needs to see nothing else of it.
"""

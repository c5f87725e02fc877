"""Machines over SSH: the Fleet and Machine ports on asyncssh.

- `settings`  what is known of a machine, and the limits
- `fleet`     all machines by name
- `machine`   one machine: commands, attached, one control connection at a time
- `shared`    that control connection: dialled when needed, replaced when it is lost or spoilt
- `connection`, `dialing`  one dialled connection with its places; how it is dialled
- `attached`, `session`, `output`  one command on one connection, and what it printed
- `hostkeys`, `credentials`  whom we trust; what we log in with
- `verdicts`  which failure means what

Considered: the `ssh` program with ControlMaster (a process for each command, verdicts only as
English text, and no way to tell a lost connection from exit status 255), paramiko (threads).
"""

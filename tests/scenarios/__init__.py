"""The whole bot, told only from outside: what people write, and what the thread shows then.

Real parts all over (Slack's SDK, SQLite, sshd), but for the model, whose words are written down.
Each scenario runs before two servers, our own (`own`) and one written by others (`other`), and in
both modes: what passes with both is not a mistake that our server and the bot share. `test_faults`
needs a server that can be made to go wrong, which is only ours.
"""

"""Chaos: many messages through a workspace that loses, doubles, delays and refuses at random, to a
bot that is killed again and again. Each message is answered once; nothing is doubled or missing.

`make chaos` runs the full form, `make chaos SEED=…` one that failed. The seed fixes who writes
what where, when the bot is killed (after which message, how much later) and what the k-th call and
the k-th delivery meet; how these fall together in time is the machine's own.

The parts: `script` (who writes what, who dies when), `echo` (the model), `victim` (the bot's
process), `storm` (all of it together), `audit` (what came of it, from the record and the
workspace).

People mention the bot in a thread until they see it there. A killed bot stays away for longer than
its last call may take to arrive, since nobody can look for a message before it is there.

Slack's own rates hold on both sides, which is what most of the full form's time is spent on. Two
things are not Slack's: an event that is not acknowledged is told again after half a second and
eight times, not after seconds and minutes and three times, because the bot dies far more often
here than anywhere; and for the same reason the bot does not give a turn up after three crashes.
"""

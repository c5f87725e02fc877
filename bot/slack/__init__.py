"""Slack's ear: what comes in is stored first and acknowledged then.

`ear` is what both ways in have in common: `app` with its socket (`link`), and `http` with its
`signature`. `listeners` is the way of one payload through Bolt.
"""

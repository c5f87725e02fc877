"""Slack's ear: Socket Mode through Bolt. What comes in is stored first and acknowledged then.

`app` connects and stays connected, `listeners` is the way of one payload, `link` the socket.
"""

"""Slack as the chat platform: notices out (`chat`, `cards`), payloads in (`payloads`).

`cards` both draws a card and reads its buttons, so the two cannot drift.
"""

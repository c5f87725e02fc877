"""Slack as the chat platform: notices out (`chat`, `cards`), payloads in (`payloads`), threads read
(`threads`). `calls` makes one call within its `pace`; `failures` names what can go wrong.

`cards` both draws a card and reads its buttons, so the two cannot drift.
"""

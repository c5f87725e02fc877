"""A local Slack for the demo and for tests: the Web API, Socket Mode, and a page in the browser.

The unchanged Slack SDK talks to it over real sockets; only the base URL differs. It refuses what
Slack refuses in what the bot uses. Considered: public emulators (none checks blocks and limits,
some listen on all interfaces or send one envelope to every socket) and stubbing the SDK (proves
nothing about the wire).

`world` people and channels; `messages` one message; `state` the workspace that tests drive;
`events` what Slack tells an app; `blocks`, `schema` and `rates` what it refuses; `methods*`,
`calls` and `content` the Web API, `web_api` its transport; `envelopes`, `schedule`, `sockets` and
`http_delivery` how an app is told, in either mode; `responses` and `triggers` what a click is good
for; `faults` (with `mishaps` and `chaos`) what can be made to go wrong; `guard`, `views` and
`page_routes` the page's side; `server` puts them behind one port.
"""

"""A local Slack for the demo and for tests: the Web API, Socket Mode, and a page in the browser.

The unchanged Slack SDK talks to it over real sockets; only the base URL differs. It refuses what
Slack refuses in what the bot uses. Considered: public emulators (none checks blocks and limits,
some listen on all interfaces or send one envelope to every socket) and stubbing the SDK (proves
nothing about the wire).

`world` people and channels; `messages` one message; `state` the workspace that tests drive;
`events` what Slack tells an app; `blocks` and `limits` what it refuses; `methods_*` the Web API;
`web_api` its transport; `sockets` Socket Mode; `faults` what can be made to go wrong;
`guard`, `views` and `page_routes` the page's side; `server` puts them behind one port.
"""

"""Core decides; it touches nothing. It asks its ports, and adapters keep their promises.

The map
-------
`ids`, `errors`, `values`      identities; every named failure; the base of what is stored
`events`, `session`            the transcript, and all that is derived from it
`wakeups`, `notices`           why a session gets a turn; what operators may be shown
`ports`                        what core asks of the world, on one page
`dialogue`, `prompt`, `soul`   the conversation with a model, in no vendor's words
`incoming`, `inbox`, `access`  what comes in, once, from those who may
`dispatcher`, `turn`, `steps`  gives sessions turns; the loop of one turn; its next step, pure
`calls`, `tools`, `screening`  the calls of a reply; the tools there are; shell text to a verdict
`record`, `progress`           the one way a turn writes; what operators see of it
`courier`, `status`            delivers notices; `status` from the record
`outputs`, `redaction`         text from outside made fit; secrets taken out
`limits`                       the numbers a turn lives by

Glossary
--------
Session     one thread of the chat platform; it has a transcript and nothing else
Event       one numbered, frozen fact of one session, appended, never edited
Wakeup      a stored, once-only reason to give a session a turn; its source makes it unique
Turn        from one batch of wakeups to rest; at most one per session
Call        the model's request to use one tool; exactly one result
Verdict     what screening says of a call: run, ask, refuse, with the rule; no rule means ask
Machine     a named target, `kind:name`; there is no default machine
Notice      something to show operators, stored with the events it tells of
Engine      brings a row back to attention, at once or after a delay
"""

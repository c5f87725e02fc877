"""The record in a database.

`opening.open_database` takes the file, brings its schema forward and yields a `Database`; `store`
keeps the promises of `core.ports.Store` on it. The engine is not known here beyond its port: it is
built on the same connections, so that a wake commits with the change that asks for it.
"""

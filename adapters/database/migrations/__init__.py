"""The way of the schema, one file per step under `versions`; a step once released never changes."""

HEAD = "0001"
"""The newest step. Kept here so that a start at the newest step need not load Alembic."""

"""From Markdown to the indexes: what a record is found by, and keeping up with changes."""

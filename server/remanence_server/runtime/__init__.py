"""What every room stands on: errors, clock, identifiers, settings, logging, supervised tasks."""

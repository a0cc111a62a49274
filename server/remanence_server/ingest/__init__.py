"""From accepted messages to closed segments: content items, boundaries, cells."""

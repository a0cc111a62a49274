"""Memory in and out as files: an owner's for a person to have, the whole root as a backup."""

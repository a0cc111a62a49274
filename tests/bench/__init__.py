"""`make bench`: what the service does on this machine, measured on a real server."""

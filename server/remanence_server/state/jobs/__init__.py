"""Durable jobs: rows that survive, a runner that works them off."""

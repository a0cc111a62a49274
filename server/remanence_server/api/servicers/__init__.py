"""The servicers: request in, use case, response out. Both surfaces call them.

A servicer gets requests that have been validated and completed with their defaults, and raises
`ServiceError`; the surface that called it translates. The second argument is the context of that
surface; no servicer needs to know which.
"""

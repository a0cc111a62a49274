"""Whether calls are welcome: the one thing that health, readiness and gRPC health agree on."""

from __future__ import annotations

from dataclasses import dataclass

from remanence_server.state.database import Database


@dataclass(slots=True)
class ServingState:
    """What the process is doing, and whether the disk takes messages.

    `ready` is set once both surfaces answer, `draining` from the stop signal on.
    """

    state: Database
    ready: bool = False
    draining: bool = False

    def unavailable_reasons(self) -> list[str]:
        """Why messages cannot be accepted now; empty when they can."""
        reasons = []
        if self.draining:
            reasons.append("the server is stopping")
        elif not self.ready:
            reasons.append("the server is starting")
        if self.state.refusal is not None:
            reasons.append(f"messages cannot be accepted: {self.state.refusal}")
        return reasons

"""What this build does not carry says so, with the same code on both surfaces."""

from __future__ import annotations

from remanence_server.runtime.errors import ErrorCode, ServiceError


def unavailable(feature: str) -> ServiceError:
    """The refusal of a call whose subsystem comes with a later release."""
    return ServiceError(
        ErrorCode.CAPABILITY_UNAVAILABLE,
        f"{feature} is not available in this build; see 'Not yet available' in the README",
    )

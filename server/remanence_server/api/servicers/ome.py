"""OmeService: comes with the engine for offline strategies."""

from __future__ import annotations

from remanence.v2 import ome_pb2 as pb
from remanence_server.api.servicers.unavailable import unavailable
from remanence_server.api.transcoding import CallContext


class OmeServicer:
    """No strategy is registered yet."""

    async def Trigger(self, request: pb.TriggerRequest, context: CallContext) -> pb.TriggerResponse:  # noqa: N802
        """Refuses."""
        raise unavailable("the offline memory engine (OME)")

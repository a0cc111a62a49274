"""OmeService: comes with the engine for offline strategies."""

from __future__ import annotations

from remanence.v2 import ome_pb2 as pb
from remanence.v2 import ome_pb2_grpc
from remanence_server.api.servicers.unavailable import unavailable


class OmeServicer(ome_pb2_grpc.OmeServiceServicer):
    """No strategy is registered yet."""

    async def Trigger(self, request: pb.TriggerRequest, context: object) -> pb.TriggerResponse:
        """Refuses."""
        raise unavailable("the offline memory engine (OME)")

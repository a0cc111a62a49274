"""The gRPC surface: one server with reflection, health and channelz."""

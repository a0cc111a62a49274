"""The border: gRPC servicers, the HTTP surface made from the same contract, error translation."""

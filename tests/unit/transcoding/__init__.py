"""The HTTP transcoder and the validation that both surfaces share."""

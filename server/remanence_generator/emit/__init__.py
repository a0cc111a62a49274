"""Emitters: each turns the model of the contract into the text of one part of gen/."""

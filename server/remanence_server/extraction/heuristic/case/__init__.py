"""An agent's tool run as a case: what was wanted, what was done, how well it went."""

"""From closed memory cells to episodes, facts, profiles and cases."""

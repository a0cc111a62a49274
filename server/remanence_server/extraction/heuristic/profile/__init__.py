"""What a user says of themselves in so many words, and how it adds up over time."""

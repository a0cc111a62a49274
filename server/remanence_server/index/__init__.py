"""What is derived from Markdown and may be deleted any time: catalogue, keywords, vectors."""

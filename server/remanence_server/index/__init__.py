"""What is derived from Markdown and may be deleted at any time: catalogue, lexical and dense index."""

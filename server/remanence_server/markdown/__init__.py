"""The truth of the product: Markdown files that people read, edit and keep in git."""

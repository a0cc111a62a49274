"""What must survive and is not Markdown: the message buffer, memory cells and jobs (system.db)."""

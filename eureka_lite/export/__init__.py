"""What leaves the tool as code that runs elsewhere."""

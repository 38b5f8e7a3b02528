"""What a person sees of a run: live screen, plain lines, JSON lines, review."""

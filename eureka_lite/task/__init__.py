"""The task format: dataclasses, loading from a folder, finding one by a goal text."""

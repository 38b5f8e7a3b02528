"""The loop: generations, selection, reflection, ranking, verdict."""

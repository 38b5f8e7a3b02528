"""The files of a run: their formats, and how they are written so that a crash loses nothing."""

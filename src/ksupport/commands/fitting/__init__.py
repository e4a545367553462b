"""From a wish to a fitted model, what is told about it, and the file that keeps it."""

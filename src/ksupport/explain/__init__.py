"""What a fitted model did: in words, in notebooks, and as a report."""

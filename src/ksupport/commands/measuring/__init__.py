"""Ours next to others: who they are, and how their time is taken."""

"""Choosing among the models that paths visit: supports, criteria, refits, exchange, folds."""

"""Data files of every kind: the options that say how to read one, and what it holds."""

from .data import Columns, Data, Reading, dense
from .tables import read, read_columns

__all__ = ["Columns", "Data", "Reading", "dense", "read", "read_columns"]

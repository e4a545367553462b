"""Data files of every kind: how to read one, and what it holds."""

from .data import Columns, Data, Reading, dense, in_memory
from .files import read
from .tables import Rows, read_data, read_rows

__all__ = [
    "Columns",
    "Data",
    "Reading",
    "Rows",
    "dense",
    "in_memory",
    "read",
    "read_data",
    "read_rows",
]

"""Data files of every kind: how to read one, and what it holds."""

from .columns import read_data
from .data import Columns, Data, Reading, dense, in_memory
from .files import read
from .rows import Rows, read_rows

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

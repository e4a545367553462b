"""Data files of every kind: how to read one, and what it holds."""

from .data import Data, in_memory
from .options import Columns, Reading
from .reader import Rows, read, read_data, read_rows

__all__ = [
    "Columns",
    "Data",
    "Reading",
    "Rows",
    "in_memory",
    "read",
    "read_data",
    "read_rows",
]

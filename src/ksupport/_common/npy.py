"""Headers of NumPy's files: sizes of arrays before they are read."""

from __future__ import annotations

import math
from typing import IO, Any

import numpy as np


def npy_header(stream: IO[bytes]) -> tuple[tuple[int, ...], np.dtype[Any]]:
    """Shape and dtype of the next array in a stream."""
    version = np.lib.format.read_magic(stream)
    headers = np.lib.format
    read = headers.read_array_header_1_0 if version == (1, 0) else headers.read_array_header_2_0
    shape, _, dtype = read(stream)
    return shape, dtype


def check_npz(archive: Any, largest: int) -> None:
    """Reject an archive that unpacks to more bytes, or an array that claims more than is stored."""
    if sum(each.file_size for each in archive.zip.infolist()) > largest:
        raise ValueError(f"it unpacks to more than {largest} bytes")
    for each in archive.zip.infolist():
        with archive.zip.open(each) as stream:
            shape, dtype = npy_header(stream)
        if math.prod(shape) * dtype.itemsize > each.file_size:
            raise ValueError(f"{each.filename} claims {shape} of {dtype}, more than it has")

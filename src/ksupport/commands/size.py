"""How much memory a file will take, judged before it is read."""

from __future__ import annotations

import gzip
import os
import zipfile
from pathlib import Path

from .errors import InputError

COPIES = 2  # the table as parsed, and the matrix made of it
NUMBER = 8  # bytes
SAMPLE = 1 << 18  # bytes at the head of a text file that are looked at
GIGABYTE = 1e9


def check_memory(path: Path, kind: str, limit: float) -> None:
    """Refuse a file that would need more than ``limit`` gigabytes."""
    needed = estimated_memory(path, kind) / GIGABYTE
    if needed > limit:
        raise InputError(
            f"{path.name} has {os.stat(path).st_size / GIGABYTE:.1f} GB and would take about "
            f"{needed:.1f} GB of memory, more than --max-memory {limit:g}. Raise that if the "
            "memory is there; or keep fewer columns; or, in Python, give a numpy.memmap or a "
            "dask array to ksupport.AutoIRKSN, which read the data from disk."
        )


def estimated_memory(path: Path, kind: str) -> float:
    """Bytes needed for the numbers in a file."""
    size = os.stat(path).st_size
    if kind == "parquet":
        import pyarrow.parquet as parquet

        shape = parquet.read_metadata(path)
        return float(COPIES * NUMBER * shape.num_rows * shape.num_columns)
    if kind == "npz" and zipfile.is_zipfile(path):
        with zipfile.ZipFile(path) as archive:
            return float(COPIES * sum(entry.file_size for entry in archive.infolist()))
    if kind in ("csv", "libsvm"):
        return _of_text(path, size)
    return float(COPIES * size)


def _of_text(path: Path, size: int) -> float:
    """The text, and cells from their density at the head; of a packed file, its ratio there."""
    with open(path, "rb") as raw:
        if raw.read(2) == b"\x1f\x8b":
            raw.seek(0)
            with gzip.open(raw) as unpacked:
                head = unpacked.read(SAMPLE)
                ratio = len(head) / max(raw.tell(), 1)
            size = int(size * max(ratio, 1.0))
        else:
            raw.seek(0)
            head = raw.read(SAMPLE)
    body = head.split(b"\n", 1)[-1] or head  # names are longer than numbers
    cells = 1 + sum(body.count(mark) for mark in (b",", b";", b"\t", b" ", b"\n"))
    return size + COPIES * NUMBER * size * cells / max(len(body), 1)  # the parser holds the text

"""The bytes of a data file: read once, from disk or a pipe, unpacked, up to a limit."""

from __future__ import annotations

import bz2
import gzip
import hashlib
import io
import lzma
import os
import re
import stat
import zlib
from collections.abc import Callable
from dataclasses import dataclass
from functools import partial
from pathlib import Path
from typing import IO, Any

from .._common.errors import InputError
from .._common.names import shown, title
from .._common.phases import Update, phase
from .size import Budget

FILE_KINDS = {
    ".csv": "csv", ".tsv": "csv", ".txt": "csv", ".tab": "csv",
    ".parquet": "parquet", ".pq": "parquet",
    ".arrow": "arrow", ".feather": "arrow", ".ipc": "arrow",
    ".npz": "npz", ".npy": "npy",
    ".svm": "libsvm", ".libsvm": "libsvm", ".svmlight": "libsvm",
    ".xlsx": "spreadsheet", ".xlsm": "spreadsheet", ".ods": "spreadsheet",
    ".bed": "plink", ".h5ad": "h5ad",
}  # fmt: skip
TEXT_KINDS = ("csv", "libsvm")
ON_DISK = ("plink", "h5ad")  # never read as a whole
PACKED = (".gz", ".bz2", ".xz")
UNPACKERS: tuple[tuple[re.Pattern[bytes], Callable[[Any], Any]], ...] = (
    (re.compile(rb"\x1f\x8b"), gzip.open),
    (re.compile(rb"BZh[1-9](1AY&SY|\x17rE8P\x90)"), bz2.open),
    (re.compile(rb"\xfd7zXZ\x00"), lzma.open),
)
CHUNK_BYTES = 1 << 20  # bytes
Check = Callable[[int], None]  # refuses too many bytes


@dataclass(frozen=True)
class Source:
    """The contents of a file."""

    path: Path
    kind: str
    data: bytes  # unpacked; none of what stays on disk
    sha256: str  # of the file as it is

    @property
    def name(self) -> str:
        return title(self.path)


def open_source(path: Path, budget: Budget) -> Source:
    mode = file_mode(path, "give the path of a data file")
    kind = kind_of(path, mode)
    if kind in ON_DISK:
        return _on_disk(path, kind, mode)
    check = partial(budget.check, title(path), about="at least")
    data = read_bytes(path, check)
    if not data:
        raise InputError(f"{title(path)} is empty")
    unpacked = _unpack(path, data, check) if kind in TEXT_KINDS else data
    return Source(path, kind, unpacked, hashlib.sha256(data).hexdigest())


def _on_disk(path: Path, kind: str, mode: int) -> Source:
    """A file that is read in parts, as they are needed, and so can be no pipe."""
    if not stat.S_ISREG(mode):
        raise InputError(
            f"{title(path)} is a pipe, but a file of this kind is read in parts; save it first"
        )
    try:
        with open(path, "rb") as stream, phase("from disk", os.fstat(stream.fileno()).st_size):
            digest = hashlib.file_digest(stream, "sha256")
            empty = stream.tell() == 0
    except OSError as error:
        raise _unreadable(path, error) from None
    if empty:
        raise InputError(f"{title(path)} is empty")
    return Source(path, kind, b"", digest.hexdigest())


def file_mode(path: Path, remedy: str) -> int:
    """The mode of what can be read to its end: a file or a pipe."""
    try:
        mode = os.stat(path).st_mode
    except (FileNotFoundError, NotADirectoryError):
        raise InputError(f"{shown(str(path), 200)} does not exist; {remedy}") from None
    except OSError as error:  # a name too long, a circle of links, a folder that is closed to us
        raise _unreadable(path, error) from None
    if stat.S_ISDIR(mode):
        raise InputError(f"{shown(str(path), 200)} is a directory; {remedy}")
    if not (stat.S_ISREG(mode) or stat.S_ISFIFO(mode)):
        raise InputError(
            f"{shown(str(path), 200)} is a device, neither a file nor a pipe; {remedy}"
        )
    return mode


def kind_of(path: Path, mode: int) -> str:
    """The kind of a file, by the end of its name or of what it links to; a pipe brings a CSV."""
    for name in (path, path.resolve()):
        suffixes = [suffix.lower() for suffix in name.suffixes]
        if suffixes and suffixes[-1] in PACKED:
            suffixes.pop()
        if suffixes and suffixes[-1] in FILE_KINDS:
            return FILE_KINDS[suffixes[-1]]
    if stat.S_ISFIFO(mode) or path.is_relative_to("/dev"):
        return "csv"
    raise InputError(
        f"{title(path)}: the name must end in one of {', '.join(FILE_KINDS)} (CSV and LIBSVM also "
        f"with {', '.join(PACKED)} after it), so that its kind is known"
    )


def _unreadable(path: Path, error: OSError) -> InputError:
    return InputError(f"{shown(str(path), 200)} cannot be read: {error.strerror or error}")


def read_bytes(path: Path, check: Check) -> bytes:
    """The whole of a file or a pipe, as long as ``check`` lets its size pass."""
    try:
        with open(path, "rb") as stream:
            size = os.fstat(stream.fileno()).st_size  # of a pipe 0
            check(size)
            with phase("from disk", size or None) as update:
                return _read(stream, check, update)
    except OSError as error:
        raise _unreadable(path, error) from None


def _read(stream: IO[bytes], check: Check, update: Update) -> bytes:
    # By pieces: what a pipe will bring, or what bytes unpack to, is not known beforehand.
    held = io.BytesIO()
    while piece := stream.read(CHUNK_BYTES):
        held.write(piece)
        check(held.tell())
        update(held.tell())
    return held.getvalue()


def _unpack(path: Path, data: bytes, check: Check) -> bytes:
    unpack = next((unpack for magic, unpack in UNPACKERS if magic.match(data)), None)
    if unpack is None:
        if path.suffix.lower() in PACKED:
            raise _damaged_file_error(path, f"it does not begin as a {path.suffix} file does")
        return data
    packed = io.BytesIO(data)
    try:
        with phase("unpacking", len(data)) as update, unpack(packed) as stream:
            return _read(stream, check, lambda _: update(packed.tell()))
    except (OSError, EOFError, zlib.error, lzma.LZMAError) as error:
        raise _damaged_file_error(path, str(error)) from None


def _damaged_file_error(path: Path, why: str) -> InputError:
    return InputError(
        f"{title(path)} cannot be unpacked ({shown(why, 120)}); get or pack the file again"
    )

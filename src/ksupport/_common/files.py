"""Atomic writing: a file is complete or absent."""

from __future__ import annotations

import errno
import math
import os
import platform
import re
import shutil
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from secrets import token_hex
from typing import IO, Any

import numpy as np


@contextmanager
def replacing(path: Path) -> Iterator[Path]:
    """A path to write to, in the same folder, that becomes ``path`` once written.

    Links are followed, the permissions of an existing file are kept, and special files such as
    ``/dev/null`` or a pipe are written to directly.  Errors name ``path``.
    """
    target, temporary = _places(path)
    _remove_leftovers(target.parent)
    try:
        yield temporary
        if temporary != target:
            if target.exists():
                shutil.copymode(target, temporary)
            os.replace(temporary, target)
    except OSError as error:
        raise _about(path, temporary, error) from error
    finally:
        if temporary != target:
            with suppress(OSError):  # mostly because it does not exist
                temporary.unlink()


def check_writable(path: Path) -> None:
    """Raise now the OSError that `replacing` would raise after hours of work."""
    target, temporary = _places(path)
    if temporary == target:
        return
    try:
        temporary.touch(exist_ok=False)
        temporary.unlink()
    except OSError as error:
        raise _about(path, temporary, error) from error


def _places(path: Path) -> tuple[Path, Path]:
    """The file that a path leads to, and the temporary one; both the path of a special file."""
    with suppress(FileNotFoundError):
        path.stat()  # raises for invalid names; is_dir() would only return False
    if path.is_dir():
        raise _error(errno.EISDIR, path)
    if path.exists() and not path.is_file():
        return path, path
    target = Path(os.path.realpath(path))
    if target.exists() and not os.access(target, os.W_OK):
        raise _error(errno.EACCES, path)  # the folder may still allow replacing it
    # The suffix stays last: matplotlib reads the format from it.
    name = f".partial-{_host()}-{os.getpid()}-{token_hex(4)}{target.suffix}"
    return target, target.with_name(name)


def _host() -> str:
    """A few characters that identify this machine in a shared folder."""
    return f"{zlib.crc32(platform.node().encode()):08x}"


def _remove_leftovers(folder: Path) -> None:
    """Remove the temporary files of processes of this machine that were killed."""
    pattern = re.compile(rf"\.partial-{_host()}-(\d+)-[0-9a-f]{{8}}(\.[^.]*)?")
    with suppress(OSError):  # a folder that may not be read; on Windows, a file in use
        for other in folder.iterdir():
            match = pattern.fullmatch(other.name)
            if match and not _running(int(match[1])):
                other.unlink()


def _running(pid: int) -> bool:
    """Whether this process runs here; False on Windows, where a signal would end it."""
    if os.name == "nt":
        return False
    try:
        os.kill(pid, 0)
    except (OSError, OverflowError) as error:
        return isinstance(error, PermissionError)  # another user's process
    return True


def _about(path: Path, temporary: Path, error: OSError) -> OSError:
    """The error, with the requested path in place of the temporary one."""
    if error.errno is None or error.filename not in (None, str(temporary)):
        return error
    return _error(error.errno, path)


def _error(number: int, path: Path) -> OSError:
    return OSError(number, os.strerror(number), str(path))


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

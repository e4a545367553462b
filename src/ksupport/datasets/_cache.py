"""The data directory: a ``<name>/<name>.npz`` per dataset, fetched once, never half-written."""

from __future__ import annotations

import hashlib
import os
import sys
import tarfile
import tempfile
import warnings
import zipfile
import zlib
from collections.abc import Callable, Iterable, Mapping
from pathlib import Path
from typing import Any, cast

import numpy as np
from numpy.typing import NDArray

from .._common.files import check_npz, replacing
from .._common.phases import phase
from ._download import digest_problem, download
from ._registry import DatasetInfo, RemoteFile, dataset_info

Arrays = Mapping[str, NDArray[np.generic]]
Converter = Callable[[tuple[Path, ...]], Arrays]
PathLike = str | os.PathLike[str]

_LARGEST = 1 << 30  # bytes of all arrays of a dataset; the whole brain of haxby has 200 MB
_DIGEST = "sha256"  # the entry of a cache file that holds the digest of the others
_CONTENT = (
    "X", "y", "X_test", "y_test", "X_all", "labels_all", "run_all", "voxel_ijk",
    "Y", "truth", "truth_positions", "true_coef",
)  # fmt: skip


class DatasetUnavailableError(OSError):
    """A dataset is not in the data directory and could not be put there."""


def data_home(path: PathLike | None = None) -> Path:
    """Directory that holds the datasets; it need not exist yet.

    Parameters
    ----------
    path : path-like, optional
        Returned unchanged if given. Otherwise the environment variable ``KSUPPORT_DATA``,
        otherwise ``ksupport`` in the platform's directory for caches.

    Returns
    -------
    pathlib.Path

    Examples
    --------
    >>> from ksupport.datasets import data_home
    >>> data_home("somewhere").name
    'somewhere'
    """
    chosen = path or os.environ.get("KSUPPORT_DATA")
    return Path(chosen).expanduser() if chosen else _platform_cache() / "ksupport"


def dataset_path(name: str, data_home: PathLike | None = None) -> Path:
    """File in which a dataset is, or would be, cached.

    Parameters
    ----------
    name : str
        A name of :func:`list_datasets`.
    data_home : path-like, optional
        Data directory, see :func:`data_home`.

    Returns
    -------
    pathlib.Path

    Examples
    --------
    >>> from ksupport.datasets import dataset_path
    >>> dataset_path("leukemia", "somewhere").as_posix()
    'somewhere/leukemia/leukemia.npz'
    """
    return _home(data_home) / dataset_info(name).name / f"{name}.npz"


_home = data_home  # under a name that the argument called data_home does not hide


def load_arrays(
    info: DatasetInfo,
    convert: Converter | None,
    *,
    data_home: PathLike | None,
    download_if_missing: bool,
) -> dict[str, NDArray[np.generic]]:
    """Arrays of a dataset: from the cache, else converted from its raw files and cached.

    Without a converter there are no raw files to download: then the dataset must be in the cache.
    """
    path = dataset_path(info.name, data_home)
    if not path.exists():
        if convert is None:
            raise DatasetUnavailableError(absent_message(info, path.parent, []))
        with tempfile.TemporaryDirectory(prefix="ksupport-") as scratch:
            raw = raw_files(info, path.parent, Path(scratch), download_if_missing)
            arrays = _converted(info, convert, raw)
        check_shape(info, arrays, "its raw files")
        _warn_if_changed(info, arrays)
        save_arrays(path, arrays)
    return cached_arrays(info, path)


def _converted(info: DatasetInfo, convert: Converter, raw: tuple[Path, ...]) -> Arrays:
    with phase(f"converting {info.name}"):
        try:
            return convert(raw)
        except (ValueError, OSError, EOFError, LookupError, tarfile.TarError) as error:
            files = " and ".join(path.name for path in raw)
            raise DatasetUnavailableError(
                f"{files} cannot be converted to {info.name} ({error}); download it again"
            ) from error


@phase("loading the data")
def cached_arrays(info: DatasetInfo, path: Path) -> dict[str, NDArray[np.generic]]:
    """Arrays of a cache file that are what was put there.

    A file that this package wrote holds the digest of its arrays; one that came from elsewhere must
    hold the numbers of the registry.
    """
    arrays = read_arrays(path)
    check_shape(info, arrays, str(path))
    written = arrays.pop(_DIGEST, None)
    if written is not None:
        changed = str(written) != sha256_of(arrays, sorted(arrays))
    else:
        changed = info.content_sha256 not in (None, content_sha256(arrays))
    if changed:
        raise DatasetUnavailableError(
            f"{path} does not hold the numbers of {info.name}: it was changed or damaged after it "
            "was written; remove it and fetch again"
        )
    return arrays


def raw_files(
    info: DatasetInfo, directory: Path, scratch: Path, download_if_missing: bool
) -> tuple[Path, ...]:
    """Raw files that the user put into the directory, or else downloads in ``scratch``."""
    found = []
    for file in info.files:
        path = _placed(info, file, directory)
        if path is None and not download_if_missing:
            raise DatasetUnavailableError(
                absent_message(info, directory, ["download_if_missing is False."])
            )
        if path is None:
            path, reasons = download(file, scratch)
        if path is None:
            raise DatasetUnavailableError(absent_message(info, directory, reasons))
        found.append(path)
    return tuple(found)


def read_arrays(path: Path) -> dict[str, NDArray[np.generic]]:
    """All arrays of an ``.npz``; one that holds Python objects is refused, not executed."""
    try:
        # Opened here, as NumPy does not close a file that it cannot read.
        with path.open("rb") as stream, np.load(stream, allow_pickle=False) as archive:
            check_npz(archive, _LARGEST)
            return {key: archive[key] for key in archive.files}
    except (ValueError, TypeError, EOFError, zipfile.BadZipFile, zlib.error) as error:
        raise DatasetUnavailableError(
            f"{path} is not an .npz file of plain arrays ({error}); remove it and fetch again"
        ) from error


@phase("saving the data")
def save_arrays(path: Path, arrays: Arrays) -> None:
    """Write an ``.npz`` and its digest, whole or not at all."""
    digest = np.array(sha256_of(arrays, sorted(arrays)))
    path.parent.mkdir(parents=True, exist_ok=True)
    with replacing(path) as temporary, temporary.open("wb") as stream:
        np.savez_compressed(stream, **cast("dict[str, Any]", {**arrays, _DIGEST: digest}))


def check_shape(info: DatasetInfo, arrays: Arrays, source: str) -> None:
    """Refuse contents of another shape than the registry's."""
    name = "y" if info.n_targets is None else "Y"
    wanted = info.shape[:1] if info.n_targets is None else (info.shape[0], info.n_targets)
    shape, found = (np.shape(arrays.get(key, np.array(None))) for key in ("X", name))
    if shape != info.shape or found != wanted:
        raise DatasetUnavailableError(
            f"{info.name} must have X of shape {info.shape} and {name} of shape {wanted}, got "
            f"{shape} and {found} from {source}; remove that file and fetch the data again"
        )


def content_sha256(arrays: Arrays) -> str:
    """Digest of what a dataset measures; the names of rows and columns differ between origins."""
    return sha256_of(arrays, [key for key in _CONTENT if key in arrays])


def sha256_of(arrays: Arrays, keys: Iterable[str]) -> str:
    """Digest of the contents, whatever their type, memory order or compression."""
    digest = hashlib.sha256()
    for key in keys:
        array = arrays[key]
        if array.dtype.kind == "U":
            digest.update("\n".join(array.ravel().tolist()).encode())
        else:
            digest.update(np.ascontiguousarray(array, dtype="<f8").tobytes())
    return digest.hexdigest()


def absent_message(info: DatasetInfo, directory: Path, reasons: list[str]) -> str:
    """What to download, from where, and where to put it."""
    lines = [f"The dataset {info.name!r} is not in {directory}."]
    lines += [f"  {reason}" for reason in reasons]
    for file in info.files:
        lines += [f"Download {file.filename} from {' or '.join(file.urls)}"]
        lines += [f"  ({file.digest})"] if file.digest else []
    if info.how_to_get:
        lines.append(info.how_to_get)
    what = " and ".join(file.filename for file in info.files) or f"{info.name}.npz"
    lines.append(f"Put {what} into {directory} and call again, or set KSUPPORT_DATA to the data")
    lines.append(f"directory of a machine that has {info.name}{os.sep}{info.name}.npz already.")
    return "\n".join(lines)


def _placed(info: DatasetInfo, file: RemoteFile, directory: Path) -> Path | None:
    """A raw file that is in the directory already."""
    path = directory / file.filename
    if path.exists():
        problem = digest_problem(path, file)
        if problem:
            raise DatasetUnavailableError(absent_message(info, directory, [f"{path}: {problem}"]))
        return path
    stand_in = directory / file.stand_in if file.stand_in else None
    return stand_in if stand_in is not None and stand_in.exists() else None


def _warn_if_changed(info: DatasetInfo, arrays: Arrays) -> None:
    if info.content_sha256 not in (None, content_sha256(arrays)):
        warnings.warn(
            f"the numbers of {info.name} differ from those of the copy this package was tested "
            "with: published results may not be reproduced to the last digit",
            stacklevel=4,
        )


def _platform_cache() -> Path:
    if sys.platform == "win32":
        return Path(os.environ.get("LOCALAPPDATA") or Path.home() / "AppData" / "Local")
    if sys.platform == "darwin":
        return Path.home() / "Library" / "Caches"
    return Path(os.environ.get("XDG_CACHE_HOME") or Path.home() / ".cache")

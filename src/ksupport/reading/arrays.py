"""NumPy's arrays and LIBSVM files: a matrix, and what is known of its rows beside it."""

from __future__ import annotations

import io
import struct
import zipfile
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .._common.errors import InputError
from .._common.names import listed
from . import size
from .size import Budget
from .source import Source
from .table import Matrix

NUMBERS = "fiub"  # the kinds of NumPy


@dataclass(frozen=True)
class _Arrays:
    """The arrays of an ``.npz``, each as large as is allowed; never pickled objects."""

    archive: Any
    name: str  # of the file
    budget: Budget

    @property
    def held(self) -> list[str]:
        return list(self.archive.files)

    def get(self, key: str) -> NDArray[Any]:
        if key not in self.held:
            raise InputError(f"{self.name} has no array {key!r}; it holds {listed(self.held)}")
        with self.archive.zip.open(f"{key}.npy") as stream:
            self.budget.check(self.name, size.of_npy(stream))
        return np.asarray(self.archive[key])

    def vector(self, key: str, length: int, each: str) -> NDArray[Any]:
        vector = self.get(key)
        if vector.shape != (length,):
            raise InputError(
                f"{self.name}: {key} must have one entry for each of the {length} {each} of X, got "
                f"{_kind(vector)}"
            )
        return vector


def from_npz(source: Source, wanted: Sequence[str], budget: Budget) -> Matrix:
    """An array ``X``, perhaps ``feature_names``, and arrays with an entry for each row."""
    import pandas as pd

    if not zipfile.is_zipfile(io.BytesIO(source.data)):
        raise InputError(
            f"{source.name} cannot be read as npz: it is not an archive of arrays, or only a part "
            "of one. Write it with numpy.savez(file, X=X, y=y)"
        )
    with np.load(io.BytesIO(source.data), allow_pickle=False) as archive:
        arrays = _Arrays(archive, source.name, budget)
        X = arrays.get("X")
        if X.ndim != 2 or X.dtype.kind not in NUMBERS:
            raise InputError(f"{source.name}: X must be a matrix of numbers, got {_kind(X)}")
        n, d = X.shape
        about = pd.DataFrame(
            {name: arrays.vector(name, n, "rows") for name in wanted}, index=range(n)
        )
        given = "feature_names" in arrays.held
        names = arrays.vector("feature_names", d, "columns").tolist() if given else numbered(d)
    X = X.astype(np.float64, copy=False)
    return Matrix(source.path, about, feature_names=tuple(map(str, names)), X=X)


def from_npy(source: Source, wanted: Sequence[str], budget: Budget) -> Matrix:
    """A matrix of numbers; columns are called x0, x1, ... and may have a part."""
    import pandas as pd

    X = vector_or_matrix(source, budget)
    if X.ndim != 2:
        raise InputError(
            f"{source.name}: the array must be a matrix, with a row for each sample and a column "
            f"for each feature, got {_kind(X)}"
        )
    names = numbered(X.shape[1])
    place = {name: j for j, name in enumerate(names)}
    about = pd.DataFrame(
        {name: X[:, place[name]] for name in wanted if name in place}, index=range(len(X))
    )
    return Matrix(source.path, about, feature_names=tuple(names), X=X)


def vector_or_matrix(source: Source, budget: Budget) -> NDArray[Any]:
    """The numbers of an ``.npy``, as float64."""
    stream = io.BytesIO(source.data)
    try:
        budget.check(source.name, size.of_npy(stream))
        stream.seek(0)
        array = np.lib.format.read_array(stream, allow_pickle=False)
    except ValueError as error:
        raise InputError(
            f"{source.name} cannot be read as npy: {error}. Write it with numpy.save(file, X)"
        ) from None
    if array.dtype.kind not in NUMBERS:
        raise InputError(f"{source.name}: the array must be of numbers, got {_kind(array)}")
    return np.ascontiguousarray(array, np.float64)


def _kind(array: NDArray[Any]) -> str:
    return f"shape {array.shape} of {array.dtype}"


def held_by_npz(source: Source) -> list[str]:
    """The names of the arrays; none of what `from_npz` will refuse."""
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            return [name.removesuffix(".npy") for name in archive.namelist()]
    except (zipfile.BadZipFile, ValueError, NotImplementedError, struct.error):
        return []


def from_libsvm(source: Source, target: str, budget: Budget) -> Matrix:
    """A LIBSVM file: the response, then ``index:value``; features are named after their index."""
    import pandas as pd
    from sklearn.datasets import load_svmlight_file

    budget.check(source.name, size.of_libsvm(source.data))
    X, y = load_svmlight_file(io.BytesIO(source.data), zero_based=True)
    widest = f"{source.name}, whose largest index is {X.shape[1] - 1},"
    budget.check(widest, size.of_features(X.shape[1]))
    names = numbered(X.shape[1])
    if X.shape[1] > 1 and X[:, [0]].nnz == 0:  # indices began at 1, as they mostly do
        X, names = X[:, 1:], names[1:]
    about = pd.DataFrame({target: y})
    return Matrix(source.path, about, feature_names=tuple(names), X=X.tocsr())


def numbered(d: int) -> list[str]:
    """Names for columns that have none."""
    return [f"x{j}" for j in range(d)]

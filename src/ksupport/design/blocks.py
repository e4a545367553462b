"""Arrays that are read block by block: in memory, in mapped files, in Zarr.

A pass goes over X in rectangles that suit the way it is stored.  The next one is read, and turned
into double precision, in a thread while the present one is multiplied: never more than two are
in memory, and nothing of the size of X is made, whatever its type.
"""

from __future__ import annotations

import mmap
import sys
from abc import ABC, abstractmethod
from collections.abc import Callable, Iterator, Sequence
from operator import methodcaller
from typing import Any

import numpy as np
from numpy.typing import NDArray

from .. import limits
from .._common.phases import Update, no_update, phase, track_pass
from . import stores
from .stores import Floats, Ints, OnEach, Store
from .sweeps import Moments, RecentColumns, named, read_ahead, steps_of, strip_of

Part = tuple[slice, slice]  # rows and columns of a rectangle


class BlockStore(Store):
    """An X read in rectangles.

    Rectangles are made of whole parts of the ``grid``: rows and columns that are best read
    together. A ``unit`` is those that can only be read together: a stored chunk.
    """

    def __init__(
        self,
        shape: tuple[int, int],
        dtype: np.dtype[Any],
        grid: tuple[int, int],
        unit: tuple[int, int] = (1, 1),
    ) -> None:
        super().__init__(shape, dtype)
        self.products_in = np.dtype(np.float64)
        self.grid = grid
        self.unit = unit
        self.finite = dtype.kind != "f"  # known to be; otherwise the first pass looks
        self.recent = RecentColumns(0)
        self._strips = 1  # that X consists of, of which columns need whole ones
        self._crossed = 0  # strips read for columns, not counted as a pass yet

    @abstractmethod
    def _read(self, rows: slice, columns: slice) -> Floats:
        """A copy of a rectangle in double precision."""

    @abstractmethod
    def _read_columns(self, index: Ints) -> Floats:
        """A copy of some columns in double precision."""

    # -- passes ----------------------------------------------------------------------------

    def blocks(self) -> Iterator[tuple[Part, Floats]]:
        """The whole of X in rectangles of about CHUNK numbers, as tall as can be; one pass."""
        (n, d), (height, width) = self.shape, self._block
        parts = [(r, c) for r in steps_of(n, height) for c in steps_of(d, width)]
        return self._sweep(parts)

    @property
    def _block(self) -> tuple[int, int]:
        """Rows and columns of a rectangle."""
        n, (height, width) = self.shape[0], self.grid
        height *= max(1, min(-(-n // height), limits.CHUNK // (height * width)))
        return height, width * max(1, limits.CHUNK // (height * width))

    def column_chunks(self) -> Iterator[tuple[slice, Floats]]:
        n, d = self.shape
        width, times = strip_of(n, self.unit[1])
        self.passes += times - 1
        parts = [(slice(0, n), columns) for columns in steps_of(d, width)]
        for (_, columns), block in self._sweep(parts):
            yield columns, block

    def row_chunks(self) -> Iterator[tuple[slice, Floats]]:
        n, d = self.shape
        height, times = strip_of(d, self.unit[0])
        self.passes += times - 1
        parts = [(rows, slice(0, d)) for rows in steps_of(n, height)]
        for (rows, _), block in self._sweep(parts):
            yield rows, block

    def _sweep(self, parts: Sequence[Part]) -> Iterator[tuple[Part, Floats]]:
        self.passes += 1
        yield from track_pass(read_ahead(lambda part: self._dense(*part), parts), len(parts))
        self.finite = True

    def _dense(self, rows: slice, columns: slice) -> Floats:
        where = f"rows {rows.start}:{rows.stop}, columns {columns.start}:{columns.stop}"
        block = named(where, lambda: self._read(rows, columns))
        if not self.finite and not np.isfinite(block).all():
            i, j = np.argwhere(~np.isfinite(block))[0]
            raise ValueError(
                f"X contains NaN or infinity in {where} (first at row {rows.start + i}, column "
                f"{columns.start + j}); remove or impute such entries"
            )
        return block

    # -- what a design asks for --------------------------------------------------------------

    def rmatmat(self, U: Floats) -> Floats:
        out = np.zeros((U.shape[1], self.shape[1]))
        for (rows, columns), block in self.blocks():
            out[:, columns] += U[rows].T @ block
        return out.T

    def rmatmat_parts(self, U: Floats) -> Iterator[tuple[slice, Floats]]:
        if self._block[0] < self.shape[0]:
            yield from super().rmatmat_parts(U)
            return
        for (_, columns), block in self.blocks():
            yield columns, (U.T @ block).T

    def matvec(self, index: Ints, values: Floats) -> Floats:
        return self.matmat(index, values[:, None])[:, 0]

    def matmat(self, index: Ints, values: Floats) -> Floats:
        n, d = self.shape
        if 4 * index.size <= d and index.size * n <= limits.CHUNK:
            return self.columns(index) @ values
        W = values.T  # one model a row
        if index.size < d:
            W = np.zeros((len(W), d))
            W[:, index] = values.T
        return self._product(W)

    def _product(self, W: Floats) -> Floats:
        """X Wᵀ."""
        out = np.zeros((self.shape[0], len(W)))
        for (rows, columns), block in self.blocks():
            out[rows] += block @ W[:, columns].T
        return out

    def columns(self, index: Ints) -> Floats:
        if index.size == 0:
            return np.empty((self.shape[0], 0))
        return self.recent.get(index, self._new_columns)

    @property
    def fetches(self) -> bool:
        return self.recent.most > 0

    def expect(self, index: Ints) -> None:
        if index.size <= self.recent.most:
            self.columns(index)

    def _cross(self, strips: int) -> None:
        """Count strips that columns need: as many as there are make a pass."""
        self._crossed += strips
        self.passes += self._crossed // self._strips
        self._crossed %= self._strips

    def _new_columns(self, index: Ints) -> Floats:
        self.columns_read += index.size
        block = named(f"{index.size} columns", lambda: self._read_columns(index))
        if not self.finite and not np.isfinite(block).all():
            bad = int(index[np.flatnonzero(~np.isfinite(block).all(axis=0))[0]])
            raise ValueError(
                f"X contains NaN or infinity in column {bad}; remove or impute such entries"
            )
        return block

    def moments(self, weights: Floats) -> tuple[Floats, Floats]:
        return self.all_moments([weights])[0]

    def all_moments(self, weights: Sequence[Floats]) -> list[tuple[Floats, Floats]]:
        return self.moments_and_products(weights, np.empty((self.shape[0], 0)))[0]

    def moments_and_products(
        self, weights: Sequence[Floats], U: Floats
    ) -> tuple[list[tuple[Floats, Floats]], Floats]:
        sums = Moments(weights, self.shape[1])
        products = np.zeros((U.shape[1], self.shape[1]))
        for (rows, columns), block in self.blocks():
            sums.add(rows, columns, block)
            products[:, columns] += U[rows].T @ block
        return sums.result(self.columns), products.T

    def all_means(self, weights: Sequence[Floats]) -> list[Floats]:
        return [mean for mean, _ in self.all_moments(weights)]


class ArrayStore(BlockStore):
    """An array of real numbers of any type and order, in memory or in a mapped file."""

    def __init__(self, X: NDArray[Any]) -> None:
        n, d = X.shape
        by_columns = X.flags.f_contiguous and not X.flags.c_contiguous
        super().__init__(
            (n, d), X.dtype, (min(n, limits.RUN), 1) if by_columns else (1, min(d, limits.RUN))
        )
        self.X = X
        self._file, self._private = mapped_file(X)
        self._by_columns = by_columns
        self.by_rows = not by_columns
        # Columns of a file: one, or as many as a page has of a row.
        self._strip = 1 if by_columns else max(1, mmap.PAGESIZE // X.dtype.itemsize)
        self._met: set[int] = set()  # strips of it read for columns since the last pass
        if self._file is not None:
            self.recent = RecentColumns(limits.READ_COLUMNS // n)
            self._strips = -(-d // self._strip)

    def _sweep(self, parts: Sequence[Part]) -> Iterator[tuple[Part, Floats]]:
        self._met.clear()
        return super()._sweep(parts)

    def _read(self, rows: slice, columns: slice) -> Floats:
        source = self.X[rows, columns]
        block = np.empty(source.shape)
        lines, target = (source.T, block.T) if self._by_columns else (source, block)
        touched = min(limits.AROUND + lines.shape[1] * self.dtype.itemsize, abs(lines.strides[0]))
        self._fill(target, lines.__getitem__, touched)
        return block

    def _read_columns(self, index: Ints) -> Floats:
        n = self.shape[0]  # np.take lets other threads run, and is faster than an index
        if self._file is not None:
            self._meet(set(np.unique(index // self._strip).tolist()))
        with phase(f"reading {index.size} columns of X", 1) as update:
            if self._by_columns:
                columns = np.empty((index.size, n))
                touched = limits.AROUND + n * self.dtype.itemsize
                self._fill(columns, lambda few: self.X.T.take(index[few], 0), touched, update)
                return columns.T
            block = np.empty((n, index.size))
            touched = min(limits.AROUND * index.size, abs(self.X.strides[0]))
            self._fill(block, lambda few: self.X[few].take(index, 1), touched, update)
            return block

    def _meet(self, strips: set[int]) -> None:
        """Count strips of a file, once between two passes: in whatever order threads read them."""
        self._cross(len(strips - self._met))
        self._met |= strips

    def _fill(
        self, target: Floats, read: Callable[[slice], Any], touched: int, update: Update = no_update
    ) -> None:
        """Read lines into an array, as many at once as may be resident; each touches some bytes."""
        most = len(target) if self._file is None else max(1, limits.LOOSE // max(touched, 1))
        for part in steps_of(len(target), most):
            target[part] = read(part)
            self._forget()
            update(part.stop / len(target))

    def _forget(self) -> None:
        # Pages of a mapped file that were read count as resident until given back.
        # Not of a private map, whose changes would go with them.
        if self._file is not None and not self._private and hasattr(mmap, "MADV_DONTNEED"):
            self._file.madvise(mmap.MADV_DONTNEED)


class DenseStore(ArrayStore):
    """An array in memory that BLAS multiplies as it is."""

    def __init__(self, X: NDArray[Any]) -> None:
        super().__init__(X)
        self.products_in = X.dtype
        self.finite = True  # for the caller to see to

    # So written, BLAS need not copy X into blocks when U or W is narrow.

    def rmatmat_parts(self, U: Floats) -> Iterator[tuple[slice, Floats]]:
        yield slice(0, self.shape[1]), self.rmatmat(U)

    def rmatmat_each(self, U: Floats, use: Callable[[slice, Floats], None], each: OnEach) -> None:
        self.passes += 1
        (n, d), V = self.shape, U.T.astype(self.dtype, copy=False)

        def multiply(columns: slice) -> None:
            use(columns, np.asarray(V @ self.X[:, columns], np.float64).T)

        width = max(limits.THREADED // n, limits.FEWEST_THREADED)
        each(multiply, list(steps_of(d, width)))

    def rmatmat(self, U: Floats) -> Floats:
        self.passes += 1
        return np.asarray(U.T.astype(self.dtype, copy=False) @ self.X, np.float64).T

    def _product(self, W: Floats) -> Floats:
        self.passes += 1
        return np.asarray(W.astype(self.dtype, copy=False) @ self.X.T, np.float64).T


class ZarrStore(BlockStore):
    """A Zarr array: every stored chunk is read, and decoded, once a pass.

    A column takes all chunks that it crosses.  When columns have so cost as many chunks as
    there are, that counts as a pass.
    """

    def __init__(self, X: Any) -> None:
        chunks = tuple(min(side, chunk) for side, chunk in zip(X.shape, X.chunks, strict=True))
        super().__init__(X.shape, X.dtype, chunks, chunks)
        self.X = X
        self.recent = RecentColumns(limits.READ_COLUMNS // X.shape[0])
        self._strips = -(-X.shape[1] // chunks[1])

    def _read(self, rows: slice, columns: slice) -> Floats:
        return np.ascontiguousarray(self.X[rows, columns], np.float64)

    def _read_columns(self, index: Ints) -> Floats:
        wanted, back = np.unique(index, return_inverse=True)
        self._cross(np.unique(wanted // self.unit[1]).size)
        with phase(f"reading {wanted.size} columns of X"):
            return np.asarray(self.X.oindex[:, wanted], np.float64)[:, back]


def mapped_file(X: Any) -> tuple[mmap.mmap | None, bool]:
    """The file behind an array whose memory is a mapped file, and whether changes are private."""
    while X is not None:
        if isinstance(X, np.memmap):
            return getattr(X, "_mmap", None), X.mode == "c"
        if isinstance(X, mmap.mmap):
            return X, True  # perhaps private, there is no way to ask
        X = getattr(X, "base", None)
    return None, False


def is_zarr(X: Any) -> bool:
    """Whether X is a Zarr array; if it is, somebody has imported Zarr."""
    zarr = sys.modules.get("zarr")
    return zarr is not None and isinstance(X, zarr.Array)


class Readable(ABC):
    """An X of a class of its own, which says by which store it is read."""

    ndim = 2

    @property
    @abstractmethod
    def shape(self) -> tuple[int, int]:
        """Rows and columns."""

    @property
    @abstractmethod
    def dtype(self) -> np.dtype[Any]:
        """Of its entries."""

    @abstractmethod
    def store(self) -> Store:
        """What reads it."""


def is_readable(X: Any) -> bool:
    """Whether X knows its store."""
    return isinstance(X, Readable)


# Arrays of other libraries: how to tell one, and its store.  A new kind of X is a line here; it
# needs ``shape``, ``ndim`` and ``dtype``, and its store looks for NaN where it reads.
KINDS: list[tuple[Callable[[Any], bool], Callable[[Any], Store]]] = [
    (is_zarr, ZarrStore),
    (is_readable, methodcaller("store")),
]


def own_store(X: Any) -> Callable[[Any], Store] | None:
    """What makes the store of an array of another library; None for what NumPy understands."""
    return next((store for is_one, store in KINDS if is_one(X)), None)


def by_blocks(X: Any) -> bool:
    """Whether X is an array to be read block by block, and checked in doing so."""
    if own_store(X) is not None:
        return bool(X.ndim == 2 and X.dtype.kind in "biuf")
    if not isinstance(X, np.ndarray) or X.ndim != 2 or X.dtype.kind not in "biuf":
        return False
    return X.dtype not in (np.float32, np.float64) or mapped_file(X)[0] is not None


def array_store(X: Any) -> Store:
    """The store of one of `KINDS`, or of anything that NumPy makes an array of real numbers."""
    store = own_store(X)
    if store is None:
        X, store = np.asarray(X), ArrayStore
    if X.ndim != 2:
        raise ValueError(f"X must be two-dimensional, got an array of shape {X.shape}")
    if X.dtype.kind == "c":
        raise ValueError(stores.COMPLEX.format(X.dtype))
    if by_blocks(X):
        return store(X)
    return DenseStore(X if X.dtype in (np.float32, np.float64) else X.astype(float))

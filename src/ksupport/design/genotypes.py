"""Genotypes in a PLINK file: two bits each, read by blocks of columns as they are needed."""

from __future__ import annotations

import os
from collections.abc import Callable
from functools import cached_property
from pathlib import Path
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from .. import limits
from .._common.extra import extra
from .._common.phases import phase
from .._kernels.refits import fill_calls
from .blocks import BlockStore, Readable
from .stores import Floats, Ints
from .sweeps import named, steps_of

Calls = NDArray[np.int8]

MISSING = -127  # what bed-reader puts for a call that failed
HEADER = 3  # bytes of a .bed file before its columns
PER_BYTE = 4  # genotypes


class Genotypes(Readable):
    """The counts of alleles (0, 1, 2) in a PLINK ``.bed`` file, as an X to fit on.

    Nothing of its size is ever in memory.  Where a genotype is missing it is taken to be the mean
    of its column.  Rows of it (``X[rows]``) are again such an X; columns (``X[:, j]``) an array.

    Parameters
    ----------
    path : path
        The ``.bed`` file; ``.bim`` and ``.fam`` are not read.
    shape : (int, int)
        Samples and variants, which the file does not tell.
    beside : array of shape (n, q), optional
        More columns, after those of the file: covariates.

    Notes
    -----
    Reading is done by bed-reader: ``pip install 'ksupport[plink]'``.
    """

    def __init__(
        self, path: str | os.PathLike[str], shape: tuple[int, int], beside: ArrayLike | None = None
    ) -> None:
        self.path = Path(path)
        self.whole = shape  # of the file
        self.samples, self.variants = np.arange(shape[0]), np.arange(shape[1])  # of the file
        self.beside: Floats = (
            np.empty((shape[0], 0)) if beside is None else np.asarray(beside, np.float64)
        )
        self._check_size()

    def _check_size(self) -> None:
        n, d = self.whole
        needed, there = HEADER + -(-n // PER_BYTE) * d, self.path.stat().st_size
        if there != needed:
            raise ValueError(
                f"{self.path.name} has {there} bytes, but {n} samples and {d} variants take "
                f"{needed}: it is cut, or belongs to other .fam and .bim files"
            )

    @property
    def shape(self) -> tuple[int, int]:
        return self.samples.size, self.variants.size + self.beside.shape[1]

    @property
    def dtype(self) -> np.dtype[Any]:
        return np.dtype(np.float64 if self.beside.shape[1] else np.int8)

    def store(self) -> GenotypeStore:
        return GenotypeStore(self)

    def _like(self, rows: Ints, columns: Ints, beside: Floats) -> Genotypes:
        twin = object.__new__(Genotypes)
        twin.path, twin.whole = self.path, self.whole
        twin.samples, twin.variants, twin.beside = rows, columns, beside
        return twin

    def select(self, columns: ArrayLike) -> Genotypes:
        """Only these variants, without the columns beside them."""
        return self._like(self.samples, self.variants[np.asarray(columns)], self.beside[:, :0])

    def with_beside(self, beside: Floats) -> Genotypes:
        """More columns after those that are there."""
        return self._like(self.samples, self.variants, np.hstack([self.beside, beside]))

    def __getitem__(self, key: Any) -> Any:
        if isinstance(key, tuple):
            rows, columns = key
            index = np.atleast_1d(np.arange(self.shape[1])[columns])
            return self.store().columns(index)[rows]
        return self._like(self.samples[key], self.variants, self.beside[key])

    def __array__(self, dtype: Any = None, copy: bool | None = None) -> NDArray[Any]:
        return np.asarray(self[:, :], dtype)

    @property
    def values(self) -> Floats:
        """All entries, NaN where they are missing; for few columns."""
        calls = self.calls(np.arange(self.variants.size)).astype(np.float64)
        calls[calls == MISSING] = np.nan
        return np.hstack([calls, self.beside])

    @cached_property
    def _file(self) -> Any:
        with extra("plink", "genotypes need"):
            from bed_reader import open_bed
        return open_bed(self.path, *self.whole)

    def __getstate__(self) -> dict[str, Any]:
        return {name: value for name, value in self.__dict__.items() if name != "_file"}

    def calls(self, index: Ints | slice) -> Calls:
        """Some variants of all rows, as bed-reader gives them."""
        columns = self.variants[index]
        if columns.size and columns[-1] - columns[0] == columns.size - 1:
            where: Any = slice(int(columns[0]), int(columns[-1]) + 1)  # without an index for each
        else:
            where = columns
        every = self.samples.size == self.whole[0] and bool((np.diff(self.samples) == 1).all())
        rows: Any = slice(None) if every else self.samples
        return np.asarray(self._file.read(np.s_[rows, where], dtype="int8"))


class GenotypeStore(BlockStore):
    """A PLINK file, read by blocks of whole columns; those read lately stay as bytes."""

    def __init__(self, X: Genotypes) -> None:
        n, d = X.shape
        super().__init__((n, d), X.dtype, (n, 1), (n, 1))
        self.X = X
        self.finite = True
        self.recent = type(self.recent)(2 * limits.READ_COLUMNS // n)

    @property
    def _block(self) -> tuple[int, int]:
        n = self.shape[0]  # columns are read one by one: small blocks are as good as large ones
        return n, max(1, limits.CHUNK // (4 * n))

    def _read(self, rows: slice, columns: slice) -> Floats:
        index = np.arange(columns.start, columns.stop)
        return self._read_filled(index, self.X.calls)[rows]

    def _read_columns(self, index: Ints) -> Floats:
        return self._read_filled(index, self.X.calls)

    def columns(self, index: Ints) -> Floats:
        return self._read_filled(index, self._recent_calls)

    def expect(self, index: Ints) -> None:
        called = index[index < self.X.variants.size]
        if called.size <= self.recent.most:
            self._recent_calls(called)

    def _recent_calls(self, index: Ints) -> Calls:
        return self.recent.get(index, self._new_calls)

    def _new_calls(self, index: Ints) -> Calls:
        self.columns_read += index.size
        with phase(f"reading {index.size} columns of X"):
            return named(f"{index.size} columns", lambda: self.X.calls(index))

    def _read_filled(self, index: Ints, read: Callable[[Ints], Calls]) -> Floats:
        """Whole columns; calls are turned into numbers a few at a time, where they stay."""
        n, variants = self.shape[0], self.X.variants.size
        block = np.empty((n, index.size), order="F")
        for part in steps_of(index.size, max(1, limits.CHUNK // (8 * n))):
            some = index[part]
            called = np.flatnonzero(some < variants)
            if called.size == some.size:
                fill_calls(read(some), MISSING, block[:, part])
                continue
            values = np.empty((n, called.size), order="F")
            fill_calls(read(some[called]), MISSING, values)
            beside = np.flatnonzero(some >= variants)
            block[:, part.start + called] = values
            block[:, part.start + beside] = self.X.beside[:, some[beside] - variants]
        return block

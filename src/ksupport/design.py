"""What a path needs of X, for every kind of X.

A `Design` is a view: ``X̃ = diag(√weights) (X[rows] - 1 meanᵀ) / scale``.  Centring, scaling,
sample weights and row subsets change how products are formed, never the data, so a sparse X
stays sparse and nothing of size n x d is copied.  Below the view lies a *store*, one small class
per kind of X, which alone touches the data and counts every pass over it.
"""

from __future__ import annotations

import mmap
from abc import ABC, abstractmethod
from collections.abc import Iterator
from dataclasses import dataclass, field, replace
from typing import Any, Literal

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike, NDArray
from scipy.sparse.linalg import ArpackError, LinearOperator, aslinearoperator, eigsh

from ._kernels import EPS

Floats = NDArray[np.float64]
Ints = NDArray[np.intp]
NormKind = Literal["spectral", "nuclear"]

CHUNK = 1 << 21  # numbers held at once when a pass goes block by block (16 MB)
SVD_LIMIT = 1 << 16  # up to this many entries, norms come from a full decomposition
GRAM_LIMIT = 3000  # up to this many rows or columns, norms come from a Gram matrix

_UNUSABLE = (
    "the norm of X is {}: X contains NaN or infinity, or entries too large or too small to square; "
    "impute such entries, or rescale X"
)
_COMPLEX = "X must be real, got dtype {}; stack its real and imaginary parts as rows"


# ----------------------------------------------------------------------------------------
# Stores: the raw X
# ----------------------------------------------------------------------------------------


class Store(ABC):
    """The raw X: full products, columns and moments; ``passes`` counts the sweeps over it."""

    has_columns = True  # whether a block of columns costs less than a sweep

    def __init__(self, shape: tuple[int, int], dtype: np.dtype[Any]) -> None:
        if 0 in shape:
            raise ValueError(f"X must have at least one row and one column, got shape {shape}")
        self.shape = shape
        self.dtype = dtype
        self.passes = 0
        self.columns_read = 0

    @abstractmethod
    def rmatmat(self, U: Floats) -> Floats:
        """Xᵀ U, one pass for all columns of U."""

    @abstractmethod
    def matvec(self, index: Ints, values: Floats) -> Floats:
        """X w for the w that has ``values`` at ``index`` and zeros elsewhere."""

    @abstractmethod
    def columns(self, index: Ints) -> Floats:
        """The columns at ``index`` as a dense n x m block."""

    @abstractmethod
    def moments(self, weights: Floats) -> tuple[Floats, Floats]:
        """Weighted mean and variance of every column, one pass."""

    def means(self, weights: Floats) -> Floats:
        """Weighted mean of every column, one pass."""
        return self.moments(weights)[0]

    def column_chunks(self) -> Iterator[tuple[slice, Floats]]:
        """The whole of X as dense blocks of columns, one pass."""
        n, d = self.shape
        self.passes += 1
        width = max(1, CHUNK // max(n, 1))
        for start in range(0, d, width):
            part = slice(start, min(d, start + width))
            yield part, self._dense(slice(0, n), part)

    def row_chunks(self) -> Iterator[tuple[slice, Floats]]:
        """The whole of X as dense blocks of rows, one pass."""
        n, d = self.shape
        self.passes += 1
        height = max(1, CHUNK // max(d, 1))
        for start in range(0, n, height):
            part = slice(start, min(n, start + height))
            yield part, self._dense(part, slice(0, d))

    @abstractmethod
    def _dense(self, rows: slice, columns: slice) -> Floats:
        """A dense float64 copy of a rectangle of X."""


class DenseStore(Store):
    """An ndarray in either order, or a memmap, which is read chunk by chunk."""

    def __init__(self, X: NDArray[Any]) -> None:
        super().__init__((X.shape[0], X.shape[1]), X.dtype)
        self.X = X
        self._file, self._private = _mmap_of(X)
        # BLAS takes float32 and float64 as they are; anything else would be copied whole.
        self._whole = self._file is None and X.dtype in (np.float32, np.float64)

    def rmatmat(self, U: Floats) -> Floats:
        if self._whole:
            self.passes += 1
            return np.asarray(self.X.T @ U.astype(self.dtype, copy=False), np.float64)
        if self.X.flags.f_contiguous:
            out = np.empty((self.shape[1], U.shape[1]))
            for part, block in self.column_chunks():
                out[part] = block.T @ U
            return out
        out = np.zeros((self.shape[1], U.shape[1]))
        for part, block in self.row_chunks():
            out += block.T @ U[part]
        return out

    def matvec(self, index: Ints, values: Floats) -> Floats:
        n, d = self.shape
        if 4 * index.size <= d and index.size * n <= CHUNK:
            return self.columns(index) @ values
        w = np.zeros(d)
        w[index] = values
        if self._whole:
            self.passes += 1
            return np.asarray(self.X @ w.astype(self.dtype, copy=False), np.float64)
        out = np.zeros(n)
        if self.X.flags.f_contiguous:
            for part, block in self.column_chunks():
                out += block @ w[part]
        else:
            for part, block in self.row_chunks():
                out[part] = block @ w
        return out

    def columns(self, index: Ints) -> Floats:
        self.columns_read += index.size
        block = np.asarray(self.X[:, index], np.float64)
        self._forget()
        return block

    def moments(self, weights: Floats) -> tuple[Floats, Floats]:
        # Shifting by a row that counts keeps one-pass variances accurate under large means,
        # and exactly zero for constant columns.
        by_columns = self.X.flags.f_contiguous
        shift = np.asarray(self.X[int(np.argmax(weights > 0))], np.float64)
        first, second = np.zeros(self.shape[1]), np.zeros(self.shape[1])
        for part, block in self.column_chunks() if by_columns else self.row_chunks():
            where = part if by_columns else slice(None)
            w = weights if by_columns else weights[part]
            block -= shift[where]
            first[where] += w @ block
            np.square(block, out=block)
            second[where] += w @ block
        total = weights.sum()
        mean = first / total
        return shift + mean, np.maximum(second / total - mean**2, 0.0)

    def _dense(self, rows: slice, columns: slice) -> Floats:
        block = np.array(self.X[rows, columns], np.float64)
        self._forget()
        return block

    def _forget(self) -> None:
        # Pages of a mapped file that were read count as resident until given back.
        # Not of a private map, whose changes would go with them.
        if self._file is not None and not self._private and hasattr(mmap, "MADV_DONTNEED"):
            self._file.madvise(mmap.MADV_DONTNEED)


class SparseStore(Store):
    """A CSR or CSC matrix or array; kept in both orders only if columns are asked of a CSR."""

    def __init__(self, X: Any) -> None:
        super().__init__(X.shape, X.dtype)
        self.X = X
        self._csc: Any = X if X.format == "csc" else None

    @property
    def by_columns(self) -> Any:
        if self._csc is None:
            self._csc = self.X.tocsc()
        return self._csc

    def rmatmat(self, U: Floats) -> Floats:
        self.passes += 1
        return np.asarray(self.X.T @ U, np.float64)

    def matvec(self, index: Ints, values: Floats) -> Floats:
        if 4 * index.size > self.shape[1]:
            self.passes += 1
            w = np.zeros(self.shape[1])
            w[index] = values
            return np.asarray(self.X @ w, np.float64)
        self.columns_read += index.size
        return np.asarray(self.by_columns[:, index] @ values, np.float64)

    def columns(self, index: Ints) -> Floats:
        self.columns_read += index.size
        return np.asarray(self.by_columns[:, index].toarray(), np.float64)

    def moments(self, weights: Floats) -> tuple[Floats, Floats]:
        # scikit-learn's mean_variance_axis wants weights of X's own dtype, and skips NaN.
        self.passes += 1
        d, share = self.shape[1], weights / weights.sum()
        major = np.repeat(np.arange(len(self.X.indptr) - 1), np.diff(self.X.indptr))
        row, column = (major, self.X.indices) if self.X.format == "csr" else (self.X.indices, major)
        share = share[row]
        mean = np.bincount(column, share * self.X.data, d)
        # The share of zeros that are not stored; exactly 0 where there are none.
        full = np.bincount(column, share > 0, d) == np.count_nonzero(weights)
        zeros = np.where(full, 0.0, 1 - np.bincount(column, share, d))
        deviation = self.X.data - mean[column]
        shift = np.bincount(column, share * deviation, d) - zeros * mean
        second = np.bincount(column, share * deviation**2, d) + zeros * mean**2
        return mean + shift, np.maximum(second - shift**2, 0.0)

    def _dense(self, rows: slice, columns: slice) -> Floats:
        X = self.X if columns == slice(0, self.shape[1]) else self.by_columns
        return np.asarray(X[rows, columns].toarray(), np.float64)


class OperatorStore(Store):
    """A LinearOperator (PyLops too): only products, so columns cost a product each."""

    has_columns = False

    def __init__(self, X: LinearOperator) -> None:
        super().__init__(X.shape, np.dtype(X.dtype or np.float64))
        if self.dtype.kind == "c":
            raise ValueError(_COMPLEX.format(self.dtype))
        self.X = X
        _dot_test(X)

    def rmatmat(self, U: Floats) -> Floats:
        self.passes += 1
        return np.column_stack([np.asarray(self.X.rmatvec(u), np.float64).ravel() for u in U.T])

    def matvec(self, index: Ints, values: Floats) -> Floats:
        self.passes += 1
        w = np.zeros(self.shape[1])
        w[index] = values
        return np.asarray(self.X.matvec(w), np.float64).ravel()

    def columns(self, index: Ints) -> Floats:
        one = np.ones(1)
        return np.column_stack([self.matvec(np.array([j]), one) for j in index])

    def moments(self, weights: Floats) -> tuple[Floats, Floats]:
        n, d = self.shape
        mean, share = self.means(weights), weights / weights.sum()
        shift, second = np.zeros(d), np.zeros(d)
        if d <= n:
            for j in range(d):
                deviation = self.columns(np.array([j]))[:, 0] - mean[j]
                shift[j], second[j] = share @ deviation, share @ deviation**2
        else:
            for i in np.flatnonzero(share):
                deviation = self.rmatmat(np.eye(n, 1, -int(i)))[:, 0] - mean
                shift += share[i] * deviation
                second += share[i] * deviation**2
        return mean + shift, np.maximum(second - shift**2, 0.0)

    def means(self, weights: Floats) -> Floats:
        return self.rmatmat(weights[:, None])[:, 0] / weights.sum()

    def _dense(self, rows: slice, columns: slice) -> Floats:
        n, d = self.shape
        if columns == slice(0, d):
            eye = np.eye(rows.stop - rows.start, n, rows.start).T
            return self.rmatmat(eye).T
        return self.columns(np.arange(columns.start, columns.stop))


def _mmap_of(X: Any) -> tuple[mmap.mmap | None, bool]:
    """The file behind an array whose memory is a mapped file, and whether changes are private."""
    while X is not None:
        if isinstance(X, np.memmap):
            return getattr(X, "_mmap", None), X.mode == "c"
        if isinstance(X, mmap.mmap):
            return X, True  # perhaps private, there is no way to ask
        X = getattr(X, "base", None)
    return None, False


def _dot_test(X: LinearOperator) -> None:
    """Reject an operator whose rmatvec is not the adjoint of its matvec: ⟨Xw, u⟩ = ⟨w, Xᵀu⟩."""
    rng = np.random.default_rng(0)
    w, u = rng.standard_normal(X.shape[1]), rng.standard_normal(X.shape[0])
    Xw, Xtu = np.ravel(X.matvec(w)), np.ravel(X.rmatvec(u))
    left, right = float(Xw @ u), float(w @ Xtu)
    size = np.linalg.norm(Xw) * np.linalg.norm(u) + np.linalg.norm(w) * np.linalg.norm(Xtu)
    tolerance = 1e-4 if np.dtype(X.dtype or np.float64).itemsize <= 4 else 1e-8
    if not abs(left - right) <= tolerance * size:
        raise ValueError(
            f"X: the operator fails the dot test, <Xw, u> = {left:.6g} but <w, X'u> = "
            f"{right:.6g}; its rmatvec is not the adjoint of its matvec (wrong sign, scale, "
            "conjugate or order of the adjoint?)"
        )


def as_operator(X: Any) -> Any:
    """X itself, but a PyLops operator, of a class of its own, wrapped as one of SciPy's."""
    if hasattr(X, "matvec") and hasattr(X, "rmatvec"):
        return aslinearoperator(X)
    return X


def _store(X: Any) -> Store:
    X = as_operator(X)
    if isinstance(X, LinearOperator):
        return OperatorStore(X)
    if sp.issparse(X):
        if X.dtype.kind == "c":
            raise ValueError(_COMPLEX.format(X.dtype))
        return SparseStore(X if X.format in ("csr", "csc") else X.tocsr())
    X = np.asarray(X)
    if X.ndim != 2:
        raise ValueError(f"X must be two-dimensional, got an array of shape {X.shape}")
    if X.dtype.kind == "c":
        raise ValueError(_COMPLEX.format(X.dtype))
    return DenseStore(X if X.dtype.kind == "f" or _mmap_of(X)[0] is not None else X.astype(float))


# ----------------------------------------------------------------------------------------
# The view
# ----------------------------------------------------------------------------------------


@dataclass(frozen=True)
class Design:
    """A view of X: ``diag(sqrt_weights) (X[rows] - 1 meanᵀ) / scale``.

    Build one with `Design.of`, then derive others with `take`, `weighted`, `centred` and
    `scaled`; all share the data and the counters.

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.design import Design
    >>> X = Design.of(np.array([[1.0, 2.0], [3.0, 5.0], [5.0, 5.0]])).centred()
    >>> X.rmatvec(np.array([1.0, 0.0, 1.0]))
    array([ 0., -1.])
    >>> X.passes
    2
    """

    store: Store
    rows: Ints | None = None
    sqrt_weights: Floats | None = None
    mean: Floats | None = None
    scale: Floats | None = None
    _cache: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, X: Any) -> Design:
        """Wrap an array, memmap, sparse matrix, LinearOperator, or a Design itself."""
        return X if isinstance(X, Design) else cls(_store(X))

    # -- what it looks like ----------------------------------------------------------------

    @property
    def n(self) -> int:
        return self.store.shape[0] if self.rows is None else self.rows.size

    @property
    def d(self) -> int:
        return self.store.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.d

    @property
    def n_samples(self) -> float:
        """How many samples the rows stand for: weights count as repetitions."""
        if "n_samples" in self._cache:  # set where rows were compressed
            return float(self._cache["n_samples"])
        return float(self.n if self.sqrt_weights is None else (self.sqrt_weights**2).sum())

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.store.dtype

    @property
    def has_columns(self) -> bool:
        return self.store.has_columns

    @property
    def passes(self) -> int:
        """How many times the whole of X has been read so far, by all views of it."""
        return self.store.passes

    @property
    def columns_read(self) -> int:
        """How many single columns have been read besides."""
        return self.store.columns_read

    # -- other views -----------------------------------------------------------------------

    def _view(self, **changes: Any) -> Design:
        return replace(self, _cache={}, **changes)

    def take(self, rows: ArrayLike) -> Design:
        """Only these rows (indices or a mask); centring and scaling stay as they are."""
        picked = np.arange(self.n)[np.asarray(rows)]
        base = picked if self.rows is None else self.rows[picked]
        weights = None if self.sqrt_weights is None else self.sqrt_weights[picked]
        return self._view(rows=base, sqrt_weights=weights)

    def weighted(self, weights: ArrayLike) -> Design:
        """Multiply every row by the square root of its weight."""
        root = np.sqrt(np.asarray(weights, np.float64))
        old = self.sqrt_weights
        return self._view(sqrt_weights=root if old is None else root * old)

    def centred(self, *, standardize: bool = False) -> Design:
        """Subtract the (weighted) column means; divide by the standard deviations if asked.

        A constant column keeps scale 1: centred, it is zero and no method can choose it.
        """
        weights = np.zeros(self.store.shape[0])
        rows = np.arange(self.store.shape[0]) if self.rows is None else self.rows
        np.add.at(weights, rows, 1.0 if self.sqrt_weights is None else self.sqrt_weights**2)
        if standardize:
            mean, variance = self.store.moments(weights)
        else:
            mean, variance = self.store.means(weights), None
        if not np.isfinite(mean).all():
            bad = int(np.flatnonzero(~np.isfinite(mean))[0])
            raise ValueError(
                f"X contains NaN or infinity in column {bad}; remove or impute such entries"
            )
        if variance is None:
            return self._view(mean=mean)
        deviation = np.sqrt(variance)
        floor = 10 * EPS * np.abs(mean)
        return self._view(mean=mean, scale=np.where(deviation > floor, deviation, 1.0))

    def uncentred(self) -> Design:
        """The same view without centring."""
        return self._view(mean=None)

    def rows_like(self, raw: Design, rows: ArrayLike) -> Design:
        """Rows of the raw design, centred and scaled as this view is, without its weights."""
        return raw.take(rows)._view(mean=self.mean, scale=self.scale)

    # -- products --------------------------------------------------------------------------

    def rmatmat(self, U: Floats) -> Floats:
        """X̃ᵀ U, one pass for all columns of U."""
        if self.sqrt_weights is not None:
            U = U * self.sqrt_weights[:, None]
        sums = U.sum(axis=0)
        if self.rows is not None:
            full = np.zeros((self.store.shape[0], U.shape[1]))
            np.add.at(full, self.rows, U)
            U = full
        out = self.store.rmatmat(U)
        if self.mean is not None:
            out -= self.mean[:, None] * sums
        if self.scale is not None:
            out /= self.scale[:, None]
        return out

    def rmatvec(self, u: Floats) -> Floats:
        """X̃ᵀ u, one pass."""
        return self.rmatmat(u[:, None])[:, 0]

    def matvec(self, w: Floats) -> Floats:
        """X̃ w, reading only the columns where w is nonzero."""
        index = np.flatnonzero(w)
        values = w[index] if self.scale is None else w[index] / self.scale[index]
        if index.size == 0:
            return np.zeros(self.n)
        out = self.store.matvec(index, values)
        if self.rows is not None:
            out = out[self.rows]
        if self.mean is not None:
            out = out - self.mean[index] @ values
        return out if self.sqrt_weights is None else out * self.sqrt_weights

    def columns(self, index: Ints) -> Floats:
        """The columns at ``index``, each a contiguous row of the m x n result."""
        return np.ascontiguousarray(self._finish(self.store.columns(index), index).T)

    @property
    def all_columns(self) -> Floats:
        """All columns as rows (d x n), made once: for problems small enough to hold."""
        if "all_columns" not in self._cache:
            self._cache["all_columns"] = self.columns(np.arange(self.d))
        return self._cache["all_columns"]

    def _finish(self, block: Floats, columns: Any) -> Floats:
        """Turn a block of raw columns (all rows) into columns of the view."""
        if self.rows is not None:
            block = block[self.rows]
        if self.mean is not None:
            block = block - self.mean[columns]
        if self.scale is not None:
            block = block / self.scale[columns]
        return block if self.sqrt_weights is None else block * self.sqrt_weights[:, None]

    # -- sizes -----------------------------------------------------------------------------

    @property
    def column_norms(self) -> Floats:
        """‖x̃_j‖ of every column; for an operator the bound ‖X̃‖, as columns are dear there."""
        if "column_norms" not in self._cache:
            self._cache["column_norms"] = self._column_norms()
        return self._cache["column_norms"]

    def _column_norms(self) -> Floats:
        if not self.has_columns:
            return np.full(self.d, self.norm("spectral"))
        if self.n <= min(self.d, GRAM_LIMIT):
            self._row_gram()  # the pass that the norm of X̃ needs anyway
            return self._cache["column_norms"]
        if self.d <= GRAM_LIMIT:
            return np.sqrt(np.diag(self._column_gram()))
        norms2 = np.empty(self.d)
        for part, block in self.store.column_chunks():
            norms2[part] = (self._finish(block, part) ** 2).sum(axis=0)
        return np.sqrt(norms2)

    def norm(self, kind: NormKind = "spectral") -> float:
        """‖X̃‖, never below the truth: the spectral norm, or the nuclear norm."""
        if kind not in ("spectral", "nuclear"):
            raise ValueError(f"norm must be 'spectral' or 'nuclear', got {kind!r}")
        if kind not in self._cache:
            try:
                self._cache.update(self._norms(kind))
            except (np.linalg.LinAlgError, ArpackError) as error:
                raise ValueError(_UNUSABLE.format("undefined")) from error
        norm = float(self._cache[kind])
        if norm and not 1e-150 < norm < 1e150:
            raise ValueError(_UNUSABLE.format(norm))
        return norm

    def _norms(self, kind: NormKind) -> dict[str, float]:
        if self.has_columns and self.n * self.d <= SVD_LIMIT:
            return self._norms_from_svd()
        if min(self.n, self.d) <= self._gram_limit:
            return self._norms_from_gram()
        if kind == "spectral":
            return {"spectral": self._lanczos()}
        raise ValueError(
            "norm='nuclear' needs all singular values, which X of shape "
            f"{self.shape} does not allow in reasonable time; use norm='spectral'"
        )

    @property
    def _gram_limit(self) -> int:
        return GRAM_LIMIT if self.has_columns else GRAM_LIMIT // 10

    def _norms_from_svd(self) -> dict[str, float]:
        values = np.linalg.svd(self.all_columns, compute_uv=False)
        slack = 1 + 8 * max(self.shape) * EPS
        return {"spectral": float(values[0]) * slack, "nuclear": float(values.sum()) * slack}

    def _norms_from_gram(self) -> dict[str, float]:
        gram = self._row_gram() if self.n <= self.d else self._column_gram()
        eigenvalues = np.maximum(np.linalg.eigvalsh(gram), 0.0)
        slack = 1 + 8 * max(self.shape) ** 0.5 * EPS * len(gram) ** 0.5
        return {
            "spectral": float(np.sqrt(eigenvalues[-1])) * slack,
            "nuclear": float(np.sqrt(eigenvalues).sum()) * slack,
        }

    def _row_gram(self) -> Floats:
        """X̃ X̃ᵀ, n x n; the column norms come with it."""
        if "row_gram" not in self._cache and not self.has_columns:
            products = [self.matvec(self.rmatvec(e)) for e in np.eye(self.n)]
            self._cache["row_gram"] = np.stack(products)
        elif "row_gram" not in self._cache:
            gram, norms2 = np.zeros((self.n, self.n)), np.empty(self.d)
            for part, block in self.store.column_chunks():
                block = self._finish(block, part)
                gram += block @ block.T
                norms2[part] = np.einsum("ij,ij->j", block, block)
            self._cache["row_gram"] = gram
            self._cache["column_norms"] = np.sqrt(norms2)
        return self._cache["row_gram"]

    def _column_gram(self) -> Floats:
        """X̃ᵀ X̃, d x d."""
        if "column_gram" not in self._cache and not self.has_columns:
            products = [self.rmatvec(self.matvec(e)) for e in np.eye(self.d)]
            self._cache["column_gram"] = np.stack(products)
        elif "column_gram" not in self._cache:
            self._cache["column_gram"] = self.gram(np.zeros(self.n))[: self.d, : self.d]
        return self._cache["column_gram"]

    def gram(self, Y: Floats) -> Floats:
        """[X̃ Y]ᵀ[X̃ Y] in one pass by rows, whatever n; an operator takes 2d products."""
        Y = Y.reshape(self.n, -1)
        if not self.has_columns:
            XtX, XtY = self._column_gram(), self.rmatmat(Y)
            return np.block([[XtX, XtY], [XtY.T, Y.T @ Y]])
        size = self.d + Y.shape[1]
        out = np.zeros((size, size))
        place = np.arange(self.n) if self.rows is None else self.rows
        order = np.argsort(place, kind="stable")
        sorted_place = place[order]
        for part, block in self.store.row_chunks():
            lo, hi = np.searchsorted(sorted_place, (part.start, part.stop))
            mine = order[lo:hi]
            view = replace(self, rows=place[mine] - part.start, _cache={})
            if self.sqrt_weights is not None:
                view = replace(view, sqrt_weights=self.sqrt_weights[mine])
            both = np.hstack([view._finish(block, slice(None)), Y[mine]])
            out += both.T @ both
        return out

    def _lanczos(self) -> float:
        """Largest singular value by Lanczos, plus the size of its residual."""
        wide = self.n <= self.d

        def product(u: Floats) -> Floats:
            u = np.ravel(u)
            return self.matvec(self.rmatvec(u)) if wide else self.rmatvec(self.matvec(u))

        size = min(self.shape)
        operator = LinearOperator((size, size), matvec=product, dtype=np.float64)
        start = np.random.default_rng(0).standard_normal(size)
        values, vectors = eigsh(operator, k=1, v0=start, tol=1e-3, ncv=20)
        ritz, vector = float(values[0]), vectors[:, 0]
        # The residual bounds the distance to an eigenvalue; twice it, and a part in a
        # thousand, covers what a Krylov space of this size can still miss.
        residual = float(np.linalg.norm(product(vector) - ritz * vector))
        return float(np.sqrt(ritz + 2 * residual)) * 1.001

    # -- fewer rows ------------------------------------------------------------------------

    @property
    def compresses(self) -> bool:
        """Whether `compressed` would leave far fewer rows, at a cost soon won back."""
        return self.n > 4 * self.d and self.d <= self._gram_limit and self.n * self.d > SVD_LIMIT

    def compressed(self, Y: Floats) -> tuple[Design, Floats]:
        """An equivalent problem with at most d + n_targets rows, after one pass.

        With ``[X̃ Y]ᵀ[X̃ Y] = RᵀR``, the rows of R do for every method whose state lives in the
        span of X̃'s columns and Y: inner products, and so iterates and residual norms, are the
        same.  Worth it when n is much larger than d: afterwards nothing depends on n.
        """
        gram = self.gram(Y)
        self._cache["column_gram"] = gram[: self.d, : self.d]
        # Equilibrate, so that the square root does not lose the small columns.
        root = np.sqrt(np.diag(gram))
        root[root == 0.0] = 1.0
        values, vectors = np.linalg.eigh(gram / root / root[:, None])
        keep = values > 0
        R = (vectors[:, keep] * np.sqrt(values[keep])).T * root
        small = Design.of(np.asfortranarray(R[:, : self.d]))
        small._cache.update(self._norms_from_gram(), n_samples=self.n_samples)
        return small, R[:, self.d :]

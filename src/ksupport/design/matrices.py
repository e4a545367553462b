"""Stores of sparse matrices and of operators."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from scipy.sparse.linalg import LinearOperator

from .._common.phases import track_pass
from .stores import COMPLEX, Floats, Ints, Store

if TYPE_CHECKING:
    from .view import Design


class SparseStore(Store):
    """A CSR or CSC matrix or array; in both orders only if columns are asked of a CSR."""

    is_sparse = True

    def __init__(self, X: Any) -> None:
        super().__init__(X.shape, X.dtype)
        self.X = X
        self._csc: Any = X if X.format == "csc" else None
        self._csr: Any = X if X.format == "csr" else None

    @property
    def entries(self) -> int:
        return int(self.X.nnz)

    @property
    def csc(self) -> Any:
        if self._csc is None:
            self._csc = self.X.tocsc()
        return self._csc

    @property
    def csr(self) -> Any:
        """X as a sparse matrix by rows."""
        if self._csr is None:
            self._csr = self.X.tocsr()
        return self._csr

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
        return np.asarray(self.csc[:, index] @ values, np.float64)

    def columns(self, index: Ints) -> Floats:
        self.columns_read += index.size
        return np.asarray(self.csc[:, index].toarray(), np.float64)

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
        X = self.csr if columns == slice(0, self.shape[1]) else self.csc
        return np.asarray(X[rows, columns].toarray(), np.float64)


class OperatorStore(Store):
    """A LinearOperator (PyLops too): only products, so columns cost a product each."""

    has_columns = False

    def __init__(self, X: LinearOperator) -> None:
        super().__init__(X.shape, np.dtype(X.dtype or np.float64))
        if self.dtype.kind == "c":
            raise ValueError(COMPLEX.format(self.dtype))
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
        block, one = np.empty((self.shape[0], index.size), order="F"), np.ones(1)
        for column, j in zip(block.T, index, strict=True):
            column[:] = self.matvec(np.array([j]), one)
        return block

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

    def column_norms(self, view: Design) -> Floats:
        if view.n >= view.d:
            return super().column_norms(view)
        norms2 = np.zeros(view.d)
        for row in self._rows(view):
            norms2 += row**2
        return np.sqrt(norms2)

    def row_grams(self, views: Sequence[Design]) -> list[tuple[Floats, Floats]]:
        return [self._row_gram(view) for view in views]

    def _row_gram(self, view: Design) -> tuple[Floats, Floats]:
        gram, norms2 = np.empty((view.n, view.n)), np.zeros(view.d)
        for i, row in enumerate(self._rows(view)):
            gram[i] = view.matvec(row)
            norms2 += row**2
        return gram, np.sqrt(norms2)

    def column_grams(self, views: Sequence[Design]) -> list[Floats]:
        return [np.stack([view.rmatvec(view.matvec(e)) for e in np.eye(view.d)]) for view in views]

    def grams(self, views: Sequence[Design], Ys: Sequence[Floats]) -> list[Floats]:
        return [
            bordered(view.column_gram, view.rmatmat(Y), Y)
            for view, Y in zip(views, Ys, strict=True)
        ]

    def _rows(self, view: Design) -> Iterator[Floats]:
        """The rows of a view, a product each."""
        places = track_pass(range(view.n), view.n)
        return (view.rmatvec(np.eye(view.n, 1, -i)[:, 0]) for i in places)

    def _dense(self, rows: slice, columns: slice) -> Floats:
        n, d = self.shape
        if columns == slice(0, d):
            eye = np.eye(rows.stop - rows.start, n, rows.start).T
            return self.rmatmat(eye).T
        return self.columns(np.arange(columns.start, columns.stop))


def bordered(XtX: Floats, XtY: Floats, Y: Floats) -> Floats:
    """[X Y]ᵀ[X Y] from its parts."""
    return np.block([[XtX, XtY], [XtY.T, Y.T @ Y]])


def _dot_test(X: LinearOperator) -> None:
    """Reject an operator whose rmatvec is not the adjoint of its matvec: ⟨Xw, u⟩ = ⟨w, Xᵀu⟩."""
    rng = np.random.default_rng(0)
    w, u = rng.standard_normal(X.shape[1]), rng.standard_normal(X.shape[0])
    try:
        Xw, Xtu = np.ravel(X.matvec(w)), np.ravel(X.rmatvec(u))
    except NotImplementedError as error:  # in these words by SciPy, without saying of what
        raise ValueError(
            f"X: the operator has no products with its adjoint ({error}); give LinearOperator "
            "its rmatvec, too: paths need X'u"
        ) from error
    left, right = float(Xw @ u), float(w @ Xtu)
    size = np.linalg.norm(Xw) * np.linalg.norm(u) + np.linalg.norm(w) * np.linalg.norm(Xtu)
    tolerance = 1e-4 if np.dtype(X.dtype or np.float64).itemsize <= 4 else 1e-8
    if not abs(left - right) <= tolerance * size:
        raise ValueError(
            f"X: the operator fails the dot test, <Xw, u> = {left:.6g} but <w, X'u> = "
            f"{right:.6g}; its rmatvec is not the adjoint of its matvec (wrong sign, scale, "
            "conjugate or order of the adjoint?)"
        )

"""What a path needs of X, for every kind of X.

A `Design` is a view: ``X̃ = diag(√weights) (X - 1 meanᵀ - Z B)[rows] / scale``.  Centring,
scaling, sample weights, row subsets and a projection off columns that are always in the model
(Z B) change how products are formed, never the data, so a sparse X stays sparse and nothing of
size n x d is copied.  Below the view lies a *store* (`stores`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property, partial
from typing import Any

import numpy as np
import scipy.sparse as sp
from numpy.typing import ArrayLike

from .. import limits
from . import spectra
from .passes import centred_together, matmat_together, rmatmat_together
from .projection import Projection
from .scatter import square_root
from .spectra import NormKind, has_finite, unusable
from .stores import Floats, Ints, Store, store_of


@dataclass(frozen=True)
class Design:
    """A view of X: ``diag(sqrt_weights) (X - 1 meanᵀ - Z B)[rows] / scale``.

    Where the scale is infinite a column is nothing: no method can choose it.

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
    off: Projection | None = None  # Z B
    samples: float | None = None  # that the rows stand for, where they were compressed
    absorbed: int = 0  # degrees of freedom that columns projected off have taken
    was_centred: bool = False  # whether the rows were compressed after their means were taken off
    different: Callable[[], int] | None = None  # how many of them differ, if somebody knows
    family: Sequence[Design] = field(default=(), repr=False, compare=False)  # see `sharing`
    # What was computed once; nothing is lost but time if it is emptied.
    _cache: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, X: Any) -> Design:
        """Wrap an array (memmap, Zarr, Dask), sparse matrix, LinearOperator, or a Design itself."""
        return X if isinstance(X, Design) else cls(store_of(X))

    # -- what it looks like ----------------------------------------------------------------

    @cached_property
    def n(self) -> int:
        return self.store.shape[0] if self.rows is None else self.rows.size

    @cached_property
    def d(self) -> int:
        return self.store.shape[1]

    @property
    def shape(self) -> tuple[int, int]:
        return self.n, self.d

    @property
    def compact(self) -> bool:
        """Whether these are not the rows of X, but fewer that do for them (see `compressed`)."""
        return self.samples is not None

    @property
    def is_centred(self) -> bool:
        """Whether means of columns are taken off, here or before the rows were compressed."""
        return self.mean is not None or self.was_centred

    @property
    def n_samples(self) -> float:
        """How many samples the rows stand for: weights count as repetitions."""
        if self.samples is not None:
            return self.samples
        return float(self.n if self.sqrt_weights is None else (self.sqrt_weights**2).sum())

    @property
    def freedom(self) -> float:
        """For how many samples they do where unpenalised columns have taken their part."""
        return max(self.n_samples - self.absorbed, 1.0)

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.store.dtype

    @property
    def has_columns(self) -> bool:
        return self.store.has_columns

    @property
    def near(self) -> bool:
        """Whether X lies in this process."""
        return self.store.near

    @property
    def is_sparse(self) -> bool:
        return self.store.is_sparse

    def copyable(self, most: int) -> bool:
        """Whether all columns may be copied, if so many entries may: fewer if X lies elsewhere."""
        limit = most if self.near else min(most, limits.SVD)
        return self.has_columns and self.n * self.d <= limit

    @property
    def copied(self) -> bool:
        """Whether all columns have been copied: then none is read again."""
        return "all_columns" in self._cache

    def copy_columns(self) -> bool:
        """Copy all columns if X is small and few views share it; return whether that was done."""
        entries = max(self.n, self.store.shape[0]) * self.d
        small = self.copyable(limits.COPIED_COLUMNS) and entries <= limits.COPIED_COLUMNS
        pays = small and len(self.family) <= limits.COPIES
        if pays:
            _ = self.all_columns
        return pays

    @property
    def passes(self) -> int:
        """How many times all of X has been read so far, by all views of it."""
        return self.store.passes

    @property
    def columns_read(self) -> int:
        """How many single columns have been read besides."""
        return self.store.columns_read

    # -- other views -----------------------------------------------------------------------

    def _view(self, **changes: Any) -> Design:
        return replace(self, family=(), _cache={}, **changes)

    def once(self, name: str, make: Callable[[], Any]) -> Any:
        """Return the cached value of this name; compute it on first use."""
        if name not in self._cache:
            self._cache[name] = make()
        return self._cache[name]

    @property
    def known(self) -> tuple[Floats, Floats] | None:
        """Vectors, as rows, and their products with X̃ᵀ, if the pass that made the view took any."""
        found: tuple[Floats, Floats] | None = self._cache.get("known")
        return found

    def forget(self) -> None:
        """Free the products that paths have cached, which are most of the cache."""
        self._cache.pop("recall", None)

    @property
    def remembers(self) -> bool:
        """Whether products are worth keeping: X is read by passes, and `recalls` them."""
        return self.recalls and self.store.entries > limits.COPIED_COLUMNS

    @property
    def recalls(self) -> bool:
        """Whether full products X̃ᵀu are remembered: from other processes not if d is very large."""
        return self.has_columns and (self.near or self.d <= limits.SENT_PRODUCTS)

    def take(self, rows: ArrayLike) -> Design:
        """Only these rows (indices or a mask); centring and scaling stay as they are."""
        picked = np.arange(self.n)[np.asarray(rows)]
        base = picked if self.rows is None else self.rows[picked]
        weights = None if self.sqrt_weights is None else self.sqrt_weights[picked]
        return self._view(rows=base, sqrt_weights=weights, samples=None, different=None)

    def learned(self) -> Design:
        """Return a view whose missing entries are filled with the means of these rows."""
        if self.store.fixed:
            return self
        return self._view(store=self.store.learned_from(self.row_weights))

    def weighted(self, weights: ArrayLike) -> Design:
        """Multiply every row by the square root of its weight."""
        root = np.sqrt(np.asarray(weights, np.float64))
        old = self.sqrt_weights
        return self._view(
            sqrt_weights=root if old is None else root * old, samples=None, different=None
        )

    def centred(self, *, standardize: bool = False) -> Design:
        """Subtract the (weighted) column means; divide by the standard deviations if asked.

        A constant column keeps scale 1: centred, it is zero and no method can choose it.
        """
        return centred_together([self], standardize=standardize)[0]

    def centred_by(self, mean: Floats, variance: Floats | None) -> Design:
        """Subtract these means; divide by the roots of these variances if given."""
        if not np.isfinite(mean).all():
            bad = int(np.flatnonzero(~np.isfinite(mean))[0])
            if self.has_columns and has_finite(self, np.array([bad])):
                raise ValueError(
                    f"X has entries in column {bad} that are too large to add up; rescale X"
                )
            raise ValueError(
                f"X contains NaN or infinity in column {bad}; remove or impute such entries"
            )
        if variance is None:
            return self._view(mean=mean)
        if not np.isfinite(variance).all():
            raise unusable(self, "infinite")
        deviation = np.sqrt(variance)
        floor = 10 * limits.EPS * np.abs(mean)
        return self._view(mean=mean, scale=np.where(deviation > floor, deviation, 1.0))

    def _centred(self, standardize: bool, mean: Floats, variance: Floats | None) -> Design:
        """Return the view centred by the moments of its own rows, and scaled if asked."""
        centred = self.centred_by(mean, variance if standardize else None)
        if variance is not None:
            # The moments have the norms, up to rounding: no pass is needed.
            deviation = np.sqrt(variance) / (1.0 if centred.scale is None else centred.scale)
            centred._cache["column_norms"] = np.sqrt(self.n_samples) * deviation
        return centred

    def uncentred(self) -> Design:
        """Return the view without centring."""
        return self._view(mean=None)

    def projected(self, off: Projection) -> Design:
        """Return the view minus its projection on unpenalised columns."""
        return self._view(off=off, absorbed=len(off.share))

    def scaled_by(self, scale: Floats, norms: Floats) -> Design:
        """Return the view divided by these scales; its columns then have these norms."""
        scaled = self._view(scale=scale)
        scaled._cache["column_norms"] = norms
        return scaled

    def like(self, other: Design) -> Design:
        """Return these rows, centred, projected and scaled as another view is."""
        return self._view(store=other.store, mean=other.mean, scale=other.scale, off=other.off)

    @property
    def picked(self) -> Any:
        """Which rows of X it has, as an index."""
        return slice(None) if self.rows is None else self.rows

    @property
    def row_weights(self) -> Floats:
        """The weight of each row of the full X."""
        weights = np.zeros(self.store.shape[0])
        np.add.at(weights, self.picked, 1.0 if self.sqrt_weights is None else self.sqrt_weights**2)
        return weights

    # -- products --------------------------------------------------------------------------

    def on_all_rows(self, U: Floats) -> Floats:
        """The V with X̃ᵀU = diag(scale)⁻¹ (Xᵀ - mean 1ᵀ - BᵀZᵀ) V, where X has all its rows."""
        return self.lifted(U, self.store.shape[0])

    def lifted(self, U: Floats, n: int) -> Floats:
        """`on_all_rows`, where X has n rows."""
        if self.sqrt_weights is not None:
            U = U * self.sqrt_weights[:, None]
        if self.rows is None:
            return U
        full = np.zeros((n, U.shape[1]))
        np.add.at(full, self.rows, U)
        return full

    def sums(self, V: Floats) -> Floats:
        """[1 Z]ᵀV: what X̃ᵀU needs besides XᵀV."""
        sums = V.sum(axis=0)[None]
        return sums if self.off is None else np.vstack([sums, self.off.basis.T @ V])

    def rmatmat(self, U: Floats) -> Floats:
        """X̃ᵀ U, one pass for all columns of U."""
        return rmatmat_together([self], [U])[0]

    def rmatvec(self, u: Floats) -> Floats:
        """X̃ᵀ u, one pass."""
        return self.rmatmat(u[:, None])[:, 0]

    def matmat(self, W: Floats) -> Floats:
        """X̃ W, reading only the columns where some column of W is nonzero."""
        return matmat_together([self], [W])[0]

    def of_rows(self, product: Floats, index: Ints, values: Floats) -> Floats:
        """X̃ W from the product of all rows of X with the W that has these values."""
        out = product if self.rows is None else product[self.rows]
        if self.mean is not None:
            out = out - self.mean[index] @ values
        if self.off is not None:
            out = out - self.off.basis[self.picked] @ (self.off.share[:, index] @ values)
        return out if self.sqrt_weights is None else out * self.sqrt_weights[:, None]

    def unscaled(self, W: Floats, index: Any = slice(None)) -> Floats:
        """Coefficients of the raw columns at ``index`` from those of the view's."""
        return W if self.scale is None else W / self.scale[index, None]

    def matvec(self, w: Floats) -> Floats:
        """X̃ w, reading only the columns where w is nonzero."""
        return self.matmat(w[:, None])[:, 0]

    def columns(self, index: Ints) -> Floats:
        """The columns at ``index``, each a contiguous row of the m x n result."""
        columns: Floats | None = self._cache.get("all_columns")
        return self._read(index) if columns is None else columns.take(index, axis=0)

    def _read(self, index: Ints) -> Floats:
        return np.ascontiguousarray(self.shown(self.store.columns(index), index).T)

    @property
    def all_columns(self) -> Floats:
        """All columns as rows (d x n), made once: for problems small enough."""
        columns: Floats | None = self._cache.get("all_columns")
        if columns is None:
            columns = self._cache["all_columns"] = self._read(np.arange(self.d))
        return columns

    def shown(self, block: Floats, columns: Any) -> Floats:
        """Turn a block of raw columns (all rows) into columns of the view."""
        if self.rows is not None:
            block = block[self.rows]
        if self.mean is not None:
            block = block - self.mean[columns]
        if self.off is not None:
            block = self.off.subtract_from(block, self.picked, columns)
        if self.scale is not None:
            block = block / self.scale[columns]
        return block if self.sqrt_weights is None else block * self.sqrt_weights[:, None]

    def within(self, part: slice) -> tuple[Design, Ints]:
        """Return the view restricted to a block of rows of X, and the indices of its rows."""
        places = np.arange(self.n) if self.rows is None else self.rows
        order = self.once("order", lambda: np.argsort(places, kind="stable"))
        low, high = np.searchsorted(places, (part.start, part.stop), sorter=order)
        mine = order[low:high]
        weights = None if self.sqrt_weights is None else self.sqrt_weights[mine]
        off = None if self.off is None else self.off.within(part)
        return self._view(rows=places[mine] - part.start, sqrt_weights=weights, off=off), mine

    def as_csc(self) -> sp.csc_matrix:
        """X̃ = diag(√weights) X[rows] / scale as a sparse matrix, where nothing is taken off X."""
        assert self.mean is None
        assert self.off is None
        raw = self.store.csc if self.rows is None else self.store.csc[self.rows]
        X = sp.csc_matrix(raw, dtype=np.float64)
        if self.scale is not None:
            X = X @ sp.diags(1 / self.scale)
        if self.sqrt_weights is not None:
            X = sp.diags(self.sqrt_weights) @ X
        return sp.csc_matrix(X)

    # -- sizes (`spectra`) -----------------------------------------------------------------

    @property
    def column_norms(self) -> Floats:
        """‖x̃_j‖ of every column; an operator takes a product for each of its fewer sides."""
        norms: Floats = self.once("column_norms", partial(spectra.column_norms, self))
        return norms

    @property
    def row_gram(self) -> tuple[Floats, Floats]:
        """X̃ X̃ᵀ, n x n, and the column norms, which come with it."""
        return spectra.row_gram(self)

    @property
    def column_gram(self) -> Floats:
        """X̃ᵀ X̃, d x d."""
        return spectra.column_gram(self)

    def norm(self, kind: NormKind = "spectral") -> float:
        """‖X̃‖, never below the truth: the spectral norm, or the nuclear norm."""
        return spectra.norm(self, kind)

    @property
    def magnitude(self) -> float:
        """About the norm of the largest column."""
        size: float = self.once("magnitude", partial(spectra.magnitude, self))
        return size

    def check_magnitude(self) -> None:
        """Reject an X̃ too large or too small to square: for methods that do not ask for `norm`."""
        spectra.check_magnitude(self)

    def gram(self, Y: Floats) -> Floats:
        """[X̃ Y]ᵀ[X̃ Y] in one pass by rows, whatever n; an operator takes 2d products."""
        return spectra.gram(self, Y)

    # -- fewer rows ------------------------------------------------------------------------

    @property
    def compresses(self) -> bool:
        """Whether `compressed` would leave far fewer rows, at a cost soon won back."""
        return (
            self.n > 4 * self.d
            and self.d <= spectra.gram_limit(self)
            and self.n * self.d > limits.SVD
        )

    def compressed(self, Y: Floats) -> tuple[Design, Floats]:
        """An equivalent problem with at most d + n_targets rows, after one pass.

        With ``[X̃ Y]ᵀ[X̃ Y] = RᵀR``, the rows of R do for every method whose state lives in the
        span of X̃'s columns and Y: inner products, and so iterates and residual norms, are the
        same.  Worth it when n is much larger than d: afterwards nothing depends on n.
        """
        gram = self.gram(Y)
        self._cache["column_gram"] = gram[: self.d, : self.d]
        R = square_root(gram.copy())
        store = store_of(np.asfortranarray(R[:, : self.d]))
        norms = spectra.norms_from_gram(self)
        small = Design(store, samples=self.n_samples, absorbed=self.absorbed, _cache={**norms})
        return small, R[:, self.d :]

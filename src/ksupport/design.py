"""What a path needs of X, for every kind of X.

A `Design` is a view: ``X̃ = diag(√weights) (X[rows] - 1 meanᵀ) / scale``.  Centring, scaling,
sample weights and row subsets change how products are formed, never the data, so a sparse X
stays sparse and nothing of size n x d is copied.  Below the view lies a *store* (`stores`).
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from itertools import pairwise
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from ._kernels import EPS, choose_columns
from .stores import (
    Floats,
    Ints,
    RemoteStore,
    Store,
    T,
    as_dask_array,
    is_dask,
    names_of,
    store_of,
    unwrapped,
)

__all__ = [
    "Design", "Floats", "Ints", "Leading", "NormKind", "Query", "as_dask_array",
    "is_dask", "names_of", "unwrapped",
]  # fmt: skip

NormKind = Literal["spectral", "nuclear"]

SVD_LIMIT = 1 << 16  # up to this many entries, norms come from a full decomposition
GRAM_LIMIT = 3000  # up to this many rows or columns, norms come from a Gram matrix
SMALL = 1 << 18  # of an X with so many entries, views are copied as columns to walk on (2 MB)
MOST_COPIES = 20  # such views of one X; more take their passes together instead

_UNUSABLE = (
    "the norm of X is {}: X contains NaN or infinity, or entries too large or too small to square; "
    "impute such entries, or rescale X"
)


@dataclass(frozen=True)
class Query:
    """Which features are most correlated with u?  About so many, besides those held."""

    vector: Floats  # u
    count: int
    held: Ints


@dataclass(frozen=True)
class Leading:
    """The features that a `Query` asks for, and bounds on all others."""

    features: Ints  # ascending
    sizes: Floats  # their |x̃_iᵀu|
    norms: Floats  # their ‖x̃_i‖
    edge: float  # the largest |x̃_iᵀu| among the others
    reach: float  # the largest ‖x̃_i‖ among the others; 0: there are none

    @classmethod
    def of(cls, query: Query, features: Ints, products: Floats, norms: Floats) -> Leading:
        """Among these features, ascending; all held ones between first and last are there."""
        chosen = np.zeros(features.size, bool)
        if query.held.size:
            here = query.held[(query.held >= features[0]) & (query.held <= features[-1])]
            chosen[np.searchsorted(features, here)] = True
        count = min(query.count, features.size)
        edge, reach = choose_columns(products, norms, count, chosen)
        at = np.flatnonzero(chosen)
        return cls(features[at], np.abs(products[at]), norms[at], edge, reach)


def _leaders(
    queries: Sequence[Query], first: int, products: Floats, norms: Floats
) -> list[Leading]:
    """The answers among the features from ``first`` on that have these products with X̃ᵀ."""
    features = np.arange(first, first + norms.size)
    columns = (np.ascontiguousarray(column) for column in products.T)
    return [Leading.of(q, features, c, norms) for q, c in zip(queries, columns, strict=True)]


def _merge_leaders(queries: Sequence[Query], parts: list[list[Leading]]) -> list[Leading]:
    """The answers among all features, from those among consecutive parts of them."""
    merged = []
    for query, answers in zip(queries, zip(*parts, strict=True), strict=True):
        features, sizes, norms = (
            np.concatenate([getattr(answer, name) for answer in answers])
            for name in ("features", "sizes", "norms")
        )
        best = Leading.of(query, features, sizes, norms)
        edge = max(best.edge, *(answer.edge for answer in answers))
        reach = max(best.reach, *(answer.reach for answer in answers))
        merged.append(replace(best, edge=edge, reach=reach))
    return merged


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
    samples: float | None = None  # that the rows stand for, where they were compressed
    family: Sequence[Design] = field(default=(), repr=False, compare=False)  # see `sharing`
    # What was computed once; nothing is lost but time if it is emptied.
    _cache: dict[str, Any] = field(default_factory=dict, repr=False, compare=False)

    @classmethod
    def of(cls, X: Any) -> Design:
        """Wrap an array (memmap, Zarr, Dask), sparse matrix, LinearOperator, or a Design itself."""
        return X if isinstance(X, Design) else cls(store_of(X))

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
    def compact(self) -> bool:
        """Whether these are not the rows of X, but fewer that do for them (see `compressed`)."""
        return self.samples is not None

    @property
    def n_samples(self) -> float:
        """How many samples the rows stand for: weights count as repetitions."""
        if self.samples is not None:
            return self.samples
        return float(self.n if self.sqrt_weights is None else (self.sqrt_weights**2).sum())

    @property
    def dtype(self) -> np.dtype[Any]:
        return self.store.dtype

    @property
    def has_columns(self) -> bool:
        return self.store.has_columns

    def holdable(self, most: int) -> bool:
        """Whether all columns may be copied, if so many entries may: fewer if X lies elsewhere."""
        limit = most if self.store.near else min(most, SVD_LIMIT)
        return self.has_columns and self.n * self.d <= limit

    @property
    def held(self) -> bool:
        """Whether all columns have been copied: then none is read again."""
        return "all_columns" in self._cache

    def hold(self) -> bool:
        """Copy all columns if X is small and the views that share it are few; whether so."""
        entries = max(self.n, self.store.shape[0]) * self.d
        pays = self.holdable(SMALL) and entries <= SMALL and len(self.family) <= MOST_COPIES
        if pays:
            _ = self.all_columns
        return pays

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
        return replace(self, family=(), _cache={}, **changes)

    def _kept(self, name: str, make: Callable[[], Any]) -> Any:
        """What has this name in the cache, made if it is not there."""
        if name not in self._cache:
            self._cache[name] = make()
        return self._cache[name]

    def take(self, rows: ArrayLike) -> Design:
        """Only these rows (indices or a mask); centring and scaling stay as they are."""
        picked = np.arange(self.n)[np.asarray(rows)]
        base = picked if self.rows is None else self.rows[picked]
        weights = None if self.sqrt_weights is None else self.sqrt_weights[picked]
        return self._view(rows=base, sqrt_weights=weights, samples=None)

    def weighted(self, weights: ArrayLike) -> Design:
        """Multiply every row by the square root of its weight."""
        root = np.sqrt(np.asarray(weights, np.float64))
        old = self.sqrt_weights
        return self._view(sqrt_weights=root if old is None else root * old, samples=None)

    def centred(self, *, standardize: bool = False) -> Design:
        """Subtract the (weighted) column means; divide by the standard deviations if asked.

        A constant column keeps scale 1: centred, it is zero and no method can choose it.
        """
        return centred_together([self], standardize=standardize)[0]

    def _centred(self, mean: Floats, variance: Floats | None) -> Design:
        if not np.isfinite(mean).all():
            bad = int(np.flatnonzero(~np.isfinite(mean))[0])
            raise ValueError(
                f"X contains NaN or infinity in column {bad}; remove or impute such entries"
            )
        if variance is None:
            return self._view(mean=mean)
        if not np.isfinite(variance).all():
            raise ValueError(_UNUSABLE.format("infinite"))
        deviation = np.sqrt(variance)
        floor = 10 * EPS * np.abs(mean)
        return self._view(mean=mean, scale=np.where(deviation > floor, deviation, 1.0))

    def uncentred(self) -> Design:
        """The same view without centring."""
        return self._view(mean=None)

    def rows_like(self, raw: Design, rows: ArrayLike) -> Design:
        """Rows of the raw design, centred and scaled as this view is, without its weights."""
        return raw.take(rows)._view(mean=self.mean, scale=self.scale)

    @property
    def row_weights(self) -> Floats:
        """How much each row of the whole X counts."""
        weights = np.zeros(self.store.shape[0])
        rows = np.arange(self.store.shape[0]) if self.rows is None else self.rows
        np.add.at(weights, rows, 1.0 if self.sqrt_weights is None else self.sqrt_weights**2)
        return weights

    # -- products --------------------------------------------------------------------------

    def on_all_rows(self, U: Floats) -> Floats:
        """The V with X̃ᵀU = diag(scale)⁻¹ (Xᵀ - mean 1ᵀ) V, where X has all its rows."""
        if self.sqrt_weights is not None:
            U = U * self.sqrt_weights[:, None]
        if self.rows is None:
            return U
        full = np.zeros((self.store.shape[0], U.shape[1]))
        np.add.at(full, self.rows, U)
        return full

    def rmatmat(self, U: Floats) -> Floats:
        """X̃ᵀ U, one pass for all columns of U."""
        return rmatmat_together([self], [U])[0]

    def rmatvec(self, u: Floats) -> Floats:
        """X̃ᵀ u, one pass."""
        return self.rmatmat(u[:, None])[:, 0]

    def over_features(self, U: Floats, each: Callable[..., T], merge: Callable[[list[T]], T]) -> T:
        """Something found from X̃ᵀU and the column norms where X lies, in one pass.

        ``each(first, products, norms)`` is told the rows of X̃ᵀU and the norms of consecutive
        features from number ``first`` on: of all at once if X is at hand.  What it answers for
        different parts, in order, goes to ``merge``.
        """
        if isinstance(self.store, RemoteStore):
            return self.store.over_features(self, U, each, merge)
        products = (U.T @ self.all_columns.T).T if self.held else self.rmatmat(U)
        return each(0, products, self.column_norms)

    def answer(self, query: Query, product: Floats) -> Leading:
        """The features that a query asks for, given the product of its vector with X̃ᵀ."""
        return Leading.of(query, np.arange(self.d), product, self.column_norms)

    def leading(self, queries: Sequence[Query]) -> list[Leading]:
        """The features most correlated with each vector asked about; one pass for all."""
        U = np.column_stack([query.vector for query in queries])
        found = self.over_features(U, partial(_leaders, queries), partial(_merge_leaders, queries))
        if isinstance(self.store, RemoteStore):
            self.store.expect(np.unique(np.concatenate([each.features for each in found])))
        return found

    def matmat(self, W: Floats) -> Floats:
        """X̃ W, reading only the columns where some column of W is nonzero."""
        index = np.flatnonzero(W.any(axis=1))
        if index.size == 0:
            return np.zeros((self.n, W.shape[1]))
        values = W if index.size == self.d else W.T[:, index].T
        if self.scale is not None:
            values = values / self.scale[index, None]
        out = self.store.matmat(index, values)
        if self.rows is not None:
            out = out[self.rows]
        if self.mean is not None:
            out = out - self.mean[index] @ values
        return out if self.sqrt_weights is None else out * self.sqrt_weights[:, None]

    def matvec(self, w: Floats) -> Floats:
        """X̃ w, reading only the columns where w is nonzero."""
        return self.matmat(w[:, None])[:, 0]

    def columns(self, index: Ints) -> Floats:
        """The columns at ``index``, each a contiguous row of the m x n result."""
        return self.all_columns.take(index, axis=0) if self.held else self._read(index)

    def _read(self, index: Ints) -> Floats:
        return np.ascontiguousarray(self._finish(self.store.columns(index), index).T)

    @property
    def all_columns(self) -> Floats:
        """All columns as rows (d x n), made once: for problems small enough to hold."""
        columns: Floats = self._kept("all_columns", lambda: self._read(np.arange(self.d)))
        return columns

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
        """‖x̃_j‖ of every column; an operator takes a product for each of its fewer sides."""
        norms: Floats = self._kept("column_norms", self._column_norms)
        return norms

    def _column_norms(self) -> Floats:
        # Where it is small enough, a Gram matrix: the pass that the norm of X̃ needs anyway.
        if "column_gram" in self._cache:
            return np.sqrt(np.diag(self._column_gram()))
        if isinstance(self.store, RemoteStore):
            if min(self.shape) > GRAM_LIMIT:
                return self.store.column_norms(self)
            return self._spectrum()[1]
        if self.n <= min(self.d, self._gram_limit):
            return self._row_gram()[1]
        if self.d <= self._gram_limit:
            return np.sqrt(np.diag(self._column_gram()))
        norms2 = np.zeros(self.d)
        if not self.has_columns and self.n < self.d:
            for i in range(self.n):
                norms2 += self.rmatvec(np.eye(self.n, 1, -i)[:, 0]) ** 2
        else:
            for part, block in self.store.column_chunks():
                norms2[part] = (self._finish(block, part) ** 2).sum(axis=0)
        return np.sqrt(norms2)

    def norm(self, kind: NormKind = "spectral") -> float:
        """‖X̃‖, never below the truth: the spectral norm, or the nuclear norm."""
        if kind not in ("spectral", "nuclear"):
            raise ValueError(f"norm must be 'spectral' or 'nuclear', got {kind!r}")
        if kind not in self._cache:
            try:
                with np.errstate(over="ignore", invalid="ignore"):  # what comes is looked at
                    self._cache.update(self._norms(kind))
            except (np.linalg.LinAlgError, ArpackError) as error:
                raise ValueError(_UNUSABLE.format("undefined")) from error
        norm = float(self._cache[kind])
        if not 1e-150 < norm < 1e150 and (norm or 0 < self.magnitude < 1e-150):
            raise ValueError(_UNUSABLE.format(norm))
        return norm

    @property
    def magnitude(self) -> float:
        """About the norm of the largest column, from one product."""
        if "magnitude" not in self._cache:
            u = np.random.default_rng(0).standard_normal(self.n)
            with np.errstate(over="ignore", invalid="ignore"):  # what comes is looked at
                self._cache["magnitude"] = float(np.abs(self.rmatvec(u)).max(initial=0.0))
        return self._cache["magnitude"]

    def check_magnitude(self) -> None:
        """Reject an X̃ too large or too small to square: for methods that do not ask for `norm`."""
        if self.magnitude != 0 and not 1e-150 < self.magnitude < 1e150:
            raise ValueError(_UNUSABLE.format(f"about {self.magnitude:.0e}"))

    def _norms(self, kind: NormKind) -> dict[str, float]:
        if kind == "nuclear" and self.has_columns and self.n * self.d <= SVD_LIMIT:
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
        eigenvalues = np.maximum(self._eigenvalues(), 0.0)
        slack = 1 + 8 * max(self.shape) ** 0.5 * EPS * len(eigenvalues) ** 0.5
        return {
            "spectral": float(np.sqrt(eigenvalues[-1])) * slack,
            "nuclear": float(np.sqrt(eigenvalues).sum()) * slack,
        }

    def _eigenvalues(self) -> Floats:
        """Eigenvalues of the smaller Gram matrix, ascending; that of a remote X stays there."""
        if isinstance(self.store, RemoteStore) and "column_gram" not in self._cache:
            return self._spectrum()[0]
        gram = self._row_gram()[0] if self.n <= self.d else self._column_gram()
        return np.asarray(np.linalg.eigvalsh(gram))

    def _spectrum(self) -> tuple[Floats, Floats]:
        """Those eigenvalues of a remote X, and the column norms."""
        assert isinstance(self.store, RemoteStore)
        spectrum: tuple[Floats, Floats] = self._kept("spectrum", partial(self.store.spectrum, self))
        return spectrum

    def _row_gram(self) -> tuple[Floats, Floats]:
        """X̃ X̃ᵀ, n x n, and the column norms, which come with it."""
        if "row_gram" not in self._cache and not self.has_columns:
            gram, norms2 = np.empty((self.n, self.n)), np.zeros(self.d)
            for i in range(self.n):
                row = self.rmatvec(np.eye(self.n, 1, -i)[:, 0])
                gram[i] = self.matvec(row)
                norms2 += row**2
            self._cache["row_gram"] = gram, np.sqrt(norms2)
        elif "row_gram" not in self._cache:
            _row_grams_together([self, *(v for v in self.family if v is not self and v.n <= v.d)])
        gram_and_norms: tuple[Floats, Floats] = self._cache["row_gram"]
        return gram_and_norms

    def _column_gram(self) -> Floats:
        """X̃ᵀ X̃, d x d."""
        if "column_gram" not in self._cache and not self.has_columns:
            products = [self.rmatvec(self.matvec(e)) for e in np.eye(self.d)]
            self._cache["column_gram"] = np.stack(products)
        elif "column_gram" not in self._cache:
            views = [self, *(v for v in self.family if v is not self and v.d < v.n)]
            nothing = [np.empty((view.n, 0)) for view in views]
            for view, gram in zip(views, _grams_together(views, nothing), strict=True):
                view._cache["column_gram"] = gram
        return self._cache["column_gram"]

    def gram(self, Y: Floats) -> Floats:
        """[X̃ Y]ᵀ[X̃ Y] in one pass by rows, whatever n; an operator takes 2d products."""
        Y = Y.reshape(self.n, -1)
        if not self.has_columns:
            XtX, XtY = self._column_gram(), self.rmatmat(Y)
            return np.block([[XtX, XtY], [XtY.T, Y.T @ Y]])
        if isinstance(self.store, RemoteStore):
            XtX, XtY = np.hsplit(self.store.gram(self, Y), [self.d])
            return np.block([[XtX, XtY], [XtY.T, Y.T @ Y]])
        return _grams_together([self], [Y])[0]

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
        store = store_of(np.asfortranarray(R[:, : self.d]))
        small = Design(store, samples=self.n_samples, _cache={**self._norms_from_gram()})
        return small, R[:, self.d :]


# -- several views of one store, in one pass -------------------------------------------------------


def centred_together(views: Sequence[Design], *, standardize: bool = False) -> list[Design]:
    """Each view centred, and scaled if asked, by its own rows; views of one store."""
    weights = [view.row_weights for view in views]
    with np.errstate(over="ignore", invalid="ignore"):  # what comes is looked at
        if standardize:
            moments = views[0].store.all_moments(weights)
            return [view._centred(*each) for view, each in zip(views, moments, strict=True)]
        means = views[0].store.all_means(weights)
    return [view._centred(mean, None) for view, mean in zip(views, means, strict=True)]


def rmatmat_together(views: Sequence[Design], Us: Sequence[Floats]) -> list[Floats]:
    """X̃ᵀ U for each view of one store and its U."""
    lifted = [view.on_all_rows(U) for view, U in zip(views, Us, strict=True)]
    sums = [U.sum(axis=0) for U in lifted]
    product = views[0].store.rmatmat(lifted[0] if len(lifted) == 1 else np.hstack(lifted))
    ends = np.cumsum([0, *(U.shape[1] for U in lifted)])
    parts = [product[:, a:b] for a, b in pairwise(ends)]
    for view, part, total in zip(views, parts, sums, strict=True):
        for column, each in zip(part.T, total, strict=True):  # nothing of the product's size
            if view.mean is not None:
                column -= each * view.mean
            if view.scale is not None:
                column /= view.scale
    return parts


def sharing(views: Sequence[Design]) -> list[Design]:
    """The same views of one store; the pass that one takes for its norm serves them all."""
    family: list[Design] = []
    family += [replace(view, family=family) for view in views]
    return family


def _row_grams_together(views: Sequence[Design]) -> None:
    """X̃ X̃ᵀ and the column norms of each view, for its cache."""
    grams = [np.zeros((view.n, view.n)) for view in views]
    norms2 = [np.empty(view.d) for view in views]
    for part, raw in views[0].store.column_chunks():
        for view, gram, squares in zip(views, grams, norms2, strict=True):
            block = view._finish(raw, part)
            gram += block @ block.T
            squares[part] = np.einsum("ij,ij->j", block, block)
    for view, gram, squares in zip(views, grams, norms2, strict=True):
        view._cache["row_gram"] = gram, np.sqrt(squares)


def _grams_together(views: Sequence[Design], Ys: Sequence[Floats]) -> list[Floats]:
    """[X̃ Y]ᵀ[X̃ Y] of each view and its Y, by rows."""
    grams = [np.zeros((view.d + Y.shape[1],) * 2) for view, Y in zip(views, Ys, strict=True)]
    places = [np.arange(view.n) if view.rows is None else view.rows for view in views]
    orders = [np.argsort(place, kind="stable") for place in places]
    for part, raw in views[0].store.row_chunks():
        for view, Y, gram, place, order in zip(views, Ys, grams, places, orders, strict=True):
            lo, hi = np.searchsorted(place, (part.start, part.stop), sorter=order)
            mine = order[lo:hi]
            weights = None if view.sqrt_weights is None else view.sqrt_weights[mine]
            here = view._view(rows=place[mine] - part.start, sqrt_weights=weights)
            both = np.hstack([here._finish(raw, slice(None)), Y[mine]])
            gram += both.T @ both
    return grams

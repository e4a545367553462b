"""The sizes of a view of X: its Gram matrices, eigenvalues and norms, each found once."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from typing import TYPE_CHECKING, Literal

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from .. import limits
from .._kernels import EPS
from .stores import Floats, RemoteStore

if TYPE_CHECKING:
    from .view import Design

NormKind = Literal["spectral", "nuclear"]

UNUSABLE = (
    "the norm of X is {}: X contains NaN or infinity, or entries too large or too small to square; "
    "impute such entries, or rescale X"
)


def column_norms(view: Design) -> Floats:
    """‖x̃_j‖ of every column; an operator takes a product for each of its fewer sides."""
    # Where it is small enough, a Gram matrix: the pass that the norm of X̃ needs anyway.
    if "column_gram" in view._cache:
        return np.sqrt(np.diag(column_gram(view)))
    if isinstance(view.store, RemoteStore):
        if min(view.shape) > limits.GRAM:
            return view.store.column_norms(view)
        return _spectrum(view)[1]
    if view.n <= min(view.d, gram_limit(view)):
        return row_gram(view)[1]
    if view.d <= gram_limit(view):
        return np.sqrt(np.diag(column_gram(view)))
    norms2 = np.zeros(view.d)
    if not view.has_columns and view.n < view.d:
        for i in range(view.n):
            norms2 += view.rmatvec(np.eye(view.n, 1, -i)[:, 0]) ** 2
    else:
        for part, block in view.store.column_chunks():
            norms2[part] = (view._finish(block, part) ** 2).sum(axis=0)
    return np.sqrt(norms2)


def norm(view: Design, kind: NormKind = "spectral") -> float:
    """‖X̃‖, never below the truth: the spectral norm, or the nuclear norm."""
    if kind not in ("spectral", "nuclear"):
        raise ValueError(f"norm must be 'spectral' or 'nuclear', got {kind!r}")
    if kind not in view._cache:
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # what comes is looked at
                view._cache.update(_norms(view, kind))
        except (np.linalg.LinAlgError, ArpackError) as error:
            raise ValueError(UNUSABLE.format("undefined")) from error
    size = float(view._cache[kind])
    if not limits.SMALLEST < size < limits.LARGEST and (
        size or 0 < view.magnitude < limits.SMALLEST
    ):
        raise ValueError(UNUSABLE.format(size))
    return size


def magnitude(view: Design) -> float:
    """About the norm of the largest column, from one product."""
    u = np.random.default_rng(0).standard_normal(view.n)
    with np.errstate(over="ignore", invalid="ignore"):  # what comes is looked at
        return float(np.abs(view.rmatvec(u)).max(initial=0.0))


def check_magnitude(view: Design) -> None:
    """Reject an X̃ too large or too small to square: for methods that do not ask for `norm`."""
    if view.magnitude != 0 and not limits.SMALLEST < view.magnitude < limits.LARGEST:
        raise ValueError(UNUSABLE.format(f"about {view.magnitude:.0e}"))


def _norms(view: Design, kind: NormKind) -> dict[str, float]:
    if kind == "nuclear" and view.has_columns and view.n * view.d <= limits.SVD:
        return _norms_from_svd(view)
    if min(view.n, view.d) <= gram_limit(view):
        return norms_from_gram(view)
    if kind == "spectral":
        return {"spectral": _lanczos(view)}
    raise ValueError(
        "norm='nuclear' needs all singular values, which X of shape "
        f"{view.shape} does not allow in reasonable time; use norm='spectral'"
    )


def gram_limit(view: Design) -> int:
    """Up to how many rows or columns a Gram matrix is worth its products."""
    return limits.GRAM if view.has_columns else limits.GRAM // 10


def _norms_from_svd(view: Design) -> dict[str, float]:
    values = np.linalg.svd(view.all_columns, compute_uv=False)
    slack = 1 + 8 * max(view.shape) * EPS
    return {"spectral": float(values[0]) * slack, "nuclear": float(values.sum()) * slack}


def norms_from_gram(view: Design) -> dict[str, float]:
    """Both norms from the eigenvalues of the smaller Gram matrix."""
    squares = np.maximum(eigenvalues(view), 0.0)
    slack = 1 + 8 * max(view.shape) ** 0.5 * EPS * len(squares) ** 0.5
    return {
        "spectral": float(np.sqrt(squares[-1])) * slack,
        "nuclear": float(np.sqrt(squares).sum()) * slack,
    }


def eigenvalues(view: Design) -> Floats:
    """Eigenvalues of the smaller Gram matrix, ascending; that of a remote X stays there."""
    if isinstance(view.store, RemoteStore) and "column_gram" not in view._cache:
        return _spectrum(view)[0]
    gram = row_gram(view)[0] if view.n <= view.d else column_gram(view)
    return np.asarray(np.linalg.eigvalsh(gram))


def _spectrum(view: Design) -> tuple[Floats, Floats]:
    """Those eigenvalues of a remote X, and the column norms."""
    assert isinstance(view.store, RemoteStore)
    spectrum: tuple[Floats, Floats] = view._kept("spectrum", partial(view.store.spectrum, view))
    return spectrum


def row_gram(view: Design) -> tuple[Floats, Floats]:
    """X̃ X̃ᵀ, n x n, and the column norms, which come with it."""
    if "row_gram" not in view._cache and not view.has_columns:
        gram, norms2 = np.empty((view.n, view.n)), np.zeros(view.d)
        for i in range(view.n):
            row = view.rmatvec(np.eye(view.n, 1, -i)[:, 0])
            gram[i] = view.matvec(row)
            norms2 += row**2
        view._cache["row_gram"] = gram, np.sqrt(norms2)
    elif "row_gram" not in view._cache:
        row_grams_together([view, *(v for v in view.family if v is not view and v.n <= v.d)])
    gram_and_norms: tuple[Floats, Floats] = view._cache["row_gram"]
    return gram_and_norms


def column_gram(view: Design) -> Floats:
    """X̃ᵀ X̃, d x d."""
    if "column_gram" not in view._cache and not view.has_columns:
        products = [view.rmatvec(view.matvec(e)) for e in np.eye(view.d)]
        view._cache["column_gram"] = np.stack(products)
    elif "column_gram" not in view._cache:
        views = [view, *(v for v in view.family if v is not view and v.d < v.n)]
        nothing = [np.empty((each.n, 0)) for each in views]
        for each, gram in zip(views, grams_together(views, nothing), strict=True):
            each._cache["column_gram"] = gram
    return view._cache["column_gram"]


def gram(view: Design, Y: Floats) -> Floats:
    """[X̃ Y]ᵀ[X̃ Y] in one pass by rows, whatever n; an operator takes 2d products."""
    Y = Y.reshape(view.n, -1)
    if not view.has_columns:
        XtX, XtY = column_gram(view), view.rmatmat(Y)
        return np.block([[XtX, XtY], [XtY.T, Y.T @ Y]])
    if isinstance(view.store, RemoteStore):
        XtX, XtY = np.hsplit(view.store.gram(view, Y), [view.d])
        return np.block([[XtX, XtY], [XtY.T, Y.T @ Y]])
    return grams_together([view], [Y])[0]


def _lanczos(view: Design) -> float:
    """Largest singular value by Lanczos, plus the size of its residual."""
    wide = view.n <= view.d

    def product(u: Floats) -> Floats:
        u = np.ravel(u)
        return view.matvec(view.rmatvec(u)) if wide else view.rmatvec(view.matvec(u))

    size = min(view.shape)
    operator = LinearOperator((size, size), matvec=product, dtype=np.float64)
    start = np.random.default_rng(0).standard_normal(size)
    values, vectors = eigsh(operator, k=1, v0=start, tol=1e-3, ncv=20)
    ritz, vector = float(values[0]), vectors[:, 0]
    # The residual bounds the distance to an eigenvalue; twice it, and a part in a
    # thousand, covers what a Krylov space of this size can still miss.
    residual = float(np.linalg.norm(product(vector) - ritz * vector))
    return float(np.sqrt(ritz + 2 * residual)) * 1.001


def row_grams_together(views: Sequence[Design]) -> None:
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


def grams_together(views: Sequence[Design], Ys: Sequence[Floats]) -> list[Floats]:
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

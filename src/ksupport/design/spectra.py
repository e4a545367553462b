"""The sizes of a view of X: its Gram matrices, eigenvalues and norms, each found once."""

from __future__ import annotations

from functools import partial
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from scipy.sparse.linalg import ArpackError, LinearOperator, eigsh

from .. import limits
from .._common.phases import phase
from .stores import Floats, Ints, Spectrum

if TYPE_CHECKING:
    from .view import Design

NormKind = Literal["spectral", "nuclear"]


def unusable(view: Design, size: Any) -> ValueError:
    """What to say of an X whose norm is of no use, after a look at its entries where it has any."""
    words = "its entries are too large or too small to square; rescale X"
    if not (view.has_columns and has_finite(view, np.arange(view.d))):
        words = (
            "X contains NaN or infinity, or entries too large or too small to square; impute such "
            "entries, or rescale X"
        )
    return ValueError(f"the norm of X is {size}: {words}")


def has_finite(view: Design, index: Ints) -> bool:
    """Whether all entries of these columns of the raw X are numbers."""
    width = max(1, limits.CHUNK // view.store.shape[0])
    parts = (index[at : at + width] for at in range(0, index.size, width))
    return all(np.isfinite(view.store.columns(part)).all() for part in parts)


@phase("measuring columns", one_pass=True)
def column_norms(view: Design) -> Floats:
    """‖x̃_j‖ of every column; an operator takes a product for each of its fewer sides."""
    if "column_gram" in view._cache:
        return np.sqrt(np.maximum(np.diag(column_gram(view)), 0.0))
    if "row_gram" in view._cache:
        return row_gram(view)[1]
    return view.store.column_norms(view)


def spectrum(view: Design) -> Spectrum:
    """Column norms, and the eigenvalues of the smaller Gram matrix."""
    if "column_gram" in view._cache:  # whoever made it: no pass is needed
        return Spectrum.of_columns(column_gram(view), view.n)
    found: Spectrum = view.once("spectrum", partial(view.store.spectrum, view))
    return found


def norm(view: Design, kind: NormKind = "spectral") -> float:
    """‖X̃‖, never below the truth: the spectral norm, or the nuclear norm."""
    if kind not in ("spectral", "nuclear"):
        raise ValueError(f"norm must be 'spectral' or 'nuclear', got {kind!r}")
    if kind not in view._cache:
        try:
            with np.errstate(over="ignore", invalid="ignore"):  # what comes is looked at
                view._cache.update(_norms(view, kind))
        except (np.linalg.LinAlgError, ArpackError) as error:
            raise unusable(view, "undefined") from error
    size = float(view._cache[kind])
    if not limits.SMALLEST < size < limits.LARGEST and (
        size or 0 < view.magnitude < limits.SMALLEST
    ):
        raise unusable(view, size)
    return size


def magnitude(view: Design) -> float:
    """About the norm of the largest column; from one product, unless column norms tell."""
    with np.errstate(over="ignore", invalid="ignore"):  # what comes is looked at
        # The squares of tiny entries are zero, and so are their norms.
        if view.has_columns and (largest := float(view.column_norms.max(initial=0.0))) > 0:
            return largest
        u = np.random.default_rng(0).standard_normal(view.n)
        return float(np.abs(view.rmatvec(u)).max(initial=0.0))


def check_magnitude(view: Design) -> None:
    """Reject an X̃ too large or too small to square: for methods that do not ask for `norm`."""
    if view.magnitude != 0 and not limits.SMALLEST < view.magnitude < limits.LARGEST:
        raise unusable(view, f"about {view.magnitude:.0e}")


def _norms(view: Design, kind: NormKind) -> dict[str, float]:
    """The norm that is asked for, by its name; both norms if the other comes at no extra cost."""
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
    slack = 1 + 8 * max(view.shape) * limits.EPS
    return {"spectral": float(values[0]) * slack, "nuclear": float(values.sum()) * slack}


def norms_from_gram(view: Design) -> dict[str, float]:
    """Both norms from the eigenvalues of the smaller Gram matrix."""
    found = spectrum(view)
    with phase("finding the norm of X from its Gram matrix"):
        squares = np.maximum(found.eigenvalues(), 0.0)
    slack = 1 + 8 * max(view.shape) ** 0.5 * limits.EPS * len(squares) ** 0.5
    return {
        "spectral": float(np.sqrt(squares[-1])) * slack,
        "nuclear": float(np.sqrt(squares).sum()) * slack,
    }


@phase("forming the Gram matrix of X", one_pass=True)
def row_gram(view: Design) -> tuple[Floats, Floats]:
    """X̃ X̃ᵀ, n x n, and the column norms, which come with it."""
    if "row_gram" not in view._cache:
        views = [view, *(v for v in _relatives(view) if v.n <= v.d)]
        for each, found in zip(views, view.store.row_grams(views), strict=True):
            each._cache["row_gram"] = found
    gram_and_norms: tuple[Floats, Floats] = view._cache["row_gram"]
    return gram_and_norms


@phase("forming the Gram matrix of X", one_pass=True)
def column_gram(view: Design) -> Floats:
    """X̃ᵀ X̃, d x d."""
    if "column_gram" not in view._cache:
        views = [view, *(v for v in _relatives(view) if v.d < v.n)]
        for each, found in zip(views, view.store.column_grams(views), strict=True):
            each._cache["column_gram"] = found
    gram: Floats = view._cache["column_gram"]
    return gram


def _relatives(view: Design) -> list[Design]:
    """Views that share a pass with this one; products of an operator cannot be shared."""
    return [other for other in view.family if other is not view and view.has_columns]


@phase("forming the Gram matrix of X", one_pass=True)
def gram(view: Design, Y: Floats) -> Floats:
    """[X̃ Y]ᵀ[X̃ Y] in one pass by rows, whatever n; an operator takes 2d products."""
    return view.store.grams([view], [Y.reshape(view.n, -1)])[0]


@phase("finding the norm of X")
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

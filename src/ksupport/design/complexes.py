"""Complex numbers as real ones: the real parts, and below them the imaginary."""

from __future__ import annotations

from collections.abc import Callable
from typing import Any

import numpy as np
import scipy.sparse as sp
from scipy.sparse.linalg import LinearOperator

from .stores import Floats, is_dask, unwrapped


def is_complex(X: Any) -> bool:
    """Whether entries of X or y are complex numbers."""
    if isinstance(X, list | tuple):
        return bool(np.iscomplexobj(X))
    dtype = getattr(X, "dtype", None)
    return isinstance(dtype, np.dtype) and dtype.kind == "c"


def stacked(X: Any) -> Any:
    """The real X̂ = [Re X; Im X] with X̂w = [Re Xw; Im Xw] for every real w, as X is stored."""
    X = unwrapped(X)
    if isinstance(X, LinearOperator):
        return _Stacked(X)
    if sp.issparse(X):
        return sp.vstack([X.real, X.imag], format="csr")
    if is_dask(X):
        from dask.array import concatenate

        return concatenate([X.real, X.imag])
    return np.concatenate([np.real(X), np.imag(X)])


def as_real(X: Any, y: Any) -> tuple[Any, Any]:
    """X and y with twice the rows if they are complex; as they are if they are real."""
    if is_complex(X) and not is_complex(y):
        raise ValueError(
            "y must be complex where X is, but it is real: the imaginary parts are measurements, "
            "too. If they are zero, give y + 0j; if only the moduli were measured, the model is "
            "not linear, and cannot be fitted"
        )
    if is_complex(y) and not is_complex(X):
        raise ValueError(
            "y is complex, but X is real, and real coefficients give it no imaginary part: give "
            "y.real, or the complex X that y was measured by"
        )
    return (stacked(X), stacked(y)) if is_complex(X) else (X, y)


def unstacked(product: Any) -> Any:
    """The complex numbers of which these are the real parts, and below them the imaginary."""
    half = product.shape[0] // 2
    return product[:half] + 1j * product[half:]


class _Stacked(LinearOperator):
    """[Re X; Im X] of a complex operator; its adjoint takes [a; b] to Re Xᴴ(a + ib)."""

    def __init__(self, X: LinearOperator) -> None:
        n, d = X.shape
        super().__init__(np.zeros((), X.dtype).real.dtype, (2 * n, d))
        self.X = X

    def _matvec(self, w: Floats) -> Floats:
        product = np.ravel(self.X.matvec(np.asarray(w).ravel().astype(self.X.dtype)))
        return np.concatenate([product.real, product.imag])

    def _rmatvec(self, u: Floats) -> Floats:
        return np.ravel(self.X.rmatvec(unstacked(np.asarray(u).ravel()))).real


def paired(X: LinearOperator) -> LinearOperator:
    """The real X̂ that takes [Re w; Im w] to [Re Xw; Im Xw] for every complex w."""
    return _Paired(X)


class _Paired(LinearOperator):
    def __init__(self, X: LinearOperator) -> None:
        n, d = X.shape
        super().__init__(np.zeros((), X.dtype).real.dtype, (2 * n, 2 * d))
        self.X = X

    def _matvec(self, w: Floats) -> Floats:
        return self._parts(self.X.matvec, w)

    def _rmatvec(self, u: Floats) -> Floats:
        return self._parts(self.X.rmatvec, u)

    def _parts(self, product: Callable[[Any], Any], stacked: Floats) -> Floats:
        """Of a product; of a real operator, which may know real numbers alone, two."""
        numbers = unstacked(np.ravel(stacked))
        if is_complex(self.X):
            there = np.ravel(product(numbers.astype(self.X.dtype)))
            return np.concatenate([there.real, there.imag])
        return np.concatenate([np.ravel(product(part)) for part in (numbers.real, numbers.imag)])

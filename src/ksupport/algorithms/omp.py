"""OMP: orthogonal matching pursuit.

J. A. Tropp, A. C. Gilbert, "Signal recovery from random measurements via orthogonal matching
pursuit", IEEE Transactions on Information Theory 53 (2007); scikit-learn's `orthogonal_mp` as a
path over atoms: add the feature most correlated with the residual, refit by least squares.
"""

from __future__ import annotations

import warnings
from dataclasses import dataclass
from typing import ClassVar

import numpy as np
from sklearn.linear_model import orthogonal_mp

from .. import limits
from ..design import Design, Floats
from ..walking import Path
from .base import Method
from .precomputed import PrecomputedPath, need_columns

FITTED = 1e-10  # a residual this small next to y is zero


@dataclass(frozen=True)
class OMPMethod(Method):
    """scikit-learn's `orthogonal_mp`: step t is the model of t atoms.

    The path ends when y is fitted exactly, or when every atom left depends on those chosen.

    Parameters
    ----------
    n_atoms : int, optional
        Atoms at most; by default as many as X has rows or columns.
    """

    name: ClassVar[str] = "omp"
    title: ClassVar[str] = "OMP"
    citation: ClassVar[str] = "Tropp and Gilbert 2007"
    condition: ClassVar[str] = "RIP"
    bound: ClassVar[str] = "O(δ)"
    complexity: ClassVar[str] = "O(k)"
    every: ClassVar[int] = 1
    needs_columns: ClassVar[bool] = True

    n_atoms: int | None = None

    def start(self, design: Design, y: Floats) -> Path:
        need_columns(self.name, design)
        most = min(design.n, design.d)
        if self.n_atoms is not None and not 1 <= self.n_atoms <= design.d:
            raise ValueError(
                f"n_atoms must be between 1 and n_features={design.d}, got {self.n_atoms}"
            )
        if design.is_sparse and design.n * design.d > limits.DENSE:
            raise ValueError(
                "method 'omp' needs X as a dense array, which for this sparse X of shape "
                f"{design.shape} takes {8 * design.n * design.d / 2**30:.1f} GB; choose fewer "
                "columns first, or use method 'iht', which keeps X sparse"
            )
        if self.n_atoms is not None:
            most = min(most, self.n_atoms)
        return _OMPPath(design, y, most if y.any() else 0)


class _OMPPath(PrecomputedPath):
    """`orthogonal_mp`, afresh for each longer stretch; X dense from the first one on."""

    X: Floats | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.y_scale = _power_of_two(float(np.linalg.norm(self.y)))

    def attach(self, design: Design | None) -> None:
        super().attach(design)
        self.X = None

    def solve(self, first: int, last: int) -> tuple[Floats, bool]:
        """The models of first..last atoms, and whether the last one fits y exactly."""
        if self.X is None:
            # scikit-learn takes columns for unit vectors and y for of order one in its tests for
            # exhaustion; powers of two bring X and y there without changing a digit.
            self.X = self.design.columns(np.arange(self.design.d)).T
            norm = float(np.sqrt(np.einsum("ij,ij->j", self.X, self.X).max()))
            self.X_scale = _power_of_two(norm)
            self.X *= self.X_scale
        y = self.y * self.y_scale
        models = _models(self.X, y, last)
        residuals = np.linalg.norm(models @ self.X.T - y, axis=1)
        fitted = residuals <= FITTED * np.linalg.norm(y)
        if fitted.any():
            models = models[: int(np.argmax(fitted)) + 1]
        return models[first - 1 :] * (self.X_scale / self.y_scale), bool(fitted.any())


def _power_of_two(size: float) -> float:
    """The power of two that brings ``size`` to [0.5, 1)."""
    return float(np.ldexp(1.0, -np.frexp(size)[1]))


def _models(X: Floats, y: Floats, n_atoms: int) -> Floats:
    """The models of 1, 2, … atoms, one a row; fewer than asked for if atoms become dependent.

    With return_path=True, `orthogonal_mp` makes a d x d array.  So find the atoms first, then
    walk the path on them alone: the most correlated of all features is so among the atoms too.
    """
    with warnings.catch_warnings():
        warnings.simplefilter("ignore", RuntimeWarning)  # ended early: the path says so
        coef, n_found = orthogonal_mp(X, y, n_nonzero_coefs=n_atoms, return_n_iter=True)
        atoms = np.flatnonzero(coef)
        if atoms.size < n_found:  # an atom's coefficient happens to be zero
            atoms = np.arange(X.shape[1])
        out = np.zeros((n_found, X.shape[1]))
        if n_found == 0:
            return out
        steps = orthogonal_mp(X[:, atoms], y, n_nonzero_coefs=n_found, return_path=True)
    steps = np.reshape(steps, (atoms.size, -1))
    out[: steps.shape[1], atoms] = steps.T
    return out[: steps.shape[1]]

"""Lasso: least squares with an l1 penalty, by coordinate descent.

R. Tibshirani, "Regression shrinkage and selection via the lasso", Journal of the Royal
Statistical Society B 58 (1996); scikit-learn's `lasso_path` as a path over lambda in

    ‖Xw - y‖²/(2n) + lambda ‖w‖₁.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import ClassVar

import numpy as np

from ..design import Design, Floats
from ..walking import Path
from .base import Method
from .enet import Grid, penalised_path, steepest


@dataclass(frozen=True)
class LassoMethod(Method):
    """scikit-learn's `lasso_path`: step 0 is w = 0 (lambda = ∞), step t the t-th lambda.

    Parameters
    ----------
    eps : float
        Smallest lambda of the grid, as a share of the largest.
    n_lambdas : int
        Length of the grid; it falls geometrically from the least lambda for which w = 0.
    lambdas : sequence of floats, optional
        A grid of your own, walked from the largest down.
    lambda_max : float, optional
        Where the grid begins instead.
    tol : float
        Duality gap, as a share of ‖y‖², at which coordinate descent ends.
    max_sweeps : int
        Sweeps of coordinate descent per lambda.
    """

    name: ClassVar[str] = "lasso"
    title: ClassVar[str] = "Lasso"
    citation: ClassVar[str] = "Tibshirani 1996"
    condition: ClassVar[str] = "max_{l∉S} |⟨X_S†x_l, sgn(w*_S)⟩| < 1, X_S injective"
    bound: ClassVar[str] = "O(δ)"
    complexity: ClassVar[str] = "O(Λ T)"
    every: ClassVar[int] = 1
    needs_columns: ClassVar[bool] = True

    eps: float = 1e-3
    n_lambdas: int = 100
    lambdas: Sequence[float] | None = None
    lambda_max: float | None = None
    tol: float = 1e-4
    max_sweeps: int = 1000

    def fixed(self, design: Design, y: Floats) -> Method:
        return replace(self, lambda_max=self.lambda_max or steepest(design, y) or None)

    def start(self, design: Design, y: Floats) -> Path:
        # `lasso_path` is `enet_path` with this ratio.
        grid = Grid(self.eps, self.n_lambdas, self.lambdas, self.lambda_max)
        return penalised_path(self.name, design, y, np.ones(1), grid, self.tol, self.max_sweeps)

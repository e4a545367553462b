"""ElasticNet: least squares with an l1 and a squared l2 penalty, by coordinate descent.

H. Zou, T. Hastie, "Regularization and variable selection via the elastic net", Journal of the
Royal Statistical Society B 67 (2005); scikit-learn's `enet_path` as a path over lambda in

    ‖Xw - y‖²/(2n) + lambda (ratio ‖w‖₁ + (1 - ratio)/2 ‖w‖²).

With the ratio 1 it is the Lasso: R. Tibshirani, "Regression shrinkage and selection via the
lasso", Journal of the Royal Statistical Society B 58 (1996).
"""

from __future__ import annotations

import warnings
from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import Any, ClassVar

import numpy as np
from sklearn.exceptions import ConvergenceWarning
from sklearn.linear_model import enet_path

from .. import limits
from ..design import Design, Floats
from ..walking import Path
from .base import Method
from .precomputed import PrecomputedPath, need_columns

RATIOS = (0.1, 0.5, 0.7, 0.9, 0.95, 0.99, 1.0)  # those of the paper, and of ElasticNetCV's docs
ROUNDING = 2.0**-44  # a fit that is this share of y is rounding
RESOLUTION = float(np.finfo(np.float64).resolution)  # what scikit-learn's grids take for zero


@dataclass(frozen=True)
class ElasticNetMethod(Method):
    """scikit-learn's `enet_path`: step 0 is w = 0 (lambda = ∞), step t the t-th lambda.

    Parameters
    ----------
    l1_ratio : float or sequence of floats
        Share of the l1 norm, in (0, 1].  A sequence walks one path after the other, each from
        w = 0 on its own grid: with m lambdas, ratio i has the steps i m + 1, …, (i + 1) m.
    eps : float
        Smallest lambda of a grid, as a share of the largest.
    n_lambdas : int
        Length of a grid; it falls geometrically from the least lambda for which w = 0.
    lambdas : sequence of floats, optional
        A grid of your own, walked from the largest down.
    lambda_max : float, optional
        Where the grid of ratio 1 begins instead; that of ratio r begins at lambda_max / r.
    tol : float
        Duality gap, as a share of ‖y‖², at which coordinate descent ends.
    max_sweeps : int
        Sweeps of coordinate descent per lambda.
    """

    name: ClassVar[str] = "enet"
    title: ClassVar[str] = "ElasticNet"
    citation: ClassVar[str] = "Zou and Hastie 2005"
    complexity: ClassVar[str] = "O(Λ T)"
    every: ClassVar[int] = 1
    needs_columns: ClassVar[bool] = True

    l1_ratio: float | Sequence[float] = RATIOS
    eps: float = 1e-3
    n_lambdas: int = 100
    lambdas: Sequence[float] | None = None
    lambda_max: float | None = None
    tol: float = 1e-4
    max_sweeps: int = 1000

    @classmethod
    def grid(cls, n: int, d: int) -> dict[str, Any]:
        return {"l1_ratio": list(RATIOS)}  # a path each, so that each can end in its own time

    def fixed(self, design: Design, y: Floats) -> Method:
        return replace(self, lambda_max=self.lambda_max or steepest(design, y) or None)

    def start(self, design: Design, y: Floats) -> Path:
        ratios = np.atleast_1d(np.asarray(self.l1_ratio, np.float64))
        if ratios.size == 0 or not ((ratios > 0) & (ratios <= 1)).all():
            raise ValueError(f"l1_ratio must lie in (0, 1], got {self.l1_ratio}")
        self._check_grid()
        need_columns(self.name, design)
        if not self.tol >= 0:
            raise ValueError(f"tol must not be negative, got {self.tol}")
        if self.max_sweeps < 1:
            raise ValueError(f"max_sweeps must be at least 1, got {self.max_sweeps}")
        largest = self.lambda_max or steepest(design, y)
        grids = [self._falling(largest / ratio) for ratio in ratios]
        lambdas = np.concatenate([[np.inf], *grids])
        length = grids[0].size
        shares = np.concatenate([ratios[:1], np.repeat(ratios, length)])
        return _PenalisedPath(design, y, lambdas.size - 1, self, lambdas, shares, length)

    def _check_grid(self) -> None:
        if self.lambda_max is not None and not 0 < self.lambda_max < np.inf:
            raise ValueError(f"lambda_max must be positive and finite, got {self.lambda_max}")
        if not 0 < self.eps < 1:
            raise ValueError(f"eps must lie strictly between 0 and 1, got {self.eps}")
        if self.n_lambdas < 1:
            raise ValueError(f"n_lambdas must be at least 1, got {self.n_lambdas}")
        if self.lambdas is not None:
            given = np.asarray(self.lambdas, np.float64)
            if given.ndim != 1 or given.size == 0 or not ((given > 0) & (given < np.inf)).all():
                raise ValueError(
                    f"lambdas must be a sequence of positive numbers, got {self.lambdas}"
                )

    def _falling(self, largest: float) -> Floats:
        """The penalties, where ``largest`` is the least one for which w = 0."""
        if self.lambdas is not None:
            return np.sort(np.asarray(self.lambdas, np.float64))[::-1]
        if largest == 0:  # y is orthogonal to X, where any penalty gives w = 0
            return np.full(self.n_lambdas, RESOLUTION)
        return np.geomspace(largest, largest * self.eps, self.n_lambdas)


@dataclass(frozen=True)
class LassoMethod(ElasticNetMethod):
    """The ElasticNet without l2 penalty: its parameters are those of `ElasticNetMethod`."""

    name: ClassVar[str] = "lasso"
    title: ClassVar[str] = "Lasso"
    citation: ClassVar[str] = "Tibshirani 1996"
    condition: ClassVar[str] = "max_{l∉S} |⟨X_S†x_l, sgn(w*_S)⟩| < 1, X_S injective"
    bound: ClassVar[str] = "O(δ)"
    l1_ratio: ClassVar[float] = 1.0  # type: ignore[misc]

    @classmethod
    def grid(cls, n: int, d: int) -> dict[str, Any]:
        return {}


def steepest(design: Design, y: Floats) -> float:
    """The least lambda for which the Lasso's model is zero: ‖Xᵀy‖∞ / n; 0 if that is rounding."""
    design.check_magnitude()
    size = float(np.abs(design.rmatvec(y)).max())
    rounding = RESOLUTION * design.magnitude * float(np.linalg.norm(y))
    return size / design.n_samples if size > rounding else 0.0


@dataclass(eq=False, repr=False)
class _PenalisedPath(PrecomputedPath):
    """`enet_path` on consecutive stretches of the grid, each from where the last one ended."""

    method: ElasticNetMethod
    lambdas: Floats  # by step; infinite at step 0
    l1_ratios: Floats  # by step
    length: int  # of one ratio's grid
    problem: tuple[Any, Floats, dict[str, Any]] | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        self.w = np.zeros(self.design.d)  # the last model, to start the next stretch from
        self.dust = float(ROUNDING * np.linalg.norm(self.y))  # a fit ‖x_j w_j‖ up to it is none

    def attach(self, design: Design | None) -> None:
        super().attach(design)
        self.problem = None

    def solve(self, first: int, last: int) -> tuple[Floats, bool]:
        """The models of steps first..last; a ratio's first lambda starts from w = 0."""
        rows = []
        while first <= last:
            ratio = self.l1_ratios[first]
            if (first - 1) % self.length == 0:
                self.w = np.zeros(self.design.d)
            end = min(last + 1, first + self.length - (first - 1) % self.length)
            rows.append(self._stretch(slice(first, end), float(ratio)))
            self.w = rows[-1][-1]
            first = end
        return np.vstack(rows), False

    def _stretch(self, steps: slice, ratio: float) -> Floats:
        method = self.method
        if self.problem is None:
            self.problem = _problem(method.name, self.design, self.y)
        X, y, more = self.problem
        # scikit-learn divides by the rows it sees, which compression makes fewer.
        lambdas = self.lambdas[steps] * (self.design.n_samples / self.design.n)
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", ConvergenceWarning)  # told below, once
            _, coefs, gaps = enet_path(
                X, y, l1_ratio=ratio, alphas=lambdas, copy_X=False, coef_init=self.w.copy(),
                tol=method.tol, max_iter=method.max_sweeps, **more,
            )  # fmt: skip
        open_gaps = int(np.sum(gaps * len(y) > method.tol * float(self.y @ self.y)))
        if open_gaps:
            warnings.warn(
                f"method {method.name!r}: coordinate descent did not reach tol={method.tol:g} in "
                f"max_sweeps={method.max_sweeps} for {open_gaps} of the {lambdas.size} lambdas "
                f"from {self.lambdas[steps][0]:.3g} to {self.lambdas[steps][-1]:.3g}; raise "
                "max_sweeps, tol or eps",
                ConvergenceWarning,
                stacklevel=2,
            )
        # The first lambda is where w = 0 ends, up to rounding.
        w = np.ascontiguousarray(coefs.T)
        return np.where(np.abs(w) * self.design.column_norms > self.dust, w, 0.0)


def _problem(name: str, design: Design, y: Floats) -> tuple[Any, Floats, dict[str, Any]]:
    """X̃ and y as `enet_path` takes them, and what it must be told besides."""
    if not design.is_sparse:
        return design.columns(np.arange(design.d)).T, y, {}
    if design.mean is None and design.off is None:
        return design.as_csc(), y, {}
    root = np.ones(design.n) if design.sqrt_weights is None else design.sqrt_weights
    if design.off is None and _is_centred(design, root) and (root > 0).all():
        # scikit-learn's implicit centring is right only for the mean of these very rows, and for a
        # centred y; as X̃ is orthogonal to root, centring y does not change the solution.
        y = y / root - (root @ y) / (root @ root)
        scale = np.ones(design.d) if design.scale is None else design.scale
        more = {"X_offset": design.mean, "X_scale": scale}
        if design.sqrt_weights is not None:
            more["sample_weight"] = design.sqrt_weights**2
        bare = Design(design.store, rows=design.rows, scale=design.scale)
        return bare.as_csc(), y, more
    if design.n * design.d > limits.DENSE:
        what = "centred by other means than those of its own rows"
        remedy = "centre on these rows, or walk without an intercept"
        if design.off is not None:
            what, remedy = "adjusted for columns", "use method 'irksn', which keeps X sparse"
        raise ValueError(
            f"method {name!r} needs a sparse X that is {what} as a dense array, of "
            f"{8 * design.n * design.d / 2**30:.1f} GB; {remedy}"
        )
    return design.columns(np.arange(design.d)).T, y, {}


def _is_centred(design: Design, root: Floats) -> bool:
    """Whether the mean subtracted is the weighted mean of these very rows: X̃ᵀ√weights = 0."""
    assert design.mean is not None
    scale = 1.0 if design.scale is None else design.scale
    size = np.abs(design.mean / scale) * (root @ root) + np.linalg.norm(root)
    return bool((np.abs(design.rmatvec(root)) <= 1e-10 * size).all())

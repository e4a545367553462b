"""The data as paths see them: rows to walk on, rows to measure on, and the way back."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from typing import Any

import numpy as np

from .. import limits
from .._common.phases import count_passes
from .._kernels import EPS
from .rows import Unseen, Weights, loss_of
from .stores import Floats, Ints
from .view import Design, centred_together, sharing

Compression = Callable[[Design, Floats], tuple[Design, list[Floats]]]


class Problem:
    """(X, Y) as the paths see it, and the way back to the user's units.

    If one method alone walks it, ``compress`` may leave fewer rows that do for its iterates.
    """

    def __init__(
        self,
        X: Any,
        Y: Floats,
        weights: Weights,
        train: Ints,
        center: bool,
        scale: bool,
        compress: Compression | None = None,
    ) -> None:
        self.raw = Design.of(X)
        count_passes(lambda: self.raw.passes)
        self.dtype: Any = np.float32 if X.dtype == np.float32 else np.float64
        self.Y = Y
        self.weights = weights
        self.center, self.scale = center, scale
        train = weights.counted(train)
        design = self.raw if len(train) == len(Y) else self.raw.take(train)
        (self.view,) = (design,) = self.prepared([design], [train])
        _check_size(Y[train])
        self.y_mean, targets = self.targets_on(train)
        _check_size(targets)
        self.design, self.targets = design, [np.ascontiguousarray(t) for t in targets.T]
        if compress is not None:
            self.design, self.targets = compress(design, targets)

    def prepared(self, designs: Sequence[Design], rows: Sequence[Ints]) -> list[Design]:
        """Weight, centre and scale designs that consist of these rows, in one pass."""
        weights = [self.weights.of(each) for each in rows]
        views = [v if w is None else v.weighted(w) for v, w in zip(designs, weights, strict=True)]
        if self.center or self.scale:
            views = centred_together(views, standardize=self.scale)
        return sharing(views if self.center else [view.uncentred() for view in views])

    def targets_on(self, rows: Ints) -> tuple[Floats, Floats]:
        """The means of Y on these rows, and Y less them, weighted as X̃ is."""
        Y, weights = self.Y[rows], self.weights.of(rows)
        mean = np.average(Y, axis=0, weights=weights) if self.center else np.zeros(Y.shape[1])
        left = Y - mean
        # The mean of a constant is hardly ever exact; what rounding leaves of it is nothing.
        left[:, np.abs(left).max(axis=0) <= 10 * EPS * np.abs(mean)] = 0.0
        return mean, left if weights is None else left * np.sqrt(weights)[:, None]

    def unseen(
        self, rows: Ints, view: Design, mean: float, target: int = 0, scoring: Any = None
    ) -> Unseen:
        """Rows to measure models on that were walked on this view, where y has this mean."""
        y = self.Y[rows, target]
        like = view.rows_like(self.raw, rows)
        return Unseen(like, y - mean, self.weights.of(rows), loss_of(scoring, y, mean))

    @property
    def fingerprint(self) -> Floats:
        """Changes whenever the problem does: what a warm start must find again.

        The states of paths are vectors of samples, so other rows, or the same in another order, are
        another problem: besides Xᵀy, which does not see the order, it has products with a u that
        is the same for all data.
        """
        u = np.random.default_rng(0).standard_normal(self.design.n)
        samples = np.column_stack([*self.targets, u])
        return np.vstack([self.design.rmatmat(samples), u @ samples]).T

    def scaled(self, coef: Floats) -> Floats:
        return coef if self.view.scale is None else coef * self.view.scale

    def unscaled(self, w: Floats) -> Floats:
        return w if self.view.scale is None else w / self.view.scale

    def intercept(self, coef: Floats) -> Any:
        """ȳ - x̄ᵀw: a number, or one for each target."""
        offset = 0.0 if self.view.mean is None else coef @ self.view.mean
        value = np.asarray(self.y_mean - offset, np.float64)
        return float(value[0]) if coef.ndim == 1 else value


def _check_size(Y: Floats) -> None:
    """Reject a response whose squares are no numbers."""
    sizes = np.abs(Y).max(axis=0)
    bad = sizes[(sizes != 0) & ~((sizes > limits.SMALLEST_Y) & (sizes < limits.LARGEST_Y))]
    if bad.size:
        raise ValueError(
            f"the largest entry of y (less its mean if there is an intercept) has size {bad[0]:.3g}"
            f", which must lie between {limits.SMALLEST_Y:g} and {limits.LARGEST_Y:g} to be "
            "squared; rescale y"
        )

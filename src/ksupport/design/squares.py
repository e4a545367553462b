"""Sets of rows as sums of squares: after one pass over X, nothing depends on their number."""

from __future__ import annotations

from collections.abc import Sequence
from functools import partial
from threading import Lock

import numpy as np

from .. import limits
from .._common.phases import phase
from .._kernels import EPS
from .rows import Unseen, Walked, Weights, count_different, marks_of, one_by_one
from .scatter import Scatter, classes_of, pooled, square_root
from .spectra import UNUSABLE
from .stores import Floats, Ints, store_of
from .view import Design

FEWER = 3  # times the features: with fewer rows, sums of squares and their roots cost as much


class Squares:
    """What sums of squares say of sets of rows of [X Y], which may overlap.

    The rows are divided into classes, by which sets have them; the sums of each class come from
    one pass, and those of a set are pooled from its classes.  A set is then as good as a square
    root of its sums, whose rows are at most as many as columns: inner products, and so iterates
    and errors, are the same.  Digits are lost where columns are nearly dependent: of a model on
    columns of condition number κ, scaled to the same length, about 1e-16 κ².

    Parameters
    ----------
    raw, Y, weights
        The data.
    sets : sequence of arrays of ints
        Rows that have weight; the first set is that of the whole problem.
    center, scale : bool
        Whether columns are centred, and scaled to unit variance.
    labels, times
        The classes, see `classes_of`.
    """

    def __init__(
        self,
        raw: Design,
        Y: Floats,
        weights: Weights,
        sets: Sequence[Ints],
        center: bool,
        scale: bool,
        labels: Ints,
        times: Ints,
    ) -> None:
        self.raw, self.Y, self.weights, self.sets = raw, Y, weights, sets
        self.center, self.scale = center, scale
        self.times = times
        with (
            phase("forming sums of squares", one_pass=True),
            np.errstate(over="ignore", invalid="ignore"),  # what comes is looked at
        ):
            self.classes = raw.store.scatters(labels, times.shape[1], Y, weights.plain)
        self._marked: Floats | None = None
        self._lock = Lock()

    @classmethod
    def where_they_pay(
        cls,
        raw: Design,
        Y: Floats,
        weights: Weights,
        sets: Sequence[Ints],
        center: bool,
        scale: bool,
    ) -> Squares | None:
        """None where rows cost less time or memory."""
        if not pays(raw, len(sets[0])):
            return None
        most = limits.SQUARES // (raw.d + Y.shape[1]) ** 2  # matrices: of classes, and their roots
        classes = classes_of(len(Y), sets, most - len(sets))
        return classes and cls(raw, Y, weights, sets, center, scale, *classes)

    def walked(self, at: int) -> Walked:
        """Paths on the set of this number."""
        scatter, d = self._scatter(at), self.raw.d
        view = self._view(scatter)
        if not scatter.variance[:d].any():  # or are the squares too small for numbers?
            view.check_magnitude()
        mean = scatter.mean[d:] * self.center
        rows = square_root(self._gram(scatter, view, mean))
        design = Design(
            store_of(np.asfortranarray(rows[:, :d])),
            samples=scatter.total,
            different=partial(self._different, at),
        )
        return Walked(view, design, one_by_one(rows[:, d:]), mean)

    def unseen(self, at: int, walked: Walked, target: int = 0) -> Unseen:
        """The set of this number, to measure models on that were walked on another one."""
        scatter, d = self._scatter(at), self.raw.d
        rows = square_root(self._gram(scatter, walked.view, walked.mean))
        rows *= np.sqrt(len(rows) / scatter.total)  # so that means of squares are the same, too
        design = Design(store_of(np.asfortranarray(rows[:, :d])), samples=scatter.total)
        return Unseen(design, rows[:, d + target].copy(), None)

    def _scatter(self, at: int) -> Scatter:
        times, factor = self.times[at], 1.0
        if self.weights.meaning == "relative":
            factor = len(self.sets[at]) / float(times @ [each.total for each in self.classes])
        scatter = pooled(self.classes, (factor * times).tolist())
        if not np.isfinite(scatter.upper).all():
            raise ValueError(UNUSABLE.format("infinite"))
        return scatter

    def _view(self, scatter: Scatter) -> Design:
        """X, centred and scaled by the rows of this scatter."""
        d = self.raw.d
        view = self.raw.centred_by(scatter.mean[:d], scatter.variance[:d] if self.scale else None)
        return view if self.center else view.uncentred()

    def _gram(self, scatter: Scatter, view: Design, mean: Floats) -> Floats:
        """The upper triangle of [X̃ Ỹ]ᵀ[X̃ Ỹ], centred and scaled like a view and a mean of Y."""
        d = self.raw.d
        gram = scatter.about(np.append(np.zeros(d) if view.mean is None else view.mean, mean))
        if self.center:
            # What rounding leaves of a constant is nothing.
            nothing = np.sqrt(np.diag(gram) / scatter.total) <= 10 * EPS * np.abs(scatter.mean)
            gram[nothing] = gram[:, nothing] = 0.0
        if view.scale is not None:
            gram[:d] /= view.scale[:, None]
            gram[:, :d] /= view.scale
        return gram

    def _different(self, at: int) -> int:
        """How many rows of a set differ."""
        rows = self.sets[at]
        y = self.Y[rows, 0]
        return count_different(y - y.mean(), self.raw.d, lambda: self._marks()[rows])

    def _marks(self) -> Floats:
        with self._lock:
            if self._marked is None:
                self._marked = marks_of(self._view(self._scatter(0)))
            return self._marked


def pays(raw: Design, n: int) -> bool:
    """Whether sums of squares of n rows are soon won back."""
    entries = n * raw.d
    return (
        raw.has_columns
        and n > FEWER * raw.d
        and entries > limits.SVD
        # Dense sums take d steps for each entry, stored or not; passes take those that are stored.
        and raw.d * entries <= limits.GRAM * raw.store.entries
    )

"""Sets of rows as sums of squares: after one pass over X, nothing depends on their number."""

from __future__ import annotations

from collections.abc import Callable, Sequence
from copy import copy
from dataclasses import dataclass, field
from functools import cached_property, partial
from threading import Lock

import numpy as np

from .. import limits
from .._common.phases import phase
from .adjusting import Adjusting, Adjustment
from .remote import RemoteStore
from .rows import PreparedRows, Unseen, Weights, count_different, marks_of, one_by_one
from .scatter import Scatter, classes_of, pooled, square_root
from .spectra import unusable
from .stores import Floats, Ints, T, store_of
from .view import Design

FEWER = 3  # times the features: with fewer rows, sums of squares and their roots cost as much


_marking = Lock()  # one product with X does for all sets, whoever asks first


@dataclass(eq=False, repr=False)
class Squares:
    """What sums of squares say of sets of rows of [X Y], which may overlap.

    The rows are divided into classes, by which sets have them; the sums of each class come from
    one pass, and those of a set are pooled from its classes.  A set is then as good as a square
    root of its sums, whose rows are at most as many as columns: inner products, and so iterates
    and errors, are the same.  Digits are lost where columns are nearly dependent: of a model on
    columns of condition number κ, scaled to the same length, about 1e-16 κ².
    """

    raw: Design
    Y: Floats
    weights: Weights
    sets: Sequence[Ints]  # of rows that have weight; first that of the whole problem
    center: bool
    scale: bool
    labels: Ints  # with times, the classes: see `classes_of`
    times: Ints
    adjusting: Adjusting | None = None  # its columns that X lacks stand between X and Y here
    _marked: Floats | None = field(default=None, init=False)

    @cached_property
    def classes(self) -> list[Scatter]:
        """The sums of squares of each class."""
        return self.on_classes(list)

    def on_classes(self, work: Callable[[list[Scatter]], T]) -> T:
        """Return the result of work on the sums of classes, computed where X is, in one pass."""
        Y, labels, count = self.Y, self.labels, self.times.shape[1]
        beside = Y if self.adjusting is None else np.hstack([self.adjusting.extra, Y])
        with (
            phase("forming sums of squares", one_pass=True),
            np.errstate(over="ignore", invalid="ignore"),  # what comes is looked at
        ):
            return self.raw.store.on_scatters(work, labels, count, beside, self.weights.plain)

    def without_data(self) -> Squares:
        """Return a copy with the shape of X and none of its entries, to send to a worker."""
        outline = copy(self)
        outline.raw = Design(RemoteStore.of(self.raw.store))
        return outline

    def with_sums(self, classes: list[Scatter]) -> Squares:
        """Return a copy with these sums of squares."""
        known = copy(self)
        known.classes = classes
        return known

    @classmethod
    def where_they_pay(
        cls,
        raw: Design,
        Y: Floats,
        weights: Weights,
        sets: Sequence[Ints],
        center: bool,
        scale: bool,
        adjusting: Adjusting | None = None,
    ) -> Squares | None:
        """Return sums of squares; None where the rows take less time or memory."""
        if not pays(raw, len(sets[0])):
            return None
        beside = Y.shape[1] + (0 if adjusting is None else adjusting.extra.shape[1])
        most = limits.SQUARES // (raw.d + beside) ** 2  # matrices: of classes, and their roots
        classes = classes_of(len(Y), sets, most - len(sets))
        return classes and cls(raw, Y, weights, sets, center, scale, *classes, adjusting)

    def walked(self, at: int) -> PreparedRows:
        """Return the set of this number, prepared for paths."""
        scatter, d = self._scatter(at), self.raw.d
        mean = scatter.mean[-self.Y.shape[1] :] * self.center
        adjustment, left = self._adjustment(at, mean)
        view = self._view(at, scatter, adjustment)
        if not scatter.variance[:d].any():  # or are the squares too small for numbers?
            view.check_magnitude()
        gram = self._gram(scatter, view, mean, adjustment)
        if left is not None:
            explained = d + np.flatnonzero(~left.any(axis=0))
            gram[explained] = gram[:, explained] = 0.0
        rows = square_root(gram)
        design = Design(
            store_of(np.asfortranarray(rows[:, :d])),
            samples=scatter.total,
            absorbed=0 if adjustment is None else adjustment.basis.rank,
            was_centred=view.mean is not None,
            different=partial(self._different, at),
        )
        return PreparedRows(view, design, one_by_one(rows[:, d:]), mean, adjustment)

    def unseen(self, at: int, walked: PreparedRows, target: int | slice = 0) -> Unseen:
        """Return the set of this number as held-out rows, for models fitted on ``walked``."""
        scatter, d = self._scatter(at), self.raw.d
        rows = square_root(self._gram(scatter, walked.view, walked.mean, walked.adjustment))
        rows *= np.sqrt(len(rows) / scatter.total)  # so that means of squares are the same, too
        design = Design(store_of(np.asfortranarray(rows[:, :d])), samples=scatter.total)
        return Unseen(design, np.ascontiguousarray(rows[:, d:].T[target]).ravel(), None)

    def _adjustment(self, at: int, mean: Floats) -> tuple[Adjustment | None, Floats | None]:
        """Return the unpenalised columns on a set, and the residuals of its Y."""
        if self.adjusting is None:
            return None, None
        rows = self.sets[at]
        return self.adjusting.fit(self.Y[rows] - mean, rows, self.weights.of(rows))

    def _scatter(self, at: int) -> Scatter:
        times, factor = self.times[at], 1.0
        if self.weights.meaning == "relative":
            factor = len(self.sets[at]) / float(times @ [each.total for each in self.classes])
        scatter = pooled(self.classes, (factor * times).tolist())
        if not np.isfinite(scatter.upper).all():
            raise unusable(self.raw, "infinite")
        return scatter

    def _view(self, at: int, scatter: Scatter, adjustment: Adjustment | None) -> Design:
        """Return X, centred, projected and scaled by the rows of the set with this scatter."""
        d = self.raw.d
        mean, variance = scatter.mean[:d], scatter.variance[:d]
        if self.adjusting is None or adjustment is None:
            view = self.raw.centred_by(mean, variance if self.scale else None)
            return view if self.center else view.uncentred()
        gram = self._about(scatter, scatter.mean * self.center)
        share = self.adjusting.share_of(gram, d, adjustment)[:, :d]
        rows, weights = self.raw.take(self.sets[at]), self.weights.of(self.sets[at])
        rows = rows if weights is None else rows.weighted(weights)
        return self.raw.like(
            self.adjusting.adjusted(rows, adjustment, share, mean, variance, self.scale)
        )

    def _gram(
        self, scatter: Scatter, view: Design, mean: Floats, adjustment: Adjustment | None
    ) -> Floats:
        """Return the upper triangle of [X̃ Ỹ]ᵀ[X̃ Ỹ], with X transformed as in the view."""
        d = self.raw.d
        centre = np.zeros(d) if view.mean is None else view.mean
        if self.adjusting is None or adjustment is None:
            gram = self._about(scatter, np.append(centre, mean))
        else:
            centre = np.concatenate([centre, self.adjusting.extra_mean(adjustment), mean])
            gram = self.adjusting.off_gram(self._about(scatter, centre), view, adjustment)
        if view.scale is not None:
            gram[:d] /= view.scale[:, None]
            gram[:, :d] /= view.scale
        return gram

    def _about(self, scatter: Scatter, centre: Floats) -> Floats:
        """Return the upper triangle of the sums of squares about a centre."""
        gram = scatter.about(centre)
        if self.center:
            # What rounding leaves of a constant is nothing.
            floor = 10 * limits.EPS * np.abs(scatter.mean)
            nothing = np.sqrt(np.diag(gram) / scatter.total) <= floor
            gram[nothing] = gram[:, nothing] = 0.0
        return gram

    def _different(self, at: int) -> int:
        """Count the different rows of a set."""
        rows = self.sets[at]
        y = self.Y[rows, 0]
        return count_different(y - y.mean(), self.raw.d, lambda: self._marks()[rows])

    def _marks(self) -> Floats:
        with _marking:
            if self._marked is None:
                self._marked = marks_of(self._view(0, self._scatter(0), None))
            return self._marked


def pays(raw: Design, n: int) -> bool:
    """Whether forming sums of squares of n rows saves time afterwards."""
    entries = n * raw.d
    return (
        raw.has_columns
        and n > FEWER * raw.d
        and entries > limits.SVD
        # Dense sums take d steps for each entry, stored or not; passes take those that are stored.
        and raw.d * entries <= limits.GRAM * raw.store.entries
    )

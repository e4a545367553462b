"""The data as paths see them: rows to walk on, rows to measure on, and the way back."""

from __future__ import annotations

import warnings
from collections.abc import Callable, Sequence
from copy import copy
from functools import cached_property, partial
from typing import Any

import numpy as np

from .. import limits
from .._common.phases import count_passes
from ..losses import Loss, Response, Squared
from .adjusting import Adjusting, Adjustment, Unpenalized
from .copied_rows import first_copies
from .passes import by_store, centred_together, sharing
from .remote import RemoteDataError
from .responses import UnseenByLoss
from .rows import PreparedRows, Unseen, Weights, loss_of, one_by_one
from .scatter import Scatter
from .squares import Squares
from .stores import Floats, Ints, T
from .view import Design

SQUARES = Squared()
SEPARATED = 1e3  # standard error, in deviations of a column, beyond any that data can have
FAR = 7.0  # between the ends of a column: odds of a thousand
Split = tuple[Ints, Ints]  # rows to walk on, and rows to measure on


class Problem:
    """(X, Y) as the paths see it, and the way back to the user's units.

    Models are fitted by a loss: of squares, targets are centred vectors, and sums of squares do for
    rows where that pays; of others a target is a `Response`, with Y as it is.
    """

    def __init__(
        self,
        X: Any,
        Y: Floats,
        weights: Weights,
        train: Ints,  # the rows to walk on
        center: bool,
        scale: bool,  # to unit variance
        # Whether all that walks here depends on squares alone (`Method.compressible`): then, where
        # that pays, fewer rows do for many, those of folds too, and X is read once.
        compress: bool = False,
        # The folds, whose rows all have weight; or what makes them of this problem, without folds.
        splits: Sequence[Split] | Callable[[Problem], Sequence[Split]] = (),
        unpenalized: Unpenalized | None = None,  # projected off within each set of rows
        loss: Loss = SQUARES,
        shared: bool = False,  # whether columns of Y are one target, of models with one support,
        alike: bool = False,  # divided by their standard deviations, so that units do not matter
        merge_copies: bool = False,  # whether copies of a row are one, with the sum of weights
    ) -> None:
        self.shared = shared and isinstance(loss, Squared)
        self.raw = Design.of(X)
        count_passes(lambda: self.raw.passes)
        self.dtype: Any = np.float32 if X.dtype == np.float32 else np.float64
        self.units = np.ones(Y.shape[1])  # by which responses were divided
        self.Y = Y
        first = first_copies(self.raw, Y) if merge_copies else None
        self.n_copies = 0  # rows that were merged with others
        if first is not None:
            self.n_copies = int(np.sum(first != np.arange(len(Y))))
            weights = weights.merged(first)
        self.weights = weights
        self.center, self.scale = center, scale
        self.train = train = weights.positive(train)
        self.by_squares = isinstance(loss, Squared)
        self.losses = [loss.fixed(y[train], weights.of(train)) for y in loss.one_by_one(Y)]
        if loss.in_units_of_y:
            _check_size(Y[train])
        if alike and self.shared:
            self.units = _deviations(Y[train], weights.of(train), center)
            self.Y = Y = Y / self.units
        self.adjusting: Adjusting | None = None
        if unpenalized is not None and unpenalized.count:
            self.adjusting = Adjusting(self.raw, unpenalized, center)
            self.adjusting.check([train], weights.of(train))
        self.splits = splits(self) if callable(splits) else splits
        if self.adjusting is not None:
            self.adjusting.check([train, *(rows for rows, _ in self.splits)], weights.of(train))
        sets = [train, *(rows for split in self.splits for rows in split)]
        self.squares: Squares | None = None
        if compress and self.by_squares and self.raw.store.fixed:
            data = self.raw, Y, weights
            self.squares = Squares.where_they_pay(*data, sets, center, scale, self.adjusting)

    @cached_property
    def _prepared_rows(self) -> list[PreparedRows]:
        """Prepare all training rows and, unless sums of squares replace them, those of folds."""
        if self.squares is None:
            walked = self._prepare_rows([self.train, *(rows for rows, _ in self.splits)])
        else:
            walked = [self.squares.walked(0)]
        return [each.joined() for each in walked] if self.shared else walked

    @cached_property
    def whole(self) -> PreparedRows:
        """All rows to walk on, as the paths see them."""
        whole = self._prepared_rows[0]
        if self.by_squares:
            _check_size(np.column_stack(whole.targets))
        return whole

    @property
    def view(self) -> Design:
        """X, centred and scaled."""
        return self.whole.view

    @property
    def design(self) -> Design:
        """The design that paths are computed on."""
        return self.whole.design

    @property
    def targets(self) -> list[Floats]:
        """One target per path: a vector, or a `Response` for losses other than squares."""
        return self.whole.targets

    @cached_property
    def effective_share(self) -> float:
        """The effective number of rows, divided by their number, as the response suggests it.

        It is 1 where relative weights are precisions, and falls to Kish's effective fraction where
        the noise does not depend on the weights.
        """
        weights = self.weights.of(self.train)
        if weights is None or self.weights.meaning == "repetitions" or not self.by_squares:
            return 1.0
        squares = np.sum(self._residual_targets(self.train)[1] ** 2, axis=1)  # w r²
        uneven = float(weights @ squares) / max(float(squares.sum()), np.finfo(float).tiny)
        return 1.0 / max(round(uneven, 9), 1.0)

    @property
    def y_mean(self) -> Floats:
        """The means of Y."""
        return self.whole.mean

    def run_near_data(self, work: Callable[[Problem], T]) -> T:
        """Return ``work(problem)``, computed by the workers that hold X where possible.

        That takes a problem for which sums of squares are enough: they have d² entries and stay
        with the workers, and only the result is sent.
        """
        if self.squares is None or not self.raw.store.takes(work):
            return work(self)
        found = self.squares.on_classes(partial(_on_classes, self._without_data(), work))
        if found is None:
            return work(self)
        answer, whole, warned = found
        self.whole = whole.on(self.raw.store)
        for message, category in warned:
            warnings.warn(message, category, stacklevel=3)
        return answer

    def _without_data(self) -> Problem:
        """Return a copy with the shape of X and none of its entries, to send to a worker."""
        assert self.squares is not None
        outline = copy(self)
        outline.squares = self.squares.without_data()
        outline.raw = outline.squares.raw
        return outline

    def folds(self, scoring: Any = None) -> list[tuple[PreparedRows, Unseen]]:
        """Training and held-out rows of each split, centred and scaled by the training rows."""
        walked = self._prepared_rows[1:]
        if self.squares is not None:
            walked = [self.squares.walked(1 + 2 * at) for at in range(len(self.splits))]
            walked = [each.joined() for each in walked] if self.shared else walked
        return [(rows, self.unseen(at, rows, scoring=scoring)) for at, rows in enumerate(walked)]

    def forget(self) -> None:
        """Free the products that paths have cached: views that share X refer to each other."""
        folds = self._prepared_rows[1:] if self.squares is None else []
        for each in (self.whole, *folds):
            each.design.forget()

    def unseen(self, at: int, walked: PreparedRows, target: int = 0, scoring: Any = None) -> Unseen:
        """Return the held-out rows of a split, prepared like the rows walked on.

        Scores other than the squared error need the rows themselves, not sums of squares.
        """
        if self.squares is not None and scoring is None:
            wanted = slice(None) if self.shared else target
            return self.squares.unseen(2 + 2 * at, walked, wanted)
        return self._unseen_on(self.splits[at][1], walked, target, scoring)

    def _unseen_on(
        self, rows: Ints, walked: PreparedRows, target: int = 0, scoring: Any = None
    ) -> Unseen:
        if not self.by_squares:
            return self._unseen_by_loss(rows, walked, target, scoring)
        design, weights = self.raw.take(rows).like(walked.view), self.weights.of(rows)
        y, expected = self.Y[rows, target], walked.expected(self.always_on(rows), target)
        if self.shared:
            count = range(self.Y.shape[1])
            each = [walked.expected(self.always_on(rows), j) + np.zeros(len(rows)) for j in count]
            y, expected = self.Y[rows], np.column_stack(each)
            weights = None if weights is None else np.tile(weights, len(count))
        left = np.ascontiguousarray((y - expected).T).ravel()
        return Unseen(design, left, weights, loss_of(scoring, y, expected))

    def always_on(self, rows: Ints) -> Floats:
        """Return the columns in every model: ones for an intercept, and unpenalised columns."""
        U = np.empty((len(self.Y), 0)) if self.adjusting is None else self.adjusting.U
        return np.hstack([np.ones((len(rows), int(self.center))), U[rows]])

    def _unseen_by_loss(
        self, rows: Ints, walked: PreparedRows, target: int, scoring: Any
    ) -> UnseenByLoss:
        y = self.losses[target].one_by_one(self.Y)[target][rows]
        return UnseenByLoss(
            self.raw.take(rows).like(walked.view), y, self.weights.of(rows),
            walked=walked.design, response=walked.targets[target],
            unpenalized=self._unpenalized(rows, walked.adjustment), scoring=scoring,
        )  # fmt: skip

    def _basis_on(self, rows: Ints) -> Adjustment | None:
        """Return the basis of unpenalised columns on rows; its coefficients depend on the model."""
        if self.adjusting is None:
            return None
        zeros = np.zeros((len(rows), len(self.losses)))
        return self.adjusting.fit(zeros, rows, self.weights.of(rows))[0]

    def _unpenalized(self, rows: Ints, adjustment: Adjustment | None) -> Floats:
        """Return ones for an intercept, and a basis of the unpenalised columns, as rows."""
        ones = np.ones((int(self.center and self.losses[0].has_constant), len(rows)))
        if adjustment is None or self.adjusting is None:
            return ones
        return np.vstack([ones, adjustment.basis.rows(self.adjusting.U[rows]).T])

    def _responses(self, rows: Ints, adjustment: Adjustment | None) -> list[Response]:
        """Return the targets on rows, for losses other than the squared loss."""
        weights, found = self.weights.of(rows), []
        for target, loss in enumerate(self.losses):
            y = loss.one_by_one(self.Y)[target][rows]
            loss.check_rows(y)
            found.append(loss.on(y, weights, self._unpenalized(rows, adjustment)))
        return found

    def _prepare_rows(self, subsets: Sequence[Ints]) -> list[PreparedRows]:
        """Prepare each subset of rows, in one pass over X for all."""
        n = len(self.Y)
        designs = [self.raw if len(rows) == n else self.raw.take(rows) for rows in subsets]
        if not self.by_squares:
            return self._prepare_by_loss(designs, subsets)
        parts = [self._residual_targets(rows) for rows in subsets]
        means, residuals, adjustment = zip(*parts, strict=True)
        views = self._prepare_views(designs, subsets, adjustment, [Y.T for Y in residuals])
        prepared = zip(views, residuals, means, adjustment, strict=True)
        return [PreparedRows(view, view, one_by_one(Y), *rest) for view, Y, *rest in prepared]

    def _prepare_by_loss(
        self, designs: Sequence[Design], subsets: Sequence[Ints]
    ) -> list[PreparedRows]:
        """Prepare each subset of rows, for losses other than the squared loss."""
        bases, zero_offsets = [self._basis_on(rows) for rows in subsets], np.zeros(len(self.losses))
        responses = [self._responses(*pair) for pair in zip(subsets, bases, strict=True)]
        gradients = [np.concatenate([y.negative_gradient for y in ys]) for ys in responses]
        views = self._prepare_views(designs, subsets, bases, gradients)
        return [
            PreparedRows(view, view, targets, zero_offsets, basis)
            for view, targets, basis in zip(views, responses, bases, strict=True)
        ]

    def _prepare_views(
        self,
        designs: Sequence[Design],
        subsets: Sequence[Ints],
        adjustment: Sequence[Adjustment | None],
        gradients: Sequence[Floats],
    ) -> list[Design]:
        """Weight, centre, project and scale the design of each subset of rows.

        The same pass multiplies Xᵀ by the negative gradients, from which every path starts.
        """
        weights = [self.weights.of(rows) for rows in subsets]
        views = [v if w is None else v.weighted(w) for v, w in zip(designs, weights, strict=True)]
        views = [view.learned() for view in views]
        for indices in by_store(views):
            prepared = self._center_and_scale(
                [views[i] for i in indices],
                [adjustment[i] for i in indices],
                [gradients[i] for i in indices],
            )
            for i, view in zip(indices, prepared, strict=True):
                views[i] = view
        return views

    def _center_and_scale(
        self,
        views: Sequence[Design],
        adjustment: Sequence[Adjustment | None],
        gradients: Sequence[Floats],
    ) -> list[Design]:
        """Centre, project and scale views of one store, in one pass where possible."""
        if self.adjusting is not None:
            known = [each for each in adjustment if each is not None]
            return sharing(self.adjusting.projected(views, known, self.scale, gradients))
        if self.center or self.scale:
            asked = gradients if self.center else None  # of views that are as they will be
            views = centred_together(views, standardize=self.scale, asked=asked)
        return sharing(views if self.center else [view.uncentred() for view in views])

    @property
    def response(self) -> Floats:
        """Y as the user gave it: a vector, or columns."""
        return self.Y[:, 0] if self.Y.shape[1] == 1 else self.Y * self.units

    def residuals_on(self, rows: Ints) -> Floats:
        """Return residuals of Y on these rows, after its mean and unpenalised columns."""
        residuals, weights = self._residual_targets(rows)[1], self.weights.of(rows)
        return residuals if weights is None else residuals / np.sqrt(weights)[:, None]

    def _residual_targets(self, rows: Ints) -> tuple[Floats, Floats, Adjustment | None]:
        """Return the means of Y on these rows; its residuals times √weights; the adjustment."""
        Y, weights = self.Y[rows], self.weights.of(rows)
        mean, adjustment = np.zeros(Y.shape[1]), None
        if self.center:
            # Relative to the first row, so that the mean of a constant is exact.
            mean = Y[0] + np.average(Y - Y[0], axis=0, weights=weights)
        residuals = Y - mean
        if self.adjusting is not None:
            adjustment, residuals = self.adjusting.fit(residuals, rows, weights)
        if weights is not None:
            residuals = residuals * np.sqrt(weights)[:, None]
        return mean, residuals, adjustment

    @property
    def responses(self) -> list[Response]:
        """The targets of losses other than squares."""
        return list(self.whole.targets)

    @property
    def fingerprint(self) -> Floats:
        """Numbers that identify the problem: a warm start requires that they are the same.

        The states of paths are vectors of samples, so other rows, or the same in another order, are
        another problem.  Xᵀy does not depend on the order: products with a fixed u are added.
        """
        u = np.random.default_rng(0).standard_normal(self.design.n)
        targets = self.targets if self.by_squares else [each.y for each in self.responses]
        if self.shared:
            targets = list(self.targets[0].reshape(-1, self.design.n))
        samples = np.column_stack([*targets, u])
        return np.vstack([self.design.rmatmat(samples), u @ samples]).T

    @property
    def n_shared(self) -> int:
        """How many responses share a support."""
        return self.Y.shape[1] if self.shared else 1

    def reshape_coef(self, w: Floats) -> Floats:
        """Return coefficients as users see them: a row for each response that shares a support."""
        return w.reshape(-1, self.design.d) if self.shared or w.size > self.design.d else w

    def scaled(self, coef: Floats) -> Floats:
        """Return coefficients of the scaled columns; 0 for columns that the view ignores."""
        scale = self.view.scale
        return coef if scale is None else coef * np.where(np.isinf(scale), 0.0, scale)

    def unscaled(self, w: Floats) -> Floats:
        return w if self.view.scale is None else w / self.view.scale

    def to_original_units(self, coef: Floats) -> tuple[Floats, Floats, Any]:
        """Return a model in the units of X and Y, given the coefficients of features.

        These are all coefficients of X, those of unpenalised columns (q, or targets x q), and the
        intercept: a number, or one for each target.
        """
        coef = self.without_unpenalized(coef)
        free_coef = np.zeros((*coef.shape[:-1], 0), coef.dtype)
        offset: Any = 0.0 if self.view.mean is None else coef @ self.view.mean
        mean, adjustment = self._constants_and_adjustment(coef)
        if self.adjusting is not None and adjustment is not None:
            free_coef = adjustment.coefficients(self.view, coef).astype(coef.dtype)
            offset = offset + free_coef @ adjustment.basis.mean
            index = self.adjusting.columns.index
            coef[..., index] = free_coef[..., : index.size]
        offset = offset if self.losses[0].has_constant else 0.0
        intercept = np.asarray(mean - offset, np.float64)
        if coef.ndim == 1:
            return coef, free_coef, float(intercept[0])
        if self.shared:
            units = self.units.astype(coef.dtype)[:, None]
            coef, free_coef, intercept = coef * units, free_coef * units, intercept * self.units
        return coef, free_coef, intercept

    def differences(self, features: Ints, coef: Floats) -> tuple[Floats, Floats, Floats]:
        """Return differences of models of one response (r x s) in the units of X.

        These are differences of coefficients, of those of unpenalised columns (r x q), and of
        intercepts.  The part of a model that uses no features is the same in all.
        """
        view = self.view
        coef = coef if view.scale is None else coef / view.scale[features]
        shift = np.zeros(len(coef)) if view.mean is None else -coef @ view.mean[features]
        adjustment = self.whole.adjustment
        if self.adjusting is None or adjustment is None or view.off is None:
            return coef, np.zeros((len(coef), 0)), shift
        free_coef = -(adjustment.basis.transform @ view.off.share[:, features] @ coef.T).T
        return coef, free_coef, shift - free_coef @ adjustment.basis.mean

    def without_unpenalized(self, coef: Floats) -> Floats:
        """Return a copy of coefficients, with zeros at unpenalised columns."""
        features = coef.copy()
        if self.adjusting is not None:
            features[..., self.adjusting.columns.index] = 0.0
        return features

    def _constants_and_adjustment(self, coef: Floats) -> tuple[Floats, Adjustment | None]:
        """Return intercepts, and the coefficients of the basis of unpenalised columns.

        For the squared loss they are known; for other losses they depend on the model.
        """
        adjustment = self.whole.adjustment
        if self.by_squares:
            return self.y_mean, adjustment
        found = np.vstack(
            [
                each.unpenalized_coef(values).reshape(each.n_dual, -1)
                for each, values in self._fitted_by(coef)
            ]
        )
        first = int(self.center and self.losses[0].has_constant)
        constants = found[:, 0] if first else np.zeros(len(found))
        return constants, adjustment and Adjustment(adjustment.basis, found[:, first:].T)

    def _fitted_by(self, coef: Floats) -> list[tuple[Response, Floats]]:
        """Return each response with its linear predictor X̃w, without what is not penalised."""
        fitted = self.design.matmat(self.scaled(np.atleast_2d(coef)).T.astype(np.float64)).T
        if self.losses[0].n_dual > 1:  # one response, with a model for each class
            return [(self.responses[0], fitted.ravel())]
        return list(zip(self.responses, fitted, strict=False))  # of one vector, the first target

    def separating(self, coef: Floats, free_coef: Floats) -> list[str]:
        """Return names of unpenalised columns that separate the response, for a model in X's units.

        Their best coefficients are infinite.  Newton's method then ends where the likelihood is
        flat: far out, and with a standard error, for a column of unit deviation, in the thousands.
        """
        adjustment, loss = self.whole.adjustment, self.losses[0]
        if self.by_squares or loss.in_units_of_y or self.adjusting is None or adjustment is None:
            return []
        centered, transform = (
            self.adjusting.U[self.train] - adjustment.basis.mean,
            adjustment.basis.transform,
        )
        deviations = np.sqrt(np.average(centered**2, axis=0, weights=self.weights.of(self.train)))
        first, flat = int(self.center and loss.has_constant), np.zeros(len(deviations), bool)
        for response, values in self._fitted_by(self.without_unpenalized(coef)):
            for C in response.covariances(values):
                errors = np.sqrt(np.diag(transform @ C[first:, first:] @ transform.T))
                flat |= errors * deviations > SEPARATED
        far = np.abs(np.atleast_2d(free_coef)).max(axis=0) * np.ptp(centered, axis=0) > FAR
        names = self.adjusting.columns.names
        return [names[at] for at in np.flatnonzero(flat & far)]


def _on_classes(
    problem: Problem, work: Callable[[Problem], T], classes: list[Scatter]
) -> tuple[T, PreparedRows, list[Any]] | None:
    """Return ``work(problem)``, the means and the warnings, from sums of squares without X.

    None if the work needs the rows of X themselves.
    """
    assert problem.squares is not None
    known = copy(problem)
    known.squares = problem.squares.with_sums(classes)
    with warnings.catch_warnings(record=True) as warned:
        warnings.simplefilter("always")
        try:
            answer = work(known)
        except RemoteDataError:
            return None
    return answer, known.whole.outline(), [(str(each.message), each.category) for each in warned]


def _deviations(Y: Floats, weights: Floats | None, center: bool) -> Floats:
    """Return standard deviations of columns, or root mean squares; 1 for constant ones."""
    off = Y - np.average(Y, axis=0, weights=weights) if center else Y
    largest = np.abs(off).max(axis=0)
    largest = np.where(largest > 0, largest, 1.0)  # so that no square overflows
    found = largest * np.sqrt(np.average((off / largest) ** 2, axis=0, weights=weights))
    return np.where(found > 1e-12 * np.abs(Y).max(axis=0), found, 1.0)


def _check_size(Y: Floats) -> None:
    """Reject a response whose squares overflow or underflow."""
    sizes = np.abs(Y).max(axis=0)
    bad = sizes[(sizes != 0) & ~((sizes > limits.SMALLEST_Y) & (sizes < limits.LARGEST_Y))]
    if bad.size:
        raise ValueError(
            f"the largest entry of y (less its mean if there is an intercept) has size {bad[0]:.3g}"
            f", which must lie between {limits.SMALLEST_Y:g} and {limits.LARGEST_Y:g} to be "
            "squared; rescale y"
        )

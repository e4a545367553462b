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
from .rows import Unseen, Walked, Weights, loss_of, one_by_one
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
    def _walked(self) -> list[Walked]:
        """All rows to walk on and, unless sums of squares do for them, those of folds, together."""
        if self.squares is None:
            walked = self._on_rows([self.train, *(rows for rows, _ in self.splits)])
        else:
            walked = [self.squares.walked(0)]
        return [each.joined() for each in walked] if self.shared else walked

    @cached_property
    def whole(self) -> Walked:
        """All rows to walk on, as the paths see them."""
        whole = self._walked[0]
        if self.by_squares:
            _check_size(np.column_stack(whole.targets))
        return whole

    @property
    def view(self) -> Design:
        """X, centred and scaled."""
        return self.whole.view

    @property
    def design(self) -> Design:
        """What paths are walked on."""
        return self.whole.design

    @property
    def targets(self) -> list[Floats]:
        """Of the paths; by losses other than squares, responses."""
        return self.whole.targets

    @cached_property
    def effective_share(self) -> float:
        """The share of rows that say something of their own, as far as the response tells.

        All do where relative weights are precisions; where noise knows nothing of them, as few as
        Kish's effective number.
        """
        weights = self.weights.of(self.train)
        if weights is None or self.weights.meaning == "repetitions" or not self.by_squares:
            return 1.0
        squares = np.sum(self._targets_on(self.train)[1] ** 2, axis=1)  # w r²
        uneven = float(weights @ squares) / max(float(squares.sum()), np.finfo(float).tiny)
        return 1.0 / max(round(uneven, 9), 1.0)

    @property
    def y_mean(self) -> Floats:
        """The means of Y."""
        return self.whole.mean

    def run_near_data(self, work: Callable[[Problem], T]) -> T:
        """The result of ``work(problem)``, computed by the workers that hold X where possible.

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
        """A copy that knows the shape of X and none of its entries, to send to a worker."""
        assert self.squares is not None
        outline = copy(self)
        outline.squares = self.squares.without_data()
        outline.raw = outline.squares.raw
        return outline

    def folds(self, scoring: Any = None) -> list[tuple[Walked, Unseen]]:
        """Rows to walk on and rows to measure on, centred and scaled by the former."""
        walked = self._walked[1:]
        if self.squares is not None:
            walked = [self.squares.walked(1 + 2 * at) for at in range(len(self.splits))]
            walked = [each.joined() for each in walked] if self.shared else walked
        return [(each, self.unseen(at, each, scoring=scoring)) for at, each in enumerate(walked)]

    def forget(self) -> None:
        """Let go of products that walks remember: views that share X last until they are found."""
        folds = self._walked[1:] if self.squares is None else []
        for each in (self.whole, *folds):
            each.design.forget()

    def unseen(self, at: int, walked: Walked, target: int = 0, scoring: Any = None) -> Unseen:
        """The rows to measure on of a split, for models that were walked on others.

        Scores other than the squared error are told from the rows themselves.
        """
        if self.squares is not None and scoring is None:
            wanted = slice(None) if self.shared else target
            return self.squares.unseen(2 + 2 * at, walked, wanted)
        return self._unseen_on(self.splits[at][1], walked, target, scoring)

    def _unseen_on(
        self, rows: Ints, walked: Walked, target: int = 0, scoring: Any = None
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
        """What is in every model, on these rows: ones, if there is an intercept, and unpenalised
        columns as they are.
        """
        U = np.empty((len(self.Y), 0)) if self.adjusting is None else self.adjusting.U
        return np.hstack([np.ones((len(rows), int(self.center))), U[rows]])

    def _unseen_by_loss(
        self, rows: Ints, walked: Walked, target: int, scoring: Any
    ) -> UnseenByLoss:
        y = self.losses[target].one_by_one(self.Y)[target][rows]
        return UnseenByLoss(
            self.raw.take(rows).like(walked.view), y, self.weights.of(rows),
            walked=walked.design, response=walked.targets[target],
            unpenalized=self._unpenalized(rows, walked.adjustment), scoring=scoring,
        )  # fmt: skip

    def _basis_on(self, rows: Ints) -> Adjustment | None:
        """The basis of unpenalised columns on rows, where shares of it depend on the model."""
        if self.adjusting is None:
            return None
        nothing = np.zeros((len(rows), len(self.losses)))
        return self.adjusting.fit(nothing, rows, self.weights.of(rows))[0]

    def _unpenalized(self, rows: Ints, adjustment: Adjustment | None) -> Floats:
        """What is in every model, as rows: ones for an intercept, and a basis of the others."""
        ones = np.ones((int(self.center and self.losses[0].has_constant), len(rows)))
        if adjustment is None or self.adjusting is None:
            return ones
        return np.vstack([ones, adjustment.basis.rows(self.adjusting.U[rows]).T])

    def _responses(self, rows: Ints, adjustment: Adjustment | None) -> list[Response]:
        """The targets on rows, of losses other than squares."""
        weights, found = self.weights.of(rows), []
        for target, loss in enumerate(self.losses):
            y = loss.one_by_one(self.Y)[target][rows]
            loss.check_rows(y)
            found.append(loss.on(y, weights, self._unpenalized(rows, adjustment)))
        return found

    def _on_rows(self, sets: Sequence[Ints]) -> list[Walked]:
        """Paths on sets of rows as they are, one pass for all."""
        whole = len(self.Y)
        designs = [self.raw if len(rows) == whole else self.raw.take(rows) for rows in sets]
        if not self.by_squares:
            return self._by_loss_on(designs, sets)
        means, left, adjustment = zip(*(self._targets_on(rows) for rows in sets), strict=True)
        views = self._prepared(designs, sets, adjustment, [Y.T for Y in left])
        parts = zip(views, left, means, adjustment, strict=True)
        return [Walked(view, view, one_by_one(Y), *rest) for view, Y, *rest in parts]

    def _by_loss_on(self, designs: Sequence[Design], sets: Sequence[Ints]) -> list[Walked]:
        """Paths on sets of rows, by losses other than squares."""
        bases, none = [self._basis_on(rows) for rows in sets], np.zeros(len(self.losses))
        responses = [self._responses(*each) for each in zip(sets, bases, strict=True)]
        gradients = [
            np.concatenate([each.negative_gradient for each in some]) for some in responses
        ]
        views = self._prepared(designs, sets, bases, gradients)
        return [
            Walked(view, view, some, none, basis)
            for view, some, basis in zip(views, responses, bases, strict=True)
        ]

    def _prepared(
        self,
        designs: Sequence[Design],
        sets: Sequence[Ints],
        adjustment: Sequence[Adjustment | None],
        gradients: Sequence[Floats],
    ) -> list[Design]:
        """Weight, centre, project and scale designs that consist of these rows.

        Every path starts from the negative gradient of its response, whose product is taken here.
        """
        weights = [self.weights.of(rows) for rows in sets]
        views = [v if w is None else v.weighted(w) for v, w in zip(designs, weights, strict=True)]
        views = [view.learned() for view in views]
        for places in by_store(views):
            some = self._together(
                [views[at] for at in places],
                [adjustment[at] for at in places],
                [gradients[at] for at in places],
            )
            for at, view in zip(places, some, strict=True):
                views[at] = view
        return views

    def _together(
        self,
        views: Sequence[Design],
        adjustment: Sequence[Adjustment | None],
        gradients: Sequence[Floats],
    ) -> list[Design]:
        """Centre, project and scale views of one store, in as few passes as can be."""
        if self.adjusting is not None:
            known = [each for each in adjustment if each is not None]
            return sharing(self.adjusting.projected(views, known, self.scale, gradients))
        if self.center or self.scale:
            asked = gradients if self.center else None  # of views that are as they will be
            views = centred_together(views, standardize=self.scale, asked=asked)
        return sharing(views if self.center else [view.uncentred() for view in views])

    @property
    def response(self) -> Floats:
        """Y as it was given: a vector, or columns."""
        return self.Y[:, 0] if self.Y.shape[1] == 1 else self.Y * self.units

    def left_on(self, rows: Ints) -> Floats:
        """What the mean and unpenalised columns leave of Y on these rows."""
        left, weights = self._targets_on(rows)[1], self.weights.of(rows)
        return left if weights is None else left / np.sqrt(weights)[:, None]

    def _targets_on(self, rows: Ints) -> tuple[Floats, Floats, Adjustment | None]:
        """The means of Y on these rows; Y less them, and less what unpenalised columns say."""
        Y, weights = self.Y[rows], self.weights.of(rows)
        mean, adjustment = np.zeros(Y.shape[1]), None
        if self.center:
            # Beside one of them: then the mean of a constant is exact.
            mean = Y[0] + np.average(Y - Y[0], axis=0, weights=weights)
        left = Y - mean
        if self.adjusting is not None:
            adjustment, left = self.adjusting.fit(left, rows, weights)
        return mean, left if weights is None else left * np.sqrt(weights)[:, None], adjustment

    @property
    def responses(self) -> list[Response]:
        """The targets of losses other than squares."""
        return list(self.whole.targets)

    @property
    def fingerprint(self) -> Floats:
        """Changes whenever the problem does: what a warm start must find again.

        The states of paths are vectors of samples, so other rows, or the same in another order, are
        another problem: besides Xᵀy, which does not see the order, it has products with a u that
        is the same for all data.
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

    def shaped(self, w: Floats) -> Floats:
        """A model as users see it: a row for each response that shares a support."""
        return w.reshape(-1, self.design.d) if self.shared or w.size > self.design.d else w

    def scaled(self, coef: Floats) -> Floats:
        """Of the view's columns; none of those that are nothing there."""
        scale = self.view.scale
        return coef if scale is None else coef * np.where(np.isinf(scale), 0.0, scale)

    def unscaled(self, w: Floats) -> Floats:
        return w if self.view.scale is None else w / self.view.scale

    def finished(self, coef: Floats) -> tuple[Floats, Floats, Any]:
        """A model in the units of X and Y, given the coefficients of features.

        Returns the coefficients with those of unpenalised columns at their places, all those of
        unpenalised columns (q, or targets x q), and the intercept: a number, or one a target.
        """
        coef = self.of_features(coef)
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
        """Differences of models of one response (r x s), of some features, in the units of X.

        Returns the coefficients, those of unpenalised columns (r x q), and what is added to both.
        What is said without features is the same in all models.
        """
        view = self.view
        coef = coef if view.scale is None else coef / view.scale[features]
        added = np.zeros(len(coef)) if view.mean is None else -coef @ view.mean[features]
        adjustment = self.whole.adjustment
        if self.adjusting is None or adjustment is None or view.off is None:
            return coef, np.zeros((len(coef), 0)), added
        free_coef = -(adjustment.basis.turn @ view.off.share[:, features] @ coef.T).T
        return coef, free_coef, added - free_coef @ adjustment.basis.mean

    def of_features(self, coef: Floats) -> Floats:
        """A copy of coefficients, without those of unpenalised columns."""
        features = coef.copy()
        if self.adjusting is not None:
            features[..., self.adjusting.columns.index] = 0.0
        return features

    def _constants_and_adjustment(self, coef: Floats) -> tuple[Floats, Adjustment | None]:
        """What is said without features: constants, and shares of the basis of unpenalised columns.

        Of squares they are known; of other losses they depend on the model.
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
        """Responses, and what coefficients of features fit of each."""
        fitted = self.design.matmat(self.scaled(np.atleast_2d(coef)).T.astype(np.float64)).T
        if self.losses[0].n_dual > 1:  # one response, with a model for each class
            return [(self.responses[0], fitted.ravel())]
        return list(zip(self.responses, fitted, strict=False))  # of one vector, the first target

    def separating(self, coef: Floats, free_coef: Floats) -> list[str]:
        """Unpenalised columns whose best coefficients are infinite, given a model in units of X.

        Such a column tells events, classes or counts of zero apart.  The likelihood is then flat
        where Newton's method ended: far out, and with a standard error, of the coefficient of a
        column of unit deviation, in the thousands or millions.
        """
        adjustment, loss = self.whole.adjustment, self.losses[0]
        if self.by_squares or loss.in_units_of_y or self.adjusting is None or adjustment is None:
            return []
        left, turn = self.adjusting.U[self.train] - adjustment.basis.mean, adjustment.basis.turn
        deviations = np.sqrt(np.average(left**2, axis=0, weights=self.weights.of(self.train)))
        first, flat = int(self.center and loss.has_constant), np.zeros(len(deviations), bool)
        for response, values in self._fitted_by(self.of_features(coef)):
            for C in response.covariances(values):
                errors = np.sqrt(np.diag(turn @ C[first:, first:] @ turn.T))
                flat |= errors * deviations > SEPARATED
        far = np.abs(np.atleast_2d(free_coef)).max(axis=0) * np.ptp(left, axis=0) > FAR
        names = self.adjusting.columns.names
        return [names[at] for at in np.flatnonzero(flat & far)]


def _on_classes(
    problem: Problem, work: Callable[[Problem], T], classes: list[Scatter]
) -> tuple[T, Walked, list[Any]] | None:
    """What work makes of a problem without X, given its sums; the means; what it warned of.

    None if they do not do for it: rows told apart by X itself, or scored one by one.
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
    """Of each column, from its mean or from zero; 1 of those that do not deviate."""
    off = Y - np.average(Y, axis=0, weights=weights) if center else Y
    largest = np.abs(off).max(axis=0)
    largest = np.where(largest > 0, largest, 1.0)  # so that no square overflows
    found = largest * np.sqrt(np.average((off / largest) ** 2, axis=0, weights=weights))
    return np.where(found > 1e-12 * np.abs(Y).max(axis=0), found, 1.0)


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

"""Few features by a loss that is not of squares: leading models are weighed by the loss itself.

Squares that fit the loss at no feature tell which models to look at, and squares that fit it at
the best of these which others, as long as a better one is found; their evidence is that of the
loss, to second order (Laplace).
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cache

import numpy as np

from ..design import Floats
from ..losses import Response
from ..walking.threads import Workers
from .criteria import log_choose
from .evidence import Laplace
from .policy import Policy
from .posterior import Models, Posterior, Sought, explored, parts_of
from .supports import Support

LARGEST = 20  # features of a visited support that is weighed
MOST_STEPS = 10  # from a model to what it leaves over, and back


def weighed(
    sought: Sequence[Sought],
    responses: Sequence[Response],
    policy: Policy,
    n_jobs: int | None = None,
) -> list[Posterior]:
    """What the evidence of the loss says of each problem, on models that squares prefer."""
    problems = zip(sought, responses, strict=True)
    each = [_Weighing(*problem, policy) for problem in problems]
    going = each
    with Workers(n_jobs) as workers:
        for _ in range(policy.turns):
            found = explored([one.sought for one in going], n_jobs, policy)
            pairs = list(zip(going, found, strict=True))
            better = workers.each(lambda pair: pair[0].weigh(pair[1]), pairs)
            going = [one for one, go_on in zip(going, better, strict=True) if go_on]
            if not going:
                break
        return workers.each(_Weighing.posterior, each)


@cache
def price_of(d: int, size: int) -> float:
    """Twice the log of the number of models of this size."""
    return 2.0 * float(log_choose(d, size))


@dataclass(eq=False)
class _Weighing:
    """Models of one problem that the loss has weighed."""

    sought: Sought
    response: Response
    policy: Policy
    known: dict[Support, Laplace] = field(default_factory=dict)
    best: Support = ()
    last: Posterior | None = None

    def weigh(self, found: Posterior) -> bool:
        """Weigh what squares prefer; whether that gives a better model, to fit squares to."""
        first, self.last = self.last is None, found
        more = [*self._visited(found), *self._alone(found)] if first else []
        asked = [*found.leading(self.sought.weighed), *more, ()]
        news = {tuple(found.pool[list(model)].tolist()): model for model in asked}
        self._add({S: model for S, model in news.items() if S not in self.known}, found)
        before = self.best
        self._settle()
        if self.best == before:
            return False
        starts = sorted(self.known, key=self.score)[: self.policy.starts]
        fitted = self.known[self.best].fitted
        self.sought = replace(self.sought, y=self.response.pull_at(fitted), visited=starts)
        return True

    def _visited(self, found: Posterior) -> list[Support]:
        """Supports of the loss's own paths, of which squares at no feature may know little."""
        if not self.response.loss.in_units_of_y:
            return []
        short = [S for S in dict.fromkeys(self.sought.visited) if 0 < len(S) <= LARGEST]
        return [tuple(at) for at in (found.places(S).tolist() for S in short) if min(at) >= 0]

    def _alone(self, found: Posterior) -> list[Support]:
        """Single features: squares that many explain well may think nothing of them."""
        pulls = np.linalg.norm(found.columns @ self.sought.Y.T, axis=1)
        return [(int(at),) for at in np.argsort(-pulls, kind="stable")[: self.policy.starts]]

    def _add(self, models: dict[Support, Support], found: Posterior) -> None:
        """Weigh models, by features and by places in the pool."""
        ridges = [self.policy.prior * self.response.bend] * len(models)
        asked = list(models.values())
        laplace = Laplace.of(self.response, found.columns, ridges, asked, self.sought.positive)
        self.known.update(zip(models, laplace, strict=True))

    def _settle(self) -> None:
        """Find the best model and, where the loss does not know it, how far errors reach."""
        if not self.response.loss.in_units_of_y:
            self.best = min(self.known, key=self.score)
            return
        # Large errors favour few features, which leave large errors: so begin at both ends.
        closest = min(self.known, key=lambda S: self.known[S].left)
        ends = [self._in_balance(()), self._in_balance(closest)]
        self.best, self.response = min(ends, key=lambda end: self._profile(*end))

    def _in_balance(self, model: Support) -> tuple[Support, Response]:
        """The best model by the dispersion that it leaves itself, sought from another on."""
        for _ in range(MOST_STEPS):
            fit = self.known[model]
            self.response = self.response.dispersed(fit.fitted, fit.freedom, self._n)
            before, model = model, min(self.known, key=self.score)
            if model == before:
                break
        return model, self.response

    def _profile(self, model: Support, response: Response) -> float:
        """Minus twice the log evidence, where the dispersion is the model's own."""
        spread = self._n * np.log(response.dispersion)
        return float(spread + self.known[model].volume + self._price(model))

    @property
    def _n(self) -> float:
        """Rows that differ: one that is repeated says no more."""
        assert self.last is not None
        return self.last.n

    def score(self, model: Support) -> float:
        """Minus twice the log evidence of a model."""
        return self.known[model].score_at(self.response) + self._price(model)

    def _price(self, model: Support) -> float:
        return price_of(self.sought.design.d, len(model))

    def _empty(self) -> float:
        """The score of no feature, which is not to be blamed for errors that it would explain."""
        if not self.response.loss.in_units_of_y:
            return self.score(())
        alone = self.response.dispersed(np.zeros(self.response.n), 0.0, self._n)
        gain = self._profile((), alone) - self._profile(self.best, self.response)
        return self.score(self.best) + gain

    def posterior(self) -> Posterior:
        """Of all models that have their features in the last pool."""
        assert self.last is not None
        known, ends = list(self.known), np.cumsum([len(S) for S in self.known]).tolist()
        at = parts_of(self.last.places([j for S in known for j in S]).tolist(), ends)
        places = {S: mine for S, mine in zip(known, at, strict=True) if min(mine, default=0) >= 0}
        there, models = list(places), [tuple(sorted(mine)) for mine in places.values()]
        scores: Floats = np.array([self.score(S) for S in there])
        coefs = [self.known[S].coef for S in there]
        found = self.last.of_models(Models.listed(models, scores, self._empty()), coefs)
        return replace(found, dispersion=self.response.dispersion)

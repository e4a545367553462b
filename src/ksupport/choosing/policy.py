"""The constants of the automatic choice, in one place."""

from __future__ import annotations

from dataclasses import dataclass, replace


@dataclass(frozen=True)
class Policy:
    """What `AutoIRKSN` decides by.

    Settled on development draws of the settings in ``benchmarks/selection_designs.py``, which
    ``make bench-selection`` does not report, or by hand; docs/developers/targets.rst says which.
    """

    # -- paths, on folds and on all rows
    alpha: float = 1e-2
    steps: int = 60
    every: int = 2  # steps between records
    patience: int = 5  # records without a better error that end a path on a fold
    finer: int = 4  # levels of k around the best of few levels
    clearly: float = 40.0  # n log error by which few features are ahead, and groups are left alone
    fewest: int = 10  # samples below which nothing is held out

    # -- few features: `choosing.posterior`
    # Samples that the prior of coefficients is worth: many where many effects are small.
    priors: tuple[float, ...] = (1.0, 3.0, 10.0, 30.0, 100.0)
    most_few: int = 100  # features of a support that is exchanged
    starts: int = 10  # visited supports from which exchanges begin
    rounds: int = 100  # supports beside ever better ones whose neighbours are looked at
    rounds_on_folds: int = 20
    weighed: int = 100  # models of most evidence that a loss other than squares weighs itself
    weighed_on_folds: int = 25
    turns: int = 4  # times that a search is begun anew, by what the best model so far says
    window: float = 16.0  # models that are this much worse than the best say nothing
    trust: float = 0.7  # power of the evidence: a model is never quite right

    # -- groups by evidence: `choosing.clusters`
    clustered: int = 500  # features, those that go with y most
    most_clustered: int = 100  # features of a cluster
    tight: float = 2.0  # over √n: mean |correlation| of a cluster; that of noise is .8 over √n
    looked_at: int = 5  # clusters of each sort whose evidence is computed before one is added
    unions: int = 30  # changes of a union
    misfit: float = 0.08  # share of few's evidence that unions must exceed it by: no model is right
    # Log odds against few features: shift, per unit of evidence, of few's lead on held-out rows.
    unions_odds: tuple[float, float, float] = (-2.0, 0.5, -1.0)

    # -- groups by held-out rows: `choosing.elections`
    draws: int = 400  # weights of rows under which the paths' iterates are compared
    times: int = 4  # that rows are held out, if few features are not clear and X is small;
    most_times: int = 16  # twice as often, and again, until the answers by two halves of the times
    agree: float = 0.9  # have this share of their features in common
    near: float = 1.0  # standard errors by which an earlier iterate may predict worse

    # -- evidence or elections: log odds, from evidence and from held-out rows
    many: float = 1.5  # times as many features as few are expected to be make a group
    odds: tuple[float, float, float] = (-0.5, 0.057, 0.04)
    odds_by_loss: tuple[float, float, float] = (3.0, 0.0, 0.06)  # the same of other losses,
    odds_by_group: tuple[float, float, float] = (2.0, 0.057, 0.04)  # and of known groups

    # -- what is said in the end
    signal: float = 1.5  # evidence gained, and as much for errors above knowing nothing:
    of_errors: float = 1.0  # for each standard error
    # The same of other losses, where all features together have a say.
    signal_by_loss: tuple[float, float] = (2.75, 0.5)
    signal_by_group: float = 4.0  # of known groups, which may have many features
    signal_of_several: float = 2.5  # of several responses, whose evidence spreads more
    few_rows: float = 8.0  # of n rows: a share of this over n is taken off standard errors
    calibration: tuple[float, float] = (-0.15, 0.9)  # of log odds: shift, factor
    calibration_by_loss: tuple[float, float] = (-0.75, 0.5)  # of what folds elect by other losses
    # What evidence and folds say together by other losses, instead of the one or the other: shift,
    # weights of their log odds.  A row says little of a class.
    pool: tuple[float, float, float] | None = None
    pool_by_loss: tuple[float, float, float] = (-0.68, 0.4, 0.28)
    pool_of_classes: tuple[float, float, float] = (-1.3, 0.32, 0.18)
    pooled_on: int = 1000  # features of the designs on which that was learnt
    sure: float = 0.8  # what folds elect every time by other losses is no surer than this
    beta: float = 1.0  # of the expected F-beta that the answer makes largest
    discount: float = 0.88  # expected F1 counts features as independent, which they are not

    @property
    def prior(self) -> float:
        """The one to begin with; losses that are not of squares have no other."""
        return self.priors[0]

    def by_loss(self, of_classes: bool) -> Policy:
        """The same for a loss that is not of squares."""
        signal, of_errors = self.signal_by_loss
        return replace(
            self, odds=self.odds_by_loss, signal=signal, of_errors=of_errors,
            finer=0, rounds_on_folds=5,  # as good, and faster
            priors=self.priors[:1], calibration=self.calibration_by_loss,
            pool=self.pool_of_classes if of_classes else self.pool_by_loss,
        )  # fmt: skip

    @property
    def of_several(self) -> Policy:
        """The same for several responses with one support."""
        return replace(self, signal=self.signal_of_several)

    @property
    def by_group(self) -> Policy:
        """The same for known groups, whose answers do not hang on the folds: once does."""
        odds, signal = self.odds_by_group, self.signal_by_group
        return replace(self, odds=odds, signal=signal, times=1, most_times=1)


POLICY = Policy()

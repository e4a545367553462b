"""The recovery report: would methods find this support again, were it the truth?"""

from __future__ import annotations

from dataclasses import asdict, dataclass, field
from typing import Any

import numpy as np

from .._common.checks import check_interval
from .._common.names import feature_name
from .._common.phases import phase
from .._common.render import Table, as_html, as_text, number, plain
from ..design import Design, Floats, names_of
from ._support import BLOCK, Support, as_design, as_vector, support_of
from ._words import SHOWN, findings
from .bounds import ErrorBound, bound_at
from .irksn import IRKSNCondition, irksn_at
from .l1 import L1Condition, OMPCondition, l1_at, omp_at
from .table1 import MethodStatus, table1

NEAR_COPY = 0.95  # cosine from which two features count as near-duplicates, everywhere
ROUNDS = 2  # linear programmes a report may solve for each condition before calling it undecided


@dataclass(frozen=True)
class RecoveryReport:
    """Words and numbers on one recovered vector, as returned by :func:`recovery_report`.

    Print it for a text form; notebooks show it as HTML; :meth:`to_dict` gives plain data.

    Attributes
    ----------
    n_samples, n_features : int
        Shape of X.
    support : tuple of int
        The features in the support of w.
    w_norm : float
        ‖w‖.
    irksn, l1, omp : IRKSNCondition, L1Condition, OMPCondition
        The conditions at w.
    methods : tuple of MethodStatus
        For each method of Table 1, whether its sufficient condition is met, not met or unknown.
    bound : ErrorBound or None
        The predicted error; None without y, or where the assumptions fail.
    noise_norm, noise_share, noise_sd : float or None
        ‖y - Xw‖, that over ‖y‖, and that per degree of freedom; None without y.
    duplicates : tuple of (int, int, float)
        The closest pairs of a feature on the support and one outside it, with their cosine.
    n_duplicates : int
        How many such pairs there are at or above the threshold.
    alpha : float or None
        The alpha that was asked about; None if none was, and `bound` chose one.
    feature_names : dict of int to str
        Names of the features that the text mentions, as it does: control characters as escapes.
    remarks : tuple of str
        What ``certify`` of an estimator adds about the model and the data.
    """

    n_samples: int
    n_features: int
    support: tuple[int, ...]
    w_norm: float
    irksn: IRKSNCondition
    l1: L1Condition
    omp: OMPCondition
    methods: tuple[MethodStatus, ...]
    bound: ErrorBound | None
    noise_norm: float | None
    noise_share: float | None
    noise_sd: float | None
    duplicates: tuple[tuple[int, int, float], ...]
    n_duplicates: int
    alpha: float | None
    feature_names: dict[int, str] = field(repr=False)
    remarks: tuple[str, ...] = ()

    @property
    def words(self) -> tuple[str, ...]:
        """The findings, in sentences, most important first."""
        return findings(self)

    @property
    def conditions(self) -> tuple[tuple[str, Any], ...]:
        """Each condition with its name.

        They share ``holds``, ``decided``, ``lhs``, ``rhs`` and ``margin``.
        """
        return (
            ("IRKSN, Assumptions 1 and 2", self.irksn),
            ("IRKSN, some certificate", self.irksn.source),
            ("l1, Assumption 3", self.l1),
            ("l1, strong source condition", self.l1.source),
            ("OMP, exact recovery", self.omp),
        )

    def __str__(self) -> str:
        return as_text("Recovery report", self.words, self._tables())

    def _repr_html_(self) -> str:
        return as_html("Recovery report", self.words, self._tables())

    def to_dict(self) -> dict[str, Any]:
        """Plain data, fit for JSON: no arrays, and None for what is not finite."""
        data = {name: getattr(self, name) for name in ("words", *self.__dataclass_fields__)}
        for name in ("irksn", "l1", "omp"):
            data[name] = asdict(data[name])
            data[name].get("source", {}).pop("certificate", None)
        data["methods"] = [asdict(method) for method in self.methods]
        if self.bound is not None:
            data["bound"] = asdict(self.bound)
            data["bound"] |= {"best_gain": self.bound.best_gain, "best": self.bound.best}
        return plain(data)

    def _tables(self) -> list[Table]:
        conditions = [
            (label, "yes" if c.holds else "no" if c.decided else "undecided",
             number(c.lhs), number(c.rhs), number(c.margin))
            for label, c in self.conditions
        ]  # fmt: skip
        methods = [(m.method, m.status, m.why) for m in self.methods]
        tables = [
            Table("Conditions", ("condition", "holds", "left", "right", "margin"), conditions),
            Table("Methods of Table 1", ("method", "sufficient condition", "because"), methods),
            _numbers_table(self),
        ]
        if self.duplicates:
            name = self.feature_names
            rows = [(name[j], name[i], number(cosine)) for j, i, cosine in self.duplicates]
            tables.append(Table("Near-duplicates", ("on the support", "outside", "cosine"), rows))
        return tables


def recovery_report(
    X: Any,
    w: Any,
    y: Any = None,
    *,
    alpha: float | None = None,
    feature_names: Any = None,
    duplicate_cosine: float = NEAR_COPY,
) -> RecoveryReport:
    """Report on which methods would recover a sparse vector, were it the truth.

    The conditions are sufficient, not necessary, and rarely met with noise: one that fails says
    little about w.  The error on held-out rows and `ksupport.stability_selection` are more
    informative.

    Parameters
    ----------
    X : array, DataFrame, sparse matrix or LinearOperator of shape (n_samples, n_features)
        The design that w was fitted on, centred and scaled in the same way.
    w : array of shape (n_features,)
        The recovered vector.
    y : array of shape (n_samples,), optional
        The observed target, centred as in the fit. With it noise and error are estimated.
    alpha : float, optional
        The alpha of IRKSN for the predicted error; nine tenths of the largest allowed if None.
    feature_names : sequence of str, optional
        Names for the text; column names of a DataFrame are found.
    duplicate_cosine : float
        Features with at least this absolute cosine are called near-duplicates.

    Returns
    -------
    RecoveryReport

    Examples
    --------
    >>> import numpy as np
    >>> from ksupport.theory import recovery_report
    >>> X = np.array([[1.0, 0.0, 0.5], [0.0, 1.0, 0.2]])
    >>> report = recovery_report(X, [2.0, -1.0, 0.0], y=[2.1, -1.0])
    >>> print(report.words[0])
    If this vector is the truth, IRKSN with k=2 recovers it: Assumption 2 holds: |⟨X_S† x_l, w_S⟩| \
is at most 0.8 outside the support, and at least 1 on it.
    >>> report.to_dict()["irksn"]["holds"]
    True
    """
    names = feature_names if feature_names is not None else names_of(X)
    X = as_design(X)
    w = as_vector("w", w, X.shape[1], "feature (column)")
    y = None if y is None else as_vector("y", y, X.shape[0], "sample (row)")
    if names is not None and np.shape(names)[:1] != (X.shape[1],):
        got = f"shape {np.shape(names)}" if np.ndim(names) else repr(names)
        raise ValueError(f"feature_names must have one name per feature, {X.shape[1]}, got {got}")
    check_interval("duplicate_cosine", duplicate_cosine, low=0, high=1, open_low=True)
    if alpha is not None:
        check_interval("alpha", alpha, low=0, high=1, open_low=True, open_high=True)
    return report_on(X, w, y, alpha, names, duplicate_cosine)


@phase("checking the recovery conditions")
def report_on(
    X: Design,
    w: Floats,
    y: Floats | None,
    alpha: float | None,
    names: Any = None,
    duplicate_cosine: float = NEAR_COPY,
    remarks: tuple[str, ...] = (),
) -> RecoveryReport:
    """The report on arguments already checked."""
    support = Support.of(X, support_of(w))
    irksn = irksn_at(X, support, w, None, rounds=ROUNDS)
    l1 = l1_at(X, support, w, rounds=ROUNDS)
    omp = omp_at(X, support)
    nearness, pairs, n_pairs = _duplicates(X, support, duplicate_cosine)
    noise_norm, noise_share, noise_sd = _noise(X, support, w, y)
    bound = None
    if noise_norm is not None and irksn.alpha_sharp > 0:
        used = 0.9 * irksn.alpha_sharp if alpha is None else alpha
        if used < irksn.alpha_sharp:
            bound = bound_at(irksn, used, noise_norm)
    shown = [*irksn.tight_out[:SHOWN], *irksn.tight_in[:SHOWN]]
    shown += [i for pair in pairs for i in pair[:2]]
    name = {int(i): feature_name(names, i) for i in shown}
    return RecoveryReport(
        n_samples=X.shape[0],
        n_features=X.shape[1],
        support=tuple(int(j) for j in support.S),
        w_norm=float(np.linalg.norm(w)),
        irksn=irksn,
        l1=l1,
        omp=omp,
        methods=table1(X, support, nearness, irksn, l1, omp),
        bound=bound,
        noise_norm=noise_norm,
        noise_share=noise_share,
        noise_sd=noise_sd,
        duplicates=pairs,
        n_duplicates=n_pairs,
        alpha=alpha,
        feature_names=name,
        remarks=remarks,
    )


def _noise(
    X: Design, support: Support, w: Floats, y: Floats | None
) -> tuple[float | None, float | None, float | None]:
    """‖y - Xw‖, its share of ‖y‖, and its size per degree of freedom left by the support."""
    if y is None:
        return None, None, None
    norm = float(np.linalg.norm(y - support.X_S @ w[support.S]))
    share = norm / max(float(np.linalg.norm(y)), np.finfo(float).tiny)
    freedom = X.freedom - support.rank - (X.mean is not None)  # centring takes one
    return norm, share, norm / freedom**0.5 if freedom > 0 else None


def _duplicates(
    X: Design, support: Support, threshold: float
) -> tuple[Floats, tuple[tuple[int, int, float], ...], int]:
    """Nearness of each feature to the support (its largest cosine), and the near-duplicates."""
    norms = X.column_norms
    safe = np.where(norms > 0, norms, np.inf)
    nearness = np.zeros(X.shape[1])
    pairs: list[tuple[int, int, float]] = []
    count = 0
    for start in range(0, support.k, BLOCK):
        S = support.S[start : start + BLOCK]
        C = np.abs(X.rmatmat(support.X_S[:, start : start + BLOCK] / safe[S])) / safe[:, None]
        nearness = np.maximum(nearness, C.max(axis=1))
        C[support.S] = 0.0  # pairs within the support do not make it ambiguous
        close = np.greater_equal(C, threshold)
        i, j = np.nonzero(close)
        count += len(i)
        top = np.argsort(-C[i, j], kind="stable")[:SHOWN]
        found = zip(S[j[top]], i[top], C[i[top], j[top]], strict=True)
        pairs += [(int(a), int(b), min(float(c), 1.0)) for a, b, c in found]
    pairs.sort(key=lambda pair: (-pair[2], pair[0], pair[1]))
    return nearness, tuple(pairs[:SHOWN]), count


def _numbers_table(report: RecoveryReport) -> Table:
    bound = report.bound
    rows = [
        ("samples, features", f"{report.n_samples}, {report.n_features}"),
        ("size and rank of the support", f"{report.irksn.k}, {report.irksn.rank}"),
        ("largest alpha, paper", number(report.irksn.alpha_max)),
        ("largest alpha, sharp", number(report.irksn.alpha_sharp)),
        ("residual norm", number(report.noise_norm)),
        ("noise standard deviation", number(report.noise_sd)),
    ]
    if bound is not None:
        rows += [
            ("bound: alpha", number(bound.alpha)),
            ("bound: best gain, error there", f"{number(bound.best_gain)}, {number(bound.best)}"),
        ]
    return Table("Numbers", ("what", "value"), rows)

"""Lasso: least squares with an l1 penalty, by coordinate descent.

R. Tibshirani, "Regression shrinkage and selection via the lasso", Journal of the Royal
Statistical Society B 58 (1996); scikit-learn's `lasso_path`, which is `enet_path` with the ratio 1,
as a path over lambda in

    ‖Xw - y‖²/(2n) + lambda ‖w‖₁.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, ClassVar

from .enet import ElasticNetMethod


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

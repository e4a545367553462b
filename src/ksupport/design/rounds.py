"""Products with X̃ and, of the results, with X̃ᵀ: both in one pass by rows."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from scipy.linalg import block_diag

from .passes import finish_together, matmat_together, rmatmat_together
from .stores import Floats
from .view import Design


@dataclass(frozen=True)
class Round:
    """X̃W, and X̃ᵀ(A + X̃WC): what is asked for; None has no columns."""

    W: Floats | None = None  # d x q
    A: Floats | None = None  # n x p
    C: Floats | None = None  # q x p; None: zero

    @property
    def width_forward(self) -> int:
        return 0 if self.W is None else self.W.shape[1]

    @property
    def width_adjoint(self) -> int:
        return 0 if self.A is None else self.A.shape[1]

    def on(self, design: Design) -> tuple[Floats, Floats, Floats]:
        """W, A and C with their shapes."""
        W = np.empty((design.d, 0)) if self.W is None else self.W
        A = np.empty((design.n, 0)) if self.A is None else self.A
        C = np.zeros((W.shape[1], A.shape[1])) if self.C is None else self.C
        return W, A, C

    @classmethod
    def side_by_side(cls, design: Design, rounds: Sequence[Round]) -> Round:
        """Several on one design as one."""
        Ws, As, Cs = zip(*(each.on(design) for each in rounds), strict=True)
        return cls(np.hstack(Ws), np.hstack(As), block_diag(*Cs))


def forward_and_adjoint(
    views: Sequence[Design], rounds: Sequence[Round]
) -> tuple[list[Floats], list[Floats]]:
    """X̃W and X̃ᵀ(A + X̃WC) for each view of one store and its round.

    Rows of A + X̃WC follow from the same rows of X, so where it is stored by rows one pass does for
    both, unless W has so few rows that its columns are read instead.
    """
    store = views[0].store
    Ws, As, Cs = zip(*(each.on(v) for v, each in zip(views, rounds, strict=True)), strict=True)
    used = np.any([W.any(axis=1) for W in Ws], axis=0)
    back = any(A.shape[1] for A in As)
    if back and store.by_rows and 4 * np.count_nonzero(used) > store.shape[1]:
        return _in_one_pass(views, Ws, As, Cs)
    XWs = matmat_together(views, Ws)
    Us = [A + XW @ C for XW, A, C in zip(XWs, As, Cs, strict=True)]
    return XWs, rmatmat_together(views, Us) if back else Us


def _in_one_pass(
    views: Sequence[Design], Ws: Sequence[Floats], As: Sequence[Floats], Cs: Sequence[Floats]
) -> tuple[list[Floats], list[Floats]]:
    values = [view.unscaled(W) for view, W in zip(views, Ws, strict=True)]
    ends = np.cumsum([0, *(W.shape[1] for W in Ws)])
    together, every = np.hstack(values), np.arange(views[0].d)
    XWs = [np.empty((view.n, W.shape[1])) for view, W in zip(views, Ws, strict=True)]
    widths = [A.shape[1] for A in As]
    product = np.zeros((sum(widths), views[0].d))
    sums: list[Any] = [0.0] * len(views)
    for part, raw in views[0].store.row_chunks():
        forward = np.hsplit(raw @ together, ends[1:-1])
        lifted = []
        parts = zip(views, forward, values, XWs, As, Cs, strict=True)
        for at, (view, ours, mine, XW, A, C) in enumerate(parts):
            here, rows = view.within(part)
            XW[rows] = here.of_rows(ours, every, mine)
            lifted.append(here.lifted(A[rows] + XW[rows] @ C, len(raw)))
            sums[at] += here.sums(lifted[-1])
        product += np.hstack(lifted).T @ raw
    return XWs, finish_together(views, product.T, sums)

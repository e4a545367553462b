"""Every method of the package as a solver of benchopt."""

from __future__ import annotations

from typing import Any

from .._common.extra import extra
from ..algorithms import path

with extra("neighbours"):
    from benchopt import BaseSolver

__all__ = ["PathSolver"]


class PathSolver(BaseSolver):
    """Walks one path, longer from call to call, for objectives that hand over ``X`` and ``y``.

    A solver file of a benchmark derives a class ``Solver`` from it, sets ``name`` and ``method``,
    a name in ``ksupport.METHODS``, and lists values of that method's parameters, as in
    ``benchmarks/benchmark_sparse_recovery``.

    Parameters
    ----------
    **parameters
        Those of the method, which benchopt takes from the lists.

    Examples
    --------
    >>> from ksupport.neighbours.benchopt import PathSolver
    >>> class Solver(PathSolver):
    ...     name = "IRKSN"
    ...     method = "irksn"
    ...     parameters = {"k": [2], "alpha": [0.1]}
    >>> solver = Solver.get_instance(k=2, alpha=0.1)
    >>> solver.set_objective(X=[[1.0, 0.0], [0.0, 1.0]], y=[3.0, 2.0])
    >>> solver.run(100)
    >>> print(solver.get_result()["beta"].round(3))
    [3. 2.]
    """

    sampling_strategy = "iteration"
    method = "irksn"

    def set_objective(self, X: Any, y: Any) -> None:
        """Take the data."""
        self.X, self.y = X, y

    def warm_up(self) -> None:
        """Walk one step, which imports what is needed; it is not timed."""
        self.run_once(1)

    def run(self, stop_val: int) -> None:
        """Run this number of steps."""
        values = {name: getattr(self, name) for name in self.parameters}
        steps = max(int(stop_val), 1)
        walked = path(
            self.method, self.X, self.y, max_iter=steps, every=steps, keep="last", **values
        )
        self.beta = walked.coef

    def get_result(self) -> dict[str, Any]:
        """The last model."""
        return {"beta": self.beta}

"""IRKSN, a point for each number of steps."""

from ksupport.neighbours.benchopt import PathSolver


class Solver(PathSolver):
    name = "IRKSN"
    method = "irksn"
    parameters = {"k": [3, 10, 30], "alpha": [0.01]}  # noqa: RUF012

    def skip(self, X, y):
        d = X.shape[1]
        return (True, f"k={self.k} exceeds the {d} features") if self.k > d else (False, None)

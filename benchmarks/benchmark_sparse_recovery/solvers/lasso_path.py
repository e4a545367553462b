"""scikit-learn's Lasso path, a point for each number of penalties."""

import numpy as np
from benchopt import BaseSolver
from sklearn.linear_model import lasso_path

PENALTIES = 100


class Solver(BaseSolver):
    name = "Lasso path"
    sampling_strategy = "iteration"

    def set_objective(self, X, y):
        self.X, self.y = X, y
        self.grid = np.abs(X.T @ y).max() / len(y) * np.geomspace(1, 1e-3, PENALTIES)

    def run(self, stop_val):
        steps = min(max(stop_val, 1), PENALTIES)
        self.beta = lasso_path(self.X, self.y, alphas=self.grid[:steps])[1][:, -1]

    def get_result(self):
        return {"beta": self.beta}

"""scikit-learn's orthogonal matching pursuit, a point for each number of features."""

from benchopt import BaseSolver
from sklearn.linear_model import orthogonal_mp


class Solver(BaseSolver):
    name = "OMP"
    sampling_strategy = "iteration"

    def set_objective(self, X, y):
        self.X, self.y = X, y
        self.most = min(X.shape)

    def run(self, stop_val):
        self.beta = orthogonal_mp(self.X, self.y, n_nonzero_coefs=min(max(stop_val, 1), self.most))

    def get_result(self):
        return {"beta": self.beta}

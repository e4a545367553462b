"""abess, which chooses the number of features by its own criterion."""

from abess.linear import LinearRegression
from benchopt import BaseSolver


class Solver(BaseSolver):
    name = "abess"
    sampling_strategy = "run_once"
    requirements = ["pip::abess"]  # noqa: RUF012

    def set_objective(self, X, y):
        self.X, self.y = X, y

    def run(self, stop_val):
        self.model = LinearRegression(ic_type="ebic", fit_intercept=False).fit(self.X, self.y)

    def get_result(self):
        return {"beta": self.model.coef_}

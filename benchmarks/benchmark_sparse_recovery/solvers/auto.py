"""AutoIRKSN: one model, chosen by the data."""

from benchopt import BaseSolver

from ksupport import AutoIRKSN


class Solver(BaseSolver):
    name = "AutoIRKSN"
    sampling_strategy = "run_once"

    def skip(self, X, y):
        return (True, "folds need at least 10 rows") if len(y) < 10 else (False, None)

    def set_objective(self, X, y):
        self.X, self.y = X, y

    def warm_up(self):
        self.run_once()

    def run(self, stop_val):
        self.model = AutoIRKSN().fit(self.X, self.y)

    def get_result(self):
        return {"beta": self.model.coef_}

"""How near a model comes to the truth, of which solvers are told nothing."""

import numpy as np
from benchopt import BaseObjective

from ksupport.metrics import model_error, support_f1


class Objective(BaseObjective):
    name = "Sparse recovery"
    min_benchopt_version = "1.6"

    def set_data(self, X, y, w_true):
        self.X, self.y, self.w_true = X, y, w_true

    def get_objective(self):
        return {"X": self.X, "y": self.y}

    def get_one_result(self):
        return {"beta": np.zeros(self.X.shape[1])}

    def evaluate_result(self, beta):
        return {
            "value": float(model_error(self.w_true, beta)),
            "f1": float(support_f1(self.w_true, beta)),
            "features": int(np.count_nonzero(beta)),
        }

"""The paper's Example 1: IRKSN recovers the model, and no Lasso penalty does."""

from benchopt import BaseDataset

from ksupport.datasets import make_example1


class Dataset(BaseDataset):
    name = "Example 1"

    def get_data(self):
        X, y, w_true = make_example1()
        return {"X": X, "y": y, "w_true": w_true}

"""Scattered features among neighbours that correlate, and whole blocks of correlated features."""

from benchopt import BaseDataset

from ksupport.datasets import make_block_data, make_correlated_data


class Dataset(BaseDataset):
    name = "Simulated"
    parameters = {  # noqa: RUF012 (benchopt's way)
        "n_samples, n_features": [(100, 1000)],
        "support": ["scattered", "blocks"],
        "snr": [3.0],
        "seed": [0],
    }

    def get_data(self):
        shape = self.n_samples, self.n_features
        if self.support == "blocks":
            X, y, w_true = make_block_data(*shape, snr=self.snr, random_state=self.seed)
        else:
            density = 10 / self.n_features
            X, y, w_true = make_correlated_data(
                *shape, rho=0.6, density=density, snr=self.snr, random_state=self.seed
            )
        return {"X": X, "y": y, "w_true": w_true}

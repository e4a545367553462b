"""
Cluster: an X that no machine holds
===================================

X is a Dask array; the fit goes to where its chunks are. Here the "cluster" is two workers on the
machine that built this page, and X is small. On SLURM or Kubernetes only the lines that make the
cluster differ: :doc:`/user_guide/cluster`.
"""

# %%
# A cluster, and data on it
# -------------------------
# Chunks are made where they will be used, so nothing large is ever in this process. The true model
# has ten features.

import dask.array as da
import matplotlib.pyplot as plt
import numpy as np
from distributed import Client, LocalCluster

from ksupport import IRKSN
from ksupport.metrics import support_f1

cluster = LocalCluster(n_workers=2, threads_per_worker=1, processes=False, dashboard_address=":0")
client = Client(cluster)

n, d = 500, 20_000
rng = da.random.default_rng(0)
X = rng.normal(size=(n, d), chunks=(n, 2500)).astype(np.float32).persist()
w = np.zeros(d)
w[::2000] = 1.0
y = (X @ w + rng.normal(size=n, chunks=n)).compute()
print(f"{X.nbytes / 1e6:.0f} MB in {X.npartitions} chunks")

# %%
# Fit
# ---
# The same class, the same call. What costs is reading X, so that is what is counted.

model = IRKSN(k=10, alpha=1e-3, stopping="held_out", random_state=0).fit(X, y)
print(f"F1 {support_f1(w, model.coef_):.2f} after {model.n_iter_} steps")
print(f"X was read {model.n_passes_} times")

# %%
# Before a long fit: how long?
# ----------------------------
# Passes do not grow with the size of X (:doc:`/user_guide/scale`), so time is passes, times bytes,
# over what all workers read in a second. Measure one pass, then multiply.


def hours(n, d, bytes_each, workers, rate, passes):
    """Hours of a fit whose workers read ``rate`` bytes a second each."""
    return passes * n * d * bytes_each / (workers * rate) / 3600


workers = np.array([1, 3, 10, 30, 100, 300])
fig, ax = plt.subplots(figsize=(6.4, 3.8), layout="constrained")
sizes = {
    "50 000 x 1 000 000, int8": (50_000, 1_000_000, 1),
    "10⁶ x 10⁷, float32": (10**6, 10**7, 4),
}
for (label, size), colour in zip(sizes.items(), ["#0072b2", "#d55e00"], strict=True):
    for rate, style, where in (
        (2e9, "-", "from disk, 2 GB/s"),
        (20e9, "--", "from memory, 20 GB/s"),
    ):
        time = hours(*size, workers, rate, passes=20)
        ax.loglog(workers, time, style, color=colour, label=f"{label}, {where}")
ax.set(xlabel="workers", ylabel="hours for 20 passes", ylim=(1e-4, 200))
ax.legend(fontsize="small")

# %%
# These are the formulas, not measurements: nobody has run the larger one. The network is left out,
# since it carries vectors and never X.

client.close()
cluster.close()

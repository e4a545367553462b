"""Estimators that pictures are drawn of."""

from ksupport import (
    IHT,
    IRCR,
    IRKSN,
    IRKSNCV,
    IRKSNIC,
    IROSR,
    KSN,
    SRDI,
    AutoIRKSN,
    PathCV,
    PathIC,
)

ONE_PATH = [
    IRKSN(k=10, max_iter=103, stopping=None),  # a last step that is on no grid
    IRKSN(k=10, stopping="held_out", standardize=True),  # rows that no seed could draw again
    IRKSN(k=10, alpha="auto", max_iter=100),
    KSN(k=10, max_iter=100),
    IRCR(max_iter=100),
    IROSR(max_iter=100),
    SRDI(max_iter=100),
    IHT(k=10, max_iter=100),
]
CHOSEN = [
    IRKSNCV(k=[5, 10], step="nuclear", max_iter=200),
    AutoIRKSN(max_iter=200),
    IRKSNIC(k=4, exchange=0, max_iter=200),
    PathCV("omp"),
    PathCV("lasso", one_se=True),
    PathCV("irksn", {"k": [5, 10]}, max_iter=100),
    PathIC("iht", {"k": [4]}, exchange=0, max_iter=100),
    PathIC("irksn", {"k": [4]}, exchange=0, max_iter=100),
]


def name(model):
    return type(model).__name__

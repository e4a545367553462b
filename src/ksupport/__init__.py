"""Sparse recovery by iterative regularisation with the k-support norm."""

from .algorithms import METHODS, path
from .estimators import IRKSN

__version__ = "0.1.0"

__all__ = ["IRKSN", "METHODS", "path"]

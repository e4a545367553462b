"""The paper's theory as tools: recovery conditions, dual certificate, error bound, advice.

The conditions are sufficient, not necessary, and rarely met with noise.  Evaluated at an estimate,
they say what would be recovered if the estimate were the truth.
"""

from .bounds import ErrorBound, StepBound, alpha_max, error_bound, stopping_time
from .certificates import SourceCondition
from .discrepancy import discrepancy_bound
from .identification import FaceBound, face_bound
from .irksn import IRKSNCondition, irksn_condition
from .isometry import RestrictedIsometry, mutual_coherence, restricted_isometry
from .l1 import L1Condition, OMPCondition, l1_condition, omp_condition
from .recommend import Recommendation, recommend
from .recommend_k import RecommendedK, recommend_k
from .report import RecoveryReport, recovery_report

__all__ = [
    "ErrorBound",
    "FaceBound",
    "IRKSNCondition",
    "L1Condition",
    "OMPCondition",
    "Recommendation",
    "RecommendedK",
    "RecoveryReport",
    "RestrictedIsometry",
    "SourceCondition",
    "StepBound",
    "alpha_max",
    "discrepancy_bound",
    "error_bound",
    "face_bound",
    "irksn_condition",
    "l1_condition",
    "mutual_coherence",
    "omp_condition",
    "recommend",
    "recommend_k",
    "recovery_report",
    "restricted_isometry",
    "stopping_time",
]

"""Figures of features, performance, paths, stopping, certificates and phase diagrams.

Displays follow scikit-learn: ``from_estimator`` draws a fitted model, ``plot`` draws it again, and
``ax_`` and ``figure_`` hold the axes and the figure.  Matplotlib is
imported when the first figure is drawn; the extra ``plot`` installs it.
"""

from .certificates import CertificateDisplay, plot_recommendation
from .heat import HeatmapDisplay
from .paths import PathDisplay
from .predictions import PerformanceDisplay, RocDisplay, SurvivalDisplay
from .probabilities import CalibrationDisplay, ProbabilityDisplay, SetsDisplay
from .stopping import StoppingDisplay
from .supports import SupportDisplay
from .volcano import VolcanoDisplay

__all__ = [
    "CalibrationDisplay",
    "CertificateDisplay",
    "HeatmapDisplay",
    "PathDisplay",
    "PerformanceDisplay",
    "ProbabilityDisplay",
    "RocDisplay",
    "SetsDisplay",
    "StoppingDisplay",
    "SupportDisplay",
    "SurvivalDisplay",
    "VolcanoDisplay",
    "plot_recommendation",
]

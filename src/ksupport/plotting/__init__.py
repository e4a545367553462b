"""Figures of features, performance, paths, stopping, certificates and phase diagrams.

Displays follow scikit-learn: ``from_estimator`` draws a fitted model, ``plot`` draws it again, and
``ax_`` and ``figure_`` hold the axes and the figure.  The functions return the axes.  Matplotlib is
imported when the first figure is drawn; the extra ``plot`` installs it.
"""

from .advice import plot_recommendation
from .certificates import CertificateDisplay, plot_certificate
from .heat import HeatmapDisplay
from .paths import PathDisplay, plot_path
from .performance import CalibrationDisplay, PerformanceDisplay
from .predictions import RocDisplay, SurvivalDisplay
from .probabilities import ProbabilityDisplay, SetsDisplay
from .stopping import StoppingDisplay, plot_stopping
from .supports import SupportDisplay, plot_support
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
    "plot_certificate",
    "plot_path",
    "plot_recommendation",
    "plot_stopping",
    "plot_support",
]

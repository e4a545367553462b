"""The report: one HTML file that explains a model."""

from .page import build_report

__all__ = ["build_report"]

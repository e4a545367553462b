"""Paths, and the one loop that walks them."""

from .history import History
from .iterates import Block
from .loop import run, whole_walks_only
from .paths import Answer, BySquares, Path, Request
from .records import Keep, Reason, Result
from .rules import Metric, Rule, StoppingRule, Verdict, Watch

__all__ = [
    "Answer",
    "Block",
    "BySquares",
    "History",
    "Keep",
    "Metric",
    "Path",
    "Reason",
    "Request",
    "Result",
    "Rule",
    "StoppingRule",
    "Verdict",
    "Watch",
    "run",
    "whole_walks_only",
]
